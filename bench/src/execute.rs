//! Runs one command until it ends or runs out of time.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::Context;
use nix::errno::Errno;
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;

/// The results of a command.
pub struct Outcome {
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// Its exit status. `None` if it was stopped for taking too long.
    pub status: Option<ExitStatus>,
    /// Its run time.
    pub took: Duration,
}

impl Outcome {
    /// Whether it ended by itself, successfully.
    pub fn success(&self) -> bool {
        self.status.is_some_and(|status| status.success())
    }

    /// Describes how it ended.
    pub fn ending(&self) -> String {
        match self.status {
            None => format!("did not end in {:.0} s", self.took.as_secs_f64()),
            Some(status) => match (status.code(), status.signal()) {
                (Some(code), _) => format!("ended with status {code}"),
                (None, Some(signal)) => format!("ended by signal {signal}"),
                (None, None) => "ended".into(),
            },
        }
    }

    /// Describes how it ended, with the most informative line of standard error.
    pub fn reason(&self) -> String {
        let end = self.ending();
        let telling = |line: &&str| {
            ["FAILED", "***", "error", "rror:", "Caught signal"].iter().any(|w| line.contains(w))
        };
        match self
            .stderr
            .lines()
            .find(telling)
            .or_else(|| self.stderr.lines().find(|line| line.contains(char::is_alphabetic)))
        {
            Some(line) => format!("{end}: {}", line.trim().chars().take(160).collect::<String>()),
            None => end,
        }
    }
}

/// Runs a command in its own process group. Its output goes to files in `scratch`: a pipe would
/// stay open as long as any descendant lives.
pub fn run(command: &mut Command, scratch: &Path, patience: Duration) -> anyhow::Result<Outcome> {
    let (out, err) = (scratch.join("stdout"), scratch.join("stderr"));
    let words: Vec<_> = [command.get_program()]
        .into_iter()
        .chain(command.get_args())
        .map(OsStr::to_string_lossy)
        .collect();
    let shown = words.join(" ");
    command
        .stdin(Stdio::null())
        .stdout(File::create(&out)?)
        .stderr(File::create(&err)?)
        .process_group(0);
    let start = Instant::now();
    let mut child = command.spawn().with_context(|| format!("cannot run {shown}"))?;
    let (status, ended) = wait(&mut child, patience)?;
    // Not the time that it takes to stop it.
    let took = if status.is_some() { ended - start } else { patience };
    let text = |path| std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok(Outcome { stdout: text(&out)?, stderr: text(&err)?, status, took })
}

/// How long a command may take to end when asked to.
const GRACE: Duration = Duration::from_secs(3);

/// Waits for the end and returns its time. After `patience` ends the group, first gently, then by
/// force. Does not poll, which would take CPU time from the job that is being measured.
fn wait(child: &mut Child, patience: Duration) -> anyhow::Result<(Option<ExitStatus>, Instant)> {
    let group = Pid::from_raw(child.id().try_into().context("a process number too large")?);
    let (over, ended) = mpsc::channel();
    std::thread::spawn(move || {
        // Leave it uncollected: until we wait for it, its process ID cannot be reused.
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT;
        while waitid(Id::Pid(group), flags) == Err(Errno::EINTR) {}
        // An error would mean that nobody waits any more.
        let _ = over.send(Instant::now());
    });
    let mut when = ended.recv_timeout(patience).ok();
    let stopped = when.is_none();
    for signal in [Signal::SIGTERM, Signal::SIGKILL] {
        if when.is_none() {
            // An error means that the group is gone.
            let _ = killpg(group, signal);
            when = ended.recv_timeout(GRACE).ok();
        }
    }
    let status = child.wait()?;
    if stopped {
        // Descendants that have outlived the group's leader.
        let _ = killpg(group, Signal::SIGKILL);
    }
    Ok(((!stopped).then_some(status), when.unwrap_or_else(Instant::now)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, patience: u64) -> Outcome {
        let scratch = std::env::temp_dir().join(format!(
            "oshbench-execute-{}-{}",
            std::process::id(),
            script.len()
        ));
        std::fs::create_dir_all(&scratch).unwrap();
        let outcome =
            run(Command::new("sh").args(["-c", script]), &scratch, Duration::from_secs(patience))
                .unwrap();
        std::fs::remove_dir_all(&scratch).unwrap();
        outcome
    }

    #[test]
    fn output_and_status() {
        let outcome = shell("echo out; echo oh >&2; exit 3", 60);
        assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), ("out\n", "oh\n"));
        assert_eq!(outcome.reason(), "ended with status 3: oh");
        let framed = shell("echo ----- >&2; echo >&2; echo oh >&2; exit 3", 60);
        assert_eq!(framed.reason(), "ended with status 3: oh");
    }

    #[test]
    fn one_that_hangs_is_stopped_with_its_children() {
        let outcome = shell("echo begun; sleep 1000 & sleep 1000", 1);
        assert!(outcome.status.is_none() && !outcome.success());
        assert_eq!(outcome.stdout, "begun\n");
    }
}
