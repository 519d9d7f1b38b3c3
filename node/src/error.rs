//! What can go wrong, as values: this crate neither prints nor ends the process.

use crate::Rank;

/// Why something cannot be done. After an error everything is as it was.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An argument cannot be what it is.
    #[error("{argument} = {value}: expected {expected}")]
    Argument {
        /// Its name.
        argument: &'static str,
        /// Its value.
        value: String,
        /// What it can be.
        expected: String,
    },
    /// A system call failed.
    #[error("{call} failed: {source}")]
    System {
        /// The call, with what it was about.
        call: &'static str,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// A rank's memory cannot be reached by load and store.
    #[error("rank {rank} cannot be reached by load and store: {why}")]
    Elsewhere {
        /// The rank.
        rank: Rank,
        /// What lies between.
        why: &'static str,
    },
    /// A rank is not known yet.
    #[error("rank {rank} is not known: its card has not been given")]
    NoCard {
        /// The rank.
        rank: Rank,
    },
    /// Memory is in no region.
    #[error("{}", not_mapped(*.rank, *.start, *.bytes))]
    NotMapped {
        /// Whose memory; `None`: this process's own, in a view.
        rank: Option<Rank>,
        /// First address, as its owner knows it.
        start: usize,
        /// How many bytes.
        bytes: usize,
    },
    /// A rank's region or backend is not like this process's.
    #[error("rank {rank} is not like this process: {what}")]
    Unlike {
        /// The rank.
        rank: Rank,
        /// What differs, and how.
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
    /// What was waited for has not come in time.
    #[error("the time limit has passed")]
    Time,
    /// The client's progress function has ended a wait.
    #[error("the client's progress function has ended the wait")]
    Stopped,
    /// The other side speaks another language.
    #[error(
        "the {what} is of version {}.{}, this library's is {}.{}: the first numbers must be equal",
        theirs.0, theirs.1, ours.0, ours.1
    )]
    Version {
        /// What has a version.
        what: &'static str,
        /// The other side's, major and minor.
        theirs: (u16, u16),
        /// This library's.
        ours: (u16, u16),
    },
    /// The limit on the size of files is too low for a memory file.
    #[error(
        "files may not be larger than {limit} bytes (ulimit -Hf), but the memory file, which is \
         sparse and on no disk, is {needed} bytes long; raise the limit: ulimit -f unlimited"
    )]
    FileSize {
        /// The file's size.
        needed: u64,
        /// The hard limit.
        limit: u64,
    },
    /// The address space has no room for the mirrors.
    #[error(
        "no address space for {peers} peers with {bytes} bytes each: {why}; ask for less or raise \
         the limit (ulimit -v)"
    )]
    NoRoom {
        /// How many mirrors were asked for.
        peers: usize,
        /// Bytes of the memory that was to be placed.
        bytes: usize,
        /// What failed.
        why: Box<Error>,
    },
    /// The backend cannot do it, or memory cannot be laid out, exported or attached.
    #[error("{0}")]
    NoWay(String),
}

fn not_mapped(rank: Option<Rank>, start: usize, bytes: usize) -> String {
    match rank {
        Some(rank) => format!("no region of rank {rank} has all of {start:#x} (+ {bytes} bytes)"),
        None => format!("no region of the view has all of {start:#x} (+ {bytes} bytes)"),
    }
}

impl Error {
    /// The last system error, as the failure of `call`.
    pub fn last(call: &'static str) -> Self {
        let source = match std::io::Error::last_os_error() {
            // A call that has done less than it was to, and has not failed.
            none if none.raw_os_error() == Some(0) => {
                std::io::Error::other("the system gives no reason")
            }
            some => some,
        };
        Self::System { call, source }
    }

    /// That an argument is wrong.
    pub fn argument(
        argument: &'static str,
        value: impl ToString,
        expected: impl Into<String>,
    ) -> Self {
        Self::Argument { argument, value: value.to_string(), expected: expected.into() }
    }

    /// Its number in the C interface, below 0 (`enum onenode_error`).
    pub fn code(&self) -> i32 {
        match self {
            Self::Argument { .. } => -1,
            Self::System { .. } => -2,
            Self::Elsewhere { .. } => -3,
            Self::NoCard { .. } => -4,
            Self::NotMapped { .. } => -5,
            Self::Unlike { .. } => -6,
            Self::Died { .. } => -7,
            Self::Left { .. } => -8,
            Self::Time => -9,
            Self::Stopped => -10,
            Self::Version { .. } => -11,
            Self::FileSize { .. } | Self::NoRoom { .. } | Self::NoWay(_) => -12,
        }
    }
}
