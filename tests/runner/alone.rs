//! PEs that are alone on their nodes: others tell them the steps of collectives directly.

use crate::far::{FAR, HEAP, of_suite, on_hosts};
use crate::nodes::no_namespaces;
use crate::{compile, launch, tree};
use libtest_mimic::Trial;
use std::path::Path;

/// Jobs with such PEs: their number, and the hosts.
const JOBS: [(usize, &str); 2] = [(3, "node0,node1,node2"), (5, "node0:1,node1:2,node2:1,node3:1")];
/// The programs that run there, too. (All programs run with one PE on each of two nodes.)
const PROGRAMS: [&str; 5] = ["coll_mix", "coll_reduce", "coll_sync", "init", "team_split"];

/// The trials.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    if tree::is_smartmap() {
        return trials;
    }
    for (pes, hosts) in JOBS {
        trials.extend(PROGRAMS.map(|name| {
            let run = move || Ok(passes(&of_suite(name)?, pes, hosts)?);
            Trial::test(format!("far/alone/c/{name}/{pes}"), run)
        }));
    }
    for (pes, hosts) in [(2, "node0,node1"), JOBS[0]] {
        let run = move || Ok(without_agents(pes, hosts)?);
        trials.push(Trial::test(format!("far/alone/steps/{pes}"), run));
    }
    trials.into_iter().map(|trial| trial.with_ignored_flag(no_namespaces())).collect()
}

/// Small collectives go on while agents are stopped.
fn without_agents(pes: usize, hosts: &str) -> Result<(), String> {
    passes(&compile::plain(&tree::repository("tests/programs/alone.c"), &FAR)?, pes, hosts)
}

fn passes(program: &Path, pes: usize, hosts: &str) -> Result<(), String> {
    let heap = [HEAP.to_owned()];
    launch::run(on_hosts(hosts, program, pes, &heap, &[] as &[&str]))?.success()
}
