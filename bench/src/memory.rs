//! The memory use of a job: the maximum of what it and its descendants have at one time.

use std::collections::HashSet;
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use oneshmem_tools::processes::children;

/// The interval between samples. Sampling takes CPU time from the job, so the job's own times do
/// not count.
const PAUSE: Duration = Duration::from_millis(2);

/// Runs a command to its end and returns the peak in bytes: the sum of the processes' proportional
/// set sizes (proc(5), `smaps_rollup`), which count shared memory once.
pub fn most(command: &mut Command, patience: Duration) -> anyhow::Result<u64> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().context("cannot run it")?;
    let (start, mut most) = (Instant::now(), 0);
    loop {
        if let Some(status) = child.try_wait()? {
            if !status.success() {
                bail!("it failed: {status}");
            }
            return Ok(most);
        }
        most = most.max(family(child.id()).into_iter().map(share).sum());
        if start.elapsed() > patience {
            child.kill()?;
            child.wait()?;
            bail!("stopped after {:.0} s", patience.as_secs_f64());
        }
        std::thread::sleep(PAUSE);
    }
}

/// A process and its descendants.
fn family(first: u32) -> HashSet<u32> {
    let (mut found, mut new) = (HashSet::new(), vec![first]);
    while let Some(process) = new.pop() {
        if found.insert(process) {
            new.extend(children(process));
        }
    }
    found
}

/// Its share of the memory. 0 if it has ended.
fn share(process: u32) -> u64 {
    let rollup = fs::read_to_string(format!("/proc/{process}/smaps_rollup")).unwrap_or_default();
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"));
    let kib = line.and_then(|rest| rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kib.unwrap_or(0) << 10
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(script: &str) -> anyhow::Result<u64> {
        most(Command::new("sh").args(["-c", script]), Duration::from_secs(60))
    }

    #[test]
    fn memory_of_children_counts() {
        let sleeper = of("sleep 0.3").unwrap();
        // A shell started by another one, which keeps 32 MB of text in a variable.
        let hoarder =
            of("sh -c 'v=$(head -c 32000000 /dev/zero | tr \"\\0\" x); sleep 0.3'; true").unwrap();
        assert!(sleeper > 0);
        assert!(hoarder > sleeper + 32_000_000, "{hoarder} and {sleeper}");
    }

    #[test]
    fn failures_are_told() {
        assert!(of("exit 3").unwrap_err().to_string().contains("exit status: 3"));
    }
}
