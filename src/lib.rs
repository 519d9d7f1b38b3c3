//! OpenSHMEM for the processes of one machine: *one node, one copy*. Every PE maps every other
//! PE's data segment and symmetric heap, so a put is one `memcpy`, an atomic is one locked
//! instruction, and nothing runs in between: no progress thread, no system call, no bounce buffer.
//!
//! This is the interface for Rust programs: the same core as the C interface, at the same
//! speed, safe to use.
//!
//! ```standalone_crate
//! let shmem = oneshmem::init()?;
//! let (me, npes) = (shmem.my_pe(), shmem.n_pes());
//!
//! // Symmetric memory: the same object on every PE, allocated by all together.
//! let inbox = shmem.alloc::<u64>(npes).expect("the symmetric heap is large enough");
//! for pe in 0..npes {
//!     shmem.put(inbox.at(me), &[me as u64 * 100], pe);
//! }
//! shmem.barrier_all();
//! assert_eq!(inbox.all().to_vec(), (0..npes as u64).map(|pe| pe * 100).collect::<Vec<_>>());
//!
//! shmem.free(inbox);
//! shmem.finalize();
//! # Ok::<(), oneshmem::Error>(())
//! ```
//!
//! Compiled with cargo, a program runs as `oshrun -n 4 target/release/program`.
//!
//! What makes it safe: symmetric memory holds only types for which any bits are a
//! value ([`Element`]), and is reached by copies, never by references; so a peer
//! that writes at the wrong time spoils values, not the program. What cannot be
//! carried out (a PE that does not exist, say) ends the job with a message, as in C;
//! an index out of bounds panics, as in Rust.
//!
//! Collective calls, [`Shmem::alloc`] and [`Shmem::free`] among them, are made by
//! all PEs in the same order. Nothing is collective by being dropped: memory that is
//! not freed stays allocated until [`Shmem::finalize`], and a program that ends
//! without it is reported by the launcher.
//!
//! # Where the routines of C are
//!
#![doc = include_str!("shmem/families.md")]
//!
//! # Inside
//!
//! `ARCHITECTURE.md` in the source tree is the map, and `src/floors.txt` has the order in which
//! files may import each other. What maps memory is in the crate `onenode`.

// What the C library and the commands are made of. No part of the interface: it may change at
// any time.
#[doc(hidden)]
pub mod amo;
#[doc(hidden)]
pub mod argument;
#[doc(hidden)]
pub mod collectives;
#[doc(hidden)]
pub mod context;
#[doc(hidden)]
pub mod engine;
#[doc(hidden)]
pub mod env;
#[doc(hidden)]
pub mod error;
#[doc(hidden)]
pub mod job;
#[doc(hidden)]
pub mod lock;
#[doc(hidden)]
pub mod memory;
#[doc(hidden)]
pub mod message;
#[doc(hidden)]
pub mod order;
#[doc(hidden)]
pub mod partition;
#[doc(hidden)]
pub mod rma;
#[doc(hidden)]
pub mod signal;
#[doc(hidden)]
pub mod span;
#[doc(hidden)]
pub mod stats;
#[doc(hidden)]
pub mod team;
#[doc(hidden)]
pub mod translate;
#[doc(hidden)]
pub mod wait;

mod device;
mod failure;
mod operand;
mod pause;
mod shmem;
mod slow;
mod sys;
#[cfg(test)]
mod testing;

// Under these names, the model checker puts its own in their place.
use onenode::{atomics, counter};

pub use error::Error;
pub use shmem::*;
