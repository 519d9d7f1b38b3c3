//! A second process, for the one case in which the launcher cannot act: its own death by SIGKILL.
//! The kernel then kills the PEs, but not the processes they have started (a PE may be a script).
//! The guard sleeps on a socket of the launcher's. If that closes before the launcher has said
//! goodbye, the guard kills the PEs' process groups.

use super::failure::{Failure, cannot};
use super::fork::fork;
use super::signals::change_mask;
use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::signal::{SigSet, SigmaskHow, Signal, killpg};
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockType, send, socketpair};
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, Pid, getpid, read, setpgid};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

/// Sent instead of a process ID when the job is over.
const GOODBYE: u32 = 0;

/// The launcher's handle to the guard. Dropping it dismisses the guard.
pub struct Guard {
    socket: Arc<OwnedFd>,
    pid: Pid,
}

impl Guard {
    /// Starts the guard. To be called early, so that the guard inherits nothing of the job, but when the launcher's
    /// signals are blocked: a guard that Control-Z stops on its way to its own group stays stopped.
    pub fn start() -> Result<Self, Failure> {
        // Packets arrive whole.
        let (kind, flags) = (SockType::SeqPacket, SockFlag::SOCK_CLOEXEC);
        let (ours, launchers) = socketpair(AddressFamily::Unix, kind, None, flags)
            .map_err(cannot("make a socket to the guard process"))?;
        match fork("start the guard process")? {
            ForkResult::Parent { child } => Ok(Self { socket: Arc::new(launchers), pid: child }),
            ForkResult::Child => {
                drop(launchers);
                watch(&ours);
                std::process::exit(0)
            }
        }
    }

    /// Adds a process group to those to kill.
    pub fn add(&self, group: u32) {
        notify(&self.socket, group);
    }

    /// Adds the process that calls it, which leads a process group. For new processes, before they
    /// run a program: the launcher may be killed before it could add them.
    pub fn adder(&self) -> impl Fn() + Send + Sync + 'static {
        let socket = Arc::clone(&self.socket);
        move || notify(&socket, getpid().as_raw() as u32)
    }

    /// The guard's process ID.
    pub fn pid(&self) -> u32 {
        self.pid.as_raw() as u32
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        notify(&self.socket, GOODBYE);
        let _ = waitpid(self.pid, None);
    }
}

/// Sends the guard a number.
fn notify(socket: &OwnedFd, number: u32) {
    // If somebody has killed the guard, the job goes on without it: also a new process, which SIGPIPE
    // would end.
    let _ = send(socket.as_raw_fd(), &number.to_ne_bytes(), MsgFlags::MSG_NOSIGNAL);
}

/// The guard's main loop.
fn watch(socket: &OwnedFd) {
    // The terminal's signals are for the launcher. The guard works even if these calls fail.
    let _ = setpgid(Pid::from_raw(0), Pid::from_raw(0));
    let _ = change_mask(SigmaskHow::SIG_SETMASK, &SigSet::all());
    let _ = prctl::set_name(c"oshrun-guard");
    let mut groups = Vec::new();
    let mut number = [0; size_of::<u32>()];
    loop {
        match read(socket, &mut number) {
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
