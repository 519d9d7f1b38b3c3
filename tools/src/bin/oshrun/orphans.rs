//! Processes that PEs have started outside their process groups: in other groups or sessions, which
//! signals to a PE's group do not reach. When orphaned they become children of the launcher instead
//! of init's, and end with the job.
//!
//! Process IDs are read from /proc right before use, and each must belong to a descendant of the
//! launcher, so that unrelated processes are never signalled.

use nix::sys::prctl;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;
use onenode_core::sys::process::{Status, status};
use oneshmem_tools::processes::{children, numbers};
use std::collections::HashSet;
use std::fs;
use std::time::{Duration, Instant};

/// The file that lists the children of the launcher's single thread (proc(5); not every kernel has
/// it).
const CHILDREN: &str = "/proc/thread-self/children";
/// How long processes may take to die of SIGKILL.
const PATIENCE: Duration = Duration::from_secs(1);

/// Descendants that the launcher has not started itself.
pub struct Orphans {
    /// The processes that the launcher has started: the guard and the PEs. Each leads a group of
    /// the same number.
    own: HashSet<u32>,
}

/// Selects orphans.
#[derive(Clone, Copy)]
pub enum OrphanFilter<'a> {
    /// All of them.
    All,
    /// The orphans in these process groups.
    In(&'a HashSet<u32>),
}

impl Orphans {
    /// Makes the launcher adopt orphaned descendants from now on. It has already started `guard`.
    pub fn adopt(guard: u32) -> Self {
        // Without the list the launcher could neither collect nor end them, so they are left to
        // init.
        if fs::exists(CHILDREN).unwrap_or(false) {
            let _ = prctl::set_child_subreaper(true);
        }
        Self { own: HashSet::from([guard]) }
    }

    /// Excludes a process that the launcher has started.
    pub fn except(&mut self, pid: u32) {
        self.own.insert(pid);
    }

    /// Signals orphans of any generation.
    pub fn signal(&self, signal: Signal, which: OrphanFilter) {
        let launcher = std::process::id();
        let mut parents = Vec::from_iter(numbers(CHILDREN).into_iter().map(|pid| (launcher, pid)));
        let mut seen = HashSet::new();
        while let Some((parent, pid)) = parents.pop() {
            // A process whose parent changes meanwhile may be listed twice.
            if !seen.insert(pid) {
                continue;
            }
            parents.extend(children(pid).map(|child| (pid, child)));
            let Some(Status { parent: its_parent, group, .. }) = status(pid) else { continue };
            let meant = match which {
                OrphanFilter::All => !self.own.contains(&group),
                OrphanFilter::In(groups) => groups.contains(&group),
            };
            if meant && !self.own.contains(&pid) && [parent, launcher].contains(&its_parent) {
                let _ = kill(Pid::from_raw(pid as i32), signal);
            }
        }
    }

    /// The orphans that are now the launcher's children.
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

    /// Ends all orphans, including their own children, which the launcher adopts in turn.
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
