//! The options that some calls take: constants that can be combined with `|`.

use crate::context::{self, session};
use bitflags::bitflags;
use std::ffi::c_long;

bitflags! {
    /// How a context will be used (specification, section 9.5.1).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct ContextOptions: c_long {
        /// Threads share it, but never at the same time.
        const SERIALIZED = context::SERIALIZED;
        /// Only the thread that creates it uses it.
        const PRIVATE = context::PRIVATE;
        /// Its quiet and fence need not cover plain stores.
        const NOSTORE = context::NOSTORE;
    }

    /// The properties of a session (specification, section 9.9).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct SessionOptions: c_long {
        /// Operations may be sent in batches.
        const BATCH = session::BATCH;
    }

    /// The intended use of symmetric memory (specification, section 9.3.5).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Hints: c_long {
        /// The target of atomic operations: `SHMEM_MALLOC_ATOMICS_REMOTE`.
        const ATOMICS_REMOTE = 1;
        /// Signal objects: `SHMEM_MALLOC_SIGNAL_REMOTE`.
        const SIGNAL_REMOTE = 2;
    }
}
