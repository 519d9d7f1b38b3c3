//! One PE's statistics, in the job's memory file.
#![allow(unsafe_code)]

use super::class::{CLASSES, Class};
use super::line::{self, LINES, Line, Routine};
use super::lost::LostTime;
use crate::atomics::{AtomicU64, Ordering};
use crate::error::Error;
use crate::jobfile::control::{Control, STATISTICS_BYTES, STATISTICS_BYTES_A_PEER};
use onenode_core::area::{Shared, SharedArea};
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

/// The head of a row; one [`Count`] for each PE follows.
#[repr(C)]
struct Head {
    /// Number of PEs; 0 if the PE is not counted.
    npes: AtomicU64,
    heap: AtomicU64,
    /// Nanoseconds blocked in waits, and in collectives.
    blocked: [AtomicU64; 2],
    /// As [`LostTime`]: two times in nanoseconds, and the CPU plus 1, or 0.
    lost: [AtomicU64; 3],
    reached: AtomicU64,
    classes: [Count; CLASSES],
    /// By routine.
    lines: [Line; LINES],
}

// SAFETY: nothing but atomics.
unsafe impl Shared for Count {}
// SAFETY: nothing but atomics.
unsafe impl Shared for Head {}

/// A PE's row, mapped. Any thread of the PE writes it; others read it once the PE has finished.
pub struct Row {
    area: SharedArea,
    npes: usize,
}

// The row fits into its place.
const _: () = assert!(size_of::<Head>() <= STATISTICS_BYTES);
const _: () = assert!(size_of::<Count>() == STATISTICS_BYTES_A_PEER);

impl Row {
    /// The row of this PE, zero or written by an earlier lifetime, in a job of `npes` PEs.
    pub fn establish(area: SharedArea, npes: usize) -> Self {
        let row = Self { area, npes };
        row.head().npes.store(npes as u64, Ordering::Relaxed);
        row
    }

    fn head(&self) -> &Head {
        self.area.at(0)
    }

    fn is_counted(&self) -> bool {
        self.head().npes.load(Ordering::Relaxed) == self.npes as u64
    }

    /// The counts by peer.
    fn peers(&self) -> &[Count] {
        self.area.slice(size_of::<Head>(), self.npes)
    }

    /// Counts one operation of a routine; `peer` is a PE of the world.
    pub fn count(&self, routine: &'static str, class: Class, bytes: usize, peer: Option<usize>) {
        self.head().classes[class as usize].add(bytes);
        line::of(&self.head().lines, routine, class).count(bytes);
        if let Some(peer) = peer.and_then(|peer| self.peers().get(peer)) {
            peer.add(bytes);
        }
    }

    /// Adds the time for which a routine was blocked.
    pub fn add_blocked(&self, what: For, routine: &'static str, time: Duration) {
        self.head().blocked[what as usize].fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
        let class = match what {
            For::Variable => Class::Wait,
            For::Collective => Class::Collective,
        };
        line::of(&self.head().lines, routine, class).add_blocked(time);
    }

    /// Notes the most bytes of the symmetric heap that have been in use.
    pub fn note_heap(&self, bytes: usize) {
        self.head().heap.fetch_max(bytes as u64, Ordering::Relaxed);
    }

    /// Notes how many other PEs the PE has attached or connected to.
    pub fn note_reached(&self, pes: usize) {
        self.head().reached.store(pes as u64, Ordering::Relaxed);
    }

    /// Notes what other processes have taken of the PE's time.
    pub fn note_lost(&self, LostTime { all, lost, cpu }: LostTime) {
        let cpu = cpu.map_or(0, |cpu| u64::from(cpu) + 1);
        let values = [all.as_nanos() as u64, lost.as_nanos() as u64, cpu];
        let places = self.head().lost.iter();
        places.zip(values).for_each(|(place, value)| place.store(value, Ordering::Relaxed));
    }
}

/// The object of a call's wait.
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

/// The time blocked in waits, and in collectives.
fn blocked(head: &Head) -> [Duration; 2] {
    head.blocked.each_ref().map(|time| Duration::from_nanos(time.load(Ordering::Relaxed)))
}

fn lost(head: &Head) -> LostTime {
    let [all, lost, cpu] = head.lost.each_ref().map(|value| value.load(Ordering::Relaxed));
    let cpu = cpu.checked_sub(1).map(|cpu| cpu as u32);
    LostTime { all: Duration::from_nanos(all), lost: Duration::from_nanos(lost), cpu }
}

/// The sum.
pub fn plus(a: Peer, b: Peer) -> Peer {
    Peer { calls: a.calls + b.calls, bytes: a.bytes + b.bytes }
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
    /// Time that it lost to other processes, once it has finished.
    pub lost: LostTime,
    /// How many other PEs it has attached or connected to, in collectives, too, once it has finished.
    pub reached: usize,
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
        let row = control.statistics(pe)?.map(|area| Row { area, npes });
        Ok(row.map_or_else(Self::default, |row| Self::read(&row)))
    }

    /// Calls of all classes of PE `pe` so far, their bytes, and the time for which it was blocked; `None` if it
    /// is not counted.
    pub fn total(control: &Control, pe: usize) -> Result<Option<(Peer, Duration)>, Error> {
        let npes = control.npes();
        let row = control.statistics(pe)?.map(|area| Row { area, npes });
        Ok(row.filter(Row::is_counted).map(|row| {
            let head = row.head();
            let calls = head.classes.iter().map(Count::read).fold(Peer::default(), plus);
            (calls, blocked(head).iter().sum())
        }))
    }

    fn read(row: &Row) -> Self {
        let head = row.head();
        if !row.is_counted() {
            return Self::default();
        }
        Self {
            classes: std::array::from_fn(|class| head.classes[class].read()),
            blocked: blocked(head),
            heap: head.heap.load(Ordering::Relaxed),
            lost: lost(head),
            reached: head.reached.load(Ordering::Relaxed) as usize,
            routines: line::read(&head.lines),
            peers: row.peers().iter().map(Count::read).collect(),
        }
    }

    /// The sum of the traffic to and from the PEs for which `is_far` holds.
    pub fn with(&self, is_far: impl Fn(usize) -> bool) -> Peer {
        let far = self.peers.iter().enumerate().filter(|(peer, _)| is_far(*peer));
        far.fold(Peer::default(), |sum, (_, n)| plus(sum, *n))
    }

    /// How many PEs it has communicated with, except itself.
    pub fn partners(&self, pe: usize) -> usize {
        self.peers.iter().enumerate().filter(|(peer, n)| *peer != pe && n.calls > 0).count()
    }
}

/// Where its fields are, for the page.
#[cfg(test)]
pub(crate) mod layout {
    use super::*;
    use crate::tests::{Fields, fields};

    pub fn fields() -> Fields {
        fields!("Row", Head { npes, heap, blocked, lost, reached, classes, lines })
    }
}
