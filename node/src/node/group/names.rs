//! The names of groups in headers, and the words of this process that others may still read.

use super::super::Inner;
use super::super::peer::MappedHeader;
use crate::Rank;
use crate::config::State;
use crate::error::Error;
use crate::header::GROUPS;
use onenode_core::collectives::rules::mix;
use onenode_core::sys::mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The groups that this process has been in.
#[derive(Default)]
pub(in super::super) struct Groups {
    /// How often it has opened groups with the same number and ranks.
    opened: BTreeMap<u64, u64>,
    left: Vec<LeftGroup>,
}

/// A group that this process has left.
struct LeftGroup {
    slot: usize,
    name: u64,
    /// The others' headers, and the group's slots there.
    others: Vec<(Arc<MappedHeader>, usize)>,
}

impl Groups {
    /// Enters the next group with this number and these ranks. Returns its name and the slot of
    /// this process's words in its header.
    pub fn enter(node: &Inner, id: u64, ranks: &[Rank]) -> Result<(u64, usize), Error> {
        let mut groups = mutex::lock(&node.groups);
        groups.free(node);
        let words: Vec<u64> =
            std::iter::once(id).chain(ranks.iter().copied().map(u64::from)).collect();
        let kind = mix(&words);
        let turn = groups.opened.get(&kind).copied().unwrap_or(0);
        let name = mix(&[kind, turn]);
        let Some(slot) = node.header.enter_group(name) else {
            return Err(Error::NoWay(format!(
                "this process is in {GROUPS} groups, or others have not left those it was in"
            )));
        };
        groups.opened.insert(kind, turn + 1);
        Ok((name, slot))
    }

    /// Records that this process has left a group of which it had found these others.
    pub fn leave(&mut self, slot: usize, name: u64, others: Vec<(Arc<MappedHeader>, usize)>) {
        self.left.push(LeftGroup { slot, name, others });
    }

    /// Frees the words of groups that all others have left as well.
    fn free(&mut self, node: &Inner) {
        self.left.retain(|LeftGroup { slot, name, others }| {
            let is_read = others.iter().any(|(peer, theirs)| {
                peer.header.is_in_group(*theirs, *name) && peer.life(node) == State::Attached
            });
            if !is_read {
                node.header.free_group(*slot);
            }
            is_read
        });
    }
}
