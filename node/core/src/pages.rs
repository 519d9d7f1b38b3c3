//! The kinds of pages that memory can have: ordinary or huge.

use crate::sys::map;
use std::fmt;

/// The kind of pages that memory consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    /// The system's ordinary pages.
    Normal,
    /// Huge pages where the kernel can make them.
    Transparent,
    /// Huge pages of this size in bytes, reserved for the heap.
    Explicit(usize),
}

impl Pages {
    /// The page size of mappings, in bytes.
    pub fn size(self) -> usize {
        match self {
            Self::Normal | Self::Transparent => map::page_size(),
            Self::Explicit(size) => size,
        }
    }

    /// The kind, as one word of a record.
    pub fn word(self) -> u64 {
        match self {
            Self::Normal => 0,
            Self::Transparent => 1,
            Self::Explicit(size) => size as u64,
        }
    }

    /// The kind that such a word stands for.
    pub fn from_word(word: u64) -> Self {
        match word {
            0 => Self::Normal,
            1 => Self::Transparent,
            size => Self::Explicit(size as usize),
        }
    }
}

impl fmt::Display for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Normal => write!(f, "ordinary pages of {}", Bytes(map::page_size())),
            Self::Transparent => f.write_str("transparent huge pages"),
            Self::Explicit(size) => write!(f, "explicit huge pages of {}", Bytes(*size)),
        }
    }
}

/// A number of bytes, for messages.
pub struct Bytes(pub usize);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (shift, unit) in [(30, "GiB"), (20, "MiB"), (10, "KiB")] {
            if self.0 >= 1 << shift && self.0 % (1 << shift) == 0 {
                return write!(f, "{} {unit}", self.0 >> shift);
            }
        }
        write!(f, "{} bytes", self.0)
    }
}
