//! Builds and starts the C programs of this folder as a user would, with the `oshcc` and `oshrun`
//! of the build tree, and checks their behaviour.
//!
//! `cargo test -p oneshmem-tests` runs everything. A word after `--` selects the tests whose names
//! contain it. The build tree is `build/`, made by `make`; `ONESHMEM_PREFIX` selects another one,
//! for example an installed tree.
//!
//! `cargo run -p oneshmem-tests --bin faults -- --seed 7 --count 200` runs a campaign of random
//! faults (`tests/faults`). The tests run a short one.
//!
//! Other tools that tests need (valgrind, strace, other launchers) may be missing on a developer's
//! machine. Their tests are then shown as ignored. With `ONESHMEM_TEST_ALL` set, as in continuous
//! integration, a missing tool is a failure.

pub mod alone;
pub mod asleep;
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
pub mod imitation;
pub mod imports;
pub mod in_a_row;
pub mod integrations;
pub mod interface;
pub mod launch;
pub mod launched_nodes;
pub mod launchers;
pub mod leaves;
pub mod manners;
pub mod manual;
pub mod node;
pub mod nodes;
pub mod openmp;
pub mod packages;
pub mod partitions;
pub mod privileged;
pub mod prose;
pub mod rules;
pub mod rust_users;
pub mod sanitizers;
pub mod seen;
pub mod smartmap;
pub mod spelling;
pub mod states;
pub mod statistics;
pub mod strangers;
pub mod system_calls;
pub mod tree;
pub mod tuning;
pub mod variables;
