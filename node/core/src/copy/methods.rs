//! Which method copies how many bytes. The built-in limits depend on the processor; a tuning file
//! may have measured ones.

use super::touch::PIECE;
use crate::arch;
use crate::atomics::{AtomicUsize, Ordering};

/// The limits between the methods, in bytes unless told otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Methods {
    /// The fewest for the processor's string instruction, or the C library's function without one; [`usize::MAX`] if it is not used.
    pub string_from: usize,
    /// That instruction is not used where the destination lies fewer than this after the source,
    /// modulo the page size.
    pub string_apart: usize,
    /// The most that go through the caches.
    pub cached_to: usize,
    /// How many pages at a time copies that bypass the caches take their lines from.
    pub abreast: usize,
    /// The most that go through the caches in a collective, of all members' sources and dests.
    pub together_to: usize,
}

/// The names of the limits in a tuning file, with the least and the most value.
const LIMITS: [(&str, usize, usize); 5] = [
    ("string_from", 1, NEVER),
    ("string_apart", 1, 4096),
    ("cached_to", 1, NEVER),
    ("pages_abreast", 1, 16),
    ("together_to", 1, NEVER),
];

/// No number of bytes is as large.
const NEVER: usize = usize::MAX;
/// How a tuning file says so.
const NEVER_WORD: &str = "never";

/// The limits in use, in the order of [`Methods`]. The first is 0 before the first call of [`set`].
static IN_USE: [AtomicUsize; 5] = [const { AtomicUsize::new(0) }; 5];
/// Fewer bytes than this are copied by moves without further questions.
static MOVES_BELOW: AtomicUsize = AtomicUsize::new(0);
/// The bytes of a move. Where all processors have the same width, the compiler sees that it does not change.
static WIDTH: AtomicUsize = AtomicUsize::new(16);

/// The limits in use; `None` if they have not been set yet.
pub(super) fn in_use() -> Option<Methods> {
    (string_from() != 0).then(|| Methods::of([0, 1, 2, 3, 4].map(limit)))
}

#[inline(always)]
fn limit(index: usize) -> usize {
    IN_USE[index].load(Ordering::Relaxed)
}

/// Fewer bytes than this are copied by moves; 0 if nothing has been set yet.
#[inline(always)]
pub(super) fn moves_below() -> usize {
    MOVES_BELOW.load(Ordering::Relaxed)
}

/// [`Methods::string_from`] in use; 0 if nothing has been set yet.
#[inline(always)]
pub(super) fn string_from() -> usize {
    limit(0)
}

/// [`Methods::string_apart`] in use.
#[inline(always)]
pub(super) fn string_apart() -> usize {
    limit(1)
}

/// [`Methods::cached_to`] in use.
pub(super) fn cached_to() -> usize {
    limit(2)
}

/// [`Methods::abreast`] in use.
pub(super) fn abreast() -> usize {
    limit(3)
}

/// [`Methods::together_to`] in use; 0 if nothing has been set yet.
pub(super) fn together_to() -> usize {
    limit(4)
}

/// The bytes of a move.
#[inline(always)]
pub(super) fn width() -> usize {
    WIDTH.load(Ordering::Relaxed)
}

/// Makes all copies from now on use these limits. Copies that run at the same time may use some of
/// the limits from before.
pub fn set(methods: Methods) {
    WIDTH.store(arch::width(), Ordering::Release);
    for (word, value) in IN_USE.iter().zip(methods.values()).rev() {
        word.store(value, Ordering::Release);
    }
    MOVES_BELOW.store(methods.string_from.min(PIECE), Ordering::Release);
}

impl Methods {
    /// One method for any size.
    pub const ONE: Self = Self {
        string_from: NEVER,
        string_apart: 1,
        cached_to: NEVER,
        abreast: 1,
        together_to: NEVER,
    };

    fn values(self) -> [usize; 5] {
        [self.string_from, self.string_apart, self.cached_to, self.abreast, self.together_to]
    }

    fn of([string_from, string_apart, cached_to, abreast, together_to]: [usize; 5]) -> Self {
        Self { string_from, string_apart, cached_to, abreast, together_to }
    }

    /// The lines of a tuning file.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        LIMITS.iter().zip(self.values()).map(|((name, ..), value)| match value {
            NEVER => format!("{name:<14} {NEVER_WORD}"),
            value => format!("{name:<14} {value}"),
        })
    }

    /// Takes over the limit in a line of a tuning file.
    ///
    /// # Errors
    /// The expected form, in words.
    pub fn take(&mut self, line: &str) -> Result<(), String> {
        let names = || LIMITS.map(|(name, ..)| name).join(", ");
        let expected = || format!("expected one of {} and its value, found \"{line}\"", names());
        let (name, value) = line.split_once(char::is_whitespace).ok_or_else(expected)?;
        let limit = LIMITS.iter().position(|limit| limit.0 == name).ok_or_else(expected)?;
        let (_, least, most) = LIMITS[limit];
        let value = match value.trim() {
            NEVER_WORD => Some(NEVER),
            number => number.parse().ok(),
        };
        let value = value.filter(|value| (least..=most).contains(value)).ok_or_else(|| {
            let most = if most == NEVER { NEVER_WORD.into() } else { most.to_string() };
            format!("{name} must be from {least} to {most}, found \"{line}\"")
        })?;
        let mut values = self.values();
        values[limit] = value;
        *self = Self::of(values);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOME: Methods = Methods {
        string_from: NEVER,
        string_apart: 64,
        cached_to: 1 << 24,
        abreast: 4,
        together_to: 1 << 28,
    };

    #[test]
    fn what_is_written_can_be_read() {
        let mut read = Methods::of([1, 2, 3, 4, 5]);
        for line in SOME.lines() {
            read.take(&line).unwrap();
        }
        assert_eq!(read, SOME);
    }

    #[test]
    fn bad_lines_are_told_apart() {
        for (line, why) in [
            ("string_from", "expected one of string_from, string_apart,"),
            ("strong_from 1", "expected one of"),
            ("string_from 0", "string_from must be from 1 to never, found \"string_from 0\""),
            ("cached_to -1", "cached_to must be from 1 to never"),
            ("string_apart 5000", "string_apart must be from 1 to 4096"),
            ("pages_abreast never", "pages_abreast must be from 1 to 16"),
        ] {
            let mut methods = SOME;
            let found = methods.take(line).unwrap_err();
            assert!(found.contains(why), "{line}: {found}");
            assert_eq!(methods, SOME, "{line}");
        }
    }
}
