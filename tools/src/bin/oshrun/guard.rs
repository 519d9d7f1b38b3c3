//! A second process, for the one case in which the launcher cannot act: its own death by SIGKILL.
//! The kernel then kills the PEs, but not the processes they have started (a PE may be a script).
//! The guard sleeps on a pipe from the launcher. If the pipe closes before the launcher has said
//! goodbye, the guard kills the PEs' process groups.
#![allow(unsafe_code)]

use super::failure::{Failure, cannot};
use super::signals::change_mask;
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::sys::prctl;
use nix::sys::signal::{SigSet, SigmaskHow, Signal, killpg};
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, Pid, fork, getpid, pipe2, read, setpgid, write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

/// Sent instead of a process ID when the job is over.
const GOODBYE: u32 = 0;

/// The launcher's handle to the guard. Dropping it dismisses the guard.
pub struct Guard {
    pipe: Arc<OwnedFd>,
    pid: Pid,
}

impl Guard {
    /// Starts the guard. To be called early, so that the guard inherits nothing of the job.
    pub fn start() -> Result<Self, Failure> {
        let (ours, launchers) =
            pipe2(OFlag::O_CLOEXEC).map_err(cannot("make a pipe to the guard process"))?;
        // SAFETY: the launcher has a single thread, so the child may run any code.
        match unsafe { fork() }.map_err(cannot("start the guard process"))? {
            ForkResult::Parent { child } => Ok(Self { pipe: Arc::new(launchers), pid: child }),
            ForkResult::Child => {
                drop(launchers);
                watch(&ours);
                std::process::exit(0)
            }
        }
    }

    /// Adds a process group to those to kill.
    pub fn add(&self, group: u32) {
        notify(&*self.pipe, group);
    }

    /// Adds the process that calls it, which leads a process group. For new processes, before they
    /// run a program: the launcher may be killed before it could add them.
    pub fn adder(&self) -> impl Fn() + Send + Sync + 'static {
        let pipe = Arc::clone(&self.pipe);
        move || notify(&*pipe, getpid().as_raw() as u32)
    }

    /// The guard's process ID.
    pub fn pid(&self) -> u32 {
        self.pid.as_raw() as u32
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        notify(&*self.pipe, GOODBYE);
        let _ = waitpid(self.pid, None);
    }
}

/// Sends the guard a number.
fn notify(pipe: impl AsFd, number: u32) {
    // If somebody has killed the guard, the job goes on without it.
    let _ = write(pipe, &number.to_ne_bytes());
}

/// The guard's main loop.
fn watch(pipe: &OwnedFd) {
    // The terminal's signals are for the launcher. The guard works even if these calls fail.
    let _ = setpgid(Pid::from_raw(0), Pid::from_raw(0));
    let _ = change_mask(SigmaskHow::SIG_SETMASK, &SigSet::all());
    let _ = prctl::set_name(c"oshrun-guard");
    let mut groups = Vec::new();
    let mut number = [0; size_of::<u32>()];
    // Numbers arrive whole: a pipe never splits so small a write.
    loop {
        match read(pipe, &mut number) {
            Err(Errno::EINTR) => {}
            Ok(4) if u32::from_ne_bytes(number) == GOODBYE => return,
            Ok(4) => groups.push(u32::from_ne_bytes(number)),
            _ => break,
        }
    }
    for group in groups {
        let _ = killpg(Pid::from_raw(group as i32), Signal::SIGKILL);
    }
}
