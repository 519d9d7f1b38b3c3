//! Why there is no array.

use std::fmt;

/// A result of this crate, with [`Error`] as its error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why there is no array. All PEs get an error of the same kind, and no array.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The job cannot start, or the symmetric heap has no room.
    #[error(transparent)]
    Shmem(#[from] oneshmem::Error),
    /// The library has no team left: each array has one of its own.
    #[error("{routine}: no team for the array; expected that arrays no longer needed are freed")]
    NoTeam {
        /// The routine called.
        routine: &'static str,
    },
    /// PEs ask for different arrays.
    #[error(
        "{routine}: {argument} is {here} on this PE, and {least} to {most} on all; expected the same on all PEs"
    )]
    Unequal {
        /// The routine called.
        routine: &'static str,
        /// The argument that differs.
        argument: &'static str,
        /// Its value on this PE.
        here: u64,
        /// The least value of all PEs.
        least: u64,
        /// The greatest value of all PEs.
        most: u64,
    },
}

/// As the text: what a program shows whose `main` returns the error.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
