//! For unit tests: a job of a few PEs inside one process. The test is PE 0; the other
//! PEs are just memory where their mirrors would be.
#![allow(unsafe_code)]

use crate::translate::TABLE;
use onenode::layout::SlotBounds;
use onenode::sys::{fd, map};
use std::os::fd::AsFd;
use std::sync::{Mutex, MutexGuard};

/// Bytes of a slot: one page of "data segment", one of "heap".
pub(crate) const SLOT: usize = 2 * PAGE;
const PAGE: usize = 4096;

/// There is one translation table, so one such job at a time.
static ONE: Mutex<()> = Mutex::new(());

/// The job, while it exists.
pub(crate) struct FakeJob {
    /// Where PE 0's slot is, for PE 0.
    own: usize,
    /// Where each PE's slot is for all.
    mirrors: Vec<usize>,
    _one: MutexGuard<'static, ()>,
}

/// Where PE `pe`'s copy of a slot at `own` goes.
#[cfg(feature = "smartmap")]
fn mirror(own: usize, pe: usize) -> usize {
    oneshmem_kitten::addressing::alias(own, pe)
}
#[cfg(not(feature = "smartmap"))]
fn mirror(own: usize, pe: usize) -> usize {
    own + (pe + 1) * 2 * SLOT
}

impl FakeJob {
    /// A job of `npes` PEs, all attached, all memory zero.
    pub(crate) fn start(npes: usize) -> Self {
        /// An address that nothing else is at.
        const OWN: usize = 64 << 30;
        let one = ONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let file = fd::memfd(c"oneshmem-test").unwrap();
        fd::resize_and_seal(file.as_fd(), (npes * SLOT) as u64).unwrap();
        let map = |pe: usize, at: usize| {
            let at = map::reserve_at(at, SLOT).expect("nothing else is there");
            // SAFETY: reserved just now.
            unsafe { map::shared_over(at, SLOT, file.as_fd(), (pe * SLOT) as u64).unwrap() };
            at
        };
        let own = map(0, OWN);
        let mirrors: Vec<_> = (0..npes).map(|pe| map(pe, mirror(own, pe))).collect();
        let (lower, upper) = (own..own + PAGE, own + PAGE..own + SLOT);
        let (partitions, heap) = (Vec::new(), upper.start);
        let bounds = SlotBounds { lower, upper, partitions, heap, hole_is_program: false };
        TABLE.publish(&bounds, npes, true);
        TABLE.set_mirror(0, own);
        for (pe, at) in mirrors.iter().enumerate().skip(1) {
            TABLE.set_mirror(pe, *at);
        }
        Self { own, mirrors, _one: one }
    }

    /// The symmetric address `offset` bytes into the slot.
    pub(crate) fn at<T>(&self, offset: usize) -> *mut T {
        assert!(offset + size_of::<T>() <= SLOT);
        (self.own + offset) as *mut T
    }

    /// What PE `pe` has there.
    pub(crate) fn read<T: Copy>(&self, pe: usize, offset: usize) -> T {
        assert!(offset + size_of::<T>() <= SLOT);
        // SAFETY: in bounds, by the assertion.
        unsafe { ((self.mirrors[pe] + offset) as *const T).read_unaligned() }
    }

    /// Gives PE `pe` something there.
    pub(crate) fn write<T: Copy>(&self, pe: usize, offset: usize, value: T) {
        assert!(offset + size_of::<T>() <= SLOT);
        // SAFETY: in bounds, by the assertion.
        unsafe { ((self.mirrors[pe] + offset) as *mut T).write_unaligned(value) }
    }

    /// All that PE `pe` has.
    pub(crate) fn slot(&self, pe: usize) -> Vec<u8> {
        (0..SLOT).map(|offset| self.read(pe, offset)).collect()
    }
}

impl Drop for FakeJob {
    fn drop(&mut self) {
        TABLE.retire();
        for at in self.mirrors.iter().chain([&self.own]) {
            // SAFETY: mapped in `start`; nothing refers to it any more.
            unsafe { map::unmap(*at as *mut u8, SLOT) };
        }
    }
}
