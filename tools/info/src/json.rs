//! The report as JSON.

use super::{ROUTINE, collectives, copies, installation, several_nodes};
use onenode_core::copy;
use onenode_core::sys::{cgroup, process};
use oneshmem::internals::collectives::select::{self, Operation};
use oneshmem::internals::lock;
use oneshmem::internals::pause;
use oneshmem::internals::pe::Job;
use oneshmem::internals::query;
use oneshmem_job::env::{self, Variable};
use oneshmem_tools::topology::Topology;
use serde_json::{Value, json};

/// One JSON object and a newline. Sizes are in bytes.
pub fn report(job: &Job) -> String {
    let partitions = job.partitions().iter();
    let partitions = partitions.map(|it| json!({"id": it.spec().id, "is": it.to_string()}));
    let object = json!({
        "name": "oneshmem",
        "version": env!("CARGO_PKG_VERSION"),
        "specification": "1.6",
        "debugging_checks": cfg!(debug_assertions),
        "smartmap": cfg!(feature = "smartmap"),
        "installation": installation(),
        "launcher": job.launcher().name(),
        "pes": job.npes(),
        "backend": {"name": job.backend(), "reason": job.backend_reason()},
        "several_nodes": several_nodes(job),
        "heap": {
            "bytes": job.layout().heap().len(),
            "pages": job.heap_pages(),
            "equal_addresses": query::equal_addresses(ROUTINE),
        },
        "partitions": partitions.collect::<Value>(),
        "cpus": cpus(),
        "cpu_quota": cgroup::cpu_quota(),
        "memory": {"bytes": cgroup::memory(), "machine": process::machine_memory()},
        "waits": pause::description(),
        "locks": lock::order_description(),
        "tuning": collectives::table(job.npes()),
        "copies": copies::description(&copy::methods()),
        "algorithms": Operation::ALL.iter().map(|it| algorithms(*it, job.npes())).collect::<Value>(),
        "variables": env::ALL.iter().map(|it| variable(it)).collect::<Value>(),
    });
    format!("{object:#}\n")
}

/// The usable CPUs, or null if they cannot be read.
fn cpus() -> Value {
    let Ok(topology) = Topology::usable() else { return Value::Null };
    let cpus = topology.cpus().iter();
    cpus.map(|cpu| {
        json!({"id": cpu.id, "core": cpu.core, "package": cpu.package, "numa_node": cpu.node})
    })
    .collect()
}

fn algorithms(operation: Operation, pes: usize) -> Value {
    let all = operation.algorithms();
    let chosen = collectives::SIZES.iter().map(|(bytes, _)| {
        // Null if the named algorithm does not support this many PEs.
        let algorithm = select::chosen(operation, pes, *bytes).ok().map(|index| all[index]);
        json!({"bytes": bytes, "algorithm": algorithm})
    });
    json!({"operation": operation.name(), "chosen": chosen.collect::<Value>(), "all": all[1..]})
}

fn variable(variable: &Variable) -> Value {
    let set = variable.raw().map(|(name, value)| (name, value.to_string_lossy().into_owned()));
    json!({
        "name": variable.name,
        "other_names": variable.others,
        "value": set.as_ref().map(|(_, value)| value),
        "set_by": set.as_ref().map(|(name, _)| name),
        "default": variable.default,
        "values": variable.values(),
        "help": variable.help,
    })
}
