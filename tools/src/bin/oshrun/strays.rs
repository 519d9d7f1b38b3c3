//! What PEs have started in other sessions and left behind: signals to a PE's process group
//! do not reach it. It becomes a child of the launcher instead of init's, and ends with the
//! job.

use nix::sys::prctl;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;
use std::time::{Duration, Instant};

/// Lists the children of the launcher's one thread (proc(5); not every kernel has it).
const CHILDREN: &str = "/proc/thread-self/children";
/// How long processes may take to die of SIGKILL.
const PATIENCE: Duration = Duration::from_secs(1);

/// Children that the launcher has not started.
pub struct Orphans {
    /// Those it has: the guard and the PEs.
    own: Vec<u32>,
}

impl Orphans {
    /// From now on they come here. The launcher has `guard` started.
    pub fn adopt(guard: u32) -> Self {
        // Without the list they could be neither collected nor ended: init does better.
        if std::fs::exists(CHILDREN).unwrap_or(false) {
            let _ = prctl::set_child_subreaper(true);
        }
        Self { own: vec![guard] }
    }

    /// A process that the launcher has started.
    pub fn except(&mut self, pid: u32) {
        self.own.push(pid);
    }

    fn list(&self) -> Vec<Pid> {
        let text = std::fs::read_to_string(CHILDREN).unwrap_or_default();
        text.split_whitespace()
            .filter_map(|word| word.parse().ok())
            .filter(|pid| !self.own.contains(pid))
            .map(|pid| Pid::from_raw(pid as i32))
            .collect()
    }

    /// Collects those that have ended.
    pub fn collect(&self) {
        for pid in self.list() {
            let _ = waitpid(pid, Some(WaitPidFlag::WNOHANG));
        }
    }

    /// Ends them all; what they leave behind comes here, too.
    pub fn end(&self) {
        let until = Instant::now() + PATIENCE;
        loop {
            let left = self.list();
            if left.is_empty() || Instant::now() >= until {
                return;
            }
            for pid in left {
                let _ = kill(pid, Signal::SIGKILL);
            }
            self.collect();
            if !self.list().is_empty() {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
}
