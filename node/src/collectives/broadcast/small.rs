//! Few bytes travel beside the control words. One step in which all wait for all: the root
//! need not learn that its source has been read, nor wait a second time.
#![allow(unsafe_code)]

use super::Broadcast;
use crate::collectives::group::{Group, Outcome, SMALL_BYTES, Small};

/// # Safety
/// As [`super::direct::run`]; there are at most [`SMALL_BYTES`].
pub unsafe fn run<G: Group>(group: &G, call: Broadcast) -> Outcome<G> {
    assert!(call.bytes <= SMALL_BYTES);
    let is_root = group.index() == call.root;
    let mut mine = Small::default();
    if is_root {
        // SAFETY: the caller's promise; the message is large enough by the assertion.
        unsafe { group.copy(call.source, mine.as_mut_ptr().cast(), call.bytes) };
    }
    group.exchange(&mine, |member, theirs| {
        if member == call.root && (!is_root || call.root_too) {
            // SAFETY: as above.
            unsafe { group.copy(theirs.as_ptr().cast(), call.dest, call.bytes) };
        }
        Ok(())
    })
}
