//! Collectives of any group of processes: barrier, broadcast, collect, all-to-all, reductions and
//! scans.
//!
//! One file an algorithm, each a function over [`group::Group`]: the published families, and the
//! *direct* ones that only shared memory allows, where every member reads the others' sources
//! where they lie and writes nothing but its own dest, so that no byte is moved twice and no
//! member needs to know when another's dest is ready. [`algorithms`] names them, [`rules`] says
//! which one a call runs.

pub mod algorithms;
pub mod alltoall;
pub mod barrier;
pub mod broadcast;
pub mod clock;
pub mod collect;
pub mod epochs;
pub mod group;
pub mod reduce;
pub mod rules;
pub mod run;
pub mod scan;
mod scratch;
#[cfg(test)]
mod tests;
pub mod tree;
pub mod words;
