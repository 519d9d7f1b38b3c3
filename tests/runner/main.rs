//! The test binary: collects the trials of every family and runs them.

use libtest_mimic::{Arguments, Trial};
use oneshmem_tests::{
    addresses, alone, asleep, book, bystanders, conformance, containers, coupled, crowds, devices,
    examples, failures, far, faults, filters, heap_pages, imports, in_a_row, integrations,
    interface, launch, launched_nodes, launchers, leaving, limits, listens, manual, meeting,
    nested, node, nodes, openmp, packages, partitions, privileged, rust_users, sanitizers, seen,
    slurm, smartmap, states, statistics, strangers, system_calls, tree, tuning, units, variables,
};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Each trial is a job of several processes, so two at a time keep a small machine busy.
    arguments.test_threads.get_or_insert(2);
    let families: [fn() -> Vec<Trial>; 45] = [
        addresses::trials,
        rust_users::trials,
        conformance::trials,
        examples::trials,
        launchers::trials,
        nested::trials,
        leaving::trials,
        meeting::trials,
        failures::trials,
        far::trials,
        alone::trials,
        asleep::trials,
        faults::trials,
        book::trials,
        bystanders::trials,
        containers::trials,
        coupled::trials,
        crowds::trials,
        heap_pages::trials,
        imports::trials,
        in_a_row::trials,
        integrations::trials,
        launched_nodes::trials,
        limits::trials,
        listens::trials,
        manual::trials,
        node::trials,
        nodes::trials,
        devices::trials,
        openmp::trials,
        packages::trials,
        partitions::trials,
        privileged::trials,
        system_calls::trials,
        sanitizers::trials,
        seen::trials,
        states::trials,
        statistics::trials,
        strangers::trials,
        interface::trials,
        slurm::trials,
        smartmap::trials,
        tuning::trials,
        variables::trials,
        units,
    ];
    let mut trials: Vec<Trial> = families.into_iter().flat_map(|trials| trials()).collect();
    trials.extend(filters::trials(trials.iter().map(|trial| trial.name().into()).collect()));
    if let Err(why) = filters::check(&arguments, &trials) {
        eprintln!("error: {why}");
        return ExitCode::from(2);
    }
    if tree::prepared().is_some() {
        return prepare(arguments, trials);
    }
    println!("seed of this run: CHECK_SEED={}", launch::seed());
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Compiles what the selected trials run. A trial ends where it would start a program, so what it
/// compiles after that is not made; its results mean nothing.
fn prepare(mut arguments: Arguments, trials: Vec<Trial>) -> ExitCode {
    arguments.logfile = Some("/dev/null".into());
    let _ = libtest_mimic::run(&arguments, trials);
    let unbuilt = launch::unbuilt();
    unbuilt.iter().for_each(|why| eprintln!("{why}"));
    if unbuilt.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
