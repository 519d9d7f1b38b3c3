//! The wait of a PE. It is written to the PE's record when a wait has become long, so that
//! others can report why a job does not progress.

use crate::atomics::{AtomicU64, Ordering};
use onenode_core::packed;
use std::fmt;
use std::time::Duration;

/// 64-bit words for the name of a routine.
const NAME_WORDS: usize = 6;
/// 64-bit words for the name of a variable; names of C++ are long.
const VARIABLE_WORDS: usize = 16;

/// A PE's wait, as the job sees it. All zero: it is not waiting.
#[repr(C)]
pub struct Waiting {
    /// How long it had lasted when this was written, in milliseconds, plus 1.
    lasted: AtomicU64,
    /// The kind of [`WaitObject`] in the highest byte, and its numbers.
    what: AtomicU64,
    place: AtomicU64,
    routine: [AtomicU64; NAME_WORDS],
    /// The kind of wait, as one number. Written once in a wait, before it; of several waits, by the last to
    /// begin.
    described: AtomicU64,
    /// The address in the program's file from which the routine was called, plus 1; 0 if it is not known.
    called: AtomicU64,
    /// The static variable that is waited for, and the offset within it.
    variable_offset: AtomicU64,
    variable: [AtomicU64; VARIABLE_WORDS],
}

/// The object of a wait, as the record describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitObject {
    /// Unspecified.
    Unsaid,
    /// The initialisation of PE `.0`.
    Initialisation(usize),
    /// PE `pe` of the world, which has not yet reached this PE's step in the collectives of the
    /// team with this handle.
    Member {
        /// The team's handle.
        team: usize,
        /// The PE.
        pe: usize,
    },
    /// Notification from members of the team with this handle that they have done their part.
    Notification {
        /// The team's handle.
        team: usize,
    },
    /// The other PEs of an active set: first PE, distance, size.
    ActiveSet([usize; 3]),
    /// An update of the variable at this offset in that part of the slot.
    Variable {
        /// The part.
        part: SlotPart,
        /// Bytes from its start.
        offset: usize,
    },
    /// The lock at this offset in that part of the slot.
    Lock {
        /// The part.
        part: SlotPart,
        /// Bytes from its start.
        offset: usize,
    },
    /// The words that the program polls with tests.
    Tests,
}

/// A part of a PE's slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotPart {
    /// The data segment.
    Data,
    /// The symmetric heap.
    Heap,
    /// The partition of this number.
    Partition(usize),
}

impl SlotPart {
    /// Its number, in the lowest 16 bits.
    pub fn encode(self) -> u64 {
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
    what: WaitObject,
    /// How long it has lasted, at least.
    pub lasted: Duration,
    routine: [u8; NAME_WORDS * 8],
    variable: [u8; VARIABLE_WORDS * 8],
    variable_offset: u64,
    /// The address in the program's file from which the routine was called, if that is known.
    pub called: Option<u64>,
}

/// A number in a field of `bits` bits, saturated.
const fn field(number: usize, bits: u32, shift: u32) -> u64 {
    let most = (1 << bits) - 1;
    (if (number as u64) < most { number as u64 } else { most }) << shift
}

const fn take(word: u64, bits: u32, shift: u32) -> usize {
    (word >> shift & ((1 << bits) - 1)) as usize
}

impl WaitObject {
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

    /// A number that tells it from others.
    fn key(self) -> u64 {
        let (what, place) = self.encode();
        what ^ place.rotate_left(24)
    }

    /// Whether it is about static data.
    pub fn is_static(self) -> bool {
        matches!(
            self,
            Self::Variable { part: SlotPart::Data, .. } | Self::Lock { part: SlotPart::Data, .. }
        )
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
    pub fn write(&self, what: WaitObject, routine: &str, lasted: Duration) {
        packed::store_name(&self.routine, routine);
        let (what, place) = what.encode();
        self.what.store(what, Ordering::Relaxed);
        self.place.store(place, Ordering::Relaxed);
        self.lasted.store(lasted.as_millis() as u64 + 1, Ordering::Release);
    }

    /// Writes the static variable that a wait is for, with the offset within it, and the address in the program's
    /// file that it was called from, as far as they are known. To be called before the wait is written.
    pub fn describe(&self, what: WaitObject, variable: Option<(&str, u64)>, called: Option<u64>) {
        let (name, offset) = variable.unwrap_or(("", 0));
        packed::store_name(&self.variable, name);
        self.variable_offset.store(offset, Ordering::Relaxed);
        self.called.store(called.map_or(0, |at| at.wrapping_add(1)), Ordering::Relaxed);
        self.described.store(what.key(), Ordering::Relaxed);
    }

    /// Clears the record: the wait is over.
    pub fn clear(&self) {
        self.lasted.store(0, Ordering::Relaxed);
    }

    /// The wait, if there is one. A record that changes meanwhile may be read partly old, partly
    /// new.
    pub fn read(&self) -> Option<Wait> {
        let lasted = self.lasted.load(Ordering::Acquire).checked_sub(1)?;
        let (what, place) = (self.what.load(Ordering::Relaxed), self.place.load(Ordering::Relaxed));
        let what = WaitObject::decode(what, place);
        let is_described = self.described.load(Ordering::Relaxed) == what.key();
        Some(Wait {
            what,
            lasted: Duration::from_millis(lasted),
            routine: bytes(&self.routine),
            variable: if is_described { bytes(&self.variable) } else { [0; VARIABLE_WORDS * 8] },
            variable_offset: self.variable_offset.load(Ordering::Relaxed),
            called: self.called.load(Ordering::Relaxed).checked_sub(1).filter(|_| is_described),
        })
    }
}

/// The bytes of a name.
fn bytes<const N: usize>(words: &[AtomicU64]) -> [u8; N] {
    let mut name = [0; N];
    name.iter_mut().zip(packed::bytes(packed::load(words))).for_each(|(to, byte)| *to = byte);
    name
}

/// The text up to the first zero; empty if it is not valid.
fn text(name: &[u8]) -> &str {
    let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
    std::str::from_utf8(&name[..end]).unwrap_or("")
}

/// A place in a part of a slot: by the static variable that is there, if it has a name.
struct SlotLocation<'w>(&'w Wait, SlotPart, usize);

impl fmt::Display for SlotLocation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(wait, part, offset) = self;
        match (text(&wait.variable), wait.variable_offset) {
            ("", _) => Ok(()),
            (name, _) if name.contains(char::is_control) => Ok(()),
            (name, 0) => write!(f, "{name}, "),
            (name, within) => write!(f, "{name} + {within:#x}, "),
        }?;
        write!(f, "{part} + {offset:#x}")
    }
}

impl Wait {
    /// The routine's name; empty if none was recorded, or the bytes read are not valid text.
    pub fn routine(&self) -> &str {
        text(&self.routine)
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
            WaitObject::Unsaid => Ok(()),
            WaitObject::Initialisation(pe) => write!(f, " for PE {pe} to call shmem_init"),
            WaitObject::Member { team, pe } => write!(f, " for PE {pe} on {}", TeamName(team)),
            WaitObject::Notification { team } => write!(f, " for other PEs of {}", TeamName(team)),
            WaitObject::ActiveSet([start, stride, size]) => {
                write!(f, " for others of the {size} PEs {start}, {}, ...", start + stride)
            }
            WaitObject::Variable { part, offset } => {
                write!(f, " for an update of {}", SlotLocation(self, part, offset))
            }
            WaitObject::Lock { part, offset } => {
                write!(f, " for the lock at {}", SlotLocation(self, part, offset))
            }
            WaitObject::Tests => {
                f.write_str(" for what it tests (shmem_test... or shmem_test_lock)")
            }
        }
    }
}

/// Where its fields are, for the page.
#[cfg(test)]
pub(crate) mod layout {
    use super::*;
    use crate::tests::{Fields, fields};

    pub fn fields() -> Fields {
        fields!(
            "Waiting",
            Waiting { lasted, what, place, routine, described, called, variable_offset, variable }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobfile::JobFile;
    use crate::jobfile::control::Control;
    use std::sync::Arc;

    fn area(npes: usize) -> Control {
        let file = JobFile::create(npes).expect("a job's file");
        Control::of(Arc::new(file), 0).expect("a control area")
    }

    #[test]
    fn what_is_written_is_read() {
        for what in [
            WaitObject::Unsaid,
            WaitObject::Initialisation(4095),
            WaitObject::Member { team: 1024, pe: 4095 },
            WaitObject::Notification { team: 2 },
            WaitObject::ActiveSet([3, 1 << 31, 4096]),
            WaitObject::Variable { part: SlotPart::Heap, offset: usize::MAX },
            WaitObject::Variable { part: SlotPart::Data, offset: 0 },
            WaitObject::Lock { part: SlotPart::Partition(63), offset: 64 },
            WaitObject::Tests,
        ] {
            let (word, place) = what.encode();
            assert_eq!(WaitObject::decode(word, place), what);
        }
    }

    #[test]
    fn static_variables_have_names() {
        let control = area(1);
        let record = &control.pe(0).waiting;
        let shown = |what| {
            record.write(what, "wait", Duration::ZERO);
            record.read().expect("a wait").to_string()
        };
        let what = WaitObject::Variable { part: SlotPart::Data, offset: 64 };
        assert_eq!(shown(what), "in wait, waiting for an update of the data segment + 0x40");
        record.describe(what, Some(("flag", 0)), None);
        assert_eq!(shown(what), "in wait, waiting for an update of flag, the data segment + 0x40");
        assert_eq!(record.read().and_then(|wait| wait.called), None);
        let lock = WaitObject::Lock { part: SlotPart::Data, offset: 64 };
        record.describe(lock, Some(("flags", 8)), Some(0x1151));
        assert_eq!(
            shown(lock),
            "in wait, waiting for the lock at flags + 0x8, the data segment + 0x40"
        );
        assert_eq!(record.read().and_then(|wait| wait.called), Some(0x1151));
        // The description is that of another wait.
        let other = WaitObject::Variable { part: SlotPart::Data, offset: 72 };
        assert_eq!(shown(other), "in wait, waiting for an update of the data segment + 0x48");
        let heap = WaitObject::Variable { part: SlotPart::Heap, offset: 64 };
        assert_eq!(shown(heap), "in wait, waiting for an update of the symmetric heap + 0x40");
        assert_eq!(record.read().and_then(|wait| wait.called), None);
        record.describe(what, Some(("\x1b[2J", 0)), None);
        assert_eq!(shown(what), "in wait, waiting for an update of the data segment + 0x40");
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
