//! Programs over several nodes that use each other's memory: hosts are network namespaces, and UCX
//! carries what they do.

use crate::directives::{Case, Program, Variant};
use crate::launch::{self, Outcome, Running};
use crate::nodes::{NAMESPACES, among_namespaces, name_of, no_namespaces, oshrun};
use crate::{compile, conformance, tree};
use libtest_mimic::Trial;
use nix::sys::signal::{Signal, kill};
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What is always run, on this number of PEs; all programs are if `ONESHMEM_TEST_NODES` is set.
const FEW: [&str; 12] = [
    "coll_active_sets",
    "coll_mix",
    "coll_reduce",
    "coll_sync",
    "contexts",
    "init",
    "lock",
    "memory_random",
    "order",
    "rma_random",
    "team_split",
    "threads",
];
const FEW_PES: usize = 4;

/// On what numbers of PEs all programs are run.
const ALL_PES: [usize; 3] = [2, 4, 7];

/// What is also run over a slow network.
const SLOW: [&str; 3] = ["coll_mix", "coll_sync", "order"];

/// How the programs that are only for several nodes are compiled.
const FAR: [&str; 3] = ["-O1", "-pthread", "-lm"];
/// Room for them, and not more than several nodes on one machine have.
const HEAP: &str = "SHMEM_SYMMETRIC_SIZE=256m";

/// Programs that are about one node, or cases of programs, and why.
const ONE_NODE: [(&str, &str); 10] = [
    ("blame", "shmem_ptr leads to all PEs"),
    ("closed_files", "UCX needs its descriptors, and ends the process without them"),
    ("coll_ahead", "a root goes on before others have come, which it does on one node only"),
    ("init_threads/refused_stack", "ptrace is refused, and UCX's thread takes no signals"),
    ("inline_faults/pointers", "shmem_ptr leads to all PEs"),
    ("mapping", "shmem_ptr leads to all PEs"),
    ("partition", "partitions are for one node"),
    ("partition_file", "partitions are for one node"),
    ("partition_misuse", "partitions are for one node"),
    ("ptr", "shmem_ptr leads to all PEs"),
];

/// The trials; they are ignored where there are no namespaces, or no UCX. A library with SMARTMAP's
/// addresses is for one node.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    if tree::is_smartmap() {
        return trials;
    }
    for pes in [2, 4] {
        trials.push(Trial::test(format!("far/operations/{pes}"), move || {
            launch::run(job("tests/programs/far.c", pes, &[])?)?.success()?;
            Ok(())
        }));
    }
    let no_tap = tree::may_be_absent() && !Path::new("/dev/net/tun").exists();
    if no_tap {
        eprintln!("tests over a slow network are skipped: no /dev/net/tun");
    }
    for pes in [2, 4].into_iter().filter(|_| !no_tap) {
        trials.push(Trial::test(format!("far/slow/operations/{pes}"), move || {
            Ok(slowly(job("tests/programs/far.c", pes, &[])?)?)
        }));
    }
    for name in SLOW.into_iter().filter(|_| !no_tap) {
        trials.push(Trial::test(format!("far/slow/c/{name}/{FEW_PES}"), move || {
            let program = Program::read(&tree::repository(&format!("tests/c/{name}.c")))?;
            let executable = compile::executable(&program, Variant::usual())?;
            Ok(slowly(on_nodes(&executable, FEW_PES, &[HEAP.to_owned()], &[] as &[&str]))?)
        }));
    }
    let all = std::env::var_os("ONESHMEM_TEST_NODES").is_some();
    for source in conformance::sources("tests/c") {
        let Ok(program) = Program::read(&source) else { continue };
        let name = program.name();
        let about_one = ONE_NODE.iter().any(|(other, _)| *other == name);
        if about_one || !(all || FEW.contains(&name)) {
            continue;
        }
        trials.extend(of_program(Arc::new(program), if all { &ALL_PES } else { &[FEW_PES] }));
    }
    trials.push(Trial::test("far/list", || Ok(listed()?)));
    trials.push(Trial::test("far/statistics", || Ok(counted()?)));
    trials.push(Trial::test("far/two-networks", || Ok(over_two_networks()?)));
    trials.push(Trial::test("far/lost/agent", || Ok(agent_killed()?)));
    trials.push(Trial::test("far/lost/link", || Ok(link_cut()?)));
    for (name, words) in UNUSABLE {
        trials.push(Trial::test(format!("far/ucx/{name}"), move || Ok(unusable(name, words)?)));
    }
    trials.push(Trial::test("far/unreachable", || Ok(unreachable_address()?)));
    trials.push(Trial::test("far/another-program", || Ok(another_program()?)));
    trials.into_iter().map(|trial| trial.with_ignored_flag(no_namespaces())).collect()
}

/// The cases of a program of the suite, on two nodes.
fn of_program(program: Arc<Program>, pes: &[usize]) -> Vec<Trial> {
    let mut trials = Vec::new();
    for &pes in pes.iter().filter(|pes| program.pes.contains(pes)) {
        let about_one = |case: &Case| {
            let name = format!("{}/{}", program.name(), case.name);
            ONE_NODE.iter().any(|(other, _)| *other == name)
        };
        let cases = program.cases.iter().filter(|case| case.is_served() && !about_one(case));
        for case in cases.cloned() {
            let program = Arc::clone(&program);
            let name = [program.name(), &case.name, &pes.to_string()]
                .into_iter()
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join("/");
            trials.push(Trial::test(format!("far/c/{name}"), move || {
                let executable = compile::executable(&program, Variant::usual())?;
                let own = case.environment.iter().map(|(name, value)| format!("{name}={value}"));
                let heap = (program.name() != "heap_size").then(|| HEAP.to_owned());
                let options: Vec<String> = heap.into_iter().chain(own).collect();
                let command = on_nodes(&executable, pes, &options, &case.arguments);
                Ok(launch::run(command)?.expect(&case)?)
            }));
        }
    }
    trials
}

/// The lists name programs that there are.
fn listed() -> Result<(), String> {
    let sources = conformance::sources("tests/c");
    let there = |name: &str| sources.iter().any(|source| source.file_stem() == Some(name.as_ref()));
    let named = FEW.into_iter().chain(ONE_NODE.iter().map(|(name, _)| *name));
    let program = |name: &&str| name.split('/').next().map(str::to_owned).unwrap_or_default();
    match named.into_iter().find(|name| !there(&program(name))) {
        None => Ok(()),
        Some(name) => Err(format!("there is no program {name}")),
    }
}

/// A program of the tests as a job on two nodes.
fn job(source: &str, pes: usize, arguments: &[&str]) -> Result<Command, String> {
    let program = compile::plain(&tree::repository(source), &FAR)?;
    Ok(on_nodes(&program, pes, &[HEAP.to_owned()], arguments))
}

/// A program as a job on two nodes, with these variables.
fn on_nodes(
    program: &Path,
    pes: usize,
    variables: &[String],
    arguments: &[impl AsRef<OsStr>],
) -> Command {
    let options: Vec<&str> = variables.iter().flat_map(|variable| ["-x", variable]).collect();
    let mut job = oshrun("node0,node1", pes, NAMESPACES, &options);
    job.arg(program).args(arguments);
    let mut command = among_namespaces(2);
    command.arg(job.get_program()).args(job.get_args());
    command
}

/// Such UCX, and words that are said of it.
const UNUSABLE: [(&str, &[&str]); 2] = [
    ("missing", &["libucp.so.0: ", "UCX 1.13 or later is needed"]),
    ("old", &["libucp.so.0 is UCX 1.12.1; expected 1.13 or a later 1.x"]),
];

/// PEs on a host without a UCX that will do say so, and the host.
fn unusable(name: &str, words: &[&str]) -> Result<(), String> {
    let folder = tree::scratch(&format!("ucx-{name}"));
    let library = folder.join("libucp.so.0");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    if name == "old" {
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-o"]).arg(&library);
        compiler.arg(tree::repository("tests/programs/old_ucx.c"));
        launch::run(compiler)?.success()?;
    } else {
        std::fs::write(&library, "no library").map_err(|error| error.to_string())?;
    }
    let program = compile::plain(&tree::repository("tests/programs/far.c"), &FAR)?;
    let path = format!("LD_LIBRARY_PATH={}", folder.display());
    let outcome = launch::run(on_nodes(&program, 2, &[path], &[] as &[&str]))?;
    fails(&outcome, &[&["other nodes cannot be reached from node", "PE"], words].concat())
}

/// The job fails by itself, with these words.
fn fails(outcome: &Outcome, words: &[&str]) -> Result<(), String> {
    if outcome.hung || outcome.status == 0 {
        return Err(outcome.report("expected a failure"));
    }
    match words.iter().find(|words| !outcome.stderr.contains(**words)) {
        None => Ok(()),
        Some(words) => Err(outcome.report(&format!("expected {words:?}"))),
    }
}

/// What an agent says to be its address leads nowhere.
fn unreachable_address() -> Result<(), String> {
    let mut command = job("tests/programs/far.c", 4, &[])?;
    command.env("UCX_NET_DEVICES", "lo");
    fails(&launch::run(command)?, &["node node", " with PEs ", "cannot be reached: "])
}

/// PEs of one node run another program than those of the other.
fn another_program() -> Result<(), String> {
    let [one, other] = ["far", "statistics"]
        .map(|name| compile::plain(&tree::repository(&format!("tests/programs/{name}.c")), &FAR));
    let choose = format!(
        "case $ONESHMEM_PE in 0:*) exec {};; *) exec {};; esac",
        one?.display(),
        other?.display()
    );
    let command = on_nodes(Path::new("sh"), 2, &[HEAP.to_owned()], &["-c", &choose]);
    fails(
        &launch::run(command)?,
        &["cannot be reached: ", "another program", "all PEs must run one executable"],
    )
}

/// A job whose nodes' frames take a while, and overtake each other.
fn slowly(mut command: Command) -> Result<(), String> {
    let link = compile::plain(&tree::repository("tests/programs/slow_link.c"), &[])?;
    command.env("SLOW_LINK", link);
    launch::run(command)?.success()
}

/// Two devices lead to each node. (UCX 1.13 loses connections over both at once.)
fn over_two_networks() -> Result<(), String> {
    let mut command = job("tests/programs/far.c", 8, &[])?;
    command.env("NETWORKS", "2");
    launch::run(command)?.success()
}

/// Statistics have all nodes' PEs, and what went to other nodes: of 4 PEs on 2 nodes, each writes
/// to the next one most.
fn counted() -> Result<(), String> {
    let program = compile::plain(&tree::repository("tests/programs/statistics.c"), &FAR)?;
    let variables = [HEAP, "SHMEM_STATS=1"].map(str::to_owned);
    let outcome = launch::run(on_nodes(&program, 4, &variables, &[] as &[&str]))?;
    outcome.success()?;
    let columns = |who: &str| {
        let line = outcome.stderr.lines().find(|line| line.split_whitespace().next() == Some(who));
        line.map(|line| line.split_whitespace().rev().take(2).collect::<Vec<_>>())
    };
    let expected =
        [("0", ["40", "2"]), ("1", ["400", "19"]), ("2", ["40", "2"]), ("3", ["400", "19"])];
    match expected.iter().find(|(pe, far)| columns(pe).as_deref() != Some(&far[..])) {
        None if outcome.stderr.contains("to other nodes") => Ok(()),
        wrong => Err(outcome.report(&format!("not as expected: {wrong:?}"))),
    }
}

/// The network between nodes is cut while PEs work, and between others that wait.
fn link_cut() -> Result<(), String> {
    let job = job("tests/programs/far.c", 2, &["busy"])?;
    let words: Vec<_> = job.get_args().collect();
    let inside = words.iter().position(|word| Path::new(word).ends_with("oshrun"));
    let inside = inside.ok_or("no oshrun")?;
    let mut command = among_namespaces(2);
    command.args(["sh", "-c", "\"$@\" & sleep 2; ip -n node1 link set eth0 down; wait $!", "sh"]);
    command.args(&words[inside..]);
    fails(&launch::run(command)?, &["node node", " with PE ", "cannot be reached: "])
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
