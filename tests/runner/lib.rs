//! Builds and starts the C programs of this folder as a user would, with the `oshcc` and `oshrun`
//! of the build tree, and checks their behaviour.
//!
//! `cargo test --workspace --test suite` runs everything. A word after `--` selects the tests whose names
//! contain it. The build tree is `build/`, made by `make`; `ONESHMEM_PREFIX` selects another one,
//! for example an installed tree.
//!
//! `cargo run -p oneshmem-tests --bin faults -- --seed 7 --count 200` runs a campaign of random
//! faults (`tests/faults`). The tests run a short one.
//!
//! Other tools that tests need (valgrind, strace, other launchers) may be missing on a developer's
//! machine. Their tests are then shown as ignored. With `ONESHMEM_TEST_ALL` set, as in continuous
//! integration, a missing tool is a failure.

pub mod addresses;
pub mod architectures;
pub mod arrays;
pub mod book;
pub mod compile;
pub mod conformance;
pub mod containers;
pub mod coupled;
pub mod crowds;
pub mod devices;
pub mod directives;
pub mod examples;
pub mod failures;
pub mod far;
#[path = "../faults/mod.rs"]
pub mod faults;
pub mod filters;
pub mod heap_pages;
pub mod imitation;
pub mod imports;
pub mod in_a_row;
pub mod interface;
pub mod launch;
pub mod launched_nodes;
pub mod launchers;
pub mod leaving;
pub mod limits;
pub mod listens;
pub mod manual;
pub mod meeting;
pub mod mpi;
pub mod nested;
pub mod node;
pub mod nodes;
pub mod openmp;
pub mod packages;
pub mod partitions;
pub mod privileged;
pub mod rust_users;
pub mod sanitizers;
pub mod seen;
pub mod slurm;
pub mod smartmap;
pub mod source_lines;
pub mod states;
pub mod statistics;
pub mod strangers;
pub mod system_calls;
pub mod timeline;
pub mod transcripts;
pub mod tree;
pub mod walks;

use libtest_mimic::{Failed, Trial};

/// The result of a step of a trial, or why the trial fails: any error or text becomes a [`Failed`].
pub type Result<T = ()> = std::result::Result<T, Failed>;

/// Fails with all that is wrong, if there is anything.
pub fn verdict(wrong: impl IntoIterator<Item = String>) -> Result {
    let wrong: Vec<String> = wrong.into_iter().collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// Families that depend on how a program reaches its peers.
const EVERYWHERE: [fn() -> Vec<Trial>; 13] = [
    conformance::trials,
    examples::trials,
    launchers::trials,
    failures::trials,
    faults::trials,
    coupled::trials,
    crowds::trials,
    heap_pages::trials,
    nodes::trials,
    partitions::trials,
    system_calls::trials,
    interface::trials,
    smartmap::trials,
];

/// Families in which SMARTMAP's addresses have no part, or which a library with them does not serve: several
/// nodes, devices, other runtimes, sanitizers, reports, how jobs follow each other. They run with the usual library only.
const USUALLY: [fn() -> Vec<Trial>; 32] = [
    addresses::trials,
    architectures::trials,
    arrays::trials,
    rust_users::trials,
    nested::trials,
    meeting::trials,
    mpi::trials,
    far::trials,
    book::trials,
    imports::trials,
    walks::trials,
    launched_nodes::trials,
    limits::trials,
    listens::trials,
    seen::trials,
    in_a_row::trials,
    containers::trials,
    leaving::trials,
    manual::trials,
    node::trials,
    devices::trials,
    openmp::trials,
    packages::trials,
    privileged::trials,
    sanitizers::trials,
    source_lines::trials,
    states::trials,
    statistics::trials,
    strangers::trials,
    slurm::trials,
    timeline::trials,
    transcripts::trials,
];

/// The trials of all families.
pub fn trials() -> Vec<Trial> {
    let usually = if tree::is_smartmap() { &[][..] } else { &USUALLY };
    EVERYWHERE.iter().chain(usually).flat_map(|trials| trials()).collect()
}
