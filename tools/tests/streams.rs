//! Standard input, output and error.

mod support;
use support::*;

use std::fs;
use std::io::Read;
use std::process::Stdio;
use std::time::Duration;

#[test]
fn each_pe_has_files() {
    let scratch = Scratch::new("files");
    let folder = scratch.0.join("a/b");
    let arguments = format!("-n 3 --output-filename {}", folder.display());
    let text = "pe=${ONESHMEM_PE%%:*}; echo out $pe; printf 'err %s' $pe >&2";
    let done = run(script(&arguments, text)).ended_with(0);
    assert_eq!((done.stdout.as_str(), done.stderr.as_str()), ("", ""));
    let read = |name: String| fs::read_to_string(folder.join(name)).unwrap();
    for pe in 0..3 {
        assert_eq!(read(format!("pe.{pe}.out")), format!("out {pe}\n"));
        assert_eq!(read(format!("pe.{pe}.err")), format!("err {pe}"));
    }
    // What an earlier job has left there goes; a file that cannot be written ends the job.
    fs::remove_file(folder.join("pe.1.err")).unwrap();
    std::os::unix::fs::symlink("/dev/full", folder.join("pe.1.err")).unwrap();
    let done = run(script(&arguments, &format!("{text}; echo >&2; sleep 60"))).ended_with(1);
    assert!(done.stderr.contains("b/pe.1.err: No space left on device"), "{done:?}");
    let arguments = format!("-n 1 --output-filename {}/pe.0.out", folder.display());
    let done = run(script(&arguments, text)).ended_with(1);
    assert!(
        done.stderr.contains("--output-filename") && done.stderr.contains("File exists"),
        "{done:?}"
    );
}

#[test]
fn lines_written_in_pieces_do_not_mix() {
    const LINES: usize = 50;
    let text = format!(
        "i=0; while [ $i -lt {LINES} ]; do
            printf %s ${{ONESHMEM_PE%%:*}}-; printf %s abc >&2; printf %s middle-
            printf 'end\\n'; printf 'def\\n' >&2; i=$((i+1))
        done"
    );
    // To one pipe, as `2>&1` in a shell.
    let mut command = std::process::Command::new("sh");
    let oshrun = env!("CARGO_BIN_EXE_oshrun");
    command.args(["-c", "exec \"$0\" -n 6 sh -c \"$1\" 2>&1", oshrun, &text]);
    let done = run(command).ended_with(0);
    let count = |line: &str| done.stdout.lines().filter(|l| *l == line).count();
    for pe in 0..6 {
        assert_eq!(count(&format!("{pe}-middle-end")), LINES);
    }
    assert_eq!(count("abcdef"), 6 * LINES);
    assert_eq!(done.stdout.lines().count(), 7 * LINES + 5 * LINES);
}

#[test]
fn a_line_of_any_length_arrives_whole() {
    // Longer than what the launcher keeps of a line.
    let done = run(script("-n 1", "head -c 3000000 /dev/zero | tr '\\0' a; echo")).ended_with(0);
    assert_eq!(done.stdout.len(), 3_000_001);
    assert!(done.stdout[..3_000_000].bytes().all(|byte| byte == b'a'));
    // Of several PEs: pieces in any order, each on a line of its own, nothing lost.
    let done =
        run(script("-n 3 -l", "head -c 1000000 /dev/zero | tr '\\0' ${ONESHMEM_PE%%:*}; echo"))
            .ended_with(0);
    let mut lengths = [0; 3];
    for line in done.stdout.lines() {
        let (tag, text) = line.split_once(' ').unwrap();
        let pe = tag[1..2].parse::<usize>().unwrap();
        assert!(text.bytes().all(|byte| usize::from(byte - b'0') == pe));
        lengths[pe] += text.len();
    }
    assert_eq!(lengths, [1_000_000; 3]);
}

#[test]
fn a_last_line_without_end_is_shown() {
    let done = run(script("-n 1", "printf out; printf err >&2")).ended_with(0);
    assert_eq!((&*done.stdout, &*done.stderr), ("out", "err"));
}

#[test]
fn nothing_is_added_to_what_pes_write() {
    let done = run(script("-n 3", "printf x; printf y >&2")).ended_with(0);
    assert_eq!((&*done.stdout, &*done.stderr), ("xxx", "yyy"));
    // Neither in the middle of lines that are longer than what the launcher keeps of one.
    let long = "printf '%0700000d' $((${ONESHMEM_PE%%:*} + 1)) | tr 0 a";
    let done = run(script("-n 3", long)).ended_with(0);
    assert_eq!(done.stdout.len(), 3 * 700_000);
    assert_eq!(done.stdout.replace('a', "").len(), 3);
    // A message of the launcher has a line of its own.
    let done = run(script("-n 1", "printf x >&2; exit 3")).ended_with(3);
    assert!(done.stderr.starts_with("x\noshrun: PE 0 "), "{done:?}");
    // Tags stand at the beginning of lines.
    let done = run(script("-n 3 -l", "printf x")).ended_with(0);
    assert_eq!(done.lines(), ["[0] x", "[1] x", "[2] x"]);
}

#[test]
fn lines_are_tagged() {
    for option in ["--tag-output", "-tag-output", "-l"] {
        let arguments = format!("-n 2 {option}");
        let done = run(script(&arguments, "echo a; echo b >&2; echo; printf c")).ended_with(0);
        let mut lines = done.lines();
        assert_eq!(lines, ["[0] ", "[0] a", "[0] c", "[1] ", "[1] a", "[1] c"], "{done:?}");
        lines = done.stderr.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, ["[0] b", "[1] b"]);
    }
}

#[test]
fn input_goes_to_pe_0() {
    let done = feed(oshrun("-n 3 -l cat"), "one\ntwo\n").ended_with(0);
    assert_eq!(done.stdout, "[0] one\n[0] two\n");
    // What the program does not read is left for the next one.
    let mut command = std::process::Command::new("sh");
    let oshrun = env!("CARGO_BIN_EXE_oshrun");
    command.args(["-c", &format!("{oshrun} -n 2 true; cat")]);
    assert_eq!(feed(command, "one\n").ended_with(0).stdout, "one\n");
}

#[test]
fn a_slow_reader_loses_nothing_and_costs_no_memory() {
    const BYTES: usize = 48 << 20;
    let mut command = oshrun(&format!("-n 2 head -c {BYTES} /dev/zero"));
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let peak = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap().to_owned();
        line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap()
    };
    let kilobytes = peak();
    let mut buffer = vec![0; 1 << 20];
    let mut total = 0;
    loop {
        match stdout.read(&mut buffer).unwrap() {
            0 => break,
            bytes => total += buffer[..bytes].iter().filter(|byte| **byte == 0).count(),
        }
    }
    assert!(child.wait().unwrap().success());
    assert_eq!(total, 2 * BYTES);
    assert!(kilobytes < 24 << 10, "{kilobytes} kB while {} were on the way", (2 * BYTES) >> 10);
}

#[test]
fn output_is_a_terminal_if_it_is_asked_for() {
    let text = "test -t 1 && echo terminal || echo pipe";
    for (option, what) in [("", "pipe"), ("--pty", "terminal"), ("--no-pty", "pipe")] {
        let done = run(script(&format!("-n 2 {option}"), text)).ended_with(0);
        assert_eq!(done.stdout, format!("{what}\n{what}\n"));
    }
    // What is written comes out byte by byte as it was, of any length.
    let bytes = "head -c 300000 /dev/zero | tr '\\0' a; printf '\\r\\n\\tb\\004c\\n'";
    let done = run(script("-n 1 --pty", bytes)).ended_with(0);
    assert_eq!(done.stdout.len(), 300_000 + 7);
    assert!(done.stdout.ends_with("a\r\n\tb\u{4}c\n"));
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    let oshrun = env!("CARGO_BIN_EXE_oshrun");
    let shell = |line: &str| {
        let mut command = std::process::Command::new("bash");
        command.args(["-c", line]);
        run(command)
    };
    let full = "cannot write to standard output: No space left on device";
    for program in ["yes", "echo"] {
        let done = shell(&format!("{oshrun} -n 2 {program} > /dev/full")).ended_with(1);
        assert!(done.stderr.contains(full), "{done:?}");
        assert_eq!(done.stderr.lines().count(), 1, "{done:?}");
    }
    // A status of the PEs counts more.
    let done = shell(&format!("{oshrun} -n 2 sh -c 'echo; exit 3' > /dev/full"));
    assert!(done.stderr.contains(full) && !done.status.success(), "{done:?}");
    shell(&format!("{oshrun} -n 2 sh -c 'echo >&2' 2> /dev/full")).ended_with(1);
    let done = shell(&format!("{oshrun} --help > /dev/full")).ended_with(1);
    assert!(done.stderr.contains("standard output"), "{done:?}");

    let scratch = Scratch::new("limit");
    let file = scratch.0.join("file").display().to_string();
    let line = format!("ulimit -Sf 4; {oshrun} -n 2 head -c 20000 /dev/zero > {file}");
    let done = shell(&line).ended_with(1);
    assert!(done.stderr.contains("File too large"), "{done:?}");
    assert_eq!(std::fs::metadata(file).unwrap().len(), 4096, "what there is room for");

    // Nobody reads it: as any command, also if the PEs have done their work.
    let late = "sh -c 'sleep 0.3; echo; exit 0'";
    let done = shell(&format!("{oshrun} -n 1 {late} | true; exit ${{PIPESTATUS[0]}}"));
    assert_eq!(done.ended_with(128 + 13).stderr, "");
}

#[test]
fn a_reader_that_leaves_ends_the_job_quietly() {
    let mut command = std::process::Command::new("bash");
    let oshrun = env!("CARGO_BIN_EXE_oshrun");
    command.args(["-c", &format!("{oshrun} -n 2 yes | head -n 1; exit ${{PIPESTATUS[0]}}")]);
    let done = run(command).ended_with(128 + 13);
    assert_eq!((&*done.stdout, &*done.stderr), ("y\n", ""));
}
