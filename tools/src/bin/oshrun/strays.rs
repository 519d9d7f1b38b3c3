//! What PEs have started outside their process groups: in groups and sessions of its own, where
//! signals to a PE's group do not reach it. What is left behind of it becomes a child of the
//! launcher instead of init's, and ends with the job.
//!
//! Numbers are taken from /proc right before they are used, and each must be that of a
//! descendant of the launcher: a stranger is never signalled.

use nix::sys::prctl;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;
use oneshmem_tools::processes::{children, numbers};
use std::collections::HashSet;
use std::fs;
use std::time::{Duration, Instant};

/// Lists the children of the launcher's one thread (proc(5); not every kernel has it).
const CHILDREN: &str = "/proc/thread-self/children";
/// How long processes may take to die of SIGKILL.
const PATIENCE: Duration = Duration::from_secs(1);

/// Descendants that the launcher has not started.
pub struct Strays {
    /// What it has started: the guard and the PEs. Each leads a group of its number.
    own: HashSet<u32>,
}

/// Which strays are meant.
#[derive(Clone, Copy)]
pub enum Which<'a> {
    /// All of them.
    All,
    /// Those in these process groups.
    In(&'a HashSet<u32>),
}

impl Strays {
    /// From now on what is left behind comes here. The launcher has `guard` started.
    pub fn adopt(guard: u32) -> Self {
        // Without the list they could be neither collected nor ended: init does better.
        if fs::exists(CHILDREN).unwrap_or(false) {
            let _ = prctl::set_child_subreaper(true);
        }
        Self { own: HashSet::from([guard]) }
    }

    /// A process that the launcher has started.
    pub fn except(&mut self, pid: u32) {
        self.own.insert(pid);
    }

    /// Signals strays, in whatever generation.
    pub fn signal(&self, signal: Signal, which: Which) {
        let launcher = std::process::id();
        let mut parents = Vec::from_iter(numbers(CHILDREN).into_iter().map(|pid| (launcher, pid)));
        let mut seen = HashSet::new();
        while let Some((parent, pid)) = parents.pop() {
            // A process that changes its parent meanwhile may come twice.
            if !seen.insert(pid) {
                continue;
            }
            parents.extend(children(pid).map(|child| (pid, child)));
            let Some((its_parent, group)) = parent_and_group(pid) else { continue };
            let meant = match which {
                Which::All => !self.own.contains(&group),
                Which::In(groups) => groups.contains(&group),
            };
            if meant && !self.own.contains(&pid) && [parent, launcher].contains(&its_parent) {
                let _ = kill(Pid::from_raw(pid as i32), signal);
            }
        }
    }

    /// Those that have become the launcher's children.
    fn orphans(&self) -> Vec<Pid> {
        let orphans = numbers(CHILDREN).into_iter().filter(|pid| !self.own.contains(pid));
        orphans.map(|pid| Pid::from_raw(pid as i32)).collect()
    }

    /// Collects orphans that have ended.
    pub fn collect(&self) {
        for pid in self.orphans() {
            let _ = waitpid(pid, Some(WaitPidFlag::WNOHANG));
        }
    }

    /// Ends all orphans; what they leave behind comes here, too.
    pub fn end(&self) {
        let until = Instant::now() + PATIENCE;
        loop {
            let left = self.orphans();
            if left.is_empty() || Instant::now() >= until {
                return;
            }
            for pid in left {
                let _ = kill(pid, Signal::SIGKILL);
            }
            self.collect();
            if !self.orphans().is_empty() {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
}

/// A process's parent and group, as they are now.
fn parent_and_group(pid: u32) -> Option<(u32, u32)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // After the name, which may hold anything: state, parent, group (proc(5)).
    let mut fields = stat.rsplit_once(") ")?.1.split(' ').skip(1);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}
