//! The algorithms in shared memory under the `loom` model checker, which runs them in every order of
//! their atomic operations that the memory model allows.
//!
//! The library's files are compiled here once more, with `loom`'s atomics in place of the
//! processor's: the text that is checked is the text that runs. PEs are threads, and what the algorithms protect is a
//! cell, in which `loom` reports every access that conflicts with another one.

#![allow(dead_code)]

/// Stands for the library's `crate::atomics`.
#[path = "support/atomics.rs"]
mod atomics;
#[path = "../../node/core/src/attachments.rs"]
mod attachments;
#[path = "../../node/core/src/collectives"]
mod collectives {
    pub mod barrier {
        pub mod dissemination;
        pub mod tree;
    }
    pub mod epoch;
    pub mod epoch_group;
    pub mod group;
    pub mod levels;
    pub mod memory;
    pub mod message;
    #[path = "../../../../src/collectives/psync.rs"]
    pub mod psync;
    pub mod range;
    pub mod scratch;
    pub mod sent;
    /// Room for few words and messages, so that both run out.
    pub mod sizes {
        pub const SMALL_WORDS: usize = 2;
        pub const MAILBOXES: usize = 4;
    }
    #[path = "../../../../src/collectives/subscription.rs"]
    pub mod subscription;
    pub mod tree;
    pub mod turns;
    pub mod words;
}
/// Stands for the library's `crate::copy`.
#[path = "support/copy.rs"]
mod copy;
#[path = "../../node/core/src/counter.rs"]
mod counter;
#[path = "../../node/core/src/lock.rs"]
mod lock;
mod models {
    mod active_sets;
    mod attachments;
    mod collectives;
    mod lock;
    mod subscriptions;
}
#[path = "support/pes.rs"]
mod pes;
#[path = "support/search.rs"]
mod search;
