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

/// The unit tests of a file, as trials.
macro_rules! unit_trials {
    ($($test:ident),* $(,)?) => {
        /// The trials.
        pub fn trials() -> Vec<libtest_mimic::Trial> {
            $crate::units_of(module_path!(), &[$((stringify!($test), $test)),*])
        }
    };
}
use unit_trials;

pub mod addresses;
pub mod alone;
pub mod asleep;
pub mod book;
pub mod bystanders;
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
pub mod integrations;
pub mod interface;
pub mod launch;
pub mod launched_nodes;
pub mod launchers;
pub mod leaving;
pub mod limits;
pub mod listens;
pub mod manual;
pub mod meeting;
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
pub mod states;
pub mod statistics;
pub mod strangers;
pub mod system_calls;
pub mod tree;
pub mod tuning;
pub mod variables;

use libtest_mimic::Trial;

/// The unit tests of this package. They are trials, too, so that one runner knows all names.
pub fn units() -> Vec<Trial> {
    let files = [book::page::tests::trials, directives::tests::trials, imports::tests::trials];
    files.into_iter().flat_map(|trials| trials()).collect()
}

fn units_of(module: &str, tests: &[(&str, fn())]) -> Vec<Trial> {
    let file = module.trim_start_matches("oneshmem_tests::").trim_end_matches("::tests");
    let name = |test: &str| format!("units/{}/{test}", file.replace("::", "/"));
    let trial = |(test, run): &(&str, fn())| {
        let run = *run;
        Trial::test(name(test), move || {
            run();
            Ok(())
        })
    };
    tests.iter().map(trial).collect()
}
