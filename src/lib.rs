//! OpenSHMEM for Rust programs, between the processes of one machine.
//!
//! ```standalone_crate
//! fn main() -> oneshmem::Result<()> {
//!     let shmem = oneshmem::init()?;
//!     let (me, npes) = (shmem.my_pe(), shmem.n_pes());
//!
//!     // Symmetric memory: the same array on every PE, allocated by all together.
//!     let inbox = shmem.alloc::<u64>(npes)?;
//!     // A one-sided copy to each PE, then a barrier that completes them.
//!     for pe in 0..npes {
//!         shmem.put(inbox.at(me), &[me as u64 * 100], pe);
//!     }
//!     shmem.barrier_all();
//!     for (pe, value) in inbox.all().to_vec().into_iter().enumerate() {
//!         assert_eq!(value, pe as u64 * 100);
//!     }
//!
//!     shmem.free(inbox);
//!     shmem.finalize();
//!     Ok(())
//! }
//! ```
//!
//! Compiled with cargo, a program runs as `oshrun -n 4 target/release/program`; started without
//! `oshrun`, it is a job of one PE. `examples/` has more programs.
//!
//! Every PE maps every other PE's data segment and symmetric heap. So a put is one copy and an
//! atomic is one locked instruction, with nothing in between: no progress thread, no system call,
//! no bounce buffer. The C interface uses the same core, at the same speed.
//!
//! # Where to start
//!
//! | for | see |
//! |---|---|
//! | starting and ending | [`init`], [`Shmem`], [`Error`] |
//! | memory that all PEs reach | [`Shmem::alloc`], [`Symmetric`], [`SymmetricSlice`] |
//! | structs of your own | [`Element`](derive@Element) |
//! | puts, gets, atomics, signals | the methods of [`Context`], which [`Shmem`] has as its own |
//! | reductions, broadcasts and the like | the methods of [`Team`], on [`Shmem::world`] |
//! | waiting and locks | the methods of [`Shmem`] |
//!
//! # What makes it safe
//!
//! Symmetric memory holds only types for which any bits are a valid value
//! ([`Element`](trait@Element)), and is accessed by copies, not by references. So a peer that
//! writes at the wrong time corrupts values, but not the program. A call that cannot be carried
//! out, such as a put to a PE that does not exist, ends the job with a message, as in C. An index
//! out of bounds panics, as in Rust.
//!
//! Arrays, teams and contexts borrow from the [`Shmem`], so they cannot be used after
//! [`Shmem::finalize`]. Below [`ThreadLevel::Multiple`] they stay in the thread that called [`init`],
//! as does the [`Shmem`]; at that level, [`Threads`] lets other threads in. Threads then stand to each
//! other as PEs do.
//!
//! All PEs make collective calls, including [`Shmem::alloc`] and [`Shmem::free`], in the same
//! order. Dropping a value is never collective: memory that is not freed stays allocated until
//! [`Shmem::finalize`], and the launcher reports a program that ends without calling it.
//!
//! # Where the routines of C are
//!
#![doc = include_str!("shmem/families.md")]
//!
//! # Inside
//!
//! `ARCHITECTURE.md` in the source tree is the map, and `src/floors.txt` gives the order in which
//! folders may import each other. The crate `onenode-core` contains the code that maps memory.

// What they forbid stands in clippy.toml, with the reasons.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]
#![warn(clippy::missing_errors_doc, clippy::missing_panics_doc)]

mod amo;
mod argument;
mod call;
mod collectives;
mod context;
mod device;
mod engine;
mod exchange;
mod failure;
mod heap;
mod lock;
mod memory;
mod message;
mod operand;
mod order;
mod partition;
mod pause;
mod pe;
mod query;
mod report;
mod rma;
mod shmem;
mod signal;
mod slow;
mod span;
mod start;
mod stats;
mod sys;
mod team;
#[cfg(test)]
mod testing;
mod timeline;
mod translate;
mod wait;

/// Items for the C library and the commands that are PEs. Not part of the API: they may change at any time.
#[doc(hidden)]
pub mod internals {
    macro_rules! rooms {
        ($($room:ident)*) => { $(pub mod $room { pub use crate::$room::*; })* };
    }
    rooms! {
        amo argument collectives context heap lock message order partition
        pause pe query rma signal span start team translate wait
    }
    pub use crate::sys::clock;
}

// The model checker substitutes its own modules under these names.
use onenode_core::{atomics, counter};

/// ```standalone_crate
/// use oneshmem::Element;
///
/// #[derive(Clone, Copy, Debug, PartialEq, Element)]
/// #[repr(C)]
/// struct Particle {
///     position: [f64; 3],
///     velocity: [f64; 3],
///     id: u64,
/// }
///
/// # let shmem = oneshmem::init()?;
/// let inbox = shmem.alloc::<Particle>(100)?;
/// let particle = Particle { position: [0.5; 3], velocity: [0.0; 3], id: 7 };
/// shmem.p(inbox.at(0), particle, shmem.my_pe());
/// assert_eq!(inbox.at(0).get(), particle);
/// # shmem.free(inbox);
/// # shmem.finalize();
/// # Ok::<(), oneshmem::Error>(())
/// ```
#[cfg(feature = "derive")]
#[doc(inline)]
pub use oneshmem_derive::Element;
/// ```standalone_crate
/// fn main() -> oneshmem::Result<()> {
///     let shmem = oneshmem::init()?;
///     // More than any machine has: all PEs get the error.
///     let error = shmem.alloc::<u64>(1 << 50).expect_err("8 PiB");
///     assert!(matches!(error, oneshmem::Error::NoMemory { .. }));
///     println!("{error}");
///     shmem.finalize();
///     Ok(())
/// }
/// ```
#[doc(inline)]
pub use oneshmem_job::error::Error;
pub use shmem::*;

// The programs on the book's page are documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/src/rust.md")]
mod book {}
