//! Programs over several nodes that use each other's memory: hosts are network namespaces, and UCX
//! carries what they do.

use crate::launch::{self, Running};
use crate::nodes::{NAMESPACES, among_namespaces, name_of, no_namespaces, oshrun};
use crate::{compile, tree};
use libtest_mimic::Trial;
use nix::sys::signal::{Signal, kill};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// Programs of the suite that ask nothing of memory that is shared.
const PROGRAMS: [&str; 22] = [
    "amo_contended",
    "amo_types",
    "coll_algorithms",
    "coll_alltoall",
    "coll_broadcast",
    "coll_collect",
    "coll_reduce",
    "coll_sync",
    "contexts",
    "info",
    "lock",
    "memory",
    "order",
    "rma_passive",
    "rma_random",
    "rma_strided",
    "rma_types",
    "signal",
    "team_2d",
    "team_many",
    "team_split",
    "wait_types",
];

/// The trials; they are ignored where there are no namespaces, or no UCX.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for pes in [2, 4] {
        trials.push(Trial::test(format!("far/operations/{pes}"), move || {
            Ok(succeeds("tests/programs/far.c", pes)?)
        }));
    }
    for name in PROGRAMS {
        trials.push(Trial::test(format!("far/{name}"), move || {
            Ok(succeeds(&format!("tests/c/{name}.c"), 4)?)
        }));
    }
    trials.push(Trial::test("far/agent-killed", || Ok(agent_killed()?)));
    trials.into_iter().map(|trial| trial.with_ignored_flag(no_namespaces())).collect()
}

fn compiled(source: &str) -> Result<PathBuf, String> {
    compile::plain(&tree::repository(source), &["-O1", "-pthread", "-lm"])
}

/// The program as a job on two nodes.
fn job(source: &str, pes: usize, arguments: &[&str]) -> Result<Command, String> {
    let mut job = oshrun("node0,node1", pes, NAMESPACES, &["-x", "SHMEM_SYMMETRIC_SIZE=256m"]);
    job.arg(compiled(source)?).args(arguments);
    let mut command = among_namespaces(2);
    command.arg(job.get_program()).args(job.get_args());
    Ok(command)
}

fn succeeds(source: &str, pes: usize) -> Result<(), String> {
    launch::run(job(source, pes, &[])?)?.success()
}

/// A job ends, with a word of why, when an agent is lost that somebody waits for.
fn agent_killed() -> Result<(), String> {
    let running = Running::start(job("tests/programs/far.c", 2, &["busy"])?)?;
    let begin = Instant::now();
    let agents = || {
        let mut agents = running.descendants();
        agents.retain(|pid| name_of(*pid) == "oshrun-agent");
        agents
    };
    while agents().len() < 2 && begin.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(20));
    }
    // PEs are at work by then, or begin to be: either way one will ask the agent in vain.
    std::thread::sleep(Duration::from_millis(500));
    let agent = agents().pop().ok_or("no agent")?;
    kill(agent, Signal::SIGKILL).map_err(|errno| errno.to_string())?;
    let outcome = running.finish()?;
    if outcome.hung || outcome.status == 0 {
        return Err(outcome.report("expected a failure"));
    }
    let told = ["cannot be reached", "the agent, which serves other hosts"];
    match told.iter().any(|words| outcome.stderr.contains(words)) {
        true => Ok(()),
        false => Err(outcome.report(&format!("expected one of {told:?}"))),
    }
}
