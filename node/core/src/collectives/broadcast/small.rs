//! Few bytes travel beside the root's control words. The root writes them and continues; the others
//! wait for the root only, so there is no step in which all meet. Each member but the root waits
//! once.

use super::{Broadcast, direct};
use crate::collectives::group::{CollectiveGroup, Outcome};
use crate::collectives::message::{Room, content, words_of};

/// Runs the algorithm, or [`direct`] if the group's messages have less room.
pub fn run<G: CollectiveGroup>(group: &G, call: Broadcast<'_>) -> Outcome<G> {
    if words_of(call.bytes()) > group.room() {
        return direct::run(group, call);
    }
    let mut room = Room::new();
    if group.index() == call.root {
        group.spread(call.root, room.blocks(group, call.source, call.bytes(), 1))?;
        call.serve_root(group);
    } else {
        let message = room.zeros(words_of(call.bytes()));
        group.spread(call.root, message)?;
        group.copy(content(message, call.bytes()), call.dest);
    }
    Ok(())
}
