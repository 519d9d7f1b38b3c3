//! Errors as values: this crate neither prints nor ends the process.

use crate::Rank;

/// Why a call failed. A failed call changes nothing.
#[derive(Clone, thiserror::Error)]
pub enum Error {
    /// An argument is invalid.
    #[error("{argument} = {value}: expected {expected}")]
    Argument {
        /// Its name.
        argument: &'static str,
        /// Its value.
        value: String,
        /// The values allowed.
        expected: String,
    },
    /// Memory cannot be shared: a system call failed, or the machine has no room for it.
    #[error(transparent)]
    Memory(#[from] onenode_core::Error),
    /// A rank's memory cannot be reached by load and store.
    #[error("rank {rank} cannot be reached by load and store: {why}")]
    Elsewhere {
        /// The rank.
        rank: Rank,
        /// The reason.
        why: &'static str,
    },
    /// A rank is not known yet.
    #[error("rank {rank} is not known: its card has not been given")]
    NoCard {
        /// The rank.
        rank: Rank,
    },
    /// A card is that of no rank.
    #[error("the card is that of no known rank: it has not been given, or its rank is detached")]
    Stranger,
    /// Memory is not in a region.
    #[error("no region of {of} has all of {start:#x} (+ {bytes} bytes)")]
    NotMapped {
        /// Where it was looked for.
        of: Scope,
        /// The first address, in the owner's address space.
        start: usize,
        /// The number of bytes.
        bytes: usize,
    },
    /// A rank's region or backend does not match this process's.
    #[error("rank {rank} and this process differ: {what}")]
    Unlike {
        /// The rank.
        rank: Rank,
        /// The difference.
        what: String,
    },
    /// A rank has ended without closing its node.
    #[error("rank {rank} has ended without closing its node")]
    Died {
        /// The rank.
        rank: Rank,
    },
    /// A rank has closed its node.
    #[error("rank {rank} has closed its node")]
    Left {
        /// The rank.
        rank: Rank,
    },
    /// A wait took longer than its limit.
    #[error("the time limit has passed")]
    Time,
    /// The client's progress function has ended a wait.
    #[error("the client's progress function has ended the wait")]
    Stopped,
    /// The other side has an incompatible version.
    #[error(
        "the {what} is of version {}.{}, this library's is {}.{}: the first numbers must be equal",
        theirs.0, theirs.1, ours.0, ours.1
    )]
    Version {
        /// The thing that has a version.
        what: &'static str,
        /// The other side's, major and minor.
        theirs: (u16, u16),
        /// This library's, major and minor.
        ours: (u16, u16),
    },
    /// The backend does not support it, or there is no room for one more.
    #[error("{0}")]
    NoWay(String),
}

/// The sentence: a `main` that returns an error prints it in this form.
impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Where a region was looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The node of this process.
    Node,
    /// A view of some of them.
    View,
    /// A rank.
    Rank(Rank),
}

impl std::fmt::Display for Scope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Node => f.write_str("this node"),
            Self::View => f.write_str("the view"),
            Self::Rank(rank) => write!(f, "rank {rank}"),
        }
    }
}

impl Error {
    /// The error for an invalid argument.
    pub fn argument(
        argument: &'static str,
        value: impl ToString,
        expected: impl Into<String>,
    ) -> Self {
        Self::Argument { argument, value: value.to_string(), expected: expected.into() }
    }

    /// The error's number in the C interface, below 0 (`enum onenode_error`).
    pub fn code(&self) -> i32 {
        match self {
            Self::Argument { .. } => -1,
            Self::Memory(onenode_core::Error::System { .. }) => -2,
            Self::Elsewhere { .. } => -3,
            Self::NoCard { .. } | Self::Stranger => -4,
            Self::NotMapped { .. } => -5,
            Self::Unlike { .. } => -6,
            Self::Died { .. } => -7,
            Self::Left { .. } => -8,
            Self::Time => -9,
            Self::Stopped => -10,
            Self::Version { .. } => -11,
            Self::Memory(_) | Self::NoWay(_) => -12,
        }
    }
}
