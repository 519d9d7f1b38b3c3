//! The words by which the members of a group tell each other how far they are: each member has
//! some in its own home, for every group that it is in, and peers find them by the group's name.
#![allow(unsafe_code)]

use super::peer::Reached;
use super::wait::ForPeer;
use super::{Inner, Node};
use crate::Rank;
use crate::error::Error;
use crate::home::{GROUP_BYTES, GROUPS};
use crate::pause::Pause;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Instant;

/// This process as a member of a group; it leaves when this is dropped.
pub struct Membership {
    node: Arc<Inner>,
    id: u64,
    slot: usize,
}

/// A member's words, mapped as long as the value lives: [`GROUP_BYTES`] bytes of atomics, aligned
/// to 128, all zero when the member enters the group.
#[derive(Clone)]
pub struct Words {
    at: NonNull<u8>,
    _home: Option<Arc<Reached>>,
}

// SAFETY: an address of shared memory, in which there are atomics only.
unsafe impl Send for Words {}
// SAFETY: as above.
unsafe impl Sync for Words {}

const _: () = assert!(GROUP_BYTES.is_multiple_of(128));

impl Words {
    /// Where they are here.
    pub fn at(&self) -> NonNull<u8> {
        self.at
    }
}

impl Membership {
    /// Enters group `id`, a name that members use for one group at a time.
    ///
    /// # Errors
    /// [`Error::NoWay`] if the process is in as many groups as there can be; [`Error::Argument`] if
    /// it is in this one already.
    pub fn enter(node: &Node, id: u64) -> Result<Self, Error> {
        let inner = &node.0;
        inner.check()?;
        let _change = super::lock(&inner.groups);
        if inner.home.find_group(id).is_some() {
            return Err(Error::argument("id", id, "the name of no group that this node is in"));
        }
        match inner.home.enter_group(id) {
            Some(slot) => Ok(Self { node: inner.clone(), id, slot }),
            None => Err(Error::NoWay(format!("this node is in {GROUPS} groups already"))),
        }
    }

    /// This process's own words.
    pub fn own(&self) -> Words {
        Words { at: self.node.home.group_words(self.slot), _home: None }
    }

    /// The words of a member, as soon as it has entered the group.
    ///
    /// # Errors
    /// As for [`Node::attach`].
    pub fn words(&self, rank: Rank, deadline: Option<Instant>) -> Result<Words, Error> {
        if self.node.is_own(rank) {
            return Ok(self.own());
        }
        let home = self.node.await_home(rank, deadline)?;
        let mut pause = Pause::new(ForPeer::new(&self.node, rank, deadline));
        loop {
            if let Some(slot) = home.home.find_group(self.id) {
                return Ok(Words { at: home.home.group_words(slot), _home: Some(home) });
            }
            pause.step()?;
        }
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        if self.node.is_child() {
            std::mem::forget(self.node.clone());
        } else {
            self.node.home.leave_group(self.slot);
        }
    }
}
