//! OpenSHMEM for the processes of one machine: *one node, one copy*.
//!
//! Every PE maps every other PE's data segment and symmetric heap, so a put is
//! one `memcpy`, an atomic is one locked instruction, and nothing runs in
//! between: no progress thread, no system call, no bounce buffer.
//! `ARCHITECTURE.md` in the source tree is the map of this crate; the layers,
//! top to bottom (imports only point down; `src/floors.txt` has them all):
//!
//! * [`rma`], [`amo`], [`signal`], [`order`], [`wait`], [`lock`]: the
//!   operations, one file a family, inline and generic over the element type;
//! * [`collectives`], [`team`], [`context`]: objects over the job's control area;
//! * [`translate`]: the address translation all of them share, and [`slow`]
//!   behind it, where every uncommon case is sorted out;
//! * [`memory`]: the slot (data segment and symmetric heap), the heap's allocator;
//! * [`job`]: who am I, who are my peers, the control area, abort, liveness;
//! * `sys`: system calls that concern OpenSHMEM's own manners; the others, and all that maps
//!   memory, are in the crate `onenode`.
//!
//! The C interface (`capi/`) is a client of this crate, generated from the
//! table in `interface/`.

pub mod amo;
pub mod argument;
pub mod collectives;
pub mod context;
pub mod env;
pub mod error;
pub mod failure;
pub mod job;
pub mod lock;
pub mod memory;
pub mod message;
pub mod operand;
pub mod order;
pub mod pause;
pub mod rma;
pub mod shmem;
pub mod signal;
pub mod slow;
pub mod span;
pub mod stats;
mod sys;
pub mod team;
#[cfg(test)]
mod testing;
pub mod translate;
pub mod wait;

// Under these names, the model checker puts its own in their place.
use onenode::{atomics, counter};

pub use shmem::*;
