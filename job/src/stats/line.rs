//! Counters of one routine: a line of a PE's table, which is part of its row.
//!
//! Each thread of the PE finds a routine's line by the address of the routine's name, or takes a
//! free one. Equal names can have several addresses, and so several lines: readers add them up.

use super::class::{CLASSES, Class};
use crate::atomics::{AtomicU64, Ordering};
use onenode_core::packed;
use std::time::Duration;

/// How many lines there are. The last ones, one for each class, collect routines for which there was
/// no free line.
pub(super) const LINES: usize = 256;
/// How many lines are tried.
const TRIES: usize = 32;
/// 64-bit words of a name; longer names are cut.
const NAME_WORDS: usize = 7;
/// The name of the last lines.
const OTHERS: &str = "others";

/// One line. All zero: not taken.
#[repr(C)]
pub(super) struct Line {
    /// The key it is found by, which has a meaning only in the process that owns the row.
    key: AtomicU64,
    /// Index of the class, plus 1.
    class: AtomicU64,
    calls: AtomicU64,
    bytes: AtomicU64,
    nanoseconds: AtomicU64,
    name: [AtomicU64; NAME_WORDS],
}

/// Counters of one routine in one class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routine {
    /// Its class.
    pub class: Class,
    /// Its name.
    pub name: String,
    /// Number of calls.
    pub calls: u64,
    /// Bytes moved by them.
    pub bytes: u64,
    /// Time blocked in them, for waits and collectives.
    pub blocked: Duration,
}

impl Line {
    pub(super) fn count(&self, bytes: usize) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn add_blocked(&self, time: Duration) {
        self.nanoseconds.fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
    }

    /// Writes the routine's name and class. Readers read them only when the PE has finished.
    fn sign(&self, name: &str, class: Class) {
        self.class.store(class as u64 + 1, Ordering::Relaxed);
        packed::store_name(&self.name, name);
    }

    fn read(&self) -> Option<Routine> {
        let word = |word: &AtomicU64| word.load(Ordering::Relaxed);
        let class = (word(&self.class) as usize).checked_sub(1)?;
        Some(Routine {
            class: *Class::ALL.get(class)?,
            name: packed::name(packed::load(&self.name)),
            calls: word(&self.calls),
            bytes: word(&self.bytes),
            blocked: Duration::from_nanos(word(&self.nanoseconds)),
        })
    }
}

/// The line of a routine in a class.
pub(super) fn of<'l>(lines: &'l [Line; LINES], name: &'static str, class: Class) -> &'l Line {
    // No address has bits there.
    let key = name.as_ptr() as u64 | (class as u64 + 1) << 56;
    // Names lie close together: the product spreads their keys.
    let first = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize;
    for place in (first..first + TRIES).map(|place| place % (LINES - CLASSES)) {
        let line = &lines[place];
        let mut found = line.key.load(Ordering::Relaxed);
        if found == 0 {
            match line.key.compare_exchange(0, key, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => {
                    line.sign(name, class);
                    return line;
                }
                Err(other) => found = other,
            }
        }
        if found == key {
            return line;
        }
    }
    let others = &lines[LINES - CLASSES + class as usize];
    others.sign(OTHERS, class);
    others
}

/// All lines that are taken, by class and name. Each name occurs once in a class.
pub(super) fn read(lines: &[Line; LINES]) -> Vec<Routine> {
    sum(lines.iter().filter_map(Line::read).filter(|it| !it.name.is_empty()))
}

/// Sorts lines and merges those of the same name and class.
pub fn sum(lines: impl Iterator<Item = Routine>) -> Vec<Routine> {
    let mut lines: Vec<Routine> = lines.collect();
    lines.sort_by(|a, b| (a.class, &a.name).cmp(&(b.class, &b.name)));
    lines.dedup_by(|later, first| {
        let same = (later.class, &later.name) == (first.class, &first.name);
        if same {
            first.calls += later.calls;
            first.bytes += later.bytes;
            first.blocked += later.blocked;
        }
        same
    });
    lines
}

/// Where its fields are, for the page.
#[cfg(test)]
pub(crate) mod layout {
    use super::*;
    use crate::tests::{Fields, fields};

    pub fn fields() -> Fields {
        fields!("Line", Line { key, class, calls, bytes, nanoseconds, name })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table like the one a row begins with.
    fn table() -> [Line; LINES] {
        std::array::from_fn(|_| Line {
            key: AtomicU64::new(0),
            class: AtomicU64::new(0),
            calls: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            nanoseconds: AtomicU64::new(0),
            name: std::array::from_fn(|_| AtomicU64::new(0)),
        })
    }

    #[test]
    fn each_routine_has_its_line_in_each_class() {
        let table = table();
        for _ in 0..2 {
            of(&table, "shmem_putmem_signal", Class::Put).count(16);
            of(&table, "shmem_putmem_signal", Class::Signal).count(8);
            of(&table, "shmem_barrier_all", Class::Collective).count(0);
        }
        of(&table, "shmem_barrier_all", Class::Collective).add_blocked(Duration::from_secs(1));
        let lines = read(&table);
        let found: Vec<_> =
            lines.iter().map(|it| (it.class, &*it.name, it.calls, it.bytes)).collect();
        assert_eq!(
            found,
            [
                (Class::Put, "shmem_putmem_signal", 2, 32),
                (Class::Signal, "shmem_putmem_signal", 2, 16),
                (Class::Collective, "shmem_barrier_all", 2, 0),
            ]
        );
        assert_eq!(lines[2].blocked, Duration::from_secs(1));
    }

    #[test]
    fn the_same_name_at_two_addresses_is_one_routine() {
        let table = table();
        let names: Vec<&'static str> = (0..2).map(|_| &*String::from("same").leak()).collect();
        names.iter().for_each(|name| of(&table, name, Class::Get).count(4));
        assert_eq!(
            read(&table).iter().map(|it| (it.calls, it.bytes)).collect::<Vec<_>>(),
            [(2, 8)]
        );
    }

    #[test]
    fn what_finds_no_place_is_counted_all_the_same() {
        let table = table();
        for index in 0..2 * LINES {
            of(&table, format!("routine_{index}").leak(), Class::Put).count(1);
        }
        let lines = read(&table);
        assert_eq!(lines.iter().map(|it| it.calls).sum::<u64>(), 2 * LINES as u64);
        assert!(lines.iter().any(|it| it.name == OTHERS && it.calls > 1));
        let name = "a name of more than fifty-six characters, which is more than routines have";
        of(&self::table(), name, Class::Put).count(1);
    }
}
