//! Runs a command under a watchdog, and keeps the results.

use crate::directives::{Case, Expected};
use crate::{Result, tree};
use libtest_mimic::Failed;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use std::collections::HashMap;
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{LazyLock, Mutex, mpsc};
use std::time::{Duration, Instant};

/// The time limit of a command. None here takes a tenth of it, so a command that reaches it hangs.
/// It says nothing about speed.
pub const LIMIT: Duration = Duration::from_secs(120);

/// The shortest time between two looks whether a command has ended.
const LOOK: Duration = Duration::from_millis(1);

/// How long cargo may take to compile the library.
pub const COMPILING: Duration = Duration::from_secs(900);

/// The results of a command.
#[derive(Debug)]
pub struct Outcome {
    /// The command as one would type it.
    pub command: String,
    /// Its exit status, or 128 plus the number of the signal that ended it.
    pub status: i32,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// Whether the watchdog ended it.
    pub hung: bool,
    /// Where its processes were then, if gdb is there.
    stacks: String,
}

/// The seed of this run's random numbers: `CHECK_SEED`, or a new one every time.
pub fn seed() -> &'static str {
    static SEED: LazyLock<String> = LazyLock::new(|| {
        std::env::var("CHECK_SEED").unwrap_or_else(|_| {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            (now.map_or(1, |time| time.as_millis()) % 1_000_000_000).to_string()
        })
    });
    &SEED
}

/// The build tree's launcher, with arguments to start `program` with this number of PEs.
pub fn oshrun(pes: usize, program: &Path) -> Command {
    let mut command = Command::new(tree::prefix("bin/oshrun"));
    command.arg("-n").arg(pes.to_string()).arg(program);
    command
}

/// A running command.
pub struct Running {
    child: Child,
    command: String,
    output: mpsc::Receiver<(Stream, Vec<u8>)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Stream {
    Output,
    Error,
}

impl Running {
    /// Starts a command in its own process group.
    pub fn start(command: Command) -> Result<Self> {
        match tree::prepared() {
            None => Self::start_any(command),
            Some(_) => Err("trials are only prepared".into()),
        }
    }

    fn start_any(mut command: Command) -> Result<Self> {
        command.env("CHECK_SEED", seed());
        let shown = shown(&command);
        // Hydra passes the end of its input on, and dies of that if its processes have ended: its input stays open.
        let input = if shown.contains("mpiexec.hydra") { Stdio::piped() } else { Stdio::null() };
        command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().map_err(|error| format!("{shown}: {error}"))?;
        let (sender, output) = mpsc::channel();
        read_all(child.stdout.take(), Stream::Output, sender.clone());
        read_all(child.stderr.take(), Stream::Error, sender);
        Ok(Self { child, command: shown, output })
    }

    /// The process ID of the command itself.
    pub fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id() as i32)
    }

    /// All its descendants that still run.
    pub fn descendants(&self) -> Vec<Pid> {
        descendants(self.pid())
    }

    /// Waits for the command to end. Kills it if that takes too long.
    pub fn finish(self) -> Result<Outcome> {
        self.end(LIMIT, true)
    }

    /// The same, with another limit.
    pub fn finish_within(self, limit: Duration) -> Result<Outcome> {
        self.end(limit, false)
    }

    /// `looks`: shows where processes are that have to be killed.
    fn end(mut self, limit: Duration, looks: bool) -> Result<Outcome> {
        let begin = Instant::now();
        let deadline = begin + limit;
        let (mut hung, mut stacks) = (false, String::new());
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break status,
                // Looks take some of the CPUs that the command needs: few of its time.
                Ok(None) if Instant::now() < deadline => {
                    let pause = begin.elapsed() / 16;
                    std::thread::sleep(pause.clamp(LOOK, 20 * LOOK));
                }
                Ok(None) => {
                    hung = true;
                    if looks {
                        stacks = self.descendants().into_iter().map(stacks_of).collect();
                    }
                    self.kill_all();
                    break self.child.wait()?;
                }
                Err(error) => return Err(format!("{}: {error}", self.command).into()),
            }
        };
        // A process that still holds the pipes open was left behind: report it.
        let mut text = HashMap::new();
        for _ in 0..2 {
            let Ok((stream, bytes)) = self.output.recv_timeout(Duration::from_secs(20)) else {
                return Err(
                    format!("{}: ended, but something it started has not", self.command).into()
                );
            };
            text.insert(stream, String::from_utf8_lossy(&bytes).into_owned());
        }
        Ok(Outcome {
            command: self.command,
            status: status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(-1),
            stdout: text.remove(&Stream::Output).unwrap_or_default(),
            stderr: text.remove(&Stream::Error).unwrap_or_default(),
            hung,
            stacks,
        })
    }

    fn kill_all(&self) {
        kill_each(self.descendants());
        let _ = killpg(self.pid(), Signal::SIGKILL);
    }
}

/// Starts a command and waits for it.
pub fn run(command: Command) -> Result<Outcome> {
    Running::start(command)?.finish()
}

/// Why programs could not be compiled.
static UNBUILT: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Runs a compiler, which has to succeed.
pub fn build(compiler: Command) -> Result {
    let built = Running::start_any(compiler)?.finish().and_then(|outcome| outcome.success());
    if let (Err(why), Ok(mut unbuilt)) = (&built, UNBUILT.lock()) {
        unbuilt.push(why.message().unwrap_or_default().to_owned());
    }
    built
}

/// Why programs could not be compiled so far.
pub fn unbuilt() -> Vec<String> {
    UNBUILT.lock().map(|unbuilt| unbuilt.clone()).unwrap_or_default()
}

/// Whether a process runs. One that has ended but has not been waited for does not.
pub fn is_running(pid: Pid) -> bool {
    stat(pid.as_raw()).is_some_and(|(_, state)| state != "Z" && state != "X")
}

/// The running processes that were started with this variable in their environment.
pub fn marked(name: &str, value: &str) -> Vec<Pid> {
    let variable = format!("{name}={value}");
    let has_it = |pid: &i32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|entry| entry == variable.as_bytes())
    };
    processes().filter(has_it).map(Pid::from_raw).collect()
}

/// Kills each of these processes that is still there.
pub fn kill_each(pids: Vec<Pid>) {
    pids.into_iter().for_each(|pid| _ = kill(pid, Signal::SIGKILL));
}

fn read_all(
    pipe: Option<impl Read + Send + 'static>,
    stream: Stream,
    sender: mpsc::Sender<(Stream, Vec<u8>)>,
) {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        let _ = sender.send((stream, bytes));
    });
}

/// The parent and the state of a process.
fn stat(pid: i32) -> Option<(i32, String)> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?.to_owned();
    Some((fields.next()?.parse().ok()?, state))
}

/// The stacks of a process's threads.
fn stacks_of(pid: Pid) -> String {
    let mut gdb = Command::new("timeout");
    gdb.args(["20", "gdb", "-nx", "-batch", "-ex", "thread apply all backtrace 16", "-p"]);
    let shown = gdb.arg(pid.to_string()).stdin(Stdio::null()).output();
    let shown = shown.map(|it| String::from_utf8_lossy(&it.stdout).into_owned());
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    format!("\n--- {} {pid}\n{}", name.trim_end(), shown.unwrap_or_default())
}

/// The processes of this machine.
fn processes() -> impl Iterator<Item = i32> {
    let folder = std::fs::read_dir("/proc").into_iter().flatten();
    folder.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

fn descendants(root: Pid) -> Vec<Pid> {
    let parents: HashMap<i32, i32> =
        processes().filter_map(|pid| Some((pid, stat(pid)?.0))).collect();
    let root = root.as_raw();
    parents
        .keys()
        .filter(|pid| {
            std::iter::successors(parents.get(pid), |pid| parents.get(pid)).any(|pid| *pid == root)
        })
        .map(|pid| Pid::from_raw(*pid))
        .collect()
}

fn shown(command: &Command) -> String {
    let environment = command.get_envs().filter_map(|(name, value)| {
        Some(format!("{}={}", name.to_string_lossy(), value?.to_string_lossy()))
    });
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    environment
        .chain(words.map(|word| word.to_string_lossy().into_owned()))
        .collect::<Vec<_>>()
        .join(" ")
}

impl Outcome {
    /// Fails with this text unless the condition holds.
    pub fn require(&self, condition: bool, problem: impl AsRef<str>) -> Result {
        if condition { Ok(()) } else { Err(self.report(problem)) }
    }

    /// Fails unless the command ended by itself, so, and its standard error contains these words.
    pub fn ends(&self, expected: impl Into<Expected>, words: &[impl AsRef<str>]) -> Result {
        let status = self.status;
        self.require(!self.hung, "hung")?;
        match expected.into() {
            Expected::Status(expected) => {
                self.require(status == expected, format!("expected status {expected}"))?
            }
            Expected::Nonzero => self.require(status != 0, "expected an end with an error")?,
        }
        self.contains("error", &self.stderr, words)
    }

    /// Fails unless the command ended with an error, and said these words.
    pub fn fails(&self, words: &[impl AsRef<str>]) -> Result {
        self.ends(Expected::Nonzero, words)
    }

    /// The same, and that it said the first of the words only once.
    pub fn fails_once(&self, words: &[&str]) -> Result {
        self.fails(words)?;
        let said = self.stderr.matches(words[0]).count();
        self.require(said == 1, format!("it says {:?} {said} times, expected once", words[0]))
    }

    /// Fails unless the command ended with status 0.
    pub fn success(&self) -> Result {
        self.ends(0, NO_WORDS)
    }

    /// Fails unless the command ended with status 0, and printed these words.
    pub fn prints(&self, words: &[impl AsRef<str>]) -> Result {
        self.success()?;
        self.contains("output", &self.stdout, words)
    }

    /// Fails unless the command ended with status 0, and said nothing on its standard error.
    pub fn silent(&self) -> Result {
        self.success()?;
        self.require(self.stderr.is_empty(), "there is something on standard error")
    }

    /// Fails unless the results are those that a case requires.
    pub fn expect(&self, case: &Case) -> Result {
        self.ends(case.status, &case.stderr)?;
        self.contains("output", &self.stdout, &case.stdout)
    }

    fn contains(&self, stream: &str, text: &str, words: &[impl AsRef<str>]) -> Result {
        match words.iter().map(AsRef::as_ref).find(|words| !text.contains(words)) {
            None => Ok(()),
            Some(words) => {
                Err(self.report(format!("its standard {stream} does not say {words:?}")))
            }
        }
    }

    /// Describes what happened.
    pub fn report(&self, problem: impl AsRef<str>) -> Failed {
        self.shown(problem).into()
    }

    /// The same as a text.
    pub fn shown(&self, problem: impl AsRef<str>) -> String {
        format!(
            "{}\n$ {}\nstatus {}{}\n--- standard output\n{}\n--- standard error\n{}{}",
            problem.as_ref(),
            self.command,
            self.status,
            if self.hung { ", killed by the watchdog" } else { "" },
            tail(&self.stdout),
            tail(&self.stderr),
            self.stacks
        )
    }
}

/// No words are required.
pub const NO_WORDS: &[&str] = &[];

/// Waits for the commands of a job.
pub fn finish(running: Vec<Running>) -> Result<Vec<Outcome>> {
    running.into_iter().map(Running::finish).collect()
}

/// Fails unless each of a job's commands ended with status 0.
pub fn all_succeed(outcomes: &[Outcome]) -> Result {
    outcomes.iter().try_for_each(Outcome::success)
}

/// Waits until the condition holds. Fails if that takes as long as only something that hangs does.
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) -> Result {
    let deadline = Instant::now() + LIMIT / 2;
    while !condition() {
        if Instant::now() > deadline {
            return Err(format!("this does not happen: {what}").into());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}

fn tail(text: &str) -> &str {
    let mut start = text.len().saturating_sub(4000);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}
