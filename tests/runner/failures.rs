//! Failures of jobs that a program and its directives cannot express: the launcher dies, is
//! interrupted, or finds no program.

use crate::directives::Expected;
use crate::launch::{self, NO_WORDS, Running};
use crate::launchers::Launcher;
use crate::{Result, compile, tree};
use libtest_mimic::Trial;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The trials.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for how in ["sleep", "compute", "wait", "barrier", "lock"] {
        for (name, signal) in [
            ("kill", Signal::SIGKILL),
            ("terminate", Signal::SIGTERM),
            ("interrupt", Signal::SIGINT),
        ] {
            trials.push(Trial::test(format!("failures/launcher-{name}/{how}"), move || {
                launcher_ends(how, signal)
            }));
        }
    }
    trials.push(Trial::test("failures/no-program", || {
        cannot_start(Path::new("/nonexistent/program"), 127)
    }));
    trials.push(Trial::test("failures/not-executable", || {
        cannot_start(&tree::repository("tests/c/check.h"), 126)
    }));
    for what in ["reader", "holder", "input", "flusher"] {
        trials.push(Trial::test(format!("failures/alone/{what}"), move || ends_by_itself(what)));
    }
    trials.push(Trial::test("failures/terminated-while-it-writes", terminated_while_writing));
    for signal in [Signal::SIGKILL, Signal::SIGSEGV, Signal::SIGABRT] {
        trials.push(Trial::test(format!("failures/last-words/{}", (signal as i32)), move || {
            last_words(signal)
        }));
    }
    for launcher in Launcher::ALL.into_iter().filter(|launcher| *launcher != Launcher::None) {
        for signal in [Signal::SIGSEGV, Signal::SIGABRT] {
            let name = format!("failures/unheard/{}/{}", launcher.name(), signal as i32);
            trials.push(launcher.trial(name, move || unheard(launcher, signal)));
        }
        // Over XPMEM nothing may be mapped over a peer's memory, which is gone with its PE.
        let memory = match tree::is_xpmem() {
            true => &[("xpmem", "killed")][..],
            false => &[("memory", "killed"), ("memory", "alive")],
        };
        for &(how, end) in [("attach", "killed"), ("attach", "alive")].iter().chain(memory) {
            let name = format!("failures/unreached/{how}/{end}/{}", launcher.name());
            trials.push(launcher.trial(name, move || unreached(launcher, how, end)));
        }
    }
    trials
}

/// A PE that dies while its report is not read ends, and so does its job.
fn unheard(launcher: Launcher, signal: Signal) -> Result {
    let program = compile::plain("tests/programs/unheard.c", &[])?;
    let number = signal as i32;
    let outcomes = launcher.run(3, &program, &[&number.to_string()], &[])?;
    let expected = match launcher {
        Launcher::Oshrun => Expected::Status(128 + number),
        _ => Expected::Nonzero,
    };
    outcomes.iter().try_for_each(|outcome| outcome.ends(expected, NO_WORDS))
}

/// PEs that cannot reach another name its death as the cause, once, and not what follows from it.
fn unreached(launcher: Launcher, how: &str, end: &str) -> Result {
    let is_killed = end == "killed";
    let program = compile::plain("tests/programs/unreached.c", &[])?;
    let outcomes = launcher.run(3, &program, &[how, end], &[])?;
    let all = |problem: &str| {
        Err(outcomes.iter().map(|outcome| outcome.shown(problem)).collect::<String>().into())
    };
    if outcomes.iter().any(|outcome| outcome.hung || outcome.status == 0) {
        return all("expected an end with an error");
    }
    let text: String = outcomes.iter().map(|outcome| outcome.stderr.as_str()).collect();
    let consequences = ["attaching PE 2 failed", "on PE 2 cannot be reached"];
    let is_told = consequences.iter().any(|words| text.contains(words));
    // The launcher or a peer, whoever is first.
    let deaths = ["was killed by signal 9", "ended without calling shmem_finalize"];
    let told: usize = deaths.iter().map(|words| text.matches(words).count()).sum();
    if is_killed && is_told || !is_killed && !is_told {
        return all("expected the cause that is in the test's name");
    }
    if is_killed && launcher == Launcher::Oshrun && (told != 1 || outcomes[0].status != 137) {
        return all("expected the status 137, and one line on the death");
    }
    Ok(())
}

/// The output of a PE is not lost when it is killed, whatever its standard output is.
fn last_words(signal: Signal) -> Result {
    let program = compile::plain("tests/programs/last_words.c", &[])?;
    let number = signal as i32;
    let run = |option: &[&str], arguments: &[&str]| {
        let oshrun = launch::oshrun(1, &program);
        let mut command = Command::new(oshrun.get_program());
        command.args(option).args(oshrun.get_args()).arg(number.to_string()).args(arguments);
        let outcome = launch::run(command)?;
        outcome.ends(128 + number, NO_WORDS)?;
        Result::Ok(outcome)
    };
    for option in ["--no-pty", "--pty"] {
        let outcome = run(&[option], &[])?;
        outcome.require(
            outcome.stdout == "before initialisation\nPE 0: last words\n",
            "expected the lines that were printed",
        )?;
    }
    let outcome = run(&["--no-pty"], &["own"])?;
    outcome.require(outcome.stdout.is_empty(), "expected the program's own buffer to be kept")
}

/// Where no launcher hides a process's status, it is the one asked for.
fn ends_by_itself(what: &str) -> Result {
    let mut command = Command::new(compile::plain("tests/c/ending.c", &[])?);
    command.args(["exit", what]);
    let outcome = launch::run(command)?;
    outcome.ends(3, NO_WORDS)?;
    outcome.require(outcome.stdout.contains("in_stdout"), "expected its output")
}

/// A job that ends while nobody reads its output ends when it is signalled again.
fn terminated_while_writing() -> Result {
    let program = compile::plain("tests/programs/unread.c", &[])?;
    let folder = tree::Folder::new("ready-unread")?;
    let ready = folder.join("ready");
    let mut command = Command::new(program);
    command.arg(&ready);
    let running = Running::start(command)?;
    launch::wait_until("the job is about to write", || ready.exists())?;
    // By now it should be writing. If it is not yet, the signal simply ends it.
    std::thread::sleep(Duration::from_millis(200));
    kill(running.pid(), Signal::SIGTERM)?;
    let outcome = running.finish()?;
    outcome.ends(3, NO_WORDS)
}

/// When a signal ends the launcher, no process of the job is left.
fn launcher_ends(how: &str, signal: Signal) -> Result {
    const PES: usize = 4;
    let executable = compile::plain("tests/programs/linger.c", &[])?;
    let folder = tree::Folder::new(&format!("ready-{how}-{}", signal as i32))?;
    let ready = folder.join("ready");
    let mut command = launch::oshrun(PES, &executable);
    command.arg(how).arg(&ready);
    let running = Running::start(command)?;
    launch::wait_until("the job comes up", || ready.exists())?;
    let job: Vec<Pid> = running.descendants();
    if job.len() < PES {
        return Err(format!("{PES} PEs were expected to run, there are {job:?}").into());
    }
    kill(running.pid(), signal)?;
    let left = launch::wait_until("all processes of the job end", || {
        !job.iter().any(|pid| launch::is_running(*pid))
    });
    if left.is_err() {
        for pid in job {
            let _ = kill(pid, Signal::SIGKILL);
        }
    }
    let outcome = running.finish()?;
    left.map_err(|why| outcome.report(why.message().unwrap_or_default()))?;
    outcome.ends(128 + signal as i32, NO_WORDS)
}

fn cannot_start(program: &Path, status: i32) -> Result {
    let mut command = Command::new(tree::prefix("bin/oshrun"));
    command.args(["-n", "3"]).arg(program);
    launch::run(command)?.ends(status, &[program.display().to_string()])
}
