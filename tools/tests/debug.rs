//! `--debug`: PEs stop before they do anything, and a debugger makes them go on.

mod support;
use support::*;

use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

/// Where PATH has a program.
fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// A folder with these programs only, as PATH; none if one of them is not installed.
fn path(scratch: &Scratch, names: &[&str]) -> Option<PathBuf> {
    let folder = scratch.0.join("path");
    std::fs::create_dir(&folder).unwrap();
    for name in names {
        let Some(file) = find(name) else {
            eprintln!("skipped: {name} is not installed");
            assert!(std::env::var_os("ONESHMEM_TEST_ALL").is_none());
            return None;
        };
        symlink(file, folder.join(name)).unwrap();
    }
    Some(folder)
}

/// A job that is debugged, with what `oshrun` says in a file.
fn debugged(scratch: &Scratch, names: &[&str], option: &str) -> Option<Job> {
    let path = path(scratch, names)?;
    let notes = std::fs::File::create(scratch.0.join("notes")).unwrap();
    let mut command = oshrun(&format!("-n 2 {option} /bin/sh -c"));
    command.arg("echo pid $$").env("PATH", path).env_remove("TMUX").env_remove("DISPLAY");
    Some(start_with_errors(command, notes))
}

/// The lines that `oshrun` has printed, once there are so many.
fn notes(scratch: &Scratch, count: usize) -> Vec<String> {
    eventually("oshrun says what to do", || {
        let text = std::fs::read_to_string(scratch.0.join("notes")).unwrap();
        let lines: Vec<String> = text.lines().map(String::from).collect();
        (lines.len() >= count).then_some(lines)
    })
}

/// The process that a command attaches to.
fn attached(line: &str) -> u32 {
    let words = line.split_once("gdb -q -p ").unwrap().1;
    words.split(' ').next().unwrap().parse().unwrap()
}

fn last_number(line: &str) -> u32 {
    line.rsplit(' ').next().unwrap().parse().unwrap_or_else(|_| panic!("{line}"))
}

#[test]
fn without_windows_it_says_how_to_attach() {
    let scratch = Scratch::new("debug-attach");
    let Some(job) = debugged(&scratch, &["gdb"], "--debug") else { return };
    let notes = notes(&scratch, 2);
    for (pe, line) in notes.iter().enumerate() {
        let start = format!("oshrun: PE {pe} is stopped until a debugger attaches: ");
        assert!(line.starts_with(&start) && line.contains("gdb -q -p "), "{line}");
        let pid = attached(line);
        // The signal that stops it has been sent. It may not have been scheduled since.
        eventually("the PE is stopped", || (state(pid) == Some('T')).then_some(()));
        // What it says, as a user would paste it.
        let command = line.strip_prefix(&start).unwrap();
        let shell = format!("{command} -batch -ex continue");
        let done = Command::new("sh").args(["-c", &shell]).output().unwrap();
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(text.contains("exited normally"), "{text}");
    }
    let done = job.finish().ended_with(0);
    // Nobody has run before the debugger let it.
    let mut pids: Vec<u32> = notes.iter().map(|line| attached(line)).collect();
    pids.sort_unstable();
    let mut told = done.pids();
    told.sort_unstable();
    assert_eq!(told, pids);
}

#[test]
fn some_pes_only_and_no_debugger() {
    let scratch = Scratch::new("debug-none");
    let Some(job) = debugged(&scratch, &[], "--debug=1") else { return };
    let line = notes(&scratch, 1).remove(0);
    assert!(
        line.starts_with("oshrun: PE 1 is stopped, and there is neither gdb nor lldb"),
        "{line}"
    );
    kill("CONT", last_number(&line));
    let done = job.finish().ended_with(0);
    assert_eq!(done.stdout.lines().count(), 2);
}

#[test]
fn debuggers_have_windows_of_tmux() {
    let scratch = Scratch::new("debug-tmux");
    let Some(job) = debugged(&scratch, &["gdb", "tmux"], "--debug") else { return };
    let line = notes(&scratch, 1).remove(0);
    let server = format!("oshrun-{}", job.pid());
    assert!(line.ends_with(&format!(": tmux -L {server} attach")), "{line}");
    let tmux = |arguments: &[&str]| {
        let output = Command::new("tmux").args(["-L", &server]).args(arguments).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let windows = ["list-windows", "-F", "#{window_name}"];
    eventually("each PE has a window", || (tmux(&windows) == "PE 0\nPE 1\n").then_some(()));
    for pe in 0..2 {
        let window = format!("=:PE {pe}");
        let shown = || tmux(&["capture-pane", "-p", "-t", &window]);
        eventually("gdb is ready", || shown().contains("(gdb)").then_some(()));
        tmux(&["send-keys", "-t", &window, "continue", "Enter"]);
    }
    let done = job.finish().ended_with(0);
    assert_eq!(done.pids().len(), 2);
    eventually("tmux has ended", || tmux(&windows).is_empty().then_some(()));
}

#[test]
fn a_job_that_is_stopped_can_be_ended() {
    let scratch = Scratch::new("debug-end");
    let Some(job) = debugged(&scratch, &["gdb"], "--debug") else { return };
    let pids: Vec<u32> = notes(&scratch, 2).iter().map(|line| attached(line)).collect();
    // Two that come at once are one.
    eventually("the job has ended", || {
        job.signal("TERM");
        (state(job.pid()) == Some('Z')).then_some(())
    });
    job.finish().ended_with(128 + 15);
    all_gone(&pids);
}

#[test]
fn a_pe_that_does_not_exist_is_not_debugged() {
    let done = run(oshrun("-n 2 --debug=2 true")).ended_with(1);
    assert!(done.stderr.contains("--debug: the job has 2 PEs, and no PE 2"), "{done:?}");
    let done = run(oshrun("--host a,b -n 2 --debug true")).ended_with(1);
    assert!(done.stderr.contains("--debug is for jobs on one machine"), "{done:?}");
}
