//! The cost of `shmem_init` is constant: it makes the same number of system calls with few PEs and
//! with many, on one node and on two. And calls that are refused to the launcher are told by name.

use crate::nodes::{NAMESPACES, among_namespaces, no_namespaces, oshrun};
use crate::{Result, compile, launch, tree};
use libtest_mimic::Trial;
use std::path::Path;
use std::process::Command;

/// The trials, which use strace.
pub fn trials() -> Vec<Trial> {
    let nowhere = tree::skip_without("strace");
    let no_nodes = nowhere || tree::is_smartmap() || no_namespaces();
    let refused = REFUSED.into_iter().map(|(call, words)| {
        Trial::test(format!("system-calls/refused/{call}"), move || refused(call, words))
            .with_ignored_flag(nowhere)
    });
    let mut trials = vec![
        Trial::test("system-calls/init", || constant("node", [2, 64], 0, on_one_node))
            .with_ignored_flag(nowhere),
        // A PE makes up to 10 more calls with each wait for another one or for a thread of its own.
        // A call for each further PE would be 14 more in every run.
        Trial::test("system-calls/init-over-nodes", || constant("nodes", [2, 16], 8, on_two))
            .with_ignored_flag(no_nodes),
    ];
    trials.extend(refused);
    trials
}

/// Calls of the launcher and of its new processes, and what it says of them.
const REFUSED: [(&str, &str); 9] = [
    ("rt_sigprocmask", "cannot block signals (rt_sigprocmask)"),
    ("socketpair", "cannot make a socket to the guard process"),
    ("signalfd4", "cannot receive signals through a descriptor (signalfd4)"),
    ("epoll_create1", "cannot make a set of the PEs' output pipes (epoll_create1)"),
    ("epoll_ctl", "cannot watch the output of PE 0 (epoll_ctl)"),
    ("readlink", "following the link /proc/self/exe (readlink) failed"),
    (
        "memfd_create",
        "memfd_create, without which there is no sealed memory to share (a filter of system calls, as \
         containers have, must allow it), failed",
    ),
    ("setpgid", "cannot start PE 0: setpgid, for a process group of its own, failed"),
    ("prctl", "cannot start PE 0: prctl(PR_SET_PDEATHSIG), to end with oshrun, failed"),
];

/// A launcher to which the system refuses a call says which, or what it wanted to do, in one line.
fn refused(call: &str, words: &str) -> Result {
    let strace = tree::find("strace").ok_or("strace is not installed")?;
    let mut command = Command::new(strace);
    // Some kinds of machine only have the newer form of a call.
    let calls = format!("{call},?{call}at");
    command.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace=?{calls}")]);
    command.args(["-e", &format!("inject=?{calls}:error=EPERM")]);
    command.arg(tree::prefix("bin/oshrun")).args(["-n", "2", "sleep", "1000"]);
    let outcome = launch::run(command)?;
    let expected = format!("oshrun: {words}: Operation not permitted (os error 1)\n");
    outcome.require(
        outcome.status == 1 && outcome.stderr == expected,
        format!("expected status 1 and {expected:?}"),
    )
}

/// The beginning of a command that runs a program on so many PEs.
type Start = fn(pes: usize, program: &Path) -> Command;

fn on_one_node(pes: usize, program: &Path) -> Command {
    launch::oshrun(pes, program)
}

fn on_two(pes: usize, program: &Path) -> Command {
    let job = oshrun("node0,node1", pes, NAMESPACES, &["-x", "SHMEM_SYMMETRIC_SIZE=64m"]);
    let mut command = among_namespaces(2);
    command.arg(job.get_program()).args(job.get_args()).arg(program);
    command
}

/// With many PEs there are at most `more` calls more than with few. Waits add calls to some runs and
/// not to others, so one of several runs has to show it.
fn constant(what: &str, [few, many]: [usize; 2], more: usize, start: Start) -> Result {
    const RUNS: usize = 5;
    let with_few = calls(what, few, start)?;
    let mut with_many = Vec::new();
    for _ in 0..RUNS {
        with_many = calls(what, many, start)?;
        let numbers = [with_few.len(), with_many.len()];
        println!("system calls in shmem_init: {numbers:?} with {few} and {many} PEs");
        if with_many.len() <= with_few.len() + more {
            return Ok(());
        }
    }
    let [with_few, with_many] = [with_few, with_many].map(|calls| calls.join("\n"));
    Err(format!("with {few} PEs:\n{with_few}\nwith {many} PEs:\n{with_many}").into())
}

/// The calls of the PE that made the most.
fn calls(what: &str, pes: usize, start: Start) -> Result<Vec<String>> {
    let executable = compile::plain("tests/programs/init_calls.c", &[])?;
    let folder = tree::Folder::new(&format!("strace-{what}-{pes}"))?;
    let strace = tree::find("strace").ok_or("strace is not installed")?;
    let mut command = start(pes, &strace);
    command.args(["-ff", "-o"]).arg(folder.join("pe")).arg(executable);
    launch::run(command)?.success()?;
    read(&folder, pes)
}

fn read(folder: &Path, pes: usize) -> Result<Vec<String>> {
    let mut traces = Vec::new();
    for entry in std::fs::read_dir(folder)?.flatten() {
        let text = std::fs::read_to_string(entry.path())?;
        let Some((_, rest)) = text.split_once("close(-1001)") else { continue };
        let (inside, _) = rest.split_once("close(-1002)").ok_or("shmem_init did not end")?;
        traces.push(inside.lines().skip(1).map(str::to_owned).collect::<Vec<_>>());
    }
    if traces.len() != pes {
        return Err(format!("{} traces of {pes} PEs were found", traces.len()).into());
    }
    traces.into_iter().max_by_key(Vec::len).ok_or_else(|| "no traces".into())
}
