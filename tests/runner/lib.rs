//! Builds and starts the C programs of this folder as a user would, with the
//! `oshcc` and `oshrun` of the build tree, and checks what they do.
//!
//! `cargo test -p oneshmem-tests` runs everything; a word after `--` selects the
//! tests whose names contain it. The build tree is `build/`, made by `make`;
//! `ONESHMEM_PREFIX` names another one, for example an installed tree.
//!
//! `cargo run -p oneshmem-tests --bin faults -- --seed 7 --count 200` runs a campaign of random
//! faults (`tests/faults`), of which the tests run a short one.
//!
//! What a test needs beyond that (valgrind, strace, other launchers) may be absent
//! on a developer's machine: then its tests are shown as ignored. With
//! `ONESHMEM_TEST_ALL` set, as continuous integration does, absence is a failure.

pub mod book;
pub mod bystanders;
pub mod compile;
pub mod conformance;
pub mod containers;
pub mod crowds;
pub mod devices;
pub mod directives;
pub mod examples;
pub mod failures;
pub mod far;
#[path = "../faults/mod.rs"]
pub mod faults;
pub mod heap_pages;
pub mod imports;
pub mod in_a_row;
pub mod integrations;
pub mod interface;
pub mod launch;
pub mod launchers;
pub mod manners;
pub mod node;
pub mod nodes;
pub mod openmp;
pub mod partitions;
pub mod privileged;
pub mod rules;
pub mod sanitizers;
pub mod seen;
pub mod smartmap;
pub mod states;
pub mod statistics;
pub mod strangers;
pub mod system_calls;
pub mod tree;
pub mod tuning;
pub mod variables;
