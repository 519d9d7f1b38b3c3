//! Messages of PEs when they start.

use crate::atomics::Ordering;
use crate::message;
use crate::pe::{Job, launcher::Launcher};
use crate::sys;
use onenode_core::sys::process;
use oneshmem_job::env;
use oneshmem_job::error::{Error, Routine};
use oneshmem_job::jobfile::JobFile;
use oneshmem_job::jobfile::nodes::Nodes;
use std::time::{Duration, Instant};

/// Reports a fork whose child cannot get memory of its own.
pub(super) fn say_child_is_lost() {
    message::say(
        "this fork's child ends with SIGSEGV: in a static program with several threads, glibc 2.41 \
         and later leave it no way to get memory of its own; link the program dynamically",
    );
}

/// Reports why the PEs cannot start, unless another PE does: all meet the same error. Returns when
/// it has been reported.
pub(super) fn report_once(routine: Routine, file: &JobFile, pe: usize, error: Error) -> Error {
    /// How long to wait for the other PE's report.
    const PATIENCE: Duration = Duration::from_secs(1);
    let (reported, program) = (&file.header().reported, 2 * (file.programs(pe) + 1));
    if reported.fetch_max(program - 1, Ordering::AcqRel) < program - 1 {
        message::say(format_args!("{routine}: {error}"));
        reported.fetch_max(program, Ordering::AcqRel);
    } else {
        let until = Instant::now() + PATIENCE;
        while reported.load(Ordering::Acquire) < program && Instant::now() < until {
            process::yield_cpu();
        }
    }
    Error::Reported
}

/// Prints the information that the environment requests, and warnings of settings that are hardly meant: on PE 0.
pub(super) fn announce(job: &Job) {
    if job.pe != 0 {
        return;
    }
    if env::debugging() {
        message::say(format_args!("backend {} ({})", job.backend(), job.choice.reason));
    }
    for complaint in env::complaints() {
        message::say(complaint);
    }
    // A program may mean it: each PE has an MPI of its own. Most do not, and their ranks then wait for each other, or
    // each of them does the work of all.
    if job.launcher == Launcher::Oshrun && job.npes > 1 && sys::mpi::processes() == Some(1) {
        message::say(format_args!(
            "MPI_COMM_WORLD has 1 process in each of the {} PEs: oshrun starts no MPI. If the PEs are to be the ranks \
             of one MPI_COMM_WORLD, start the program by the launcher of that MPI",
            job.npes
        ));
    }
    if env::VERSION.is_on() {
        message::say(format_args!("version {}, OpenSHMEM 1.6", env!("CARGO_PKG_VERSION")));
    }
    if env::INFO.is_on() {
        message::say(format_args!(
            "{} PEs, launcher {}, {}backend {} ({}), {} bytes of symmetric heap a PE, {}, {}\n{}{}",
            job.npes,
            job.launcher.name(),
            job.nodes().map(network).unwrap_or_default(),
            job.backend(),
            job.choice.reason,
            job.layout.heap().len(),
            job.heap_pages(),
            job.heap_place(),
            job.partitions_description(),
            env::table()
        ));
    }
}

/// The network that carries messages between the nodes.
fn network(nodes: &Nodes) -> String {
    format!("{} nodes over {}, ", nodes.count(), nodes.route())
}
