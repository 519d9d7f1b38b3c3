//! The agent of a node: the process through which PEs of other nodes reach this node's memory. It
//! is a child of the launcher that runs no other program, begun before there is any PE.
#![allow(unsafe_code)]

use super::failure::Failure;
use super::link::Link;
use super::verdict::signal_name;
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags};
use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork, getpid, getppid, pipe2, read, setpgid, write};
use oneshmem::engine::agent::serve;
use oneshmem::job::file::JobFile;
use oneshmem::job::nodes::RECORD_BYTES;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

/// The first byte of what it tells: its record, or why it cannot serve, follows.
const RECORD: u8 = b'R';
const WHY: u8 = b'E';

/// An agent. Dropped, it is ended.
pub struct Agent {
    pid: Pid,
    /// Until it has told how it is reached.
    pipe: Option<OwnedFd>,
    has_ended: bool,
}

/// What an agent tells.
pub enum Told {
    /// How it is reached.
    Record(Vec<u8>),
    /// That it cannot serve, and why.
    Failure(String),
}

impl Agent {
    /// Starts the agent of a node, if there are others. It does not keep the launcher's `link`
    /// open.
    pub fn start(file: &Arc<JobFile>, link: &mut Link) -> Result<Option<Self>, Failure> {
        let Some(nodes) = file.nodes() else { return Ok(None) };
        let (ours, theirs) = pipe2(OFlag::O_CLOEXEC).map_err(Failure::own)?;
        let launcher = getpid();
        // SAFETY: the launcher has one thread, so the child may do anything.
        match unsafe { fork() }.map_err(Failure::own)? {
            ForkResult::Parent { child } => {
                Ok(Some(Self { pid: child, pipe: Some(ours), has_ended: false }))
            }
            ForkResult::Child => {
                link.close();
                drop(ours);
                prepare(launcher);
                let why = serve(file.clone(), &mut |record| {
                    nodes.publish(nodes.own(), record);
                    tell(&theirs, RECORD, record);
                });
                let Err(why) = why;
                tell(&theirs, WHY, why.to_string().as_bytes());
                std::process::exit(1)
            }
        }
    }

    /// Its process number.
    pub fn pid(&self) -> u32 {
        self.pid.as_raw() as u32
    }

    /// Its pipe, until it has told how it is reached.
    pub fn interest(&self) -> Option<PollFd<'_>> {
        self.pipe.as_ref().map(|pipe| PollFd::new(pipe.as_fd(), PollFlags::POLLIN))
    }

    /// Reads what it tells.
    pub fn hear(&mut self) -> Option<Told> {
        let pipe = self.pipe.take()?;
        // It is written whole, since it is less than PIPE_BUF.
        let mut buffer = [0; RECORD_BYTES + 1];
        match read(&pipe, &mut buffer) {
            Err(Errno::EINTR) => {
                self.pipe = Some(pipe);
                None
            }
            // Its end is seen, too, and how.
            Ok(0) | Err(_) => None,
            Ok(bytes) if buffer[0] == RECORD => {
                // It may fail later.
                self.pipe = Some(pipe);
                Some(Told::Record(buffer[1..bytes].to_vec()))
            }
            Ok(bytes) => {
                Some(Told::Failure(String::from_utf8_lossy(&buffer[1..bytes]).into_owned()))
            }
        }
    }

    /// How it has ended, told once.
    pub fn look(&mut self) -> Option<String> {
        if self.has_ended {
            return None;
        }
        let how = match waitpid(self.pid, Some(WaitPidFlag::WNOHANG)).ok()? {
            WaitStatus::Exited(_, status) => format!("ended with status {status}"),
            WaitStatus::Signaled(_, signal, _) => {
                format!("was killed by {}", signal_name(signal as i32))
            }
            _ => return None,
        };
        self.has_ended = true;
        Some(how)
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        if !self.has_ended {
            let _ = kill(self.pid, Signal::SIGKILL);
            let _ = waitpid(self.pid, None);
        }
    }
}

/// The agent ends with its launcher, whatever becomes of that, and takes no other signals.
fn prepare(launcher: Pid) {
    let _ = setpgid(Pid::from_raw(0), Pid::from_raw(0));
    let _ = SigSet::all().thread_set_mask();
    let _ = prctl::set_name(c"oshrun-agent");
    let _ = prctl::set_pdeathsig(Signal::SIGKILL);
    if getppid() != launcher {
        // It died before its death could have been noticed.
        std::process::exit(1);
    }
}

fn tell(pipe: &OwnedFd, what: u8, bytes: &[u8]) {
    let bytes = &bytes[..bytes.len().min(RECORD_BYTES)];
    // Who does not hear it any more has gone.
    let _ = write(pipe, &[&[what], bytes].concat());
}
