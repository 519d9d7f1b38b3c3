//! Runs `oshrun` under a watchdog.
#![allow(dead_code)] // Each test file uses its part.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

/// No test takes nearly as long; a job that does hangs.
const WATCHDOG: Duration = Duration::from_secs(60);

/// A job under way.
pub struct Job {
    child: Child,
    streams: Option<[JoinHandle<String>; 2]>,
}

/// What a job left.
#[derive(Debug)]
pub struct Done {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

/// `oshrun` with these arguments, separated by blanks.
pub fn oshrun(arguments: &str) -> Command {
    // Whoever runs the tests may ignore signals (nohup does), and that is inherited.
    let mut command = Command::new("/usr/bin/env");
    command.arg("--default-signal").arg(env!("CARGO_BIN_EXE_oshrun"));
    command.args(arguments.split_whitespace()).stdin(Stdio::null());
    command
}

/// `oshrun` with a shell script as its program.
pub fn script(arguments: &str, script: &str) -> Command {
    let mut command = oshrun(arguments);
    command.args(["sh", "-c", script]);
    command
}

/// `oshrun` with the PE of `examples/pe.rs`.
pub fn pe(arguments: &str, ending: &str) -> Command {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_oshrun")).with_file_name("examples/pe");
    let mut command = oshrun(arguments);
    command.arg(program).args(ending.split(' '));
    command
}

/// Starts a job.
pub fn start(command: Command) -> Job {
    start_with_errors(command, Stdio::piped())
}

/// Starts a job whose standard error goes there.
pub fn start_with_errors(mut command: Command, stderr: impl Into<Stdio>) -> Job {
    command.stdout(Stdio::piped()).stderr(stderr);
    let mut child = command.spawn().expect("oshrun starts");
    let stdout = collect(child.stdout.take().expect("a pipe"));
    let stderr = child.stderr.take().map_or_else(|| spawn(String::new), collect);
    Job { child, streams: Some([stdout, stderr]) }
}

/// Runs a job to its end.
pub fn run(command: Command) -> Done {
    start(command).finish()
}

/// Runs a job that is fed this.
pub fn feed(mut command: Command, text: &'static str) -> Done {
    let mut job = start({
        command.stdin(Stdio::piped());
        command
    });
    let mut input = job.child.stdin.take().expect("a pipe");
    let feeder = spawn(move || input.write_all(text.as_bytes()));
    let done = job.finish();
    // A broken pipe is in order: not every program reads its input.
    let _ = feeder.join().expect("the feeder");
    done
}

fn collect(mut stream: impl Read + Send + 'static) -> JoinHandle<String> {
    spawn(move || {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("reading a pipe");
        String::from_utf8(bytes).expect("UTF-8")
    })
}

impl Job {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, signal: &str) {
        kill(signal, self.pid());
    }

    /// Waits for the end.
    pub fn finish(mut self) -> Done {
        let child = &mut self.child;
        let status = eventually("oshrun ends", || child.try_wait().expect("waiting"));
        let [stdout, stderr] = self.streams.take().expect("finished once");
        Done {
            status,
            stdout: stdout.join().expect("the reader of stdout"),
            stderr: stderr.join().expect("the reader of stderr"),
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Done {
    #[track_caller]
    pub fn ended_with(self, status: i32) -> Self {
        assert_eq!(self.status.code(), Some(status), "{self:#?}");
        self
    }

    /// Standard output's lines, sorted.
    pub fn lines(&self) -> Vec<&str> {
        let mut lines: Vec<_> = self.stdout.lines().collect();
        lines.sort_unstable();
        lines
    }

    /// The numbers in lines `pid <number>`.
    pub fn pids(&self) -> Vec<u32> {
        pids(&self.stdout)
    }
}

pub fn pids(text: &str) -> Vec<u32> {
    let numbers = text.lines().filter_map(|line| line.strip_prefix("pid "));
    numbers.map(|number| number.parse().expect("a number")).collect()
}

/// Waits until `look` has an answer.
#[track_caller]
pub fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(answer) = look() {
            return answer;
        }
        assert!(start.elapsed() < WATCHDOG, "the watchdog barks: not seen that {what}");
        sleep(Duration::from_millis(2));
    }
}

pub fn kill(signal: &str, pid: u32) {
    let command = format!("kill -{signal} {pid}");
    let status = Command::new("sh").args(["-c", &command]).status().expect("sh runs");
    assert!(status.success(), "{command}");
}

/// The process's state as /proc has it; `None` if it is gone.
pub fn state(pid: u32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

/// All of these are gone, or go (a zombie that its new parent has yet to collect is).
#[track_caller]
pub fn all_gone(pids: &[u32]) {
    assert!(!pids.is_empty());
    for pid in pids {
        eventually(&format!("process {pid} is gone"), || {
            state(*pid).is_none_or(|state| state == 'Z').then_some(())
        });
    }
}

/// Where processes write what a test looks at while they run.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("oshrun-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }

    /// How many processes have written a file.
    pub fn files(&self) -> usize {
        std::fs::read_dir(&self.0).expect("the directory").count()
    }

    /// The pids that `pes` processes have written, each to a file of its own, once all have.
    pub fn pids(&self, count: usize) -> Vec<u32> {
        eventually("all PEs run", || {
            let files = std::fs::read_dir(&self.0).expect("the directory");
            let texts = files.flatten().map(|file| std::fs::read_to_string(file.path()));
            let pids: Vec<u32> =
                texts.flatten().filter_map(|text| text.strip_suffix('\n')?.parse().ok()).collect();
            (pids.len() == count).then_some(pids)
        })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
