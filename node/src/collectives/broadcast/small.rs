//! Few bytes travel beside the root's control words. The root writes them and goes on, the others
//! wait for nobody but the root: no step in which all meet. Each member but the root waits once.
#![allow(unsafe_code)]

use super::{Broadcast, direct};
use crate::collectives::group::{Group, Outcome};
use crate::collectives::message::{Room, words_of};

/// As [`direct`] where the group's messages have less room.
///
/// # Safety
/// As [`super::direct::run`].
pub unsafe fn run<G: Group>(group: &G, call: Broadcast) -> Outcome<G> {
    if words_of(call.bytes) > group.room() {
        // SAFETY: the caller's promise.
        return unsafe { direct::run(group, call) };
    }
    let mut room = Room::new();
    if group.index() == call.root {
        // SAFETY: the caller's promise.
        unsafe {
            group.spread(call.root, room.blocks(group, call.source, call.bytes, 1))?;
            call.serve_root(group);
        }
    } else {
        let message = room.zeros(words_of(call.bytes));
        group.spread(call.root, message)?;
        // SAFETY: the caller's promise.
        unsafe { group.copy(message.as_ptr().cast(), call.dest, call.bytes) };
    }
    Ok(())
}
