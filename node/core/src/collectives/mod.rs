//! Collectives on any group of processes: barrier, broadcast, collect, all-to-all, reductions and
//! scans.
//!
//! Each file holds one algorithm, a function over [`group::CollectiveGroup`]. There are the published
//! families and the *direct* algorithms, which only shared memory allows: every member reads the
//! others' sources in place and writes only its own dest, so no byte is moved twice and no member
//! needs to know when another's dest is ready. A line in the operation's table gives an algorithm's
//! name, its requirement and its call ([`algorithm`]); [`choices`] picks the algorithm that a call
//! runs.

pub mod algorithm;
pub mod alltoall;
pub mod barrier;
pub mod broadcast;
pub mod choices;
pub mod collect;
pub mod epoch;
pub mod epoch_group;
pub mod group;
pub mod levels;
pub mod memory;
pub mod message;
pub mod operation;
pub mod range;
pub mod reduce;
pub mod rules;
pub mod scan;
pub mod scratch;
pub mod sent;
pub mod sizes;
#[cfg(test)]
mod tests;
pub mod tree;
pub mod turns;
pub mod words;

// SAFETY: counters, words and what surrounds them are atomics; the rest is unused room.
#[allow(unsafe_code)]
unsafe impl crate::area::Shared for words::ControlWords {}
