//! The test binary: collects the trials of every family and runs them.

use libtest_mimic::{Arguments, Trial};
use oneshmem_tests::{
    alone, asleep, book, bystanders, conformance, containers, crowds, devices, examples, failures,
    far, faults, heap_pages, imports, in_a_row, integrations, interface, launch, launched_nodes,
    launchers, leaves, manners, manual, node, nodes, openmp, packages, partitions, privileged,
    prose, rules, rust_users, sanitizers, seen, smartmap, spelling, states, statistics, strangers,
    system_calls, tuning, variables,
};
use std::process::ExitCode;

fn main() -> ExitCode {
    // Only compiles what the tests need.
    if std::env::var_os("ONESHMEM_PREPARE").is_some() {
        return match conformance::prepare().and_then(|()| node::prepare()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        };
    }
    let mut arguments = Arguments::from_args();
    // Each trial is a job of several processes, so two at a time keep a small machine busy.
    arguments.test_threads.get_or_insert(2);
    let families: [fn() -> Vec<Trial>; 41] = [
        rules::trials,
        rust_users::trials,
        conformance::trials,
        examples::trials,
        launchers::trials,
        failures::trials,
        far::trials,
        alone::trials,
        asleep::trials,
        faults::trials,
        book::trials,
        bystanders::trials,
        containers::trials,
        crowds::trials,
        heap_pages::trials,
        imports::trials,
        in_a_row::trials,
        integrations::trials,
        launched_nodes::trials,
        leaves::trials,
        manners::trials,
        manual::trials,
        node::trials,
        nodes::trials,
        devices::trials,
        openmp::trials,
        packages::trials,
        partitions::trials,
        privileged::trials,
        prose::trials,
        system_calls::trials,
        sanitizers::trials,
        seen::trials,
        states::trials,
        statistics::trials,
        strangers::trials,
        interface::trials,
        smartmap::trials,
        spelling::trials,
        tuning::trials,
        variables::trials,
    ];
    println!("seed of this run: CHECK_SEED={}", launch::seed());
    libtest_mimic::run(&arguments, families.into_iter().flat_map(|trials| trials()).collect())
        .exit_code()
}
