//! The classes of operations.

/// A class of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Puts of any form.
    Put,
    /// Gets of any form.
    Get,
    /// Atomic operations.
    Atomic,
    /// Updates of signals.
    Signal,
    /// Quiets, except those inside other operations.
    Quiet,
    /// Calls that had to wait for a variable or a lock.
    Wait,
    /// Collective calls.
    Collective,
}

/// How many classes there are.
pub const CLASSES: usize = 7;

impl Class {
    /// All of them.
    pub const ALL: [Self; CLASSES] = [
        Self::Put,
        Self::Get,
        Self::Atomic,
        Self::Signal,
        Self::Quiet,
        Self::Wait,
        Self::Collective,
    ];

    /// Its name in statistics written as data.
    pub fn name(self) -> &'static str {
        match self {
            Self::Put => "put",
            Self::Get => "get",
            Self::Atomic => "atomic",
            Self::Signal => "signal",
            Self::Quiet => "quiet",
            Self::Wait => "wait",
            Self::Collective => "collective",
        }
    }
}
