//! A node as seen by the hub: the remote shell that runs `oshrun --node` there, and the link over
//! its standard input and output.

use super::failure::Failure;
use super::frames::Frame;
use super::hosts;
use super::link::{self, Link};
use super::node::OPTION;
use super::options::Hosts;
use super::signals;
use super::steps;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Pid, read};
use oneshmem_job::jobfile::nodes::NodeOf;
use oneshmem_job::remote::network::{Preference, Site};
use oneshmem_tools::installation::Installation;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The remote shell if the user names none. It never asks for a password, which nobody could type,
/// and detects within 15 s that a host is gone.
const SSH: [&str; 6] = ["ssh", "-x", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=5"];
/// How long a remote shell may take to end after its output has ended.
const PATIENCE: Duration = Duration::from_secs(1);
/// Longer lines from a remote shell's standard error are printed in pieces.
const LINE_LIMIT: usize = 4096;
/// How often its standard error is read before other events have their turn: all that a pipe holds.
const READS: usize = 16;

/// The state of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// The remote shell has been started.
    Called,
    /// The launcher has answered.
    There,
    /// The launcher has the description of the job.
    Runs,
    /// All its PEs have ended.
    Done,
    /// The launcher has ended, too, or is lost.
    Gone,
}

/// A node.
pub struct Remote {
    /// The node's place in the job.
    pub node: NodeOf,
    /// Its state.
    pub stage: Stage,
    /// Whether all its PEs wait for others.
    pub stands_still: bool,
    /// Its agent's record, once known.
    pub agent: Option<Vec<u8>>,
    /// The link to its launcher.
    pub link: Link,
    /// How the host is reached, once known.
    pub site: Option<Site>,
    /// The host's memory in bytes.
    pub memory: u64,
    /// The command that started the remote shell.
    command: String,
    child: Child,
    /// When to give up the link after the remote shell has ended: processes that the shell has
    /// started may hold the other ends open.
    given_up: Option<Instant>,
    error: Option<OwnedFd>,
    line: Vec<u8>,
}

/// The role of a polled descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoteToken {
    /// Belongs to the link.
    Link(link::LinkToken),
    /// The remote shell's standard error.
    Error,
}

impl Remote {
    /// Starts the launcher on a node.
    pub fn start(node: NodeOf, hosts: &Hosts, preference: Preference) -> Result<Self, Failure> {
        let Call { words, script } = call(&node.host, hosts, preference)?;
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // Keyboard signals are for this command, which forwards signals itself.
        signals::set_apart_before(&mut command);
        let failed = |why: &dyn std::fmt::Display| {
            Failure::own(format!("host {}: cannot start {}: {why}", node.host, words[0]))
        };
        let mut child = command.spawn().map_err(|error| failed(&steps::in_words(error)))?;
        let streams = (child.stdout.take(), child.stdin.take(), child.stderr.take());
        let (Some(output), Some(mut input), Some(error)) = streams else {
            unreachable!("they were asked to be pipes")
        };
        // A pipe has room for it. If nobody reads it any more, the link finds out.
        let _ = input.write_all(script.as_bytes());
        let error = OwnedFd::from(error);
        fcntl(&error, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).map_err(|errno| failed(&errno))?;
        let link = Link::new(output.into(), input.into()).map_err(|errno| failed(&errno))?;
        Ok(Self {
            node,
            stage: Stage::Called,
            stands_still: false,
            agent: None,
            site: None,
            link,
            memory: 0,
            command: words[0].clone(),
            child,
            given_up: None,
            error: Some(error),
            line: Vec::new(),
        })
    }

    /// The descriptors to poll. `receive` says whether to poll for what the
    /// host sends.
    pub fn interests(&self, receive: bool) -> impl Iterator<Item = (RemoteToken, PollFd<'_>)> {
        let error = self.error.iter().filter(move |_| receive);
        let error =
            error.map(|fd| (RemoteToken::Error, PollFd::new(fd.as_fd(), PollFlags::POLLIN)));
        let link = self.link.interests(receive);
        error.chain(link.map(|(token, fd)| (RemoteToken::Link(token), fd)))
    }

    /// Handles a ready descriptor. Returns the frames received over the link, and the lines that
    /// the remote shell has written to its standard error.
    pub fn ready(&mut self, token: RemoteToken) -> (Vec<Frame>, Vec<String>) {
        match token {
            RemoteToken::Link(token) => (self.link.ready(token), Vec::new()),
            RemoteToken::Error => (Vec::new(), self.read_error()),
        }
    }

    /// The lines that the remote shell has written since the last call; of very many, the first ones.
    pub fn read_error(&mut self) -> Vec<String> {
        let mut buffer = [0; LINE_LIMIT];
        for _ in 0..READS {
            let Some(error) = &self.error else { break };
            match read(error, &mut buffer) {
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => break,
                Ok(0) | Err(_) => self.error = None,
                Ok(bytes) => self.line.extend_from_slice(&buffer[..bytes]),
            }
        }
        let end = match self.line.iter().rposition(|byte| *byte == b'\n') {
            _ if self.error.is_none() || self.line.len() >= LINE_LIMIT => self.line.len(),
            Some(end) => end + 1,
            None => 0,
        };
        let text: Vec<u8> = self.line.drain(..end).collect();
        String::from_utf8_lossy(&text).lines().map(|line| line.trim_end().to_owned()).collect()
    }

    /// Waits for the remote shell to end after its link has. Describes how it ended.
    pub fn collect(&mut self) -> String {
        self.stage = Stage::Gone;
        self.link.close();
        let until = Instant::now() + PATIENCE;
        let status = loop {
            match self.child.try_wait() {
                Ok(None) if Instant::now() < until => {
                    std::thread::sleep(Duration::from_millis(2));
                }
                Ok(None) => {
                    self.kill();
                    return format!("{} has closed its output but not ended", self.command);
                }
                Ok(Some(status)) => break status,
                Err(error) => return format!("{}: {error}", self.command),
            }
        };
        format!("{} {}", self.command, in_words(status))
    }

    /// A child has ended, perhaps the remote shell. Its data in transit can still be read.
    pub fn note_end(&mut self) {
        if self.given_up.is_none() && self.has_ended() {
            self.given_up = Some(Instant::now() + PATIENCE);
        }
    }

    /// When to give up the link.
    pub fn due(&self) -> Option<Instant> {
        self.given_up.filter(|_| self.stage < Stage::Gone)
    }

    /// Whether no more frames can arrive over the link.
    pub fn is_lost(&self) -> bool {
        self.stage < Stage::Gone
            && (self.link.lost().is_some() || self.due().is_some_and(|due| due <= Instant::now()))
    }

    /// Whether the remote shell has ended.
    fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Kills the remote shell.
    pub fn kill(&mut self) {
        if !self.has_ended() {
            let _ = killpg(Pid::from_raw(self.child.id() as i32), Signal::SIGKILL);
            let _ = self.child.wait();
        }
        self.link.close();
        self.stage = Stage::Gone;
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.kill();
    }
}

fn in_words(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with status {code}"),
        (None, Some(signal)) => format!("was killed by {}", super::verdict::signal_name(signal)),
        (None, None) => "ended".into(),
    }
}

/// How the launcher on a host is called.
struct Call {
    /// The command line.
    words: Vec<String>,
    /// The first part of its standard input.
    script: String,
}

/// The call of the launcher on a host.
fn call(host: &str, hosts: &Hosts, preference: Preference) -> Result<Call, Failure> {
    let own = Installation::of_this_command().map_err(Failure::own)?;
    let bin = hosts.prefix.as_deref().map(|prefix| prefix.join("bin"));
    let path = bin.as_deref().unwrap_or(own.bin()).join("oshrun");
    let Some(path) = path.to_str() else {
        return Err(Failure::own(format!("{}: the path is not UTF-8", path.display())));
    };
    let arguments = [OPTION, preference.word()].map(String::from).to_vec();
    if hosts::is_this_machine(host) && hosts.prefix.is_none() {
        // This works wherever the command is installed.
        let words = [vec!["/proc/self/exe".into()], arguments].concat();
        return Ok(Call { words, script: String::new() });
    }
    // A remote shell joins its arguments for a shell to parse; other agents run them unchanged. Words
    // without special characters mean the same to both. So a path that has some is given to a shell
    // on its standard input. The launcher says hello before it reads, so a shell may read ahead.
    let quoted = shlex::try_quote(path).map_err(Failure::own)?;
    let (command, script) = match quoted == path {
        true => ([vec![path.into()], arguments].concat(), String::new()),
        false => (vec!["sh".into()], format!("exec {quoted} {}\n", arguments.join(" "))),
    };
    let agent = match hosts.agent.is_empty() {
        true => SSH.map(String::from).to_vec(),
        false => hosts.agent.clone(),
    };
    Ok(Call { words: [agent, vec![host.into()], command].concat(), script })
}
