//! `oshinfo`: describes this installation and the jobs started from here. It starts a job (of as
//! many PEs as the launcher says) and reports what it finds.

mod collectives;
mod copies;
mod json;

use onenode_core::copy;
use onenode_core::pages::Bytes;
use onenode_core::sys::{cgroup, process};
use oneshmem::internals::argument::memory::Unused;
use oneshmem::internals::pe::{Job, existing};
use oneshmem::internals::start::setup;
use oneshmem::internals::{lock, pause, query};
use oneshmem_job::engine::probe;
use oneshmem_job::engine::ucx::raw::about;
use oneshmem_job::env;
use oneshmem_job::error::{Called::Blocking, Error, Routine};
use oneshmem_tools::cli;
use oneshmem_tools::installation::Installation;
use oneshmem_tools::topology::{Cpu, Topology, list, numbers};
use std::fmt::Write;
use std::process::ExitCode;

const ROUTINE: Routine = &Blocking("oshinfo");

fn main() -> ExitCode {
    let matches = cli::oshinfo::command().get_matches();
    match setup::init_thread(ROUTINE, 0) {
        Ok(_) => {}
        Err(Error::Reported) => return ExitCode::FAILURE,
        Err(error) => {
            eprintln!("oshinfo: cannot start a job here: {error}");
            return ExitCode::FAILURE;
        }
    }
    if let Some(job) = existing().filter(|job| job.pe() == 0) {
        let text = if matches.get_flag("json") { json::report(job) } else { report(job) };
        print!("{text}");
    }
    end();
    ExitCode::SUCCESS
}

#[allow(unsafe_code)]
fn end() {
    // SAFETY: this program uses no symmetric memory.
    setup::finalize(ROUTINE, unsafe { Unused::new() });
}

fn report(job: &Job) -> String {
    let mut text = String::new();
    for (name, value) in [
        ("Version", concat!("oneshmem ", env!("CARGO_PKG_VERSION")).to_string()),
        ("Specification", "OpenSHMEM 1.6".into()),
        ("Build", build()),
        ("Installation", installation()),
        ("Launcher", format!("{}; {} PE{}", job.launcher().name(), job.npes(), s(job.npes()))),
        ("Backend", format!("{} ({})", job.backend(), job.backend_reason())),
        ("Several nodes", several_nodes(job)),
        ("Symmetric heap", heap(job)),
        ("Heap pages", job.heap_pages()),
        ("Heap addresses", addresses().into()),
        ("Waits", pause::description()),
        ("Locks", lock::order_description()),
        ("Tuning table", collectives::table(job.npes())),
        ("Copies", copies::description(&copy::methods())),
    ] {
        let _ = writeln!(text, "{name:<16} {value}");
    }
    for partition in job.partitions() {
        let name = format!("Partition {}", partition.spec().id);
        let _ = writeln!(text, "{name:<16} {partition}");
    }
    text += &machine();
    let _ = writeln!(text, "\nAlgorithms of collectives on {} PE{}:", job.npes(), s(job.npes()));
    text += &collectives::choices(job.npes());
    text += "\nEnvironment variables, with [defaults] of those not set:\n";
    text += &env::table();
    text += "\nCompilers run by the wrappers:\n";
    for (wrapper, variable, default) in
        [("oshcc", "SHMEM_CC", "cc"), ("oshc++", "SHMEM_CXX", "c++")]
    {
        let value = std::env::var(variable).unwrap_or_else(|_| format!("[{default}]"));
        let _ = writeln!(text, "  {variable:<24} {value}\n      The compiler that {wrapper} runs.");
    }
    text
}

fn build() -> String {
    let profile = if cfg!(debug_assertions) { "with debugging checks" } else { "optimised" };
    let addresses = match cfg!(feature = "smartmap") {
        true => "; SMARTMAP addresses, position-dependent programs only",
        false => "",
    };
    format!("{}-{}, {profile}{addresses}", std::env::consts::ARCH, std::env::consts::OS)
}

/// The network that jobs over several nodes would use.
fn several_nodes(job: &Job) -> String {
    if cfg!(feature = "smartmap") {
        return "no: the feature smartmap serves jobs on one node only".into();
    }
    // As in this job, or as in one with hosts like this one.
    let route = job.nodes().map(|nodes| Ok(nodes.route()));
    let about = route
        .unwrap_or_else(probe::among_equals)
        .and_then(|route| about(&route).map_err(|error| error.to_string()));
    about.unwrap_or_else(|why| format!("no: {why}"))
}

fn installation() -> String {
    match Installation::of_this_command() {
        Ok(installation) => installation.prefix().display().to_string(),
        Err(error) => format!("not found: {error}"),
    }
}

fn heap(job: &Job) -> String {
    let bytes = job.layout().heap().len();
    let why = match env::SYMMETRIC_SIZE.raw() {
        Some((name, value)) => format!("{name}={}", value.to_string_lossy()),
        None => format!("the default: {}", env::SYMMETRIC_SIZE.default),
    };
    format!("at most {bytes} bytes ({:.1} MiB) per PE, {why}", bytes as f64 / f64::from(1 << 20))
}

fn addresses() -> &'static str {
    match query::equal_addresses(ROUTINE) {
        true => "the same on all PEs",
        false => "other ones on each PE",
    }
}

/// CPUs and NUMA nodes.
fn machine() -> String {
    let topology = match Topology::usable() {
        Ok(topology) => topology,
        Err(error) => return format!("{:<16} cannot be read: {error}\n", "CPUs"),
    };
    let numbers = |cpus: &[Cpu]| list(&numbers(cpus));
    let (cpus, cores, nodes) = (topology.cpus(), topology.cores(), topology.nodes());
    let mut text = format!(
        "{:<16} {} usable ({}), {} core{}, {} NUMA node{}\n",
        "CPUs",
        cpus.len(),
        numbers(cpus),
        cores.len(),
        s(cores.len()),
        nodes.len(),
        s(nodes.len()),
    );
    if let Some(quota) = cgroup::cpu_quota() {
        let _ =
            writeln!(text, "{:<16} the time of {quota} CPUs, by the control group", "CPU quota");
    }
    let (memory, machine) = (cgroup::memory() as usize, process::machine_memory() as usize);
    let memory = match memory < machine {
        true => {
            format!("{}, by the control group; the machine has {}", Bytes(memory), Bytes(machine))
        }
        false => Bytes(machine).to_string(),
    };
    let _ = writeln!(text, "{:<16} {memory}", "Memory");
    for node in nodes {
        let _ =
            writeln!(text, "{:<16} CPUs {}", format!("NUMA node {}", node[0].node), numbers(node));
    }
    text
}

fn s(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}
