//! One PE's statistics, in the job's memory file.
#![allow(unsafe_code)]

use crate::atomics::{AtomicU64, Ordering};
use crate::error::Error;
use crate::job::control::{Control, STATISTICS_BYTES, STATISTICS_BYTES_A_PEER};
use onenode::sys::map;
use std::ptr::NonNull;
use std::time::Duration;

/// The kinds of operation that are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Puts of any form.
    Put,
    /// Gets of any form.
    Get,
    /// Atomic operations.
    Atomic,
    /// Updates of signals.
    Signal,
    /// Quiets, those inside others not counted.
    Quiet,
    /// Calls that had to wait for a variable or a lock.
    Wait,
    /// Collective calls.
    Collective,
}

/// How many classes there are.
pub const CLASSES: usize = 7;

/// Calls, and the bytes they moved.
#[repr(C)]
struct Count {
    calls: AtomicU64,
    bytes: AtomicU64,
}

impl Count {
    fn add(&self, bytes: usize) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    fn read(&self) -> Peer {
        let (calls, bytes) = (&self.calls, &self.bytes);
        Peer { calls: calls.load(Ordering::Relaxed), bytes: bytes.load(Ordering::Relaxed) }
    }
}

/// The head of a row; one [`Count`] for each PE follows. Any thread of the PE writes it,
/// others read it when the PE has done.
#[repr(C)]
pub(super) struct Row {
    /// Number of PEs; 0 if the PE is not counted.
    npes: AtomicU64,
    heap: AtomicU64,
    /// Nanoseconds blocked in waits, and in collectives.
    blocked: [AtomicU64; 2],
    classes: [Count; CLASSES],
}

// There is room for it.
const _: () = assert!(size_of::<Row>() <= STATISTICS_BYTES);
const _: () = assert!(size_of::<Count>() == STATISTICS_BYTES_A_PEER);

impl Row {
    /// Marks the row as one of a job of `npes` PEs.
    ///
    /// # Safety
    /// `place` has room for it, reached by atomics only.
    pub(super) unsafe fn establish(place: NonNull<u8>, npes: usize) {
        // SAFETY: the caller's promise; all fields are atomics.
        let row = unsafe { place.cast::<Self>().as_ref() };
        row.npes.store(npes as u64, Ordering::Relaxed);
    }

    /// The counts by peer.
    fn peers(&self) -> &[Count] {
        let npes = self.npes.load(Ordering::Relaxed) as usize;
        // SAFETY: `establish` was promised that so many follow; only this process
        // writes the row that it counts in.
        unsafe { std::slice::from_raw_parts(std::ptr::from_ref(self).add(1).cast(), npes) }
    }

    pub(super) fn count(&self, class: Class, bytes: usize, peer: Option<usize>) {
        self.classes[class as usize].add(bytes);
        if let Some(peer) = peer.and_then(|peer| self.peers().get(peer)) {
            peer.add(bytes);
        }
    }

    pub(super) fn add_blocked(&self, what: For, time: Duration) {
        self.blocked[what as usize].fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
    }

    pub(super) fn note_heap(&self, bytes: usize) {
        self.heap.fetch_max(bytes as u64, Ordering::Relaxed);
    }
}

/// What a call waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum For {
    /// A variable, a signal or a lock.
    Variable,
    /// The other members of a collective.
    Collective,
}

/// Calls and bytes, to one PE or of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Peer {
    /// Number of calls.
    pub calls: u64,
    /// Bytes that they moved.
    pub bytes: u64,
}

/// One PE's statistics as they stand.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// By [`Class`], in their order.
    pub classes: [Peer; CLASSES],
    /// Time blocked in waits, and in collectives.
    pub blocked: [Duration; 2],
    /// Highest number of bytes of the symmetric heap in use.
    pub heap: u64,
    /// By PE of the world: puts, gets, atomics and signals. Empty if the PE was not
    /// counted.
    pub peers: Vec<Peer>,
}

impl Snapshot {
    /// PE `pe`'s statistics as they stand; none if it was not counted.
    pub fn of(control: &Control, pe: usize) -> Result<Self, Error> {
        let npes = control.npes();
        let Some(row) = control.statistics(pe)? else {
            return Ok(Self::default());
        };
        // SAFETY: a row's place, mapped here and unmapped when it is read.
        unsafe {
            let snapshot = Self::read(row, npes);
            map::unmap(row.as_ptr(), control.statistics_room());
            Ok(snapshot)
        }
    }

    /// Reads a row of a job of `npes` PEs.
    ///
    /// # Safety
    /// `place` has room for one, reached by atomics only.
    unsafe fn read(place: NonNull<u8>, npes: usize) -> Self {
        // SAFETY: the caller's promise, here and below.
        let row = unsafe { place.cast::<Row>().as_ref() };
        if row.npes.load(Ordering::Relaxed) != npes as u64 {
            return Self::default();
        }
        let peers: *const Count = std::ptr::from_ref(row).wrapping_add(1).cast();
        // SAFETY: `npes` counts follow the row.
        let peers = (0..npes).map(|pe| unsafe { &*peers.add(pe) }.read()).collect();
        Self {
            classes: std::array::from_fn(|class| row.classes[class].read()),
            blocked: [0, 1].map(|i| Duration::from_nanos(row.blocked[i].load(Ordering::Relaxed))),
            heap: row.heap.load(Ordering::Relaxed),
            peers,
        }
    }

    /// What went to the PEs for which `is_far` holds, and came from them.
    pub fn with(&self, is_far: impl Fn(usize) -> bool) -> Peer {
        let far = self.peers.iter().enumerate().filter(|(peer, _)| is_far(*peer));
        far.fold(Peer::default(), |sum, (_, n)| Peer {
            calls: sum.calls + n.calls,
            bytes: sum.bytes + n.bytes,
        })
    }

    /// How many PEs it has communicated with, itself not counted.
    pub fn partners(&self, pe: usize) -> usize {
        self.peers.iter().enumerate().filter(|(peer, n)| *peer != pe && n.calls > 0).count()
    }
}
