//! Jobs whose PEs run different executables.

use crate::nodes::{NAMESPACES, among_namespaces, no_namespaces};
use crate::{Result, compile, launch, tree};
use libtest_mimic::Trial;
use std::path::PathBuf;
use std::process::Command;

const PROGRAM: &str = "tests/programs/coupled.c";
/// How the other PE is called in messages.
const OTHER: &str = "runs another executable";

/// How both executables are compiled, and a name for that.
const WAYS: [(&str, [&[&str]; 2]); 5] = [
    ("pie", [&[], &[]]),
    ("no-pie", [&["-no-pie"], &["-no-pie"]]),
    ("mixed", [&[], &["-no-pie"]]),
    ("inline", [&["-DSHMEM_INLINE"], &["-DSHMEM_INLINE"]]),
    ("fixed-inline", [&["-DSHMEM_INLINE", "-no-pie"], &["-DSHMEM_INLINE"]]),
];

/// The ways in which static data are used over nodes, too.
const FAR_WAYS: [&str; 2] = ["pie", "fixed-inline"];

/// Uses of static data of a PE with another executable: the program's argument, and routine and
/// argument of the message.
const REFUSED: [(&str, &str, &str); 8] = [
    ("p", "shmem_long_p", "dest"),
    ("put", "shmem_long_put", "dest"),
    ("get", "shmem_long_get", "source"),
    ("iput", "shmem_long_iput", "dest"),
    ("atomic", "shmem_long_atomic_inc", "dest"),
    ("lock", "shmem_set_lock", "lock"),
    ("broadcast", "shmem_long_broadcast", "source"),
    ("barrier", "shmem_barrier", "pSync"),
];

/// The trials. With SMARTMAP's addresses there is just one: that all PEs run one executable.
pub fn trials() -> Vec<Trial> {
    if tree::is_smartmap() {
        return vec![Trial::test("coupled/refused", || {
            let parts = executables("no-pie", [&["-no-pie"], &["-no-pie"]])?;
            launch::run(job(&parts, 1, [1, 2], "heap", &[]))?.fails(&["all PEs must run one"])
        })];
    }
    let mut trials = Vec::new();
    let mut add = |name: &str, hosts: usize, run: Box<dyn FnOnce() -> Result + Send>| {
        let trial = Trial::test(format!("coupled/{name}"), run);
        trials.push(trial.with_ignored_flag(hosts > 1 && no_namespaces()));
    };
    for (way, options) in WAYS {
        for (name, settings) in [
            ("", &[] as &[&str]),
            ("/debug", &["SHMEM_DEBUG=1"]),
            ("/partition", &["SHMEM_SYMMETRIC_PARTITION1=SIZE=8m"]),
        ] {
            // Executables differ between the nodes, and within one. How they are compiled and set up is tried in one way.
            let far = [(2, [1, 2]), (2, [3, 2]), (2, [1, 1]), (2, [2, 2])];
            let of = if FAR_WAYS.contains(&way) && name.is_empty() { far.len() } else { 1 };
            for &(hosts, pes) in [(1, [1, 2])].iter().chain(&far[..of]) {
                let run = move || {
                    let parts = executables(way, options)?;
                    launch::run(job(&parts, hosts, pes, "heap", settings))?.success()
                };
                let name = place("heap", &format!("{way}{name}"), hosts, pes);
                add(&name, hosts, Box::new(run));
            }
        }
        for (turn, (what, routine, argument)) in REFUSED.into_iter().enumerate() {
            // How the PEs of another node are compiled does not matter to a message about them.
            let far = [(2, [1, 2]), (2, [2, 1])][turn % 2];
            let far = FAR_WAYS.contains(&way).then_some(&far);
            for &(hosts, pes) in [(1, [1, 2])].iter().chain(far) {
                let run = move || {
                    let parts = executables(way, options)?;
                    let told = format!("{routine}: {argument} = 0x");
                    let words = [&told, "it is static data, and PE ", OTHER];
                    launch::run(job(&parts, hosts, pes, what, &[]))?.fails(&words)
                };
                let name = place(&format!("static/{what}"), way, hosts, pes);
                add(&name, hosts, Box::new(run));
            }
        }
    }
    let same_layout = || {
        // Only the build differs.
        let [one, other] = ["-DPART=1", "-DPART=3"]
            .map(|part| compile::plain_in(PROGRAM, &[part], &format!("coupled{part}")));
        launch::run(job(&[one?, other?], 1, [1, 2], "get", &[]))?.fails(&[OTHER])
    };
    add("static/same-layout", 1, Box::new(same_layout));
    trials
}

/// The name of a trial, with the numbers of PEs if they are on two hosts.
fn place(what: &str, way: &str, hosts: usize, [one, other]: [usize; 2]) -> String {
    if hosts > 1 { format!("far/{what}/{way}/{one}-{other}") } else { format!("{what}/{way}") }
}

/// Both executables.
fn executables(way: &'static str, options: [&[&str]; 2]) -> Result<[PathBuf; 2]> {
    let build = |part: &str, options: &[&str]| {
        compile::plain_in(PROGRAM, &[&[part], options].concat(), &format!("coupled-{way}{part}"))
    };
    Ok([build("-DPART=1", options[0])?, build("-DPART=2", options[1])?])
}

/// A job of so many PEs with each executable, on this machine or on two hosts.
fn job(
    parts: &[PathBuf; 2],
    hosts: usize,
    pes: [usize; 2],
    what: &str,
    settings: &[&str],
) -> Command {
    let oshrun = tree::prefix("bin/oshrun");
    let mut command = match hosts {
        1 => Command::new(oshrun),
        _ => {
            let mut command = among_namespaces(hosts);
            command.arg(oshrun).args(["--host", "node0,node1", "--launch-agent", NAMESPACES]);
            command
        }
    };
    let heap = (hosts > 1).then_some("SHMEM_SYMMETRIC_SIZE=16m");
    for (number, (part, count)) in parts.iter().zip(pes).enumerate() {
        command.args((number > 0).then_some(":")).args(["-n", &count.to_string()]);
        command.args(settings.iter().copied().chain(heap).flat_map(|setting| ["-x", setting]));
        command.arg(part).args([what, &pes[0].to_string()]);
    }
    command
}
