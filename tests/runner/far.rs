//! Programs over several nodes that use each other's memory. The hosts are network namespaces, and
//! UCX transports the data.

use crate::conformance::{self, by_turns};
use crate::directives::{Case, Program, Variant};
use crate::launch::{self, NO_WORDS, Running};
use crate::nodes::{NAMESPACES, among_namespaces, name_of, no_namespaces, oshrun};
use crate::{Result, compile, tree};
use libtest_mimic::Trial;
use nix::sys::signal::{Signal, kill};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The programs always run, on this number of PEs. All programs are run if `ONESHMEM_TEST_NODES` is
/// set, as in continuous integration.
const FEW: [&str; 13] = [
    "coll_active_sets",
    "coll_mix",
    "coll_reduce",
    "coll_sync",
    "contexts",
    "init",
    "lock",
    "memory_random",
    "order",
    "partition",
    "rma_random",
    "team_split",
    "threads",
];
const FEW_PES: usize = 4;

/// The numbers of PEs on which all programs are run: these few on two of them, others on one, by turns.
const ALL_PES: [usize; 3] = [2, 4, 7];
/// Each case of a program with more is run on one of two numbers of PEs.
const FEW_CASES: usize = 3;
/// Programs with more check what arguments are refused, which is found before any data leave: each tenth of them.
const MANY_CASES: usize = 24;

/// The programs also run with memory of a partition in the heap's place.
const PARTITION: [&str; 2] = ["memory_random", "rma_random"];

/// The programs also run over a slow network.
const SLOW: [&str; 3] = ["coll_mix", "coll_sync", "order"];

/// Programs that run with other numbers of PEs on the hosts: collectives of PEs that are alone on their nodes, which
/// others tell their steps directly, also while agents are stopped; and waits for other nodes, in which PEs
/// sleep. (All programs run with one PE on each of two nodes, too.)
const PLACED: [(&str, usize, &str); 14] = [
    ("alone/c/coll_mix", 3, ALONE),
    ("alone/c/coll_reduce", 3, ALONE),
    ("alone/c/coll_sync", 3, ALONE),
    ("alone/c/init", 3, ALONE),
    ("alone/c/team_split", 3, ALONE),
    ("alone/c/coll_mix", 5, SOME_ALONE),
    ("alone/c/coll_reduce", 5, SOME_ALONE),
    ("alone/c/coll_sync", 5, SOME_ALONE),
    ("alone/c/init", 5, SOME_ALONE),
    ("alone/c/team_split", 5, SOME_ALONE),
    ("alone/steps", 2, "node0,node1"),
    ("alone/steps", 3, ALONE),
    ("asleep", 2, "node0,node1"),
    ("asleep", 4, "node0:2,node1:2"),
];
const ALONE: &str = "node0,node1,node2";
const SOME_ALONE: &str = "node0:1,node1:2,node2:1,node3:1";

/// The options for compiling programs meant for several nodes only.
const FAR: [&str; 3] = ["-O1", "-pthread", "-lm"];
/// Enough for them, and no more than several nodes on one machine can have.
const HEAP: &str = "SHMEM_SYMMETRIC_SIZE=256m";

/// Programs, or cases of programs, that are about one node, and why.
const ONE_NODE: [(&str, &str); 14] = [
    ("blame", "shmem_ptr leads to all PEs"),
    ("closed_files", "UCX needs its descriptors, and ends the process without them"),
    ("coll_ahead", "a root goes on before others have come, which it does on one node only"),
    ("init_threads/refused_stack", "ptrace is refused, and UCX's thread takes no signals"),
    ("inline_faults/pointers", "shmem_ptr leads to all PEs"),
    ("mapping", "shmem_ptr leads to all PEs"),
    ("partition_file", "PEs name their files after their parent, which each node has its own of"),
    ("partition_misuse/different", "far PEs do not say how partitions differ"),
    ("partition_misuse/none-here", "far PEs do not say how partitions differ"),
    ("partition_misuse/order", "PEs compare the order of their blocks on each node"),
    ("partition_misuse/take", "PEs compare the order of their blocks on each node"),
    ("psync_in_use", "PEs record their use of pSync arrays on each node"),
    ("ptr", "shmem_ptr leads to all PEs"),
    ("short_source", "shmem_ptr leads to all PEs"),
];

/// The trials. Ignored where there are no namespaces or no UCX. A library with SMARTMAP's addresses
/// supports one node only.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for pes in [2, 4] {
        trials.push(Trial::test(format!("far/operations/{pes}"), move || {
            launch::run(job("tests/programs/far.c", pes, &[])?)?.success()
        }));
    }
    trials.push(Trial::test("far/ended-before-init", || {
        let program = compile::plain("tests/programs/faults.c", &[])?;
        let job = on_nodes(&program, 2, &[], &["1", "300", "1", "-1", "_exit0"]);
        launch::run(job)?.ends(1, &["PE 1 ended without calling shmem_init; ending the job"])
    }));
    for pes in [2, 4, 7] {
        trials.push(Trial::test(format!("far/partitions/{pes}"), move || partitions(pes)));
    }
    trials.push(Trial::test("far/partitions/different", other_partitions));
    trials.push(Trial::test("far/partitions/relative", relative_file));
    let no_tap = tree::may_be_absent() && !Path::new("/dev/net/tun").exists();
    if no_tap {
        eprintln!("tests over a slow network are skipped: no /dev/net/tun");
    }
    for pes in [2, 4].into_iter().filter(|_| !no_tap) {
        trials.push(Trial::test(format!("far/slow/operations/{pes}"), move || {
            slowly(job("tests/programs/far.c", pes, &[])?)
        }));
    }
    let slow = SLOW.into_iter().flat_map(|name| [2, FEW_PES].map(|pes| (name, pes)));
    // They wait for the network for most of their time.
    for (name, pes) in slow.filter(|_| !no_tap && !tree::is_few()) {
        trials.push(Trial::test(format!("far/slow/c/{name}/{pes}"), move || {
            slowly(on_nodes(&of_suite(name)?, pes, &[HEAP.to_owned()], NO_WORDS))
        }));
    }
    for (what, pes, hosts) in PLACED {
        trials.push(Trial::test(format!("far/{what}/{pes}"), move || placed(what, pes, hosts)));
    }
    let all = std::env::var_os("ONESHMEM_TEST_NODES").is_some();
    for (index, source) in conformance::sources("tests/c").into_iter().enumerate() {
        let Ok(program) = Program::read(&source) else { continue };
        let name = program.name();
        let about_one = ONE_NODE.iter().any(|(other, _)| *other == name);
        if about_one || !(all || FEW.contains(&name)) {
            continue;
        }
        let program = Arc::new(program);
        if PARTITION.contains(&program.name()) {
            trials.extend(of_program(Arc::clone(&program), Variant::Partition, &[FEW_PES]));
        }
        let pes = match all {
            true if program.cases.len() > FEW_CASES => vec![2, 4],
            true => {
                let served = ALL_PES.into_iter().filter(|pes| program.pes.contains(pes));
                let most = if FEW.contains(&program.name()) { 2 } else { 1 };
                let of = served.clone().count().min(most);
                served.cycle().skip(index).take(of).collect()
            }
            false => vec![FEW_PES],
        };
        trials.extend(of_program(program, Variant::usual(), &pes));
    }
    trials.push(Trial::test("far/list", listed));
    trials.push(Trial::test("far/statistics", counted));
    trials.push(Trial::test("far/two-networks", over_two_networks));
    trials.push(Trial::test("far/few-ports", with_few_ports));
    for what in ["fetch", "put", "get"] {
        let name = format!("far/lost/agent/{what}");
        trials.push(Trial::test(name, move || agent_killed(what)));
    }
    for (what, words) in
        [("put", "source, or its end, cannot be read"), ("get", "dest, or its end")]
    {
        trials.push(Trial::test(format!("far/unmapped/{what}"), move || {
            let job = job("tests/programs/far.c", 2, &["unmapped", what])?;
            launch::run(job)?.fails(&[words])
        }));
    }
    if !tree::skip_without("tc") {
        trials.push(Trial::test("far/slow/transfer", slow_transfer));
    }
    for (what, words) in [
        ("link", &["busy", "fetch"][..]),
        ("frames/busy", &["busy", "fetch"]),
        ("frames/late", &["late"]),
    ] {
        trials
            .push(Trial::test(format!("far/lost/{what}"), move || link_cut(what == "link", words)));
    }
    for how in ["put", "get", "atomic", "lock", "barrier", "assertion"] {
        for (signal, pes) in [(Signal::SIGKILL, 4), (Signal::SIGSEGV, 2)] {
            let name = format!("far/blame/{how}/{}/{pes}", signal as i32);
            trials.push(Trial::test(name, move || blamed(how, signal, pes)));
        }
    }
    for when in ["connect", "proved", "admitted"] {
        let name = format!("far/cut/{when}");
        trials.push(Trial::test(name, move || cut_while_connecting(when)));
    }
    trials.push(Trial::test("far/cut/unanswered", cut_off));
    for (name, words) in UNUSABLE {
        trials.push(Trial::test(format!("far/ucx/{name}"), move || unusable(name, words)));
    }
    for (version, folder) in tree::other_versions("ONESHMEM_TEST_UCX", "libucp.so.0") {
        for name in OTHER_UCX {
            let folder = folder.clone();
            trials.push(Trial::test(format!("far/ucx/{version}/{name}"), move || {
                over_other_ucx(name, &folder)
            }));
        }
    }
    trials.push(Trial::test("far/unreachable", unreachable_address));
    trials.push(Trial::test("far/refused", refused));
    trials.push(Trial::test("far/denied/call", denied_call));
    trials.push(Trial::test("far/denied/descriptors", denied_descriptors));
    trials.into_iter().map(|trial| trial.with_ignored_flag(no_namespaces())).collect()
}

/// The cases of a program of the suite, on two nodes.
fn of_program(program: Arc<Program>, variant: Variant, pes: &[usize]) -> Vec<Trial> {
    let mut trials = Vec::new();
    let about_one = |case: &Case| {
        let name = format!("{}/{}", program.name(), case.name);
        ONE_NODE.iter().any(|(other, _)| *other == name)
    };
    let all: Vec<usize> = pes.iter().copied().filter(|pes| program.pes.contains(pes)).collect();
    let cases = program.cases.iter().filter(|case| case.is_served() && !about_one(case));
    let each = if program.cases.len() > MANY_CASES { 10 } else { 1 };
    for (turn, case) in cases.step_by(each).cloned().enumerate() {
        // Of many cases, some are alone on their nodes and some not; that is what there is to see.
        let numbers = if program.cases.len() > FEW_CASES { by_turns(&all, turn) } else { &all };
        for &pes in numbers {
            let case = case.clone();
            let program = Arc::clone(&program);
            let of_variant = if variant == Variant::usual() { "" } else { variant.name() };
            let name = [program.name(), of_variant, &case.name, &pes.to_string()]
                .into_iter()
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join("/");
            trials.push(Trial::test(format!("far/c/{name}"), move || {
                let executable = compile::executable(&program, variant)?;
                let own = case.environment.iter().map(|(name, value)| format!("{name}={value}"));
                let needed = variant.environment().map(|(name, value)| format!("{name}={value}"));
                let heap = (program.name() != "heap_size").then(|| HEAP.to_owned());
                let options: Vec<String> = heap.into_iter().chain(needed).chain(own).collect();
                let command = on_nodes(&executable, pes, &options, &case.arguments);
                launch::run(command)?.expect(&case)
            }));
        }
    }
    trials
}

/// Checks that the listed programs exist.
fn listed() -> Result {
    let sources = conformance::sources("tests/c");
    let there = |name: &str| sources.iter().any(|source| source.file_stem() == Some(name.as_ref()));
    let named = FEW.into_iter().chain(ONE_NODE.iter().map(|(name, _)| *name));
    let program = |name: &&str| name.split('/').next().map(str::to_owned).unwrap_or_default();
    match named.into_iter().find(|name| !there(&program(name))) {
        None => Ok(()),
        Some(name) => Err(format!("there is no program {name}").into()),
    }
}

/// A test program as a job on two nodes.
fn job(source: &str, pes: usize, arguments: &[&str]) -> Result<Command> {
    let program = compile::plain(tree::repository(source), &FAR)?;
    Ok(on_nodes(&program, pes, &[HEAP.to_owned()], arguments))
}

/// A program as a job on two nodes, with these variables.
fn on_nodes(
    program: &Path,
    pes: usize,
    variables: &[String],
    arguments: &[impl AsRef<OsStr>],
) -> Command {
    on_hosts("node0,node1", program, pes, variables, arguments)
}

/// A program as a job on these hosts.
pub fn on_hosts(
    hosts: &str,
    program: &Path,
    pes: usize,
    variables: &[String],
    arguments: &[impl AsRef<OsStr>],
) -> Command {
    let options: Vec<&str> = variables.iter().flat_map(|variable| ["-x", variable]).collect();
    let mut job = oshrun(hosts, pes, NAMESPACES, &options);
    job.arg(program).args(arguments);
    let mut command = among_namespaces(hosts.split(',').count());
    command.arg(job.get_program()).args(job.get_args());
    command
}

/// A compiled program of the suite.
fn of_suite(name: &str) -> Result<PathBuf> {
    let program = Program::read(&tree::repository(format!("tests/c/{name}.c")))?;
    compile::executable(&program, Variant::usual())
}

fn placed(what: &str, pes: usize, hosts: &str) -> Result {
    let program = match what {
        "alone/steps" => compile::plain("tests/programs/alone.c", &FAR)?,
        "asleep" => compile::plain("tests/programs/asleep.c", &FAR)?,
        _ => of_suite(what.rsplit('/').next().unwrap_or(what))?,
    };
    launch::run(on_hosts(hosts, &program, pes, &[HEAP.to_owned()], NO_WORDS))?.success()
}

/// PEs reach each other's partitions of all kinds that the processor reaches, in two lifetimes. A
/// partition of files keeps what others have put there.
fn partitions(pes: usize) -> Result {
    let folder = tree::scratch(format!("far-partitions-{pes}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder)?;
    let program = compile::plain("tests/programs/far_partitions.c", &FAR)?;
    let variables = [
        HEAP.to_owned(),
        "SHMEM_SYMMETRIC_PARTITION1=4M".into(),
        "SHMEM_SYMMETRIC_PARTITION4=3000k:POLICY=INTERLEAVED".into(),
        format!("SHMEM_SYMMETRIC_PARTITION2=1M:KIND=FILE:PATH={}/%p", folder.display()),
    ];
    launch::run(on_nodes(&program, pes, &variables, NO_WORDS))?.success()?;
    for pe in 0..pes {
        let bytes = std::fs::read(folder.join(pe.to_string()))?;
        let expected = ((pe + pes - 1) % pes + 5000) as u64;
        if !bytes.windows(8).step_by(8).any(|word| word == expected.to_le_bytes()) {
            return Err(format!("the file of PE {pe} has no word {expected}").into());
        }
    }
    Ok(std::fs::remove_dir_all(&folder)?)
}

/// The PEs of one node have another partition than those of the other.
fn other_partitions() -> Result {
    let program = compile::plain("tests/programs/far_partitions.c", &FAR)?;
    let choose = format!(
        "case $ONESHMEM_PE in 0:*) size=1M;; *) size=2M;; esac\n\
         SHMEM_SYMMETRIC_PARTITION1=$size exec {}",
        program.display()
    );
    let command = on_nodes(Path::new("sh"), 2, &[HEAP.to_owned()], &["-c", &choose]);
    launch::run(command)?.fails(&[
        "cannot be reached from node ",
        ": it has other partitions",
        "SHMEM_SYMMETRIC_PARTITION<number>",
    ])
}

/// The files of partitions need paths that do not depend on the directory.
fn relative_file() -> Result {
    let file = "SHMEM_SYMMETRIC_PARTITION1=1M:KIND=FILE:PATH=here-%p".to_owned();
    let program = compile::plain("tests/programs/far_partitions.c", &FAR)?;
    let command = on_nodes(&program, 2, &[HEAP.to_owned(), file], NO_WORDS);
    launch::run(command)?.fails(&["PATH is \"here-%p\"; expected one that begins with /"])
}

/// Unusable kinds of UCX, and the words of the message about each.
const UNUSABLE: [(&str, &[&str]); 2] = [
    ("missing", &["libucp.so.0: ", "UCX 1.13 or later is needed"]),
    ("old", &["libucp.so.0 is UCX 1.12.1; expected 1.13 or a later 1.x"]),
];

/// The programs that are run over other versions of UCX than the system's.
const OTHER_UCX: [&str; 4] = ["far", "coll_mix", "order", "rma_random"];

/// Runs a program whose PEs and agents load UCX from a folder.
fn over_other_ucx(name: &str, folder: &Path) -> Result {
    let program = match name {
        "far" => compile::plain("tests/programs/far.c", &FAR)?,
        _ => of_suite(name)?,
    };
    let mut command = on_nodes(&program, FEW_PES, &[HEAP.to_owned()], NO_WORDS);
    command.env("LD_LIBRARY_PATH", folder);
    launch::run(command)?.success()
}

/// PEs on a host without a usable UCX say so, and name the host.
fn unusable(name: &str, words: &[&str]) -> Result {
    let folder = tree::scratch(format!("ucx-{name}"));
    let library = folder.join("libucp.so.0");
    std::fs::create_dir_all(&folder)?;
    if name == "old" {
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-o"]).arg(&library);
        compiler.arg(tree::repository("tests/programs/old_ucx.c"));
        launch::run(compiler)?.success()?;
    } else {
        std::fs::write(&library, "no library")?;
    }
    let program = compile::plain("tests/programs/far.c", &FAR)?;
    let path = format!("LD_LIBRARY_PATH={}", folder.display());
    launch::run(on_nodes(&program, 2, &[path], NO_WORDS))?
        .fails(&[&["other nodes cannot be reached from node", "PE"], words].concat())
}

/// An agent reports an unreachable address.
fn unreachable_address() -> Result {
    let mut command = job("tests/programs/far.c", 4, &[])?;
    command.env("UCX_NET_DEVICES", "lo");
    launch::run(command)?.fails(&["node node", " with PEs ", "cannot be reached from node node"])
}

/// A PE ends the job while others connect. UCX, which aborts a process whose partner ends meanwhile, does not
/// get to know.
fn refused() -> Result {
    let program = compile::plain("tests/programs/far.c", &FAR)?;
    for _ in 0..6 {
        let hosts = "node0,node1,node2,node3";
        let job = on_hosts(hosts, &program, FEW_PES, &[HEAP.to_owned()], &["refused"]);
        let outcome = launch::run(job)?;
        outcome.fails(&["expected a PE number from 0 to 3"])?;
        outcome.require(!outcome.stderr.contains("Assertion"), "expected no message of UCX")?;
    }
    Ok(())
}

/// Agents may not accept connections: a job says so before its program starts.
fn denied_call() -> Result {
    let denied = compile::plain("tests/programs/denied.c", &FAR)?;
    let program = compile::plain("tests/programs/far.c", &FAR)?;
    let job = oshrun("node0,node1", 2, NAMESPACES, &["-x", HEAP]);
    let mut command = among_namespaces(2);
    command.arg(denied).arg(job.get_program()).args(job.get_args()).arg(program);
    let words = "a port for other nodes: accept4 failed: Operation not permitted";
    launch::run(command)?.fails(&[words])
}

/// A PE that has no descriptors left for connections says so, and goes on.
fn denied_descriptors() -> Result {
    let outcome = launch::run(job("tests/programs/denied.c", 2, &[])?)?;
    let words =
        "PE 1: connections from other nodes have to wait: accept4 failed: Too many open files";
    outcome.ends(3, &[words])
}

/// Runs a job whose nodes exchange frames slowly and out of order, and lose some.
fn slowly(mut command: Command) -> Result {
    let link = compile::plain("tests/programs/slow_link.c", &[])?;
    command.env("SLOW_LINK", link);
    launch::run(command)?.success()
}

/// The port of a PE that listens no more, or has ended, does not become another PE's: UCX would take the two
/// for one.
fn with_few_ports() -> Result {
    for _ in 0..3 {
        let mut command = job("tests/programs/far.c", 8, &[])?;
        command.env("PORT_RANGE", "40000 40019");
        launch::run(command)?.success()?;
    }
    let program = compile::plain("tests/programs/far.c", &FAR)?;
    let programs = format!("for i in 1 2 3 4 5 6; do {} || exit 1; done", program.display());
    let mut command = on_nodes(Path::new("sh"), 2, &[HEAP.to_owned()], &["-c", programs.as_str()]);
    command.env("PORT_RANGE", "40000 40149");
    launch::run(command)?.success()
}

/// Each node has two network devices. (UCX 1.13 loses connections over both at once.)
fn over_two_networks() -> Result {
    let mut command = job("tests/programs/far.c", 8, &[])?;
    command.env("NETWORKS", "2");
    launch::run(command)?.success()
}

/// Statistics include the PEs of all nodes, and the data sent to other nodes: of 4 PEs on 2 nodes,
/// each writes most to the next.
fn counted() -> Result {
    let program = compile::plain("tests/programs/statistics.c", &FAR)?;
    let variables = [HEAP, "SHMEM_STATS=1"].map(str::to_owned);
    let outcome = launch::run(on_nodes(&program, 4, &variables, NO_WORDS))?;
    outcome.success()?;
    let columns = |who: &str| {
        let line = outcome.stderr.lines().find(|line| line.split_whitespace().next() == Some(who));
        line.map(|line| line.split_whitespace().rev().take(2).collect::<Vec<_>>())
    };
    let expected =
        [("0", ["40", "2"]), ("1", ["400", "19"]), ("2", ["40", "2"]), ("3", ["400", "19"])];
    match expected.iter().find(|(pe, far)| columns(pe).as_deref() != Some(&far[..])) {
        None if outcome.stderr.contains("to other nodes") => Ok(()),
        wrong => Err(outcome.report(format!("not as expected: {wrong:?}"))),
    }
}

/// A put and a get take 14 s each: that is not the silence of an agent, of which PEs tell after 10 s.
fn slow_transfer() -> Result {
    const SLOW: &str = "for node in node0 node1; do
             ip netns exec $node tc qdisc add dev eth0 root tbf rate 13mbit burst 64kb latency 100ms
         done
         exec \"$@\"";
    let job = job("tests/programs/far.c", 2, &["long"])?;
    let mut command = among_namespaces(2);
    command.args(["sh", "-ec", SLOW, "sh"]).args(job.get_args().skip(2));
    let outcome = launch::run(command)?;
    outcome.success()?;
    outcome.require(outcome.stderr.is_empty(), "expected no message")
}

/// The network between nodes is cut while some PEs work and others wait. Either the device is gone, or nobody
/// says that frames go nowhere.
fn link_cut(is_seen: bool, words: &[&str]) -> Result {
    let cut = if is_seen { "-n node1 link set eth0 down" } else { "link set port0.1 nomaster" };
    let job = job("tests/programs/far.c", 2, words)?;
    let mut command = among_namespaces(2);
    // Once the job says that it has begun.
    let script = format!(
        "output=$(mktemp -u); mkfifo \"$output\"; \"$@\" > \"$output\" &
         {{ rm \"$output\"; read -r line; echo \"$line\"; sleep 1; ip {cut}; cat; }} < \"$output\"; wait $!"
    );
    command.args(["sh", "-c", &script, "sh"]);
    command.args(job.get_args().skip(2));
    Running::start(command)?.finish_within(SOON)?.fails(&[
        "node node",
        " with PE ",
        "cannot be reached from node node",
    ])
}

/// A PE dies while those of its node and of another one communicate with it: its death is named once, and
/// nobody names another cause.
fn blamed(how: &str, signal: Signal, pes: usize) -> Result {
    let number = signal as i32;
    let job = job("tests/programs/far_blame.c", pes, &[how, &number.to_string()])?;
    let outcome = launch::run(job)?;
    let death = format!("was killed by signal {number} ({signal})");
    let told = outcome.stderr.matches(&death).count();
    let others = ["cannot be reached", "operations on PEs of other nodes failed", "ended without"];
    let is_blamed = others.iter().any(|words| outcome.stderr.contains(words));
    if outcome.hung || outcome.status != 128 + number || told != 1 || is_blamed {
        let problem =
            format!("expected status {}, {death:?} once, and no other cause", 128 + number);
        return Err(outcome.report(&problem));
    }
    Ok(())
}

/// The longest time in which a job whose hosts cannot reach each other ends. It is some three times what
/// the manual promises, and far less than TCP's own limits.
const SOON: Duration = Duration::from_secs(60);

/// The network between nodes is cut while a PE connects to another node for the first time.
fn cut_while_connecting(when: &str) -> Result {
    let running = Running::start(job("tests/programs/cut.c", 2, &[when])?)?;
    let outcome = running.finish_within(SOON)?;
    outcome.fails(&["cut"])?;
    let mut told = vec!["node node1 with PE 1 cannot be reached from node node0 with PE 0: "];
    if when == "connect" {
        // `shmem_init` does not wait for the agents: this node's may still open its own device.
        told.push("oshrun: on node0: the agent, which serves other hosts, cannot serve: ");
    }
    outcome.require(
        told.iter().any(|words| outcome.stderr.contains(words)),
        format!("expected one of {told:?}"),
    )
}

/// A host does not answer at all, and the network does not say so either.
fn cut_off() -> Result {
    // Its frames go nowhere, but its hardware address is known.
    const CUT: &str = "mac=$(ip netns exec node1 cat /sys/class/net/eth0/address)
         ip -n node0 neigh add 10.77.0.2 lladdr \"$mac\" dev eth0 nud permanent
         ip link set port0.1 nomaster
         exec \"$@\"";
    let job = job("tests/programs/cut.c", 2, &["never"])?;
    let mut command = among_namespaces(2);
    command.args(["sh", "-ec", CUT, "sh"]).args(job.get_args().skip(2));
    Running::start(command)?
        .finish_within(SOON)?
        .fails(&["node node1 with PE 1 cannot be reached from node node0 with PE 0: "])
}

/// A job ends with a message when an agent is lost for which a PE waits.
fn agent_killed(what: &str) -> Result {
    let running = Running::start(job("tests/programs/far.c", 2, &["busy", what])?)?;
    let begin = Instant::now();
    let agents = || {
        let mut agents = running.descendants();
        agents.retain(|pid| name_of(*pid) == "oshrun-agent");
        agents
    };
    while agents().len() < 2 && begin.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(20));
    }
    // By now PEs work, or begin to: either way one will use the agent in vain.
    std::thread::sleep(Duration::from_millis(500));
    let agent = agents().pop().ok_or("no agent")?;
    kill(agent, Signal::SIGKILL)?;
    let outcome = running.finish()?;
    outcome.fails(NO_WORDS)?;
    let told = ["cannot be reached", "the agent, which serves other hosts"];
    outcome.require(
        told.iter().any(|words| outcome.stderr.contains(words)),
        format!("expected one of {told:?}"),
    )
}
