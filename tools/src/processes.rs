//! The children of processes, read from proc(5), and their states in words. Not every kernel lists them.

use std::fs;
use std::path::Path;

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

/// The state of a process in words: a [`Status::state`](onenode_core::sys::process::Status::state).
pub fn described(state: char) -> &'static str {
    match state {
        'R' => "running",
        'S' | 'I' => "sleeping",
        'D' => "in a system call that cannot be interrupted",
        'T' | 't' => "stopped",
        _ => "state unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::time::{ClockId, clock_gettime};
    use onenode_core::sys::process::{TICK, status};
    use std::time::Duration;

    #[test]
    fn only_processes_that_exist_have_a_state() {
        let own = status(std::process::id()).unwrap();
        // The first thread may be waiting for the one that runs this test.
        assert!(["running", "sleeping"].contains(&described(own.state)) && !own.ended);
        assert!(status(u32::MAX).is_none());
    }

    #[test]
    fn the_time_of_a_process_is_that_of_its_clock() {
        let run = || status(std::process::id()).unwrap().run;
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
