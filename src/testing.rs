//! For unit tests: a job of a few PEs inside one process. The test is PE 0; the other
//! PEs are just memory where their mirrors would be.
#![allow(unsafe_code)]

use crate::translate::{SlotBounds, TABLE};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::sync::{Mutex, MutexGuard};

/// Bytes of a slot: one page of "data segment", one of "heap".
pub(crate) const SLOT: usize = 2 * PAGE;
const PAGE: usize = 4096;

/// There is one translation table, so one such job at a time.
static ONE: Mutex<()> = Mutex::new(());

/// The job, while it exists.
pub(crate) struct FakeJob {
    memory: *mut u8,
    npes: usize,
    _one: MutexGuard<'static, ()>,
}

impl FakeJob {
    /// A job of `npes` PEs, all attached, all memory zero.
    pub(crate) fn start(npes: usize) -> Self {
        let one = ONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        // SAFETY: the size is not 0.
        let memory = unsafe { alloc_zeroed(Self::layout(npes)) };
        assert!(!memory.is_null());
        let start = memory as usize;
        let lower = start..start + PAGE;
        let upper = start + PAGE..start + SLOT;
        TABLE.publish(&SlotBounds { lower, upper, hole_is_program: false }, npes);
        for pe in 0..npes {
            TABLE.set_mirror(pe, start + pe * SLOT);
        }
        Self { memory, npes, _one: one }
    }

    fn layout(npes: usize) -> Layout {
        Layout::from_size_align(npes * SLOT, PAGE).unwrap()
    }

    /// The symmetric address `offset` bytes into the slot.
    pub(crate) fn at<T>(&self, offset: usize) -> *mut T {
        assert!(offset + size_of::<T>() <= SLOT);
        self.memory.wrapping_add(offset).cast()
    }

    /// What PE `pe` has there.
    pub(crate) fn read<T: Copy>(&self, pe: usize, offset: usize) -> T {
        assert!(pe < self.npes && offset + size_of::<T>() <= SLOT);
        // SAFETY: in bounds, by the assertion.
        unsafe { self.memory.add(pe * SLOT + offset).cast::<T>().read_unaligned() }
    }

    /// Gives PE `pe` something there.
    pub(crate) fn write<T: Copy>(&self, pe: usize, offset: usize, value: T) {
        assert!(pe < self.npes && offset + size_of::<T>() <= SLOT);
        // SAFETY: in bounds, by the assertion.
        unsafe { self.memory.add(pe * SLOT + offset).cast::<T>().write_unaligned(value) }
    }

    /// All that PE `pe` has.
    pub(crate) fn slot(&self, pe: usize) -> Vec<u8> {
        (0..SLOT).map(|offset| self.read(pe, offset)).collect()
    }
}

impl Drop for FakeJob {
    fn drop(&mut self) {
        TABLE.retire();
        // SAFETY: allocated in `start` with this layout.
        unsafe { dealloc(self.memory, Self::layout(self.npes)) }
    }
}
