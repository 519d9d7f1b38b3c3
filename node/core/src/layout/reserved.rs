//! The places of a layout as reserved address space, over which backends map.
#![allow(unsafe_code)]

use super::Layout;
use crate::error::Error;
use crate::sys::map::Reserved;
use std::ops::Range;

impl Layout {
    /// The place of the heap or of a partition, to map it there. Panics if the range is not in the area.
    ///
    /// # Safety
    /// Nobody uses what is there, or expects any content.
    pub unsafe fn place(&self, range: &Range<usize>) -> Reserved<'_> {
        let area = self.area();
        assert!(area.start <= range.start && range.end <= area.end, "within {area:#x?}");
        // SAFETY: reserved for the heap and the partitions, as checked, which nobody uses, as promised.
        unsafe { Reserved::new(range.clone()) }
    }

    /// The place of a rank's mirror, to map it there.
    ///
    /// # Safety
    /// Nobody uses the mirror: no thread has been given an address in it, or it is the end of a lifetime.
    ///
    /// # Errors
    /// If something else is there.
    pub unsafe fn mirror_place(&self, rank: usize) -> Result<MirrorPlace<'_>, Error> {
        // The heap first: it is larger, and more likely to be refused.
        self.mirrors.reserve(rank, [self.area(), self.data.clone()])?;
        Ok(MirrorPlace { layout: self, rank })
    }
}

/// The place of a rank's mirror.
#[derive(Clone, Copy)]
pub struct MirrorPlace<'l> {
    layout: &'l Layout,
    rank: usize,
}

impl<'l> MirrorPlace<'l> {
    /// Where the mirror of a range of the slot is. Panics if the slot does not have the range.
    pub fn of(self, range: &Range<usize>) -> Reserved<'l> {
        let slot = [&self.layout.data, &self.layout.area()];
        let has = |part: &&Range<usize>| part.start <= range.start && range.end <= part.end;
        assert!(slot.iter().any(has), "{range:#x?} is not in the slot");
        let start = self.layout.mirrored(self.rank, range.start);
        // SAFETY: a part of the mirror, which `mirror_place` has reserved, and which nobody uses, as its caller
        // has promised.
        unsafe { Reserved::new(start..start + range.len()) }
    }
}
