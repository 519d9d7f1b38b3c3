//! Translation through a table: a peer's mirror may lie anywhere.
//!
//! ```text
//!  own slot                          mirror of PE pe
//!  |-[data]-..hole..-[heap]-|        |-[data']-..hole..-[heap']-|
//!  ^origin                            ^base[pe]
//!  <------- span[pe] ------->
//! ```
//!
//! `target = (addr - origin) + base[pe]`, if the offset is below `span[pe]`: the slot's size
//! for a PE that has a mirror here, else 0. So one comparison answers for the address, the
//! library's state, the peer's, and every PE number of the table; another one, with a
//! constant, for the numbers beyond it.
#![allow(unsafe_code)]

use super::numberings::Numberings;
use super::{Cold, INLINE_TABLE, Miss, Numbering, PeArg, cold_path};
use crate::atomics::{AtomicUsize, Ordering};
use onenode::layout::SlotBounds;
use std::cell::UnsafeCell;
use std::ops::Range;

/// Most PEs a job can have; bounds the tables (32 bytes each).
pub const MAX_PES: usize = 4096;

/// Whether the hot path stays closed until every PE is attached. Not here: each
/// PE has an entry of its own.
pub const ALL_OR_NONE: bool = false;

/// What the hot path reads. Written by `shmem_init` and `shmem_finalize`, and one
/// PE's entries by its first use.
pub struct Table {
    /// First address of this PE's slot.
    origin: UnsafeCell<usize>,
    /// Slot size; 0 while the library is not initialised, or diverted.
    slot: UnsafeCell<usize>,
    /// Number of PEs of the job.
    npes: UnsafeCell<usize>,
    /// First offset of the slot's upper piece (the heap, if it lies above the data); past all
    /// offsets if there are partitions.
    upper: UnsafeCell<usize>,
    /// First offset past the slot's lower piece; 0 if there are partitions.
    lower_end: UnsafeCell<usize>,
    /// `upper` and `lower_end` also if there are partitions, which belong to the heap's piece.
    upper_piece: UnsafeCell<usize>,
    lower_piece_end: UnsafeCell<usize>,
    /// All pieces, if there are partitions of any kind.
    pieces: UnsafeCell<Vec<Range<usize>>>,
    /// First offset past what has no foreign memory below it, in the slot.
    unmixed: UnsafeCell<usize>,
    /// `slot`, but 0 also if there are PEs or partitions that only the slow path reaches.
    whole: UnsafeCell<usize>,
    /// The span of PEs that have a mirror: `slot`, or less.
    reach: UnsafeCell<usize>,
    /// `slot`, but 0 also while copies take the slow path.
    copies: UnsafeCell<usize>,
    /// `slot` for the PEs that have a mirror here and may be reached without further ado, else 0.
    span: [AtomicUsize; MAX_PES],
    /// As `span`, for [`pointer`]: up to where no foreign memory lies in between.
    pointer_span: [AtomicUsize; MAX_PES],
    /// As `span`, for [`translate_copy`].
    copy_span: [AtomicUsize; MAX_PES],
    /// Where their mirrors are.
    base: [AtomicUsize; MAX_PES],
    /// How contexts number PEs. Here, so that the hot path computes one address for both.
    pub contexts: Numberings,
}

// SAFETY: `span` and `base` are atomic. The other fields are written by `publish` and
// `retire` only, which run inside initialisation and finalisation; the
// specification forbids communication concurrent with those, and a thread that
// communicates later has learned of the initialisation from the thread that did it.
unsafe impl Sync for Table {}

/// The one table of this process.
pub static TABLE: Table = Table {
    origin: UnsafeCell::new(0),
    slot: UnsafeCell::new(0),
    npes: UnsafeCell::new(0),
    upper: UnsafeCell::new(0),
    lower_end: UnsafeCell::new(0),
    upper_piece: UnsafeCell::new(0),
    lower_piece_end: UnsafeCell::new(0),
    pieces: UnsafeCell::new(Vec::new()),
    unmixed: UnsafeCell::new(0),
    whole: UnsafeCell::new(0),
    reach: UnsafeCell::new(0),
    copies: UnsafeCell::new(0),
    span: [const { AtomicUsize::new(0) }; MAX_PES],
    pointer_span: [const { AtomicUsize::new(0) }; MAX_PES],
    copy_span: [const { AtomicUsize::new(0) }; MAX_PES],
    base: [const { AtomicUsize::new(0) }; MAX_PES],
    contexts: Numberings::new(),
};

impl Table {
    #[inline(always)]
    fn origin(&self) -> usize {
        // SAFETY: written only while no operation runs (see `Sync` above).
        unsafe { *self.origin.get() }
    }
    #[inline(always)]
    fn slot(&self) -> usize {
        // SAFETY: as for `origin`.
        unsafe { *self.slot.get() }
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
        self.slot() != 0
    }
    /// Whether it may, and carries them out for every PE.
    #[inline(always)]
    pub fn is_whole(&self) -> bool {
        // SAFETY: as for `origin`.
        unsafe { *self.whole.get() != 0 }
    }
    /// Whether what an operation reads or writes by a pointer of the caller's own is surely the
    /// processor's memory.
    #[inline(always)]
    pub fn copies_open(&self) -> bool {
        // SAFETY: as for `origin`.
        unsafe { *self.copies.get() != 0 }
    }
    /// Whether `pe` is a number that the hot path can look up.
    #[inline(always)]
    pub fn knows(&self, pe: PeArg) -> bool {
        pe < MAX_PES
    }
    /// Whether an address is in the slot's upper piece, or its lower one: exact,
    /// unlike the hot path's one comparison, which lets the hole between them pass
    /// (an access there faults and is explained).
    #[inline(always)]
    pub fn surely_symmetric(&self, addr: usize) -> bool {
        let offset = addr.wrapping_sub(self.origin());
        // SAFETY: as for `origin`.
        let (upper, lower_end) = unsafe { (*self.upper_piece.get(), *self.lower_piece_end.get()) };
        offset < self.slot() && (offset < lower_end || offset >= upper)
    }
    /// How many bytes from an address on are in the same piece of the slot: in the data segment, or
    /// in the heap. 0 if the address is in neither, if there are partitions, or while copies
    /// take the slow path.
    #[inline(always)]
    pub fn room(&self, addr: usize) -> usize {
        let offset = addr.wrapping_sub(self.origin());
        // SAFETY: as for `origin`.
        let (upper, lower_end) = unsafe { (*self.upper.get(), *self.lower_end.get()) };
        let end = if offset < upper { lower_end } else { self.slot() };
        end.saturating_sub(offset)
    }
    /// Whether so many bytes from an address on are in one piece, where there are partitions.
    pub fn is_in_a_piece(&self, addr: usize, bytes: usize) -> bool {
        // SAFETY: as for `origin`.
        let pieces = unsafe { &*self.pieces.get() };
        pieces.iter().any(|piece| piece.contains(&addr) && bytes <= piece.end - addr)
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

    /// Prepares the hot path for a job of `npes` PEs, of which some are on other nodes unless it is
    /// `whole`; nobody has a mirror yet.
    pub(crate) fn publish(&self, bounds: &SlotBounds, npes: usize, whole: bool) {
        assert!(npes <= MAX_PES && bounds.lower.end <= bounds.upper.start);
        let origin = bounds.lower.start;
        // SAFETY: called from initialisation, when nothing else reads the table.
        unsafe {
            *self.origin.get() = origin;
            *self.upper.get() = bounds.upper.start - origin;
            *self.lower_end.get() = bounds.lower.end - origin;
            *self.upper_piece.get() = bounds.upper.start - origin;
            *self.lower_piece_end.get() = bounds.lower.end - origin;
            *self.pieces.get() = bounds.pieces();
            // With partitions, no address has room here.
            if !bounds.partitions.is_empty() {
                *self.upper.get() = usize::MAX;
                *self.lower_end.get() = 0;
            }
            *self.unmixed.get() = match bounds.hole_is_program {
                true => bounds.upper.end - origin,
                false => bounds.lower.end - origin,
            };
            *self.npes.get() = npes;
            *self.slot.get() = bounds.upper.end - origin;
            *self.whole.get() = if whole { *self.slot.get() } else { 0 };
            *self.reach.get() = *self.slot.get();
            *self.copies.get() = *self.slot.get();
        }
    }

    /// Keeps the hot path of a job just published closed, so that every operation takes
    /// the slow one.
    pub(crate) fn divert(&self) {
        // SAFETY: called from initialisation, when nothing else reads the table.
        unsafe {
            *self.slot.get() = 0;
            *self.whole.get() = 0;
            *self.copies.get() = 0;
        }
    }

    /// Sends the operations of a job just published that have a second pointer, which may be
    /// to a device's memory, down the slow path, and quiet with them. At the given addresses are
    /// partitions on devices.
    pub(crate) fn divert_copies(&self, devices: &[Range<usize>]) {
        let slot = self.origin()..self.origin() + self.slot();
        let is_in_slot = |range: &Range<usize>| range.start < slot.end && slot.start < range.end;
        // SAFETY: called from initialisation, when nothing else reads the table.
        unsafe {
            // In the hole between the slot's pieces they would be taken for symmetric memory.
            if devices.iter().any(is_in_slot) {
                *self.reach.get() = *self.unmixed.get();
            }
            *self.whole.get() = 0;
            *self.copies.get() = 0;
            *self.upper.get() = usize::MAX;
            *self.lower_end.get() = 0;
            let (upper, lower_end) = (*self.upper_piece.get(), *self.lower_piece_end.get());
            let pieces = &mut *self.pieces.get();
            if pieces.is_empty() {
                pieces.push(slot.start..slot.start + lower_end);
                pieces.push(slot.start + upper..slot.end);
            }
        }
    }

    /// Says that PE `pe`'s mirror of the slot starts at `address`.
    pub(crate) fn set_mirror(&self, pe: usize, address: usize) {
        if !self.open() {
            return;
        }
        let (origin, slot) = (self.origin(), self.slot());
        // SAFETY: as for `origin`.
        let (unmixed, copies, reach) =
            unsafe { (*self.unmixed.get(), *self.copies.get(), *self.reach.get()) };
        self.base[pe].store(address, Ordering::Relaxed);
        // Release: who finds a span uses the base, and the mapping.
        self.pointer_span[pe].store(unmixed, Ordering::Release);
        self.copy_span[pe].store(copies, Ordering::Release);
        self.span[pe].store(reach, Ordering::Release);
        // What is compiled into programs does not tell copies from other operations.
        if copies != 0 {
            INLINE_TABLE.set(pe, origin..origin + slot, origin + unmixed, address);
        }
    }

    /// Closes the hot path; every later operation takes the slow path.
    pub(crate) fn retire(&self) {
        let npes = self.npes();
        for spans in [&self.span, &self.pointer_span, &self.copy_span] {
            spans[..npes].iter().for_each(|span| span.store(0, Ordering::Relaxed));
        }
        INLINE_TABLE.clear(npes);
        // SAFETY: called from finalisation, when nothing else reads the table.
        unsafe {
            *self.slot.get() = 0;
            *self.whole.get() = 0;
            *self.copies.get() = 0;
            *self.pieces.get() = Vec::new();
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
    translate_within(&TABLE.span, ctx, addr, pe, hot, cold)
}

/// As [`translate`], for operations that also read or write by a pointer of the caller's own: where
/// that may be a device's memory, they take the slow path.
#[inline(always)]
pub fn translate_copy<C: Numbering, R>(
    ctx: C,
    addr: usize,
    pe: PeArg,
    hot: impl FnOnce(usize) -> R,
    cold: impl Cold<R>,
) -> R {
    translate_within(&TABLE.copy_span, ctx, addr, pe, hot, cold)
}

/// As [`translate`], for a pointer that is handed out and not used at once, so that
/// no fault would tell of an address in the hole between the slot's pieces: `hot`
/// is for addresses that are surely not foreign memory.
#[inline(always)]
pub fn pointer<R>(addr: usize, pe: PeArg, hot: impl FnOnce(usize) -> R, cold: impl Cold<R>) -> R {
    translate_within(&TABLE.pointer_span, super::Default, addr, pe, hot, cold)
}

#[inline(always)]
fn translate_within<C: Numbering, R>(
    spans: &'static [AtomicUsize; MAX_PES],
    ctx: C,
    addr: usize,
    pe: PeArg,
    hot: impl FnOnce(usize) -> R,
    cold: impl Cold<R>,
) -> R {
    let offset = addr.wrapping_sub(TABLE.origin());
    let cold = &cold;
    ctx.world(
        pe,
        |pe| {
            // SAFETY: `world` continues here only with a number that the table knows.
            let (span, base) = unsafe { (spans.get_unchecked(pe), TABLE.base.get_unchecked(pe)) };
            // Acquire: the base comes before the span, by whichever thread.
            if offset >= span.load(Ordering::Acquire) {
                cold_path();
                return cold.miss(Miss(offset));
            }
            hot(offset.wrapping_add(base.load(Ordering::Relaxed)))
        },
        || {
            cold_path();
            cold.miss(Miss(offset))
        },
    )
}
