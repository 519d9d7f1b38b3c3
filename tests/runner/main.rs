//! The test binary: collects the trials of every family and runs them.

use libtest_mimic::{Arguments, Trial};
use oneshmem_tests::{
    book, bystanders, conformance, containers, crowds, devices, examples, failures, far, faults,
    heap_pages, imports, in_a_row, integrations, interface, launch, launchers, manners, node,
    nodes, openmp, partitions, privileged, rules, sanitizers, seen, smartmap, states, statistics,
    strangers, system_calls, tuning, variables,
};
use std::process::ExitCode;

fn main() -> ExitCode {
    // Only compiles what there is to compile.
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
    // Each trial is a job of several processes: two at a time keep a small machine busy.
    arguments.test_threads.get_or_insert(2);
    let families: [fn() -> Vec<Trial>; 32] = [
        rules::trials,
        conformance::trials,
        examples::trials,
        launchers::trials,
        failures::trials,
        far::trials,
        faults::trials,
        book::trials,
        bystanders::trials,
        containers::trials,
        crowds::trials,
        heap_pages::trials,
        imports::trials,
        in_a_row::trials,
        integrations::trials,
        manners::trials,
        node::trials,
        nodes::trials,
        devices::trials,
        openmp::trials,
        partitions::trials,
        privileged::trials,
        system_calls::trials,
        sanitizers::trials,
        seen::trials,
        states::trials,
        statistics::trials,
        strangers::trials,
        interface::trials,
        smartmap::trials,
        tuning::trials,
        variables::trials,
    ];
    println!("seed of this run: CHECK_SEED={}", launch::seed());
    libtest_mimic::run(&arguments, families.into_iter().flat_map(|trials| trials()).collect())
        .exit_code()
}
