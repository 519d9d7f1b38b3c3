//! Blocks of the strided all-to-all: element `e` of block `b` is at index
//! `stride * (b * nelems + e)` of either array.
#![allow(unsafe_code)]

use crate::collectives::group::Reach;
use crate::copy;

/// What a strided all-to-all moves.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Elements between two of dest.
    pub dst: usize,
    /// Elements between two of source.
    pub sst: usize,
    /// Elements of a block.
    pub nelems: usize,
    /// Bytes of an element.
    pub elem_bytes: usize,
}

impl Shape {
    /// Where block `block` begins in a source.
    pub fn source_block(self, source: *const u8, block: usize) -> *const u8 {
        source.wrapping_add(self.sst * block * self.nelems * self.elem_bytes)
    }

    /// Where block `block` begins in a dest.
    pub fn dest_block(self, dest: *mut u8, block: usize) -> *mut u8 {
        dest.wrapping_add(self.dst * block * self.nelems * self.elem_bytes)
    }

    /// Copies one block.
    ///
    /// # Safety
    /// Both sides are accessible at `nelems` elements, their strides apart, and do not
    /// overlap.
    pub unsafe fn copy(self, reach: &impl Reach, from: *const u8, to: *mut u8) {
        if self.dst == 1 && self.sst == 1 {
            // SAFETY: the caller's promise.
            return unsafe { reach.copy(from, to, self.nelems * self.elem_bytes) };
        }
        let span = (self.nelems.saturating_sub(1) * self.sst + 1) * self.elem_bytes;
        let mut room = None;
        // SAFETY: the caller's promise, passed on with the element's size made constant.
        unsafe {
            let from = reach.near(from, span, &mut room);
            match self.elem_bytes {
                1 => self.copy_elements::<1>(from, to),
                2 => self.copy_elements::<2>(from, to),
                4 => self.copy_elements::<4>(from, to),
                8 => self.copy_elements::<8>(from, to),
                16 => self.copy_elements::<16>(from, to),
                _ => self.copy_each(from, to),
            }
        }
    }

    /// # Safety
    /// As [`Shape::copy`], with elements of `BYTES` bytes.
    unsafe fn copy_elements<const BYTES: usize>(self, from: *const u8, to: *mut u8) {
        let (from, to) = (from.cast::<[u8; BYTES]>(), to.cast::<[u8; BYTES]>());
        // SAFETY: the caller's promise.
        unsafe { copy::strided(to, from, self.dst as isize, self.sst as isize, self.nelems) }
    }

    /// # Safety
    /// As [`Shape::copy`].
    unsafe fn copy_each(self, from: *const u8, to: *mut u8) {
        let bytes = self.elem_bytes;
        for e in 0..self.nelems {
            let (from, to) =
                (from.wrapping_add(self.sst * e * bytes), to.wrapping_add(self.dst * e * bytes));
            // SAFETY: the caller's promise.
            unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) }
        }
    }
}
