//! The agent of a node: the process through which PEs of other nodes reach this node's memory. It
//! is a child of the launcher, forked before any PE exists, and executes no other program.

use super::binding::{Binding, cpu_set};
use super::failure::{Failure, cannot};
use super::fork::fork;
use super::link::Link;
use super::signals::change_mask;
use super::verdict::signal_name;
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags};
use nix::sched::sched_setaffinity;
use nix::sys::prctl;
use nix::sys::signal::{SigSet, SigmaskHow, Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, getpid, getppid, pipe2, read, setpgid, write};
use oneshmem_job::engine::agent::{Report, serve};
use oneshmem_job::engine::probe;
use oneshmem_job::engine::started;
use oneshmem_job::jobfile::JobFile;
use oneshmem_job::sys::environment::set_variable;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

/// An agent. Dropping it ends the process.
pub struct Agent {
    pid: Pid,
    /// The report pipe, open until the agent has failed or ended.
    pipe: Option<OwnedFd>,
    has_ended: bool,
}

impl Agent {
    /// Starts the agent of a node if the job has several nodes. The agent closes its copy of the
    /// launcher's `link`, and gets those of UCX's variables that the user has set for PEs by options.
    pub fn start(
        file: &Arc<JobFile>,
        link: &mut Link,
        variables: &[(OsString, OsString)],
        binding: &Binding,
    ) -> Result<Option<Self>, Failure> {
        let Some(nodes) = file.nodes() else { return Ok(None) };
        let cpus = cpu_set(binding).map_err(cannot("bind the node's agent"))?;
        let (ours, theirs) =
            pipe2(OFlag::O_CLOEXEC).map_err(cannot("make a pipe to the node's agent"))?;
        let launcher = getpid();
        match fork("start the node's agent")? {
            ForkResult::Parent { child } => {
                Ok(Some(Self { pid: child, pipe: Some(ours), has_ended: false }))
            }
            ForkResult::Child => {
                link.close();
                drop(ours);
                let bound = cpus.map_or(Ok(()), |cpus| sched_setaffinity(Pid::from_raw(0), &cpus));
                if let Err(why) = bound {
                    notify(
                        &theirs,
                        Report::failure(&format!("cannot be bound to its CPUs: {why}")),
                    );
                    std::process::exit(1)
                }
                prepare(launcher);
                let of_ucx = |it: &&(OsString, OsString)| it.0.as_bytes().starts_with(b"UCX_");
                for (name, value) in variables.iter().filter(of_ucx) {
                    set_variable(name, Some(value));
                }
                let why = serve(file.clone(), &mut |record| {
                    nodes.publish(nodes.own(), record);
                    notify(&theirs, Report::Record(record.to_vec()));
                });
                let Err(why) = why;
                notify(&theirs, Report::failure(&why.to_string()));
                std::process::exit(1)
            }
        }
    }

    /// The agent's process ID.
    pub fn pid(&self) -> u32 {
        self.pid.as_raw() as u32
    }

    /// The report pipe to poll, while it is open.
    pub fn interest(&self) -> Option<PollFd<'_>> {
        self.pipe.as_ref().map(|pipe| PollFd::new(pipe.as_fd(), PollFlags::POLLIN))
    }

    /// Reads a report.
    pub fn hear(&mut self) -> Option<Report> {
        let pipe = self.pipe.take()?;
        let mut buffer = [0; Report::MOST_BYTES];
        match read(&pipe, &mut buffer) {
            Err(Errno::EINTR) => {
                self.pipe = Some(pipe);
                None
            }
            // The agent has ended. [`Self::look`] reports how.
            Err(_) => None,
            Ok(bytes) => {
                let report = Report::decode(&buffer[..bytes]);
                if matches!(report, Some(Report::Record(_))) {
                    // Keep listening: the agent may fail later.
                    self.pipe = Some(pipe);
                }
                report
            }
        }
    }

    /// How the agent ended. Reported once.
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

/// Serves the node of a PE that a foreign launcher has started. `words` has the details.
pub fn serve_for_pe(words: Option<OsString>) -> Result<i32, Failure> {
    let _ = prctl::set_name(c"oshrun-agent");
    for_pe(started::OPTION, words, started::serve_by).map(|()| 1)
}

/// Tries RDMA for such a PE.
pub fn probe_for_pe(words: Option<OsString>) -> Result<i32, Failure> {
    for_pe(probe::OPTION, words, probe::serve_by).map(|()| 0)
}

fn for_pe(
    option: &str,
    words: Option<OsString>,
    run: impl Fn(&str) -> Option<()>,
) -> Result<(), Failure> {
    let done = words.as_deref().and_then(OsStr::to_str).and_then(run);
    done.ok_or_else(|| Failure::own(format_args!("{option} is for PEs that other launchers start")))
}

/// Makes the agent end with its launcher, however that ends, and block all other signals.
fn prepare(launcher: Pid) {
    let _ = setpgid(Pid::from_raw(0), Pid::from_raw(0));
    let _ = change_mask(SigmaskHow::SIG_SETMASK, &SigSet::all());
    let _ = prctl::set_name(c"oshrun-agent");
    let _ = prctl::set_pdeathsig(Signal::SIGKILL);
    if getppid() != launcher {
        // The launcher died before the kernel could notify us.
        std::process::exit(1);
    }
}

fn notify(pipe: &OwnedFd, report: Report) {
    // If nobody reads the pipe, the launcher has ended.
    let _ = write(pipe, &report.encode());
}
