//! What goes wrong before or beside communication, and how a misuse of the
//! interface is told.

use std::fmt;

/// The name of the routine the user called, for messages. Doubly a reference, so
/// that passing it costs one register.
pub type Routine = &'static &'static str;

/// Why a job cannot start or go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A system call failed.
    #[error("{call} failed: {source}")]
    System {
        /// The call, with what it was about.
        call: &'static str,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// A job of this size cannot be.
    #[error("a job of {npes} PEs was asked for; expected 1 to {max}")]
    JobSize {
        /// Asked for.
        npes: usize,
        /// The most there can be.
        max: usize,
    },
    /// The job's file is not what it should be.
    #[error("the job's control area cannot be used: {why}")]
    ControlArea {
        /// What was found.
        why: String,
    },
    /// An environment variable has a value it cannot have.
    #[error("{name}={value}: {expected}")]
    Environment {
        /// The variable.
        name: String,
        /// What it is set to.
        value: String,
        /// What it should be.
        expected: String,
    },
    /// What the launcher says about this job does not fit.
    #[error("{launcher}: {why}")]
    Launcher {
        /// Who started the job.
        launcher: &'static str,
        /// What does not fit.
        why: String,
    },
    /// The slot cannot be laid out or published.
    #[error("{0}")]
    Slot(String),
}

impl Error {
    /// The last system error, as the failure of `call`.
    pub(crate) fn last(call: &'static str) -> Self {
        Self::System { call, source: std::io::Error::last_os_error() }
    }
}

/// A call that cannot be carried out: one block on standard error, then the job ends.
#[derive(Debug)]
pub struct Misuse {
    /// The routine called.
    pub routine: &'static str,
    /// The argument at fault and its value, for example `dest = 0x7ffd1234`.
    pub argument: String,
    /// What was expected, and the nearest thing that would be valid.
    pub expected: String,
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.routine, self.argument, self.expected)
    }
}
