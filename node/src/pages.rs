//! What memory can be made of: ordinary pages, or huge ones.

use crate::sys::map;
use std::fmt;

/// What memory is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    /// The system's ordinary pages.
    Normal,
    /// Huge ones where the kernel can make them.
    Transparent,
    /// Huge ones of this size in bytes, set aside for the heap.
    Explicit(usize),
}

impl Pages {
    /// Bytes in the page that mappings are made of.
    pub fn size(self) -> usize {
        match self {
            Self::Normal | Self::Transparent => map::page_size(),
            Self::Explicit(size) => size,
        }
    }

    /// As one word of a record.
    pub fn word(self) -> u64 {
        match self {
            Self::Normal => 0,
            Self::Transparent => 1,
            Self::Explicit(size) => size as u64,
        }
    }

    /// What such a word says.
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

/// A number of bytes, for people.
pub struct Bytes(pub usize);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (shift, unit) in [(30, "GiB"), (20, "MiB"), (10, "KiB")] {
            if self.0 >= 1 << shift && self.0.is_multiple_of(1 << shift) {
                return write!(f, "{} {unit}", self.0 >> shift);
            }
        }
        write!(f, "{} bytes", self.0)
    }
}
