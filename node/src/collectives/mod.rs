//! Collectives of any group of processes: barrier, broadcast, collect, all-to-all, reductions and
//! scans.
//!
//! One file an algorithm, each a function over [`group::Group`]: the published families, and the
//! *direct* ones that only shared memory allows, where every member reads the others' sources
//! where they lie and writes nothing but its own dest, so that no byte is moved twice and no
//! member needs to know when another's dest is ready. A line in the table of the operation names
//! it, says what it needs and calls it ([`algorithm`]); [`choices`] says which one a call runs.

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
pub mod sizes;
#[cfg(test)]
mod tests;
pub mod tree;
pub mod words;
