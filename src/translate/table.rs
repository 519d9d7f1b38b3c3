//! Translation through a table: a peer's mirror may lie anywhere.
//!
//! ```text
//!  own slot                          mirror of PE pe
//!  |-[data]-..hole..-[heap]-|        |-[data']-..hole..-[heap']-|
//!  ^origin                            ^base[pe]
//!  <------- span[pe] ------->
//! ```
//!
//! `target = (addr - origin) + base[pe]`, if the offset is below `span[pe]`: the slot's size for a
//! PE that has a mirror here, otherwise 0. So one comparison checks the address, the library's
//! state, the peer's state, and every PE number of the table; another one, with a constant, rejects
//! numbers beyond it. Of a PE that runs another executable only the heap's piece has a mirror: if
//! that is the first, the span ends with it, otherwise it is 0, and the slow path finds the heap.
#![allow(unsafe_code)]

use super::numberings::Numberings;
use super::{Cold, INLINE_TABLE, Mirrored, Miss, Numbering, PeArg, cold_path};
use crate::atomics::{AtomicUsize, Ordering};
use onenode_core::layout::SlotBounds;
use std::cell::UnsafeCell;
use std::ops::Range;

/// The most PEs of a job, which is the size of the tables (32 bytes per PE).
pub const MAX_PES: usize = 4096;

/// Whether the hot path stays closed until every PE is attached. Not here: each PE has its own
/// entry.
pub const ALL_OR_NONE: bool = false;

/// What the hot path reads. Written by `shmem_init` and `shmem_finalize`; a PE's entries are
/// written at its first use.
pub struct TranslationTable {
    /// First address of this PE's slot.
    origin: UnsafeCell<usize>,
    /// Slot size; 0 while the library is not initialised, or diverted.
    slot: UnsafeCell<usize>,
    /// Number of PEs of the job.
    npes: UnsafeCell<usize>,
    /// First offset of the slot's last piece: the heap or the data segment.
    last: UnsafeCell<usize>,
    /// First offset past the slot's first piece: the heap, the data segment or a partition.
    first_end: UnsafeCell<usize>,
    /// The offsets of all pieces, in order: with partitions, there are others between these two.
    pieces: UnsafeCell<Vec<Range<usize>>>,
    /// As `last` and `first_end`, if the partitions belong to the heap's piece.
    upper: UnsafeCell<usize>,
    lower_end: UnsafeCell<usize>,
    /// End of the slot's first part, up to which there is no foreign memory.
    unmixed: UnsafeCell<usize>,
    /// As `slot`, but also 0 if there are PEs or partitions that only the slow path can access.
    whole: UnsafeCell<usize>,
    /// The span of PEs that have a mirror: `slot`, or less.
    reach: UnsafeCell<usize>,
    /// `lower_end`, if the heap is in that piece, otherwise 0.
    heap_end: UnsafeCell<usize>,
    /// As `slot`, but also 0 while copies take the slow path.
    copies: UnsafeCell<usize>,
    /// `slot` for PEs that have a mirror here and are open to the hot path, otherwise 0.
    span: [AtomicUsize; MAX_PES],
    /// As `span`, for [`pointer`]: ends below any foreign memory.
    pointer_span: [AtomicUsize; MAX_PES],
    /// As `span`, for [`translate_copy`].
    copy_span: [AtomicUsize; MAX_PES],
    /// Where their mirrors are.
    base: [AtomicUsize; MAX_PES],
    /// How contexts number PEs. Part of this table so that the hot path computes one address for
    /// both.
    pub contexts: Numberings,
}

// SAFETY: `span` and `base` are atomic. Only `publish` and `retire` write the other fields, and
// they run inside initialisation and finalisation. The specification forbids communication
// concurrent with those, and a thread that communicates later has learned of the initialisation
// from the thread that did it.
unsafe impl Sync for TranslationTable {}

/// The table of this process.
pub static TABLE: TranslationTable = TranslationTable {
    origin: UnsafeCell::new(0),
    slot: UnsafeCell::new(0),
    npes: UnsafeCell::new(0),
    last: UnsafeCell::new(0),
    first_end: UnsafeCell::new(0),
    pieces: UnsafeCell::new(Vec::new()),
    upper: UnsafeCell::new(0),
    lower_end: UnsafeCell::new(0),
    unmixed: UnsafeCell::new(0),
    whole: UnsafeCell::new(0),
    reach: UnsafeCell::new(0),
    heap_end: UnsafeCell::new(0),
    copies: UnsafeCell::new(0),
    span: [const { AtomicUsize::new(0) }; MAX_PES],
    pointer_span: [const { AtomicUsize::new(0) }; MAX_PES],
    copy_span: [const { AtomicUsize::new(0) }; MAX_PES],
    base: [const { AtomicUsize::new(0) }; MAX_PES],
    contexts: Numberings::new(),
};

impl TranslationTable {
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
    /// Whether the hot path is open: the library is initialised, and operations are not diverted.
    #[inline(always)]
    pub fn open(&self) -> bool {
        self.slot() != 0
    }
    /// Whether the hot path is open for every PE.
    #[inline(always)]
    pub fn is_whole(&self) -> bool {
        // SAFETY: as for `origin`.
        unsafe { *self.whole.get() != 0 }
    }
    /// Whether the caller's own pointer in an operation is sure to refer to the processor's memory.
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
    /// Whether an address is in the slot's upper or lower piece. This is exact, unlike the hot
    /// path's one comparison, which accepts the hole between them (an access there faults and is
    /// explained).
    #[inline(always)]
    pub fn surely_symmetric(&self, addr: usize) -> bool {
        let offset = addr.wrapping_sub(self.origin());
        // SAFETY: as for `origin`.
        let (upper, lower_end) = unsafe { (*self.upper.get(), *self.lower_end.get()) };
        offset < self.slot() && (offset < lower_end || offset >= upper)
    }
    /// How many bytes from an address on are in the same piece of the slot, if that is the first
    /// or the last one: without partitions, the data segment or the heap. Otherwise 0.
    #[inline(always)]
    fn room(&self, addr: usize) -> usize {
        let offset = addr.wrapping_sub(self.origin());
        // SAFETY: as for `origin`.
        let (last, first_end) = unsafe { (*self.last.get(), *self.first_end.get()) };
        let end = if offset < last { first_end } else { self.slot() };
        end.saturating_sub(offset)
    }
    /// Whether `bytes` bytes from an address on, at least one, are in the same piece of the slot.
    #[inline(always)]
    pub fn has_room(&self, addr: usize, bytes: usize) -> bool {
        bytes <= self.room(addr) || self.is_in_a_piece(addr, bytes)
    }
    /// As [`has_room`](Self::has_room), for all pieces but the first, in which `room` is exact.
    #[inline(always)]
    fn is_in_a_piece(&self, addr: usize, bytes: usize) -> bool {
        cold_path();
        let offset = addr.wrapping_sub(self.origin());
        // The hot path must not keep anything for this in registers that it would have to save: so
        // the slot's size is read again, and there is no iterator.
        // SAFETY: as for `origin`. A slot has at least two pieces. The offset is in it, and it ends
        // with the last piece, so the search ends there or earlier.
        unsafe {
            if offset >= self.slot.get().read_volatile() {
                return false;
            }
            let mut piece = (*self.pieces.get()).as_ptr().add(1);
            while offset >= (*piece).end {
                piece = piece.add(1);
            }
            offset >= (*piece).start && bytes <= (*piece).end - offset
        }
    }
    /// The address of an offset that [`translate`] handed to `cold`.
    #[inline(always)]
    pub fn address(&self, miss: Miss) -> usize {
        miss.0.wrapping_add(self.origin())
    }

    /// The offset of any address, in the form that [`translate`] hands to `cold`.
    #[inline(always)]
    pub fn miss(&self, address: usize) -> Miss {
        Miss(address.wrapping_sub(self.origin()))
    }

    /// Prepares the hot path for a job of `npes` PEs. Unless the job is `whole`, some of them are
    /// on other nodes. No PE has a mirror yet.
    pub(crate) fn publish(&self, bounds: &SlotBounds, npes: usize, whole: bool) {
        assert!(npes <= MAX_PES && bounds.lower.end <= bounds.upper.start);
        let origin = bounds.lower.start;
        let pieces = bounds.pieces();
        let [first, .., last] = &pieces[..] else {
            unreachable!("a slot has a data segment and a heap");
        };
        let offsets = |piece: &Range<usize>| piece.start - origin..piece.end - origin;
        // SAFETY: called from initialisation, when nothing else reads the table.
        unsafe {
            *self.origin.get() = origin;
            *self.last.get() = last.start - origin;
            *self.first_end.get() = first.end - origin;
            *self.pieces.get() = pieces.iter().map(offsets).collect();
            *self.upper.get() = bounds.upper.start - origin;
            *self.lower_end.get() = bounds.lower.end - origin;
            *self.unmixed.get() = match bounds.hole_is_program {
                true => bounds.upper.end - origin,
                false => bounds.lower.end - origin,
            };
            *self.npes.get() = npes;
            *self.slot.get() = bounds.upper.end - origin;
            *self.whole.get() = if whole { *self.slot.get() } else { 0 };
            *self.reach.get() = *self.slot.get();
            *self.heap_end.get() = match bounds.lower.contains(&bounds.heap) {
                true => *self.lower_end.get(),
                false => 0,
            };
            *self.copies.get() = *self.slot.get();
        }
    }

    /// Keeps the hot path of a newly published job closed, so that every operation takes the slow
    /// path.
    pub(crate) fn divert(&self) {
        // SAFETY: called from initialisation, when nothing else reads the table.
        unsafe {
            *self.slot.get() = 0;
            *self.whole.get() = 0;
            *self.copies.get() = 0;
        }
    }

    /// For a newly published job, sends quiet to the slow path, and operations with a second
    /// pointer, which may be to a device's memory. The given ranges are partitions on devices.
    pub(crate) fn divert_copies(&self, devices: &[Range<usize>]) {
        let slot = self.origin()..self.origin() + self.slot();
        let is_in_slot = |range: &Range<usize>| range.start < slot.end && slot.start < range.end;
        // SAFETY: called from initialisation, when nothing else reads the table.
        unsafe {
            // In the hole between the slot's pieces, such a partition would be taken for symmetric
            // memory.
            if devices.iter().any(is_in_slot) {
                *self.reach.get() = *self.unmixed.get();
            }
            *self.whole.get() = 0;
            *self.copies.get() = 0;
        }
    }

    /// Sets the start of PE `pe`'s mirror of the slot to `address`.
    pub(crate) fn set_mirror(&self, pe: usize, address: usize, mirrored: Mirrored) {
        if !self.open() {
            return;
        }
        let origin = self.origin();
        // SAFETY: as for `origin`.
        let (spans, heap_end) = unsafe {
            let spans = [&self.unmixed, &self.copies, &self.reach, &self.slot];
            (spans.map(|span| *span.get()), *self.heap_end.get())
        };
        let [unmixed, copies, reach, slot] = match mirrored {
            Mirrored::All => spans,
            Mirrored::HeapOnly => spans.map(|span| span.min(heap_end)),
        };
        self.base[pe].store(address, Ordering::Relaxed);
        // Release: a reader that sees a span uses the base, and the mapping.
        self.pointer_span[pe].store(unmixed, Ordering::Release);
        self.copy_span[pe].store(copies, Ordering::Release);
        self.span[pe].store(reach, Ordering::Release);
        // Code compiled into programs does not distinguish copies from other operations.
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

/// Translates `addr` (symmetric on this PE) for PE `pe` of `ctx`. Continues with `hot(target)`, or
/// with `cold(miss)` outside the common case.
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

/// As [`translate`], for operations that also read or write through a pointer of the caller's own:
/// if that may be to a device's memory, they take the slow path.
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

/// As [`translate`], for a pointer that is returned and not used at once, so that no fault would
/// reveal an address in the hole between the slot's pieces. `hot` is only for addresses below any
/// foreign memory.
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
            // Acquire: the base was written before the span, whichever thread wrote them.
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
