//! Failures of jobs that a program and its directives cannot express: the launcher dies, is
//! interrupted, or finds no program.

use crate::launch::{self, Running};
use crate::launchers::Launcher;
use crate::{compile, tree};
use libtest_mimic::Trial;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

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
                Ok(launcher_ends(how, signal)?)
            }));
        }
    }
    trials.push(Trial::test("failures/no-program", || {
        Ok(cannot_start(Path::new("/nonexistent/program"), 127)?)
    }));
    trials.push(Trial::test("failures/not-executable", || {
        Ok(cannot_start(&tree::repository("tests/c/check.h"), 126)?)
    }));
    for what in ["reader", "holder", "input", "flusher"] {
        trials
            .push(Trial::test(format!("failures/alone/{what}"), move || Ok(ends_by_itself(what)?)));
    }
    trials.push(Trial::test("failures/terminated-while-it-writes", || {
        Ok(terminated_while_writing()?)
    }));
    for signal in [Signal::SIGKILL, Signal::SIGSEGV, Signal::SIGABRT] {
        trials.push(Trial::test(format!("failures/last-words/{}", (signal as i32)), move || {
            Ok(last_words(signal)?)
        }));
    }
    for launcher in Launcher::ALL.into_iter().filter(|launcher| *launcher != Launcher::None) {
        for signal in [Signal::SIGSEGV, Signal::SIGABRT] {
            let name = format!("failures/unheard/{}/{}", launcher.name(), signal as i32);
            let trial = Trial::test(name, move || Ok(unheard(launcher, signal)?));
            trials.push(trial.with_ignored_flag(launcher.is_absent()));
        }
        // Over XPMEM nothing may be mapped over a peer's memory, which is gone with its PE.
        let is_xpmem = std::env::var("SHMEM_BACKEND").is_ok_and(|backend| backend == "xpmem");
        for how in ["attach", if is_xpmem { "xpmem" } else { "memory" }] {
            for is_killed in [true, false] {
                if how == "xpmem" && !is_killed {
                    continue;
                }
                let end = if is_killed { "killed" } else { "alive" };
                let name = format!("failures/unreached/{how}/{end}/{}", launcher.name());
                let trial = Trial::test(name, move || Ok(unreached(launcher, how, is_killed)?));
                trials.push(trial.with_ignored_flag(launcher.is_absent()));
            }
        }
    }
    trials
}

/// A PE that dies while its report is not read ends, and so does its job.
fn unheard(launcher: Launcher, signal: Signal) -> Result<(), String> {
    let program = compile::plain(&tree::repository("tests/programs/unheard.c"), &[])?;
    let number = signal as i32;
    let outcomes = launcher.run(3, &program, &[&number.to_string()], &[])?;
    for outcome in &outcomes {
        let is_status = outcome.status == 128 + number;
        if outcome.hung || outcome.status == 0 || launcher == Launcher::Oshrun && !is_status {
            return Err(outcome.report("expected an end with the signal's status"));
        }
    }
    Ok(())
}

/// PEs that cannot reach another name its death as the cause, once, and not what follows from it.
fn unreached(launcher: Launcher, how: &str, is_killed: bool) -> Result<(), String> {
    let program = compile::plain(&tree::repository("tests/programs/unreached.c"), &[])?;
    let end = if is_killed { "killed" } else { "alive" };
    let outcomes = launcher.run(3, &program, &[how, end], &[])?;
    let all = |problem: &str| {
        Err(outcomes.iter().map(|outcome| outcome.report(problem)).collect::<String>())
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

/// What a PE has printed is not lost when it is killed, whatever its standard output is.
fn last_words(signal: Signal) -> Result<(), String> {
    let program = compile::plain(&tree::repository("tests/programs/last_words.c"), &[])?;
    let number = signal as i32;
    let run = |option: &[&str], arguments: &[&str]| {
        let oshrun = launch::oshrun(1, &program);
        let mut command = Command::new(oshrun.get_program());
        command.args(option).args(oshrun.get_args()).arg(number.to_string()).args(arguments);
        let outcome = launch::run(command)?;
        match outcome.status == 128 + number {
            true => Ok(outcome),
            false => Err(outcome.report("expected the signal")),
        }
    };
    for option in ["--no-pty", "--pty"] {
        let outcome = run(&[option], &[])?;
        if outcome.stdout != "before initialisation\nPE 0: last words\n" {
            return Err(outcome.report("expected the lines that were printed"));
        }
    }
    let outcome = run(&["--no-pty"], &["own"])?;
    match outcome.stdout.is_empty() {
        true => Ok(()),
        false => Err(outcome.report("expected the program's own buffer to be kept")),
    }
}

/// Where no launcher hides a process's status, it is the one asked for.
fn ends_by_itself(what: &str) -> Result<(), String> {
    let mut command = Command::new(compile::plain(&tree::repository("tests/c/ending.c"), &[])?);
    command.args(["exit", what]);
    let outcome = launch::run(command)?;
    if outcome.hung || outcome.status != 3 || !outcome.stdout.contains("in_stdout") {
        return Err(outcome.report("expected the status 3, and the output"));
    }
    Ok(())
}

/// A job that ends while nobody reads its output ends when it is signalled again.
fn terminated_while_writing() -> Result<(), String> {
    let program = compile::plain(&tree::repository("tests/programs/unread.c"), &[])?;
    let ready = tree::scratch(&format!("ready-unread-{}", std::process::id()));
    let _ = std::fs::remove_file(&ready);
    let mut command = Command::new(program);
    command.arg(&ready);
    let running = Running::start(command)?;
    let deadline = Instant::now() + launch::LIMIT;
    while !ready.exists() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    // By now it should be writing. If it is not yet, the signal simply ends it.
    std::thread::sleep(Duration::from_millis(200));
    kill(running.pid(), Signal::SIGTERM).map_err(|error| error.to_string())?;
    let outcome = running.finish()?;
    let _ = std::fs::remove_file(&ready);
    if outcome.hung || outcome.status != 3 {
        return Err(outcome.report("expected the status 3"));
    }
    Ok(())
}

/// When a signal ends the launcher, no process of the job is left.
fn launcher_ends(how: &str, signal: Signal) -> Result<(), String> {
    const PES: usize = 4;
    let executable = compile::plain(&tree::repository("tests/programs/linger.c"), &[])?;
    let ready = tree::scratch(&format!("ready-{how}-{}-{}", (signal as i32), std::process::id()));
    let _ = std::fs::remove_file(&ready);
    let mut command = launch::oshrun(PES, &executable);
    command.arg(how).arg(&ready);
    let running = Running::start(command)?;
    let wait = |what: &str, done: &mut dyn FnMut() -> bool| {
        let deadline = Instant::now() + launch::LIMIT;
        while !done() {
            if Instant::now() > deadline {
                return Err(format!("{how}: {what}"));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    };
    wait("the job did not come up", &mut || ready.exists())?;
    let job: Vec<Pid> = running.descendants();
    if job.len() < PES {
        return Err(format!("{PES} PEs were expected to run, there are {job:?}"));
    }
    kill(running.pid(), signal).map_err(|error| error.to_string())?;
    let left = wait("processes of the job still run", &mut || {
        !job.iter().any(|pid| launch::is_running(*pid))
    });
    if left.is_err() {
        for pid in job {
            let _ = kill(pid, Signal::SIGKILL);
        }
    }
    let outcome = running.finish()?;
    let _ = std::fs::remove_file(&ready);
    left.map_err(|error| outcome.report(&error))?;
    if outcome.hung || outcome.status != 128 + (signal as i32) {
        return Err(outcome.report(&format!("expected the status {}", 128 + (signal as i32))));
    }
    Ok(())
}

fn cannot_start(program: &Path, status: i32) -> Result<(), String> {
    let mut command = Command::new(tree::prefix("bin/oshrun"));
    command.args(["-n", "3"]).arg(program);
    let outcome = launch::run(command)?;
    let names_it = outcome.stderr.contains(&program.display().to_string());
    if outcome.hung || outcome.status != status || !names_it {
        return Err(outcome.report(&format!("expected status {status} and the program's name")));
    }
    Ok(())
}
