//! The places of a layout as reserved address space, over which backends map.
#![allow(unsafe_code)]

use super::Layout;
use crate::sys::map::Reserved;
use std::ops::Range;

impl Layout {
    /// The heap's place, to map it there.
    pub(crate) fn heap_place(&self) -> Reserved<'_> {
        self.place(&self.heap)
    }

    /// A partition's place, to map it there.
    pub(crate) fn partition_place(&self, index: usize) -> Reserved<'_> {
        self.place(&self.partitions[index])
    }

    fn place(&self, range: &Range<usize>) -> Reserved<'_> {
        let area = self.area();
        assert!(area.start <= range.start && range.end <= area.end, "within {area:#x?}");
        // SAFETY: reserved for the heap and the partitions, as checked, which are accessed in blocks that
        // programs have allocated.
        unsafe { Reserved::new(range.clone()) }
    }

    /// The place of a rank's mirror, to map it there.
    ///
    /// # Safety
    /// It is reserved, and nobody uses the mirror: no thread has been given an address in it, or it is the
    /// end of a lifetime.
    pub(crate) unsafe fn mirror_place(&self, rank: usize) -> MirrorPlace<'_> {
        MirrorPlace { layout: self, rank }
    }
}

/// The place of a rank's mirror.
#[derive(Clone, Copy)]
pub(crate) struct MirrorPlace<'l> {
    pub layout: &'l Layout,
    pub rank: usize,
}

impl<'l> MirrorPlace<'l> {
    /// Where the mirror of a range of the slot is. Panics if the slot does not have the range.
    pub fn of(self, range: &Range<usize>) -> Reserved<'l> {
        let slot = [&self.layout.data, &self.layout.area()];
        let has = |part: &&Range<usize>| part.start <= range.start && range.end <= part.end;
        assert!(slot.iter().any(has), "{range:#x?} is not in the slot");
        let start = self.layout.mirrored(self.rank, range.start);
        // SAFETY: a part of the mirror, whose place was reserved, as was promised for this value.
        unsafe { Reserved::new(start..start + range.len()) }
    }
}
