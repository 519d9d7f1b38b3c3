//! What can go wrong, as values: this crate neither prints nor ends the process.

/// Why a call failed. A failed call changes nothing.
#[derive(thiserror::Error)]
pub enum Error {
    /// A system call failed.
    #[error("{call} failed: {source}")]
    System {
        /// The call and its purpose.
        call: &'static str,
        /// The operating system's reason.
        source: std::io::Error,
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
        /// What failed.
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

impl Error {
    /// Makes the failure of `call` out of the system's reason.
    pub fn of<R: Into<std::io::Error>>(call: &'static str) -> impl FnOnce(R) -> Self {
        move |reason| Self::System { call, source: reason.into() }
    }

    /// The last system error, as the failure of `call`.
    pub fn last(call: &'static str) -> Self {
        let source = match std::io::Error::last_os_error() {
            // A call that did less than it should, but did not fail.
            none if none.raw_os_error() == Some(0) => {
                std::io::Error::other("the system gives no reason")
            }
            some => some,
        };
        Self::System { call, source }
    }
}
