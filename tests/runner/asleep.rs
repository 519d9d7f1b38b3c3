//! PEs that wait for other nodes: they sleep, so that others have the CPUs.

use crate::far::{FAR, HEAP, on_hosts};
use crate::nodes::no_namespaces;
use crate::{compile, launch, tree};
use libtest_mimic::Trial;

/// Jobs with one PE on a node and with several: their number, and the hosts.
const JOBS: [(usize, &str); 2] = [(2, "node0,node1"), (4, "node0:2,node1:2")];

/// The trials.
pub fn trials() -> Vec<Trial> {
    if tree::is_smartmap() {
        return Vec::new();
    }
    let trials = JOBS.map(|(pes, hosts)| {
        Trial::test(format!("far/asleep/{pes}"), move || Ok(asleep(pes, hosts)?))
            .with_ignored_flag(no_namespaces())
    });
    trials.into()
}

fn asleep(pes: usize, hosts: &str) -> Result<(), String> {
    let program = compile::plain(&tree::repository("tests/programs/asleep.c"), &FAR)?;
    launch::run(on_hosts(hosts, &program, pes, &[HEAP.to_owned()], &[] as &[&str]))?.success()
}
