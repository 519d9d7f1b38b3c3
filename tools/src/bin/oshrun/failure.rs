//! Why a job could not be started.

use std::fmt;
use std::io;

/// A message, and the status `oshrun` exits with.
#[derive(Debug)]
pub struct Failure {
    /// The exit status.
    pub status: u8,
    /// The message for the user.
    pub message: String,
}

/// The exit status when the launcher itself fails.
pub const OWN_FAILURE: u8 = 1;
/// The exit status when the command line is wrong.
pub const WRONG_LINE: u8 = 2;

impl Failure {
    /// A failure of the launcher itself.
    pub fn own(message: impl fmt::Display) -> Self {
        Self { status: OWN_FAILURE, message: message.to_string() }
    }
}

/// A failure of the launcher itself because of the system, with what it wanted to do.
pub fn cannot<E: Into<io::Error>>(what: &str) -> impl FnOnce(E) -> Failure + '_ {
    move |error| Failure::own(format!("cannot {what}: {}", error.into()))
}

impl From<oneshmem_job::error::Error> for Failure {
    fn from(error: oneshmem_job::error::Error) -> Self {
        Self::own(error)
    }
}

impl From<onenode_core::Error> for Failure {
    fn from(error: onenode_core::Error) -> Self {
        Self::own(error)
    }
}
