//! What can go wrong, as values: this crate neither prints nor ends the process.

/// Why memory cannot be shared.
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
    /// Memory cannot be laid out, exported or attached.
    #[error("{0}")]
    Memory(String),
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
}
