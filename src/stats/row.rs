//! One PE's statistics, in the job's memory file.
#![allow(unsafe_code)]

use super::class::{CLASSES, Class};
use super::line::{self, LINES, Line, Routine};
use crate::atomics::{AtomicU64, Ordering};
use crate::error::Error;
use crate::job::control::{Control, STATISTICS_BYTES, STATISTICS_BYTES_A_PEER};
use onenode::sys::map;
use std::ptr::NonNull;
use std::time::Duration;

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

/// The head of a row; one [`Count`] for each PE follows. Any thread of the PE writes it; others
/// read it once the PE has finished.
#[repr(C)]
pub(super) struct Row {
    /// Number of PEs; 0 if the PE is not counted.
    npes: AtomicU64,
    heap: AtomicU64,
    /// Nanoseconds blocked in waits, and in collectives.
    blocked: [AtomicU64; 2],
    classes: [Count; CLASSES],
    /// By routine.
    lines: [Line; LINES],
}

// The row fits into its place.
const _: () = assert!(size_of::<Row>() <= STATISTICS_BYTES);
const _: () = assert!(size_of::<Count>() == STATISTICS_BYTES_A_PEER);

impl Row {
    /// Marks the row as one of a job of `npes` PEs.
    ///
    /// # Safety
    /// `place` has room for the row and is accessed by atomics only.
    pub(super) unsafe fn establish(place: NonNull<u8>, npes: usize) {
        // SAFETY: the caller promises it; all fields are atomics.
        let row = unsafe { place.cast::<Self>().as_ref() };
        row.npes.store(npes as u64, Ordering::Relaxed);
    }

    /// The counts by peer.
    fn peers(&self) -> &[Count] {
        let npes = self.npes.load(Ordering::Relaxed) as usize;
        // SAFETY: the caller of `establish` promised that this many follow; only this process
        // writes the row that it counts in.
        unsafe { std::slice::from_raw_parts(std::ptr::from_ref(self).add(1).cast(), npes) }
    }

    pub(super) fn count(
        &self,
        routine: &'static str,
        class: Class,
        bytes: usize,
        peer: Option<usize>,
    ) {
        self.classes[class as usize].add(bytes);
        line::of(&self.lines, routine, class).count(bytes);
        if let Some(peer) = peer.and_then(|peer| self.peers().get(peer)) {
            peer.add(bytes);
        }
    }

    pub(super) fn add_blocked(&self, what: For, routine: &'static str, time: Duration) {
        self.blocked[what as usize].fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
        let class = match what {
            For::Variable => Class::Wait,
            For::Collective => Class::Collective,
        };
        line::of(&self.lines, routine, class).add_blocked(time);
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
    /// Bytes moved by them.
    pub bytes: u64,
}

/// One PE's statistics at this moment.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// By [`Class`], in the order of its variants.
    pub classes: [Peer; CLASSES],
    /// Time blocked in waits, and in collectives.
    pub blocked: [Duration; 2],
    /// The most bytes of the symmetric heap that were in use.
    pub heap: u64,
    /// By routine and class, sorted.
    pub routines: Vec<Routine>,
    /// By PE of the world: puts, gets, atomics and signals. Empty if the PE was not
    /// counted.
    pub peers: Vec<Peer>,
}

impl Snapshot {
    /// The statistics of PE `pe` at this moment; empty if it was not counted.
    pub fn of(control: &Control, pe: usize) -> Result<Self, Error> {
        let npes = control.npes();
        let Some(row) = control.statistics(pe)? else {
            return Ok(Self::default());
        };
        // SAFETY: the place of a row, mapped just above and unmapped only after it has been read.
        unsafe {
            let snapshot = Self::read(row, npes);
            map::unmap(row.as_ptr(), control.statistics_room());
            Ok(snapshot)
        }
    }

    /// Reads a row of a job of `npes` PEs.
    ///
    /// # Safety
    /// `place` has room for a row and is accessed by atomics only.
    unsafe fn read(place: NonNull<u8>, npes: usize) -> Self {
        // SAFETY: the caller promises it, here and below.
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
            routines: line::read(&row.lines),
            peers,
        }
    }

    /// The sum of the traffic to and from the PEs for which `is_far` holds.
    pub fn with(&self, is_far: impl Fn(usize) -> bool) -> Peer {
        let far = self.peers.iter().enumerate().filter(|(peer, _)| is_far(*peer));
        far.fold(Peer::default(), |sum, (_, n)| Peer {
            calls: sum.calls + n.calls,
            bytes: sum.bytes + n.bytes,
        })
    }

    /// How many PEs it has communicated with, except itself.
    pub fn partners(&self, pe: usize) -> usize {
        self.peers.iter().enumerate().filter(|(peer, n)| *peer != pe && n.calls > 0).count()
    }
}
