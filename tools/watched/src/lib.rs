//! Runs a program under a watchdog: within a time limit, with bounded output, and with all that it starts.
//!
//! A program runs in a process group of its own. When its time is over, the group is asked to end (SIGTERM) and then killed;
//! what a program leaves behind in its group is killed, too. Nothing polls, so a watched program has the CPUs to itself.

use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;

/// The most bytes that are taken of each of a program's two outputs.
const MOST: usize = 64 << 20;
/// How long a program may take to end when it is asked to, and what it has started to let go of its outputs.
const GRACE: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 3 });

/// The results of a program.
#[derive(Debug)]
pub struct Outcome {
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// How it ended. `None` if it was stopped.
    pub status: Option<ExitStatus>,
    /// Its run time; the time limit if it reached that.
    pub took: Duration,
    /// Whether it was stopped for its output: more than 64 MiB.
    pub flooded: bool,
    /// Whether something that it started still had its outputs open a while after its end.
    pub left_open: bool,
}

impl Outcome {
    /// Whether it ended by itself, successfully.
    pub fn success(&self) -> bool {
        self.status.is_some_and(|status| status.success())
    }

    /// How it ended: `ended with status 3`.
    pub fn ending(&self) -> String {
        match self.status {
            None if self.flooded => format!("printed more than {} MiB", MOST >> 20),
            None => format!("did not end in {:.0} s", self.took.as_secs_f64()),
            Some(status) => match (status.code(), status.signal()) {
                (Some(code), _) => format!("ended with status {code}"),
                (None, Some(signal)) => format!("ended by signal {signal}"),
                (None, None) => "ended".into(),
            },
        }
    }

    /// How it ended, with the most informative line of standard error.
    pub fn reason(&self) -> String {
        let words = ["FAILED", "***", "cannot ", "error", "rror:", "Caught signal"];
        let telling = |line: &&str| words.iter().any(|word| line.contains(word));
        let mut lines = self.stderr.lines();
        let line = lines.clone().find(telling);
        match line.or_else(|| lines.find(|line| line.contains(char::is_alphabetic))) {
            Some(line) => {
                let line: String = line.trim().chars().take(160).collect();
                format!("{}: {line}", self.ending())
            }
            None => self.ending(),
        }
    }
}

/// An event of a program.
enum Event {
    Printed(usize, Vec<u8>),
    Closed,
    Ended(Instant),
}

/// A program that runs. If this is dropped before [`Running::finish`], its group is killed.
pub struct Running {
    child: Option<Child>,
    group: Pid,
    start: Instant,
    events: Receiver<Event>,
}

impl Running {
    /// Starts a program in a process group of its own. Its input is empty, unless the command says otherwise.
    ///
    /// # Errors
    /// The errors of starting a process; the text names the program.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        let start = Instant::now();
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().map_err(|error| {
            let what = format!("cannot run {}: {error}", command.get_program().to_string_lossy());
            io::Error::new(error.kind(), what)
        })?;
        let group = Pid::from_raw(i32::try_from(child.id()).map_err(io::Error::other)?);
        let (sender, events) = mpsc::channel();
        if let Some(output) = child.stdout.take() {
            read(0, output, sender.clone());
        }
        if let Some(output) = child.stderr.take() {
            read(1, output, sender.clone());
        }
        std::thread::spawn(move || {
            // It stays uncollected: until then, its process ID is not used again.
            let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT;
            while waitid(Id::Pid(group), flags) == Err(Errno::EINTR) {}
            // An error means that nobody waits any more.
            let _ = sender.send(Event::Ended(Instant::now()));
        });
        Ok(Self { child: Some(child), group, start, events })
    }

    /// The process ID of the program, which is that of its group.
    pub fn id(&self) -> Pid {
        self.group
    }

    /// Waits for the end, at most so long. `before_kill` is called when the time is over.
    ///
    /// # Errors
    /// The errors of waiting for a process.
    pub fn finish(self, limit: Duration, before_kill: impl FnOnce(&Self)) -> io::Result<Outcome> {
        self.listen(limit, before_kill, |_| ())
    }

    /// As [`finish`](Self::finish); `printed` gets each piece of standard output as it comes.
    ///
    /// # Errors
    /// The errors of [`finish`](Self::finish).
    pub fn listen(
        mut self,
        limit: Duration,
        before_kill: impl FnOnce(&Self),
        mut printed: impl FnMut(&[u8]),
    ) -> io::Result<Outcome> {
        let mut before_kill = Some(before_kill);
        let mut text = [Vec::new(), Vec::new()];
        let (mut open, mut ended, mut stopped, mut flooded) = (2, None, false, false);
        let mut signals = [Signal::SIGTERM, Signal::SIGKILL].into_iter();
        let mut deadline = self.start + limit;
        while open > 0 || ended.is_none() {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.events.recv_timeout(left) {
                Ok(Event::Printed(stream, bytes)) if text[stream].len() + bytes.len() <= MOST => {
                    if stream == 0 {
                        printed(&bytes);
                    }
                    text[stream].extend(bytes);
                    continue;
                }
                Ok(Event::Printed(..)) if flooded => continue,
                Ok(Event::Printed(..)) => flooded = true,
                Ok(Event::Closed) => {
                    open -= 1;
                    continue;
                }
                Ok(Event::Ended(when)) => {
                    ended = Some(when);
                    deadline = Instant::now() + GRACE;
                    continue;
                }
                Err(_) => {}
            }
            // Time is over, or there is too much output; or it has ended, and something holds its outputs open.
            let Some(signal) = signals.next() else { break };
            if ended.is_none() {
                stopped = true;
                if let Some(before_kill) = before_kill.take() {
                    before_kill(&self);
                }
            }
            // An error means that the group is gone.
            let _ = killpg(self.group, signal);
            deadline = Instant::now() + GRACE;
        }
        // Whoever has outlived the group's leader.
        let _ = killpg(self.group, Signal::SIGKILL);
        let status = self.child.take().map(|mut child| child.wait()).transpose()?;
        let took = ended.filter(|_| !stopped || flooded).map_or(limit, |when| when - self.start);
        let [stdout, stderr] = text.map(|text| String::from_utf8_lossy(&text).into_owned());
        let status = status.filter(|_| !stopped);
        Ok(Outcome { stdout, stderr, status, took, flooded, left_open: open > 0 })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = killpg(self.group, Signal::SIGKILL);
            // An error means that it has been waited for.
            let _ = child.wait();
        }
    }
}

/// Reads an output to its end, on a thread of its own.
fn read(stream: usize, mut output: impl Read + Send + 'static, sender: Sender<Event>) {
    std::thread::spawn(move || {
        let mut piece = vec![0; 1 << 16];
        loop {
            match output.read(&mut piece) {
                Ok(0) => break,
                Ok(bytes)
                    if sender.send(Event::Printed(stream, piece[..bytes].to_vec())).is_err() =>
                {
                    return;
                }
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        // An error means that nobody listens any more.
        let _ = sender.send(Event::Closed);
    });
}

/// Runs a program with an empty input, at most so long.
///
/// # Errors
/// The errors of starting a process and of waiting for it.
pub fn run(command: &mut Command, limit: Duration) -> io::Result<Outcome> {
    Running::start(command.stdin(Stdio::null()))?.finish(limit, |_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, seconds: u64) -> Outcome {
        run(Command::new("sh").args(["-c", script]), Duration::from_secs(seconds)).unwrap()
    }

    #[test]
    fn output_and_status() {
        let outcome = shell("echo out; echo oh >&2; exit 3", 60);
        assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), ("out\n", "oh\n"));
        assert_eq!(outcome.reason(), "ended with status 3: oh");
        let framed = shell("echo ----- >&2; echo >&2; echo oh >&2; kill -9 $$", 60);
        assert_eq!(framed.reason(), "ended by signal 9: oh");
        assert!(
            run(&mut Command::new("/no/such"), GRACE).unwrap_err().to_string().contains("/no/such")
        );
    }

    #[test]
    fn one_that_hangs_is_stopped_with_its_children() {
        let outcome = shell("trap '' TERM; sleep 1000 & echo $!; sleep 1000", 1);
        assert!(outcome.status.is_none() && !outcome.success());
        assert_eq!(outcome.ending(), "did not end in 1 s");
        let child = outcome.stdout.trim();
        // It has let go of its outputs, which it does before it has ended.
        let runs = || {
            let state = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
            !(state.is_empty() || state.contains(") Z"))
        };
        let until = Instant::now() + Duration::from_secs(60);
        while runs() {
            assert!(Instant::now() < until, "{child} still runs");
            std::thread::yield_now();
        }
    }

    #[test]
    fn what_is_left_behind_is_ended() {
        let outcome = shell("sleep 1000 & echo $!", 60);
        assert!(outcome.success() && outcome.took < GRACE);
        let apart = shell("setsid sleep 20 & sleep 0.2", 60);
        assert!(apart.success() && apart.left_open);
    }

    #[test]
    fn too_much_output_ends_it() {
        let outcome = shell("yes", 60);
        assert!(outcome.status.is_none() && outcome.flooded && outcome.stdout.len() <= MOST);
    }

    #[test]
    fn pieces_as_they_come() {
        let mut pieces = Vec::new();
        let running = Running::start(Command::new("sh").args(["-c", "echo a; echo b"])).unwrap();
        running
            .listen(Duration::from_secs(60), |_| (), |piece| pieces.extend(piece.to_vec()))
            .unwrap();
        assert_eq!(pieces, b"a\nb\n");
    }
}
