//! The control words of a group's members, once found.
#![allow(unsafe_code)]

use super::super::Inner;
use super::super::peer::MappedHeader;
use crate::header::{GROUP_BYTES, Header};
use onenode_core::collectives::words::ControlWords;
use std::ptr::NonNull;
use std::sync::Arc;

const _: () = assert!(size_of::<ControlWords>() <= GROUP_BYTES);
const _: () = assert!(GROUP_BYTES % align_of::<ControlWords>() == 0);

/// A member's control words, which stay mapped while this value exists.
pub(in super::super) struct Found {
    words: NonNull<ControlWords>,
    slot: usize,
    keeps: HeaderHold,
}

/// Keeps the header that contains the words mapped.
enum HeaderHold {
    /// Only owned, never read.
    Own(#[allow(dead_code)] Arc<Inner>),
    Peer(Arc<MappedHeader>),
}

// SAFETY: the pointer leads to atomics in shared memory, which `keeps` keeps mapped.
unsafe impl Send for Found {}
// SAFETY: through a shared reference only atomics are reached, which `keeps` keeps mapped.
unsafe impl Sync for Found {}

impl Found {
    /// This process's own words, in a slot of its node's header.
    pub fn own(node: Arc<Inner>, slot: usize) -> Self {
        Self { words: words(&node.header, slot), slot, keeps: HeaderHold::Own(node) }
    }

    /// A peer's words, in a slot of its header.
    pub fn of(peer: Arc<MappedHeader>, slot: usize) -> Self {
        Self { words: words(&peer.header, slot), slot, keeps: HeaderHold::Peer(peer) }
    }

    /// The control words.
    #[inline(always)]
    pub fn words(&self) -> &ControlWords {
        // SAFETY: `GROUP_BYTES` bytes of a header that `keeps` keeps mapped. They suffice and are
        // aligned, as asserted above. All are atomics, for which any bytes are valid.
        unsafe { self.words.as_ref() }
    }

    /// Whether these are the words of a peer that has left the group of that name.
    pub fn has_left(&self, name: u64) -> bool {
        match &self.keeps {
            HeaderHold::Own(_) => false,
            HeaderHold::Peer(peer) => !peer.header.is_in_group(self.slot, name),
        }
    }

    /// The header and the slot, for a peer's words.
    pub fn header(self) -> Option<(Arc<MappedHeader>, usize)> {
        match self.keeps {
            HeaderHold::Own(_) => None,
            HeaderHold::Peer(peer) => Some((peer, self.slot)),
        }
    }
}

fn words(header: &Header, slot: usize) -> NonNull<ControlWords> {
    header.group_words(slot).cast()
}
