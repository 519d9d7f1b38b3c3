//! A job of a few PEs inside one process, for unit tests. The test is PE 0. The other PEs are only
//! memory at the addresses of their mirrors.
#![allow(unsafe_code)]

use crate::argument::memory::Object;
use crate::translate::{Mirrored, TABLE};
use onenode_core::layout::SlotBounds;
use onenode_core::sys::fd;
use onenode_core::sys::map::OwnMapping;
use onenode_core::sys::mutex;
use std::ops::Range;
use std::os::fd::AsFd;
use std::sync::{Mutex, MutexGuard};

/// Bytes of a slot: one page of "data segment", one of "heap".
pub(crate) const SLOT: usize = 2 * PAGE;
const PAGE: usize = 4096;

/// Allows one job at a time, because there is only one translation table.
static ONE: Mutex<()> = Mutex::new(());

/// A job, while the value lives.
pub(crate) struct FakeJob {
    /// PE 0's slot at its own address.
    own: usize,
    /// Each PE's slot at its mirror address.
    mirrors: Vec<usize>,
    _maps: Vec<OwnMapping>,
    _one: MutexGuard<'static, ()>,
}

/// The address of PE `pe`'s mirror of a slot at `own`.
#[cfg(feature = "smartmap")]
fn mirror(own: usize, pe: usize) -> usize {
    oneshmem_kitten::addressing::alias(own, pe)
}
#[cfg(not(feature = "smartmap"))]
fn mirror(own: usize, pe: usize) -> usize {
    own + (pe + 1) * 2 * SLOT
}

impl FakeJob {
    /// Starts a job of `npes` PEs, all attached, with zeroed memory.
    pub(crate) fn start(npes: usize) -> Self {
        Self::with_partitions(npes, &[], PAGE)
    }

    /// The same with partitions at these offsets in the second page, and a heap that starts at
    /// `heap`.
    pub(crate) fn with_partitions(npes: usize, partitions: &[Range<usize>], heap: usize) -> Self {
        /// An address with nothing mapped.
        const OWN: usize = 64 << 30;
        let one = mutex::lock(&ONE);
        let file = fd::memfd(c"oneshmem-test").unwrap();
        fd::resize_and_seal(file.as_fd(), (npes * SLOT) as u64).unwrap();
        let map = |pe: usize, at: usize| {
            let place = OwnMapping::reserve_at(at, SLOT).expect("nothing else is there");
            place.part(at..at + SLOT).shared(file.as_fd(), (pe * SLOT) as u64).unwrap();
            place
        };
        let (own, mut maps) = (OWN, vec![map(0, OWN)]);
        let mirrors: Vec<_> = (0..npes).map(|pe| mirror(own, pe)).collect();
        maps.extend(mirrors.iter().enumerate().map(|(pe, at)| map(pe, *at)));
        let (lower, upper) = (own..own + PAGE, own + PAGE..own + SLOT);
        let at = |offsets: &Range<usize>| own + offsets.start..own + offsets.end;
        let (partitions, heap) = (partitions.iter().map(at).collect(), own + heap);
        let bounds = SlotBounds { lower, upper, partitions, heap, is_lowest: false };
        TABLE.publish(&bounds, npes, true);
        TABLE.set_mirror(0, own, Mirrored::All);
        for (pe, at) in mirrors.iter().enumerate().skip(1) {
            TABLE.set_mirror(pe, *at, Mirrored::All);
        }
        Self { own, mirrors, _maps: maps, _one: one }
    }

    /// The symmetric object at `offset` bytes in the slot.
    pub(crate) fn at<T>(&self, offset: usize) -> Object<'_, T> {
        self.array(offset, 1)
    }

    /// The symmetric array of `len` elements at `offset`.
    pub(crate) fn array<T>(&self, offset: usize, len: usize) -> Object<'_, T> {
        assert!(offset + len * size_of::<T>() <= SLOT);
        // SAFETY: in bounds by the assertion. Only tests use the memory. They store numbers there,
        // for which any bits are valid.
        unsafe { Object::new((self.own + offset) as *const T, len) }
    }

    /// Reads PE `pe`'s value at `offset`.
    pub(crate) fn read<T: Copy>(&self, pe: usize, offset: usize) -> T {
        assert!(offset + size_of::<T>() <= SLOT);
        // SAFETY: in bounds by the assertion.
        unsafe { ((self.mirrors[pe] + offset) as *const T).read_unaligned() }
    }

    /// Writes PE `pe`'s value at `offset`.
    pub(crate) fn write<T: Copy>(&self, pe: usize, offset: usize, value: T) {
        assert!(offset + size_of::<T>() <= SLOT);
        // SAFETY: in bounds by the assertion.
        unsafe { ((self.mirrors[pe] + offset) as *mut T).write_unaligned(value) }
    }

    /// All bytes of PE `pe`'s slot.
    pub(crate) fn slot(&self, pe: usize) -> Vec<u8> {
        (0..SLOT).map(|offset| self.read(pe, offset)).collect()
    }
}

impl Drop for FakeJob {
    fn drop(&mut self) {
        TABLE.retire();
    }
}
