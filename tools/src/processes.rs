//! Processes, their children and their states, read from proc(5). Not every kernel provides them.

use std::fs;
use std::path::Path;
use std::time::Duration;

/// The numbers in a file of /proc. None if it cannot be read.
pub fn numbers(file: impl AsRef<Path>) -> Vec<u32> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

/// The children of all threads of a process. None if it has ended.
pub fn children(pid: u32) -> impl Iterator<Item = u32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    threads.flat_map(|thread| numbers(thread.path().join("children")))
}

/// The state of a process in `/proc` (proc_pid_stat(5)).
#[derive(Clone, Copy, Debug)]
pub struct Stat {
    /// Its state: `R` for running, `Z` for one that has ended and was not waited for, ...
    pub state: char,
    /// The time that all its threads have run, in user and in system mode.
    pub run: Duration,
}

/// A tick of the times in /proc. It is the same on all architectures but Alpha and IA-64.
const TICK: Duration = Duration::from_millis(10);

impl Stat {
    /// That of a process; `None` if there is no such process.
    pub fn of(pid: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name in parentheses may contain anything.
        let mut words = stat.rsplit_once(") ")?.1.split(' ');
        let state = words.next()?.chars().next()?;
        let mut ticks = words.skip(10).map(|word| word.parse::<u32>().ok());
        Some(Self { state, run: TICK * (ticks.next()?? + ticks.next()??) })
    }

    /// Whether the process has ended.
    pub fn has_ended(&self) -> bool {
        matches!(self.state, 'Z' | 'X' | 'x')
    }

    /// The state in words.
    pub fn described(&self) -> &'static str {
        match self.state {
            'R' => "running",
            'S' | 'I' => "sleeping",
            'D' => "in a system call that cannot be interrupted",
            'T' | 't' => "stopped",
            _ => "state unknown",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::time::{ClockId, clock_gettime};

    #[test]
    fn only_processes_that_exist_have_a_state() {
        let own = Stat::of(std::process::id()).unwrap();
        // The first thread may be waiting for the one that runs this test.
        assert!(["running", "sleeping"].contains(&own.described()) && !own.has_ended());
        assert!(Stat::of(u32::MAX).is_none());
    }

    #[test]
    fn the_time_of_a_process_is_that_of_its_clock() {
        let run = || Stat::of(std::process::id()).unwrap().run;
        let clock = || Duration::from(clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).unwrap());
        let (before, begin) = (clock(), run());
        while run() < begin + 2 * TICK {}
        // Both times of a process are rounded to ticks.
        let (run, after) = (run(), clock());
        assert!(
            before <= run + 2 * TICK && run <= after + 2 * TICK,
            "{before:?} {run:?} {after:?}"
        );
    }
}
