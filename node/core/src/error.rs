//! Errors as values: this crate neither prints nor ends the process.

use std::io;

/// Why a call failed. A failed call changes nothing.
#[derive(thiserror::Error)]
pub enum Error {
    /// A system call failed.
    #[error("{call} failed: {source}")]
    System {
        /// The call and its purpose.
        call: &'static str,
        /// The operating system's reason.
        source: io::Error,
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
        /// The number of mirrors requested.
        peers: usize,
        /// Bytes of memory to place.
        bytes: usize,
        /// The failure.
        why: Box<Error>,
    },
    /// The backend does not support it, or memory cannot be laid out, exported or attached.
    #[error("{0}")]
    NoWay(String),
}

/// The sentence: a `main` that returns an error prints it in this form.
impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// By hand, because [`std::io::Error`] has no copy: one of the system's is known by its number, any other keeps
/// its kind and text.
impl Clone for Error {
    fn clone(&self) -> Self {
        match self {
            Self::System { call, source } => {
                let other = || io::Error::new(source.kind(), source.to_string());
                let source = source.raw_os_error().map_or_else(other, io::Error::from_raw_os_error);
                Self::System { call, source }
            }
            Self::FileSize { needed, limit } => Self::FileSize { needed: *needed, limit: *limit },
            Self::NoRoom { peers, bytes, why } => {
                Self::NoRoom { peers: *peers, bytes: *bytes, why: why.clone() }
            }
            Self::NoWay(why) => Self::NoWay(why.clone()),
        }
    }
}

impl Error {
    /// Makes the failure of `call` out of the system's reason.
    pub fn of<R: Into<io::Error>>(call: &'static str) -> impl FnOnce(R) -> Self {
        move |reason| Self::System { call, source: reason.into() }
    }

    /// The last system error, as the failure of `call`.
    pub fn last(call: &'static str) -> Self {
        let source = match io::Error::last_os_error() {
            // A call that did less than it should, but did not fail.
            none if none.raw_os_error() == Some(0) => {
                io::Error::other("the system gives no reason")
            }
            some => some,
        };
        Self::System { call, source }
    }
}
