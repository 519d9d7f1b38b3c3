//! Blocks of the strided all-to-all: element `e` of block `b` is at index
//! `stride * (b * nelems + e)` of either array.
#![allow(unsafe_code)]

use crate::collectives::group::Reach;
use crate::collectives::memory::Memory;
use crate::collectives::range::{self, Readable, Remote, Writable};
use crate::copy;

/// The layout of the blocks of a strided all-to-all.
#[derive(Clone, Copy, Debug)]
pub struct StridedLayout {
    /// Stride of dest, in elements.
    pub dst: usize,
    /// Stride of source, in elements.
    pub sst: usize,
    /// Elements per block.
    pub nelems: usize,
    /// Bytes per element.
    pub elem_bytes: usize,
}

impl StridedLayout {
    /// Bytes that `nelems` elements span in an array, `stride` elements apart.
    pub fn span(self, stride: usize, nelems: usize) -> usize {
        nelems.checked_sub(1).map_or(0, |last| (last * stride + 1) * self.elem_bytes)
    }

    /// Start and length, in bytes, of a block in an array with this stride.
    fn block(self, stride: usize, block: usize) -> (usize, usize) {
        (stride * block * self.nelems * self.elem_bytes, self.span(stride, self.nelems))
    }

    /// Copies block `from` of a source into block `to` of a dest. All copies of the collective take
    /// `together` bytes.
    pub fn copy(
        self,
        reach: &impl Reach,
        (source, from): (Remote<Readable<'_>>, usize),
        (dest, to): (Writable<'_>, usize),
        together: usize,
    ) {
        if self.nelems == 0 {
            return;
        }
        let (start, bytes) = self.block(self.sst, from);
        let from = source.part(start, bytes);
        let (start, bytes) = self.block(self.dst, to);
        let to = dest.part(start, bytes);
        if self.dst == 1 && self.sst == 1 {
            return reach.copy_of_many(from, to, together);
        }
        let mut room = None;
        let from = reach.memory().near(from, &mut room);
        match self.elem_bytes {
            1 => self.copy_elements::<1>(from, to),
            2 => self.copy_elements::<2>(from, to),
            4 => self.copy_elements::<4>(from, to),
            8 => self.copy_elements::<8>(from, to),
            16 => self.copy_elements::<16>(from, to),
            _ => self.copy_each(from, to),
        }
    }

    /// Copies a block of elements of `BYTES` bytes.
    fn copy_elements<const BYTES: usize>(self, from: Readable<'_>, to: Writable<'_>) {
        let spans = [self.sst, self.dst].map(|stride| self.span(stride, self.nelems));
        assert!(self.elem_bytes == BYTES && spans == [from.bytes(), to.bytes()]);
        assert!(self.dst > 0 && self.sst > 0);
        let (from, to) = (from.at().cast::<[u8; BYTES]>(), to.at().cast::<[u8; BYTES]>());
        // SAFETY: each range ends with its last element, and the strides are at least 1, as just
        // checked. The ranges are readable and writable here, and disjoint, as ranges of a call
        // are.
        unsafe { copy::strided(to, from, self.dst as isize, self.sst as isize, self.nelems) }
    }

    fn copy_each(self, from: Readable<'_>, to: Writable<'_>) {
        let bytes = self.elem_bytes;
        for e in 0..self.nelems {
            range::copy(
                from.part(self.sst * e * bytes, bytes),
                to.part(self.dst * e * bytes, bytes),
            );
        }
    }
}
