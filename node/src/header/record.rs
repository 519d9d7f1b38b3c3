//! A region as its owner publishes it, and the checks before a peer trusts that.

use super::PAGE;
use crate::Key;

/// No system has larger pages than this.
const LARGEST_PAGE: u64 = 1 << 34;
/// Words of a record.
pub(super) const WORDS: usize = 11;

/// Where a region's memory can be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemoryLocation {
    /// In the file of the header, at this offset.
    Header(u64),
    /// In a file that the process has open as `descriptor`.
    File {
        /// The descriptor.
        descriptor: i32,
        /// The file's inode.
        inode: u64,
        /// The offset in the file.
        offset: u64,
    },
    /// In an XPMEM segment with this identifier, of whole pages.
    Segment(u64),
}

/// A published region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Published {
    /// The client's name for it.
    pub key: Key,
    /// Its first address in its owner's address space.
    pub start: usize,
    /// Its size in bytes.
    pub bytes: usize,
    /// Where its memory can be found. If `start` is not at a page boundary, `place` names the page
    /// that contains it.
    pub place: MemoryLocation,
    /// The kind of its pages: [`onenode_core::pages::Pages::word`].
    pub pages: u64,
    /// The layout's fingerprint if it is a program's data segment, otherwise 0.
    pub image: u64,
}

impl Published {
    pub(super) fn words(&self) -> [u64; WORDS] {
        let (kind, a, b, c) = match self.place {
            MemoryLocation::Header(offset) => (1, offset, 0, 0),
            MemoryLocation::File { descriptor, inode, offset } => {
                (2, offset, inode, descriptor as u64)
            }
            MemoryLocation::Segment(id) => (3, id, 0, 0),
        };
        let (start, bytes) = (self.start as u64, self.bytes as u64);
        [self.key.0, start, bytes, kind, a, b, c, self.pages, self.image, 0, 0]
    }

    /// Decodes a record. `None` if no valid region looks like this.
    pub(super) fn from_words(words: &[u64; WORDS]) -> Option<Self> {
        let [key, start, bytes, kind, a, b, c, pages, image, ..] = *words;
        let place = match kind {
            1 => MemoryLocation::Header(a),
            2 => MemoryLocation::File { descriptor: i32::try_from(c).ok()?, inode: b, offset: a },
            3 => MemoryLocation::Segment(a),
            _ => return None,
        };
        let ends = start.checked_add(bytes).is_some_and(|end| end < 1 << 56);
        let whole = kind == 3 || a % PAGE as u64 == 0 && a.checked_add(bytes).is_some();
        let sound = ends && whole && bytes > 0 && start > 0;
        let pages_sound =
            pages <= 1 || pages.is_power_of_two() && (PAGE as u64..=LARGEST_PAGE).contains(&pages);
        (sound && pages_sound).then_some(Self {
            key: Key(key),
            start: start as usize,
            bytes: bytes as usize,
            place,
            pages,
            image,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_record_is_too_strange(
            words in prop::array::uniform11(prop_oneof![any::<u64>(), 0u64..4, Just(1 << 12)]),
        ) {
            if let Some(region) = Published::from_words(&words) {
                prop_assert!(region.start > 0 && region.bytes > 0);
                prop_assert!(region.start.checked_add(region.bytes).is_some());
                let known = [0, 1].contains(&region.pages) || region.pages.is_power_of_two();
                prop_assert!(known);
            }
        }
    }
}
