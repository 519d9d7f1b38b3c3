//! A job that stands still, or loses a PE, reports what each PE waits for, and where a PE died.

use crate::launch::{self, Running};
use crate::launchers::Launcher;
use crate::{Result, compile, tree};
use libtest_mimic::Trial;
use nix::sys::signal::{Signal, kill};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// How PEs other than PE 1 wait, or what else they do, and the message about it.
const WAITS: &[(&str, &str)] = &[
    ("barrier", "PEs 0, 2-3: in shmem_barrier_all, waiting for PE 1 on SHMEM_TEAM_WORLD, for "),
    ("team", "PE 3: in shmem_team_sync, waiting for PE 1 on team 0x3, for "),
    ("set", "PEs 0, 2-3: in shmem_sync, waiting for PE 1 on SHMEM_TEAM_WORLD, for "),
    ("subset", "PEs 2-3: in shmem_sync, waiting for others of the 3 PEs 1, 2, ..., for "),
    (
        "wait",
        "PEs 0, 2-3: in shmem_long_wait_until, waiting for an update of never, the data segment + 0x",
    ),
    (
        "heap",
        "PEs 0, 2-3: in shmem_int_wait_until, waiting for an update of the symmetric heap + 0x",
    ),
    ("lock", "PEs 0, 2-3: in shmem_set_lock, waiting for the lock at lock, the data segment + 0x"),
    ("test", "PEs 0, 2-3: waiting for what it tests"),
    ("napping", "PEs 0, 2-3: waiting for what it tests"),
    ("computing", "not waiting in the library, "),
    ("collectives", "not waiting in the library, "),
    ("init", "PEs 0, 2-3: in shmem_malloc, waiting for PE 1 on SHMEM_TEAM_WORLD, for "),
];

/// The trials.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (how, said) in WAITS {
        trials.push(Trial::test(format!("states/timeout/{how}"), move || timeout(how, said)));
    }
    trials.push(Trial::test("states/standstill", standstill));
    trials.push(Trial::test("states/quit", quit));
    trials.push(Trial::test("states/killed", || {
        ends("barrier-killed", 137, &["SIGKILL", "in shmem_barrier_all, waiting for PE 1"])
    }));
    trials.push(Trial::test("states/fault", || {
        let said = [
            "PE 1: SIGSEGV at address 0x8, in\n",
            " culprit+0x",
            " main+0x",
            "stands(+0x",
            "stands.c:",
        ];
        ends("barrier-fault", 139, &said)
    }));
    trials.push(Trial::test("states/abort", || {
        ends("wait-abort", 134, &["PE 1: SIGABRT in\n", " abort+0x", " main"])
    }));
    trials.push(Trial::test("states/alone/quit", quit_without_launcher));
    trials.push(Trial::test("states/alone/misuse", misuse_without_launcher));
    trials
}

/// A job in which every PE waits reports that unasked.
fn standstill() -> Result {
    let program = compile::plain("tests/programs/linger.c", &[])?;
    let mut command = Command::new(tree::prefix("bin/oshrun"));
    command.args(["--timeout", "13", "-n", "3"]).arg(program).arg("wait");
    let said = [
        "all PEs have been waiting for more than 10s",
        "PEs 0-2: in shmem_long_wait_until, waiting for an update of never, the data segment + 0x",
    ];
    launch::run(command)?.ends(124, &said)
}

fn program() -> Result<PathBuf> {
    compile::plain("tests/programs/stands.c", &[])
}

fn oshrun(options: &[&str], how: &str) -> Result<Command> {
    let mut command = Command::new(tree::prefix("bin/oshrun"));
    command.args(options).args(["-n", "4"]).arg(program()?).arg(how);
    Ok(command)
}

fn timeout(how: &str, said: &str) -> Result {
    let outcome = launch::run(oshrun(&["--timeout", "2"], how)?)?;
    // On a busy machine they may sleep for a moment, or be in a collective.
    if said.starts_with("not waiting") && outcome.stderr.contains("for what it tests") {
        return Err(
            outcome.report("PEs that do other work between their tests do not wait for those")
        );
    }
    let line = said.contains("waiting for").then_some(["called at ", "stands.c:"]);
    outcome.ends(124, &[&[said][..], line.as_ref().map_or(&[], |line| &line[..])].concat())
}

fn quit() -> Result {
    let running = Running::start(oshrun(&[], "barrier")?)?;
    std::thread::sleep(Duration::from_secs(2));
    kill(running.pid(), Signal::SIGQUIT)?;
    let said = "PEs 0, 2-3: in shmem_barrier_all, waiting for PE 1";
    running.finish()?.ends(131, &[said, "PE 1: not waiting in the library, sleeping"])
}

fn ends(how: &str, status: i32, words: &[&str]) -> Result {
    launch::run(oshrun(&[], how)?)?.ends(status, words)
}

/// Without oshrun, each PE reports its own state.
fn quit_without_launcher() -> Result {
    // Shells have what they run in the background ignore it, these tests for example.
    let (env, program) = (Path::new("env"), program()?.display().to_string());
    let running =
        Launcher::Slurm.start(2, env, &["--default-signal=QUIT", &program, "barrier"], &[])?;
    std::thread::sleep(Duration::from_secs(2));
    for process in &running {
        kill(process.pid(), Signal::SIGQUIT)?;
    }
    let outcomes = running.into_iter().map(Running::finish).collect::<Result<Vec<_>>>()?;
    // The other outcome may help to explain this one.
    outcomes[0]
        .ends(131, &["PE 0: in shmem_barrier_all, waiting for PE 1"])
        .map_err(|why| outcomes[1].report(format!("{}\nbeside", why.message().unwrap_or_default())))
}

fn misuse_without_launcher() -> Result {
    let outcomes = Launcher::Slurm.run(2, &program()?, &["barrier-misuse"], &[])?;
    outcomes[0].ends(1, &["PE 0: in shmem_barrier_all, waiting for PE 1"])?;
    outcomes[1].ends(1, &["shmem_long_p: pe = 2"])
}
