//! Translation by the bits of the address, in the memory layout of SMARTMAP: all of a PE's memory
//! lies below 512 GiB, and PE `pe`'s copy of an address is that address plus `(pe + 1) << 39`. No
//! table, no load.
//!
//! ```text
//!  slot 0: own memory         slot 1: PE 0          slot 2: PE 1
//!  |-[data]-[heap]-----|      |-[data]-[heap]-----| |-[data]-[heap]-----| ...
//!  0                end       1 << 39               2 << 39
//! ```
//!
//! The hot path cannot tell whether a peer is attached, so it stays closed (`end` is 0) until all
//! are.
#![allow(unsafe_code)]

use super::numberings::Numberings;
use super::settled::Settled;
use super::{Cold, INLINE_TABLE, Mirrored, Miss, Numbering, PeArg, cold_path};
use crate::atomics::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use onenode_core::layout::SlotBounds;
use oneshmem_job::jobfile::MAX_PES;
use oneshmem_kitten::addressing::{FIRST_SLOT, SHIFT};
use std::ops::Range;

/// Whether the hot path stays closed until every PE is attached.
pub const ALL_OR_NONE: bool = true;

/// The words that the hot path reads, and the state that decides when it opens.
pub struct TranslationTable {
    /// First address past the slot; 0 until all PEs are attached, and while diverted.
    end: AtomicUsize,
    slot: Settled<Slot>,
    /// This PE's number.
    own: AtomicUsize,
    /// The PEs that are attached, one bit each.
    attached: [AtomicU64; MAX_PES.div_ceil(64)],
    /// Whether operations may take the hot path once all PEs are attached: a job exists, and
    /// operations are not diverted.
    open: AtomicBool,
    /// How contexts number PEs.
    pub contexts: Numberings,
}

/// This PE's slot. Written by `shmem_init` and `shmem_finalize`.
struct Slot {
    /// Number of PEs of the job, 0 while the library is not initialised.
    npes: usize,
    /// The pieces: start and bytes of each, 0 bytes while not initialised.
    lower: (usize, usize),
    upper: (usize, usize),
    /// Where the heap starts in its piece, behind the partitions.
    heap: usize,
    /// The partitions.
    partitions: Vec<Range<usize>>,
}

impl Slot {
    /// The slot while the library is not initialised.
    const NONE: Self =
        Self { npes: 0, lower: (0, 0), upper: (0, 0), heap: 0, partitions: Vec::new() };
}

/// The table of this process.
pub static TABLE: TranslationTable = TranslationTable {
    end: AtomicUsize::new(0),
    slot: Settled::new(Slot::NONE),
    own: AtomicUsize::new(0),
    attached: [const { AtomicU64::new(0) }; MAX_PES.div_ceil(64)],
    open: AtomicBool::new(false),
    contexts: Numberings::new(),
};

impl TranslationTable {
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
    /// Whether operations are possible, and not diverted to the slow path.
    #[inline(always)]
    pub fn open(&self) -> bool {
        self.open.load(Ordering::Relaxed)
    }
    /// Whether operations are possible for every PE: all are on this node.
    #[inline(always)]
    pub fn is_whole(&self) -> bool {
        self.open()
    }
    /// Whether the caller's own pointer in an operation is sure to refer to the processor's memory.
    #[inline(always)]
    pub fn copies_open(&self) -> bool {
        self.open()
    }
    /// Whether `pe` is a number that the hot path can look up.
    #[inline(always)]
    pub fn knows(&self, pe: PeArg) -> bool {
        pe < self.npes()
    }
    /// Whether an address is in one of the slot's pieces. This is exact, unlike the hot path's one
    /// comparison, which accepts every address below the slot's end (an access outside the pieces
    /// faults and is refused then).
    #[inline(always)]
    pub fn surely_symmetric(&self, addr: usize) -> bool {
        let Slot { lower, upper, .. } = self.slot.get();
        addr.wrapping_sub(lower.0) < lower.1 || addr.wrapping_sub(upper.0) < upper.1
    }
    /// How many bytes from an address on are in the same piece of the slot: the data segment, or
    /// the heap. 0 if the address is in neither.
    #[inline(always)]
    fn room(&self, addr: usize) -> usize {
        let Slot { lower, upper, heap, .. } = *self.slot.get();
        let (start, bytes) = if addr < heap { lower } else { upper };
        if addr < start { 0 } else { bytes.saturating_sub(addr - start) }
    }
    /// Whether `bytes` bytes from an address on, at least one, are in the same piece of the slot.
    #[inline(always)]
    pub fn has_room(&self, addr: usize, bytes: usize) -> bool {
        bytes <= self.room(addr) || self.is_in_a_piece(addr, bytes)
    }
    /// As [`has_room`](Self::has_room), for partitions.
    #[inline(always)]
    fn is_in_a_piece(&self, addr: usize, bytes: usize) -> bool {
        cold_path();
        let found = self.slot.get().partitions.iter().find(|piece| addr < piece.end);
        found.is_some_and(|piece| addr >= piece.start && bytes <= piece.end - addr)
    }
    /// The address that [`translate`] handed to `cold`.
    #[inline(always)]
    pub fn address(&self, miss: Miss) -> usize {
        miss.0
    }
    /// Any address, in the form that [`translate`] hands to `cold`.
    #[inline(always)]
    pub fn miss(&self, address: usize) -> Miss {
        Miss(address)
    }

    /// Prepares for a job of `npes` PEs. The hot path opens when all have a mirror, so all must be
    /// on this node.
    pub(crate) fn publish(&self, bounds: &SlotBounds, npes: usize, whole: bool) {
        assert!(whole, "aliases are of one node");
        assert!(npes <= MAX_PES && bounds.lower.end <= bounds.upper.start);
        assert!(bounds.upper.end <= 1 << SHIFT, "the slot lies below the first alias");
        for bits in &self.attached {
            bits.store(0, Ordering::Relaxed);
        }
        self.change(Slot {
            npes,
            lower: (bounds.lower.start, bounds.lower.len()),
            upper: (bounds.upper.start, bounds.upper.len()),
            heap: bounds.heap.max(bounds.upper.start),
            partitions: bounds.partitions.clone(),
        });
        self.open.store(true, Ordering::Relaxed);
    }

    /// Changes the slot. Only `publish` and `retire` do.
    fn change(&self, to: Slot) {
        // SAFETY: they run inside initialisation and finalisation. The specification forbids
        // communication concurrent with those, and a thread that communicates later has learned of
        // the initialisation from the thread that did it.
        unsafe { self.slot.change(|slot| *slot = to) };
    }

    /// Keeps the hot path of a newly published job closed for good.
    pub(crate) fn divert(&self) {
        self.open.store(false, Ordering::Relaxed);
    }

    /// Sends operations that may access devices' memory to the slow path: here, all operations.
    pub(crate) fn divert_copies(&self, _: &[Range<usize>]) {
        self.divert();
    }

    /// Marks PE `pe`'s slot as attached. This PE's own, whose `address` is not an alias, comes
    /// first.
    pub(crate) fn set_mirror(&self, pe: usize, address: usize, mirrored: Mirrored) {
        assert_eq!(mirrored, Mirrored::All, "one bound serves all PEs");
        if address < 1 << SHIFT {
            self.own.store(pe, Ordering::Relaxed);
        }
        if self.open() {
            let Slot { lower, upper, .. } = self.slot.get();
            // The program lies below its data.
            INLINE_TABLE.set(pe, lower.0..upper.0 + upper.1, 0, address);
        }
        // Sequentially consistent: if threads attach at the same time, one of them sees all.
        self.attached[pe / 64].fetch_or(1 << (pe % 64), Ordering::SeqCst);
        let attached: u32 =
            self.attached.iter().map(|bits| bits.load(Ordering::SeqCst).count_ones()).sum();
        if attached as usize == self.npes() && self.open() {
            let (start, bytes) = self.slot.get().upper;
            // Release: a thread that computes an address below the end depends on the mappings.
            self.end.store(start + bytes, Ordering::Release);
        }
    }

    /// Closes the hot path; every later operation takes the slow path.
    pub(crate) fn retire(&self) {
        INLINE_TABLE.clear(self.npes());
        self.end.store(0, Ordering::Relaxed);
        self.open.store(false, Ordering::Relaxed);
        self.change(Slot::NONE);
    }
}

/// The slot of PE `pe`. Hides from the compiler that it is a sum: otherwise it would shift both
/// parts, and need another instruction for the constant.
#[inline(always)]
fn slot(pe: usize) -> usize {
    let mut slot = pe.wrapping_add(FIRST_SLOT);
    // SAFETY: no instruction is executed.
    unsafe {
        std::arch::asm!("/* {0} */", inout(reg) slot, options(pure, nomem, nostack, preserves_flags));
    }
    slot
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
    if addr >= TABLE.end.load(Ordering::Relaxed) {
        cold_path();
        return cold.miss(Miss(addr));
    }
    let cold = &cold;
    ctx.world(
        pe,
        // The bits do not overlap, so this is `oneshmem_kitten::addressing::alias`; an addition can
        // be part of the access itself.
        |pe| hot(addr.wrapping_add(slot(pe) << SHIFT)),
        || {
            cold_path();
            cold.miss(Miss(addr))
        },
    )
}

/// As [`translate`]: the hot path is closed if an operation's own pointer may be to a device's
/// memory.
#[inline(always)]
pub fn translate_copy<C: Numbering, R>(
    ctx: C,
    addr: usize,
    pe: PeArg,
    hot: impl FnOnce(usize) -> R,
    cold: impl Cold<R>,
) -> R {
    translate(ctx, addr, pe, hot, cold)
}

/// As [`translate`], for a pointer that is returned and not used at once: accepts only symmetric
/// addresses, and leaves this PE's own unchanged.
#[inline(always)]
pub fn pointer<R>(addr: usize, pe: PeArg, hot: impl FnOnce(usize) -> R, cold: impl Cold<R>) -> R {
    if !TABLE.surely_symmetric(addr) || pe == TABLE.own.load(Ordering::Relaxed) {
        cold_path();
        return cold.miss(Miss(addr));
    }
    translate(super::Default, addr, pe, hot, cold)
}
