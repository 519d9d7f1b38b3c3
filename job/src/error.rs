//! The routine that the user called, and errors outside communication.

use std::fmt;

/// The routine that the user called, such as `&Blocking("shmem_putmem")`: a constant without a macro. A
/// reference, because passing it takes one register, which the hot path has left.
pub type Routine = &'static Called;

/// A routine, by its name for messages and by when a transfer that it makes is complete on this side: when
/// the source of a put may be reused, and the data of a get has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Called {
    /// When the routine returns.
    Blocking(&'static str),
    /// When the next quiet returns.
    Nonblocking(&'static str),
}

impl Called {
    /// The routine's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        let (Self::Blocking(name) | Self::Nonblocking(name)) = self;
        name
    }
}

impl fmt::Display for Called {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A result of this crate's calls, with [`Error`] as the default error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a job cannot start, or why a call has no result.
///
/// Misuse is not included: a PE that does not exist, or a call before initialisation, ends the job
/// with a message, as in C.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Memory cannot be shared.
    #[error(transparent)]
    Node(#[from] onenode_core::Error),
    /// The number of PEs is not valid for a job.
    #[error("a job of {npes} PEs was asked for; expected 1 to {max}")]
    JobSize {
        /// The number requested.
        npes: usize,
        /// The most PEs possible.
        max: usize,
    },
    /// The job's file is damaged or of a different kind.
    #[error("the job's control area cannot be used: {why}")]
    ControlArea {
        /// The value found.
        why: String,
    },
    /// An environment variable has an invalid value.
    #[error("{setting}: {expected}")]
    Environment {
        /// The variable and its value, as in `NAME=value`.
        setting: String,
        /// The values allowed.
        expected: String,
    },
    /// The launcher's information about this job is inconsistent.
    #[error("{launcher}: {why}")]
    Launcher {
        /// The launcher.
        launcher: &'static str,
        /// The inconsistency.
        why: String,
    },
    /// PEs have not come in time.
    #[error("{0}")]
    Absent(String),
    /// A library that is loaded at run time cannot be used.
    #[error("{0}")]
    Library(String),
    /// PEs on other nodes cannot be reached.
    #[error("{0}")]
    Engine(String),
    /// One PE has already reported the reason for all.
    #[error("the job cannot start, for the reason given above")]
    Reported,
    /// The slot cannot be laid out or published.
    #[error("{0}")]
    Slot(String),
    /// A second thread initialises the library, whose level lets in one. Rust programs only.
    #[error(
        "called by a second thread at level {0}; expected the thread that initialised first, or that \
         it calls oneshmem::init_thread with ThreadLevel::Multiple"
    )]
    SecondThread(&'static str),
    /// There is not enough room in the symmetric heap or in a partition. All PEs get this error.
    #[error("no symmetric memory for {len} elements of {element_bytes} bytes in {place}")]
    NoMemory {
        /// Number of elements requested.
        len: usize,
        /// Bytes of an element.
        element_bytes: usize,
        /// Where: `the symmetric heap`, or a partition.
        place: String,
    },
    /// See [`NoTeam`].
    #[error(transparent)]
    NoTeam(#[from] NoTeam),
}

/// The sentence: a `main` that returns an error prints it in this form.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A split that failed, on all PEs of the parent team: the new team would have a PE that the parent
/// does not have, or there is no room for another team.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct NoTeam;

impl fmt::Debug for NoTeam {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for NoTeam {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the parent team lacks such PEs, or there is no room for more teams")
    }
}

impl std::error::Error for NoTeam {}
