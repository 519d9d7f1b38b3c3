//! What a PE waits for. It is written to the PE's record when a wait has become long, so that
//! others can report why a job does not progress.

use crate::atomics::{AtomicU64, Ordering};
use onenode_core::packed;
use std::fmt;
use std::time::Duration;

/// 64-bit words for the name of a routine.
const NAME_WORDS: usize = 6;

/// A PE's wait, as the job sees it. All zero: it is not waiting.
#[repr(C)]
pub struct Waiting {
    /// How long it had lasted when this was written, in milliseconds, plus 1.
    lasted: AtomicU64,
    /// The kind of [`What`] in the highest byte, and its numbers.
    what: AtomicU64,
    place: AtomicU64,
    routine: [AtomicU64; NAME_WORDS],
}

/// What is waited for, as the record describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Unspecified.
    Unsaid,
    /// The initialisation of PE `.0`.
    Initialisation(usize),
    /// PE `pe` of the world, which has not yet reached this PE's step in the collectives of the
    /// team with this handle.
    Member { team: usize, pe: usize },
    /// Notification from members of the team with this handle that they have done their part.
    Notification { team: usize },
    /// The other PEs of an active set: first PE, distance, size.
    ActiveSet([usize; 3]),
    /// An update of the variable at this offset in that part of the slot.
    Variable { part: SlotPart, offset: usize },
    /// The lock at this offset in that part of the slot.
    Lock { part: SlotPart, offset: usize },
    /// Whatever the program polls with tests.
    Tests,
}

/// A part of a PE's slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SlotPart {
    Data,
    Heap,
    /// The partition of this number.
    Partition(usize),
}

impl SlotPart {
    pub(super) fn encode(self) -> u64 {
        match self {
            Self::Data => 0,
            Self::Heap => 1,
            Self::Partition(id) => field(id + 2, 16, 0),
        }
    }

    fn decode(word: u64) -> Self {
        match take(word, 16, 0) {
            0 => Self::Data,
            1 => Self::Heap,
            id => Self::Partition(id - 2),
        }
    }
}

impl fmt::Display for SlotPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Data => f.write_str("the data segment"),
            Self::Heap => f.write_str("the symmetric heap"),
            Self::Partition(id) => write!(f, "partition {id}"),
        }
    }
}

/// A PE's wait, as read from its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    what: What,
    /// How long it has lasted, at least.
    pub lasted: Duration,
    routine: [u8; NAME_WORDS * 8],
}

/// A number in a field of `bits` bits, saturated.
const fn field(number: usize, bits: u32, shift: u32) -> u64 {
    let most = (1 << bits) - 1;
    (if (number as u64) < most { number as u64 } else { most }) << shift
}

const fn take(word: u64, bits: u32, shift: u32) -> usize {
    (word >> shift & ((1 << bits) - 1)) as usize
}

impl What {
    fn encode(self) -> (u64, u64) {
        let kind = |kind: u64| kind << 56;
        match self {
            Self::Unsaid => (kind(1), 0),
            Self::Initialisation(pe) => (kind(2), pe as u64),
            Self::Member { team, pe } => (kind(3) | field(team, 16, 0), pe as u64),
            Self::Notification { team } => (kind(4) | field(team, 16, 0), 0),
            Self::ActiveSet([start, stride, size]) => {
                (kind(5) | field(start, 16, 0) | field(size, 16, 16), stride as u64)
            }
            Self::Variable { part, offset } => (kind(6) | part.encode(), offset as u64),
            Self::Lock { part, offset } => (kind(7) | part.encode(), offset as u64),
            Self::Tests => (kind(8), 0),
        }
    }

    fn decode(word: u64, place: u64) -> Self {
        let (team, part, offset) = (take(word, 16, 0), SlotPart::decode(word), place as usize);
        match word >> 56 {
            2 => Self::Initialisation(offset),
            3 => Self::Member { team, pe: offset },
            4 => Self::Notification { team },
            5 => Self::ActiveSet([take(word, 16, 0), offset, take(word, 16, 16)]),
            6 => Self::Variable { part, offset },
            7 => Self::Lock { part, offset },
            8 => Self::Tests,
            _ => Self::Unsaid,
        }
    }
}

impl Waiting {
    /// Writes a wait that has lasted this long. If several threads of the PE wait, the last to
    /// write wins.
    pub(super) fn write(&self, what: What, routine: &str, lasted: Duration) {
        packed::store_name(&self.routine, routine);
        let (what, place) = what.encode();
        self.what.store(what, Ordering::Relaxed);
        self.place.store(place, Ordering::Relaxed);
        self.lasted.store(lasted.as_millis() as u64 + 1, Ordering::Release);
    }

    /// Clears the record: the wait is over.
    pub(super) fn clear(&self) {
        self.lasted.store(0, Ordering::Relaxed);
    }

    /// The wait, if there is one. A record that changes meanwhile may be read partly old, partly
    /// new.
    pub fn read(&self) -> Option<Wait> {
        let lasted = self.lasted.load(Ordering::Acquire).checked_sub(1)?;
        let mut routine = [0; NAME_WORDS * 8];
        let bytes = packed::bytes(packed::load(&self.routine));
        routine.iter_mut().zip(bytes).for_each(|(to, byte)| *to = byte);
        let (what, place) = (self.what.load(Ordering::Relaxed), self.place.load(Ordering::Relaxed));
        Some(Wait {
            what: What::decode(what, place),
            lasted: Duration::from_millis(lasted),
            routine,
        })
    }
}

impl Wait {
    /// The routine's name; empty if none was recorded, or the bytes read are not valid text.
    pub fn routine(&self) -> &str {
        let end = self.routine.iter().position(|byte| *byte == 0).unwrap_or(self.routine.len());
        std::str::from_utf8(&self.routine[..end]).unwrap_or("")
    }
}

/// A team by its handle.
struct TeamName(usize);

impl fmt::Display for TeamName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            1 => f.write_str("SHMEM_TEAM_WORLD"),
            2 => f.write_str("SHMEM_TEAM_SHARED"),
            handle => write!(f, "team {handle:#x}"),
        }
    }
}

/// Without the time: the same for PEs that wait for the same thing.
impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.routine() {
            "" => f.write_str("waiting")?,
            routine => write!(f, "in {routine}, waiting")?,
        }
        match self.what {
            What::Unsaid => Ok(()),
            What::Initialisation(pe) => write!(f, " for PE {pe} to call shmem_init"),
            What::Member { team, pe } => write!(f, " for PE {pe} on {}", TeamName(team)),
            What::Notification { team } => write!(f, " for other PEs of {}", TeamName(team)),
            What::ActiveSet([start, stride, size]) => {
                write!(f, " for others of the {size} PEs {start}, {}, ...", start + stride)
            }
            What::Variable { part, offset } => {
                write!(f, " for an update of {part} + {offset:#x}")
            }
            What::Lock { part, offset } => {
                write!(f, " for the lock at {part} + {offset:#x}")
            }
            What::Tests => f.write_str(" for what it tests (shmem_test... or shmem_test_lock)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::control::Control;
    use crate::job::file::JobFile;
    use std::sync::Arc;

    fn area(npes: usize) -> Control {
        let file = JobFile::create(npes).expect("a job's file");
        Control::of(Arc::new(file), 0).expect("a control area")
    }

    #[test]
    fn what_is_written_is_read() {
        for what in [
            What::Unsaid,
            What::Initialisation(4095),
            What::Member { team: 1024, pe: 4095 },
            What::Notification { team: 2 },
            What::ActiveSet([3, 1 << 31, 4096]),
            What::Variable { part: SlotPart::Heap, offset: usize::MAX },
            What::Variable { part: SlotPart::Data, offset: 0 },
            What::Lock { part: SlotPart::Partition(63), offset: 64 },
            What::Tests,
        ] {
            let (word, place) = what.encode();
            assert_eq!(What::decode(word, place), what);
        }
    }

    #[test]
    fn a_record_of_zeros_is_no_wait() {
        let control = area(2);
        assert_eq!(control.pe(1).waiting.read(), None);
    }

    #[test]
    fn garbage_is_readable() {
        let control = area(1);
        let record = &control.pe(0).waiting;
        for word in [u64::MAX, 0xff << 56, 5 << 56 | 0xffff] {
            for field in record.routine.iter().chain([&record.what, &record.place, &record.lasted])
            {
                field.store(word, Ordering::Relaxed);
            }
            let wait = record.read().expect("a wait");
            assert!(!format!("{wait}").is_empty() && wait.routine().is_empty());
        }
    }
}
