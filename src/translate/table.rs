//! Translation through a table: a peer's mirror may lie anywhere.
//!
//! ```text
//!  own slot                          mirror of PE pe
//!  |-[data]-..hole..-[heap]-|        |-[data']-..hole..-[heap']-|
//!  ^origin+1                ^        ^base[pe]+1
//!                           origin+span
//! ```
//!
//! `target = (addr - origin) + base[pe]`. `origin` lies one byte below the slot, so a
//! valid offset is never 0, and the sentinel `base[pe] == usize::MAX` ("no mirror")
//! makes the addition carry for every valid offset: the addition itself is the test.
//! One `jae`, one `jae`, one `jb`, and the access. `span` is 0 while the library is not
//! initialised.
#![allow(unsafe_code)]

use super::{Cold, Miss, Numbering, PeArg, SlotBounds};
use crate::atomics::{AtomicUsize, Ordering};
use std::cell::UnsafeCell;
use std::mem::offset_of;

/// Most PEs a job can have; bounds the table of mirrors (8 bytes each).
pub const MAX_PES: usize = 4096;

/// Whether the hot path stays closed until every PE is attached. Not here: each
/// PE has an entry of its own.
pub const ALL_OR_NONE: bool = false;

/// `base[pe]` of a PE that has no mirror here (yet).
pub const NO_MIRROR: usize = usize::MAX;

/// What the hot path reads. Written by `shmem_init` and `shmem_finalize`, and one
/// table entry by each first use of a peer. Programs compiled with `-DSHMEM_INLINE` read it
/// too: `struct oneshmem_table` of `shmem_inline.h`.
#[repr(C)]
pub struct Table {
    /// One byte below this PE's slot.
    origin: UnsafeCell<usize>,
    /// Slot size plus one; 0 while the library is not initialised, or counts.
    span: UnsafeCell<usize>,
    /// Number of PEs of the job.
    npes: UnsafeCell<usize>,
    /// First offset of the slot's upper piece (the heap, if it lies above the data).
    upper: UnsafeCell<usize>,
    /// First offset past the slot's lower piece.
    lower_end: UnsafeCell<usize>,
    /// As `span`, for [`pointer`]: up to where no foreign memory lies in between.
    pointer_span: UnsafeCell<usize>,
    /// One byte below each PE's mirror, or `NO_MIRROR`.
    base: [AtomicUsize; MAX_PES],
}

const _: () = assert!(offset_of!(Table, base) == 48 && size_of::<Table>() == 48 + 4096 * 8);

// SAFETY: `base` is atomic. The other fields are written by `publish` and
// `retire` only, which run inside initialisation and finalisation; the
// specification forbids communication concurrent with those, and a thread that
// communicates later has learned of the initialisation from the thread that did it.
unsafe impl Sync for Table {}

/// The one table of this process.
pub static TABLE: Table = Table {
    origin: UnsafeCell::new(0),
    span: UnsafeCell::new(0),
    npes: UnsafeCell::new(0),
    upper: UnsafeCell::new(0),
    lower_end: UnsafeCell::new(0),
    pointer_span: UnsafeCell::new(0),
    base: [const { AtomicUsize::new(NO_MIRROR) }; MAX_PES],
};

impl Table {
    #[inline(always)]
    fn origin(&self) -> usize {
        // SAFETY: written only while no operation runs (see `Sync` above).
        unsafe { *self.origin.get() }
    }
    #[inline(always)]
    fn span(&self) -> usize {
        // SAFETY: as for `origin`.
        unsafe { *self.span.get() }
    }
    /// Number of PEs of the job, 0 before initialisation.
    #[inline(always)]
    pub fn npes(&self) -> usize {
        // SAFETY: as for `origin`.
        unsafe { *self.npes.get() }
    }
    /// Whether operations are possible now.
    #[inline(always)]
    pub fn ready(&self) -> bool {
        self.npes() != 0
    }
    /// Whether the hot path may carry them out: not before, and not while it is diverted.
    #[inline(always)]
    pub fn open(&self) -> bool {
        self.span() != 0
    }
    /// The mirror address of slot offset 0 for `pe`, or `NO_MIRROR`.
    #[inline(always)]
    pub fn base(&self, pe: usize) -> usize {
        self.base[pe].load(Ordering::Relaxed)
    }
    /// Whether an address is in the slot's upper piece, or its lower one: exact,
    /// unlike the hot path's one comparison, which lets the hole between them pass
    /// (an access there faults and is explained).
    #[inline(always)]
    pub fn surely_symmetric(&self, addr: usize) -> bool {
        let offset = addr.wrapping_sub(self.origin());
        // SAFETY: as for `origin`.
        let (upper, lower_end) = unsafe { (*self.upper.get(), *self.lower_end.get()) };
        offset < self.span() && (offset < lower_end || offset >= upper) && offset != 0
    }
    /// The address an offset that [`translate`] handed to `cold` came from.
    #[inline(always)]
    pub fn address(&self, miss: Miss) -> usize {
        miss.0.wrapping_add(self.origin())
    }

    /// The offset of any address, as [`translate`] hands it to `cold`.
    #[inline(always)]
    pub fn miss(&self, address: usize) -> Miss {
        Miss(address.wrapping_sub(self.origin()))
    }

    /// Opens the hot path for a job of `npes` PEs; no peer has a mirror yet.
    pub(crate) fn publish(&self, bounds: &SlotBounds, npes: usize) {
        assert!(npes <= MAX_PES && bounds.lower.end <= bounds.upper.start);
        for base in &self.base[..npes] {
            base.store(NO_MIRROR, Ordering::Relaxed);
        }
        let origin = bounds.lower.start - 1;
        // SAFETY: called from initialisation, when nothing else reads the table.
        unsafe {
            *self.origin.get() = origin;
            *self.upper.get() = bounds.upper.start - origin;
            *self.lower_end.get() = bounds.lower.end - origin;
            *self.pointer_span.get() = match bounds.hole_is_program {
                true => bounds.upper.end - origin,
                false => bounds.lower.end - origin,
            };
            *self.npes.get() = npes;
            *self.span.get() = bounds.upper.end - origin;
        }
    }

    /// Closes the hot path of a job just published, so that every operation takes the
    /// slow one.
    pub(crate) fn divert(&self) {
        // SAFETY: called from initialisation, when nothing else reads the table.
        unsafe { *self.span.get() = 0 };
    }

    /// Says that PE `pe`'s mirror of the slot starts at `address`.
    pub(crate) fn set_mirror(&self, pe: usize, address: usize) {
        // Release: whoever computes an address from this entry depends on it.
        self.base[pe].store(address - 1, Ordering::Release);
    }

    /// Closes the hot path; every later operation takes the slow path.
    pub(crate) fn retire(&self) {
        // SAFETY: called from finalisation, when nothing else reads the table.
        unsafe {
            *self.span.get() = 0;
            *self.pointer_span.get() = 0;
            *self.npes.get() = 0;
        }
    }
}

/// Translates `addr` (symmetric on this PE) for PE `pe` of `ctx`: continues with
/// `hot(target)`, or with `cold(miss)` if the common case does not hold.
#[inline(always)]
pub fn translate<C: Numbering, R>(
    ctx: C,
    addr: usize,
    pe: PeArg,
    hot: impl FnOnce(usize) -> R,
    cold: impl Cold<R>,
) -> R {
    translate_within(TABLE.span(), ctx, addr, pe, hot, cold)
}

/// As [`translate`], for a pointer that is handed out and not used at once, so that
/// no fault would tell of an address in the hole between the slot's pieces: `hot`
/// is for addresses that are surely not foreign memory.
#[inline(always)]
pub fn pointer<R>(addr: usize, pe: PeArg, hot: impl FnOnce(usize) -> R, cold: impl Cold<R>) -> R {
    // SAFETY: as for `origin`.
    let span = unsafe { *TABLE.pointer_span.get() };
    translate_within(span, crate::context::Default, addr, pe, hot, cold)
}

#[inline(always)]
fn translate_within<C: Numbering, R>(
    span: usize,
    ctx: C,
    addr: usize,
    pe: PeArg,
    hot: impl FnOnce(usize) -> R,
    cold: impl Cold<R>,
) -> R {
    let offset = addr.wrapping_sub(TABLE.origin());
    if offset >= span {
        std::hint::cold_path();
        return cold.miss(Miss(offset));
    }
    let cold = &cold;
    ctx.world(
        pe,
        |pe| {
            // SAFETY: `world` continues here only with `pe < npes <= MAX_PES`.
            let base = unsafe { TABLE.base.get_unchecked(pe) }.load(Ordering::Relaxed);
            let (target, no_mirror) = offset.overflowing_add(base);
            if no_mirror {
                std::hint::cold_path();
                // base is MAX, so the sum is one less than the offset.
                return cold.miss(Miss(target.wrapping_add(1)));
            }
            hot(target)
        },
        || {
            std::hint::cold_path();
            cold.miss(Miss(offset))
        },
    )
}
