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
use super::settled::Settled;
use super::{Cold, INLINE_TABLE, Mirrored, Miss, Numbering, PeArg, cold_path};
use crate::atomics::{AtomicUsize, Ordering};
use onenode_core::arch;
use onenode_core::layout::SlotBounds;
use oneshmem_job::jobfile::MAX_PES;
use std::ops::Range;

/// Whether the hot path stays closed until every PE is attached. Not here: each PE has its own
/// entry.
pub const ALL_OR_NONE: bool = false;

/// The table's entry for each PE.
#[derive(Clone, Copy)]
enum Column {
    /// `Slot::bytes` for PEs that have a mirror here and are open to the hot path, otherwise 0.
    Span,
    /// Where their mirrors are.
    Base,
    /// As `Span`, for [`translate_copy`].
    CopySpan,
}

/// How many there are, and one more: a row's address takes one shift then.
const COLUMNS: usize = 4;

/// Where in the table a PE's entry is: by columns or by PEs, whichever takes the fewest instructions.
#[inline(always)]
const fn entry(column: Column, pe: usize) -> usize {
    let column = column as usize;
    if arch::REACHES_NEXT_WORDS { pe * COLUMNS + column } else { column * MAX_PES + pe }
}

/// The words that the hot path reads. A PE's entries are written at its first use.
#[repr(C)]
pub struct TranslationTable {
    /// The entries of each PE: see [`entry`]. First, so that their address takes no addition.
    entries: [AtomicUsize; COLUMNS * MAX_PES],
    /// How contexts number PEs. Part of this table so that the hot path computes one address for
    /// both.
    pub contexts: Numberings,
    slot: Settled<Slot>,
}

/// This PE's slot. Written by `shmem_init` and `shmem_finalize`.
struct Slot {
    /// First address.
    origin: usize,
    /// Size; 0 while the library is not initialised, or diverted.
    bytes: usize,
    /// Number of PEs of the job.
    npes: usize,
    /// First offset of the last piece: the heap or the data segment.
    last: usize,
    /// First offset past the first piece: the heap, the data segment or a partition.
    first_end: usize,
    /// The offsets of all pieces, in order: with partitions, there are others between these two.
    pieces: Vec<Range<usize>>,
    /// As `last` and `first_end`, if the partitions belong to the heap's piece.
    upper: usize,
    lower_end: usize,
    /// Whether nothing of this process lies below.
    is_lowest: bool,
    /// As `bytes`, but also 0 if there are PEs or partitions that only the slow path can access.
    whole: usize,
    /// The span of PEs that have a mirror: `bytes`, or less.
    reach: usize,
    /// `lower_end`, if the heap is in that piece, otherwise 0.
    heap_end: usize,
    /// As `bytes`, but also 0 while copies take the slow path.
    copies: usize,
}

impl Slot {
    /// The slot while the library is not initialised.
    const NONE: Self = Self {
        origin: 0,
        bytes: 0,
        npes: 0,
        last: 0,
        first_end: 0,
        pieces: Vec::new(),
        upper: 0,
        lower_end: 0,
        is_lowest: false,
        whole: 0,
        reach: 0,
        heap_end: 0,
        copies: 0,
    };
}

/// The table of this process.
pub static TABLE: TranslationTable = TranslationTable {
    entries: [const { AtomicUsize::new(0) }; COLUMNS * MAX_PES],
    contexts: Numberings::new(),
    slot: Settled::new(Slot::NONE),
};

impl TranslationTable {
    #[inline(always)]
    fn origin(&self) -> usize {
        self.slot.get().origin
    }
    /// Number of PEs of the job, 0 before initialisation.
    #[inline(always)]
    pub fn npes(&self) -> usize {
        self.slot.get().npes
    }
    /// Whether operations are possible now.
    #[inline(always)]
    pub fn ready(&self) -> bool {
        self.npes() != 0
    }
    /// Whether the hot path is open: the library is initialised, and operations are not diverted.
    #[inline(always)]
    pub fn open(&self) -> bool {
        self.slot.get().bytes != 0
    }
    /// Whether the hot path is open for every PE.
    #[inline(always)]
    pub fn is_whole(&self) -> bool {
        self.slot.get().whole != 0
    }
    /// Whether the caller's own pointer in an operation is sure to refer to the processor's memory.
    #[inline(always)]
    pub fn copies_open(&self) -> bool {
        self.slot.get().copies != 0
    }
    /// Whether `pe` is a number that the hot path can look up.
    #[inline(always)]
    pub fn knows(&self, pe: PeArg) -> bool {
        pe < MAX_PES
    }
    /// Whether an address is in the slot's upper or lower piece. This is exact, unlike the hot
    /// path's one comparison, which accepts the hole between them (an access there faults and is
    /// refused then).
    #[inline(always)]
    pub fn surely_symmetric(&self, addr: usize) -> bool {
        let slot = self.slot.get();
        let offset = addr.wrapping_sub(slot.origin);
        offset < slot.bytes && (offset < slot.lower_end || offset >= slot.upper)
    }
    /// How many bytes from an address on are in the same piece of the slot, if that is the first
    /// or the last one: without partitions, the data segment or the heap. Otherwise 0.
    #[inline(always)]
    fn room(&self, addr: usize) -> usize {
        let slot = self.slot.get();
        let offset = addr.wrapping_sub(slot.origin);
        let end = if offset < slot.last { slot.first_end } else { slot.bytes };
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
        let slot = self.slot.get();
        let offset = addr.wrapping_sub(slot.origin);
        // The hot path must not keep anything for this in registers that it would have to save: so
        // the slot's size is read again, and there is no iterator.
        // SAFETY: a slot has at least two pieces. The offset is in it, and it ends with the last
        // piece, so the search ends there or earlier.
        unsafe {
            if offset >= (&raw const slot.bytes).read_volatile() {
                return false;
            }
            let mut piece = slot.pieces.as_ptr().add(1);
            while offset >= (*piece).end {
                piece = piece.add(1);
            }
            offset >= (*piece).start && bytes <= (*piece).end - offset
        }
    }

    /// The table's entries for a PE in two columns.
    ///
    /// # Safety
    /// The table [knows](Self::knows) the number.
    #[inline(always)]
    unsafe fn at(&self, pe: usize, columns: [Column; 2]) -> [&AtomicUsize; 2] {
        if !arch::REACHES_NEXT_WORDS {
            // SAFETY: the caller's promise.
            return columns.map(|it| unsafe { self.entries.get_unchecked(entry(it, pe)) });
        }
        // One address for both: LLVM 19 computes one for each otherwise.
        // SAFETY: a PE's entries are next to each other, as `entry` has it, and the table has as many
        // such rows as it knows numbers.
        let row = unsafe { &*self.entries.as_ptr().cast::<[AtomicUsize; COLUMNS]>().add(pe) };
        columns.map(|column| &row[column as usize])
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
        let lower_end = bounds.lower.end - origin;
        let bytes = bounds.upper.end - origin;
        let published = Slot {
            origin,
            bytes,
            npes,
            last: last.start - origin,
            first_end: first.end - origin,
            pieces: pieces.iter().map(offsets).collect(),
            upper: bounds.upper.start - origin,
            lower_end,
            is_lowest: bounds.is_lowest,
            whole: if whole { bytes } else { 0 },
            reach: bytes,
            heap_end: if bounds.lower.contains(&bounds.heap) { lower_end } else { 0 },
            copies: bytes,
        };
        self.change(|slot| *slot = published);
    }

    /// Changes the slot. Only the four functions beside this one do.
    fn change(&self, change: impl FnOnce(&mut Slot)) {
        // SAFETY: they run inside initialisation and finalisation. The specification forbids
        // communication concurrent with those, and a thread that communicates later has learned of
        // the initialisation from the thread that did it. `change` gets all that it reads.
        unsafe { self.slot.change(change) };
    }

    /// Keeps the hot path of a newly published job closed, so that every operation takes the slow
    /// path.
    pub(crate) fn divert(&self) {
        self.change(|slot| (slot.bytes, slot.whole, slot.copies) = (0, 0, 0));
    }

    /// For a newly published job, sends quiet to the slow path, and operations with a second
    /// pointer, which may be to a device's memory. The given ranges are partitions on devices.
    pub(crate) fn divert_copies(&self, devices: &[Range<usize>]) {
        self.change(|slot| {
            let end = slot.origin + slot.bytes;
            // In the hole between the slot's pieces, such a partition would be taken for symmetric
            // memory.
            if devices.iter().any(|range| range.start < end && slot.origin < range.end) {
                slot.reach = slot.lower_end;
            }
            (slot.whole, slot.copies) = (0, 0);
        });
    }

    /// Sets the start of PE `pe`'s mirror of the slot to `address`.
    pub(crate) fn set_mirror(&self, pe: usize, address: usize, mirrored: Mirrored) {
        if !self.open() {
            return;
        }
        let slot = self.slot.get();
        let spans = [slot.copies, slot.reach, slot.bytes];
        let [copies, reach, bytes] = match mirrored {
            Mirrored::All => spans,
            Mirrored::HeapOnly => spans.map(|span| span.min(slot.heap_end)),
        };
        let set = |column, value, order| self.entries[entry(column, pe)].store(value, order);
        set(Column::Base, address, Ordering::Relaxed);
        // Release: a reader that sees a span uses the base, and the mapping.
        set(Column::CopySpan, copies, Ordering::Release);
        set(Column::Span, reach, Ordering::Release);
        // Code compiled into programs does not distinguish copies from other operations.
        if copies != 0 {
            let range = slot.origin..slot.origin + bytes;
            let pointer_limit = if slot.is_lowest { slot.origin + slot.lower_end } else { 0 };
            INLINE_TABLE.set(pe, range, pointer_limit, address);
        }
    }

    /// Closes the hot path; every later operation takes the slow path.
    pub(crate) fn retire(&self) {
        let npes = self.npes();
        for column in [Column::Span, Column::CopySpan] {
            (0..npes).for_each(|pe| self.entries[entry(column, pe)].store(0, Ordering::Relaxed));
        }
        INLINE_TABLE.clear(npes);
        // The origin stays: misses are told by their offsets from it.
        self.change(|slot| *slot = Slot { origin: slot.origin, ..Slot::NONE });
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
    translate_within(Column::Span, ctx, addr, pe, hot, cold)
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
    translate_within(Column::CopySpan, ctx, addr, pe, hot, cold)
}

/// As [`translate`], for a pointer that is returned and not used at once, so that no fault would
/// reveal an address in the hole between the slot's pieces: `hot` is only for those in a piece.
#[inline(always)]
pub fn pointer<R>(addr: usize, pe: PeArg, hot: impl FnOnce(usize) -> R, cold: impl Cold<R>) -> R {
    let offset = addr.wrapping_sub(TABLE.origin());
    if TABLE.knows(pe) {
        // SAFETY: the table knows the number.
        let [span, base] = unsafe { TABLE.at(pe, [Column::Span, Column::Base]) };
        let (slot, target) =
            (TABLE.slot.get(), || offset.wrapping_add(base.load(Ordering::Relaxed)));
        // Acquire: as in `translate_within`.
        if offset < span.load(Ordering::Acquire) {
            if offset < slot.lower_end {
                return hot(target());
            }
            if offset >= slot.upper {
                return hot(target());
            }
        }
    }
    cold_path();
    cold.miss(Miss(offset))
}

#[inline(always)]
fn translate_within<C: Numbering, R>(
    span: Column,
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
            let [span, base] = unsafe { TABLE.at(pe, [span, Column::Base]) };
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
