//! The states of PEs when a job does not end, or ends badly: one line for all PEs in the same
//! state.

use super::process::Process;
use oneshmem::job::control::{Control, Stage};
use oneshmem::job::file::JobFile;
use oneshmem::job::waiting::Wait;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The maximum number of lines. Keeps the report of a large job readable when all PEs differ.
const MOST_LINES: usize = 24;

/// Whose states to report.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// All PEs.
    All,
    /// PEs that wait for others.
    Waiting,
}

/// PEs in the same state.
#[derive(Default)]
struct SameState {
    pes: Vec<usize>,
    longest: Option<Duration>,
}

/// Appends the states of the PEs that have not ended to a message, one line for each different
/// state.
pub fn with_states(
    message: String,
    file: &Arc<JobFile>,
    processes: &[Process],
    whose: Whose,
) -> String {
    let mut groups: BTreeMap<String, SameState> = BTreeMap::new();
    for (pe, process) in file.near().zip(processes) {
        if process.end().is_some() {
            continue;
        }
        let (stage, wait) = last_seen(file, pe);
        if wait.is_none() && whose == Whose::Waiting {
            continue;
        }
        let what = match &wait {
            Some(wait) => wait.to_string(),
            None => format!("{}, {}", describe(stage), state(process.pid())),
        };
        let group = groups.entry(what).or_default();
        group.pes.push(pe);
        group.longest = group.longest.max(wait.map(|wait| wait.lasted));
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, group)| group.pes[0]);
    let more = groups.len().saturating_sub(MOST_LINES);
    let lines = groups.iter().take(MOST_LINES).map(|(what, group)| {
        let longest = group.longest.filter(|time| !time.is_zero());
        let time = longest.map_or(String::new(), |time| format!(", for {time:.1?}"));
        format!("{}: {what}{time}", names(&group.pes))
    });
    let rest = (more > 0).then(|| format!("and {more} other states"));
    std::iter::once(message).chain(lines).chain(rest).collect::<Vec<_>>().join("\noshrun: ")
}

/// The stage of a PE in the last program that it ran, and what it waits for.
fn last_seen(file: &Arc<JobFile>, pe: usize) -> (Stage, Option<Wait>) {
    let Ok(Some(control)) = Control::last(file, pe) else { return (Stage::Absent, None) };
    let record = control.pe(pe);
    let stage = record.stage();
    (stage, record.waiting.read().filter(|_| stage != Stage::Finalized))
}

/// What PE `pe` waits for, if it has waited for long.
pub fn wait_of(file: &Arc<JobFile>, pe: usize) -> Option<Wait> {
    last_seen(file, pe).1
}

/// Describes a PE that waits for nobody, as far as the library knows.
fn describe(stage: Stage) -> &'static str {
    match stage {
        Stage::Absent => "has not called shmem_init",
        Stage::Ready => "not waiting in the library",
        Stage::Finalized => "has called shmem_finalize",
    }
}

/// The state of a process according to the system (proc_pid_stat(5)).
fn state(pid: u32) -> &'static str {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name in parentheses may contain anything.
    match stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next()) {
        Some('R') => "running",
        Some('S' | 'I') => "sleeping",
        Some('D') => "in a system call that cannot be interrupted",
        Some('T' | 't') => "stopped",
        _ => "state unknown",
    }
}

/// "PE 3" or "PEs 0-2, 5".
fn names(pes: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for pe in pes {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *pe => *last = *pe,
            _ => ranges.push((*pe, *pe)),
        }
    }
    let text: Vec<_> = ranges
        .iter()
        .map(|(first, last)| match last - first {
            0 => first.to_string(),
            _ => format!("{first}-{last}"),
        })
        .collect();
    format!("{} {}", if pes.len() == 1 { "PE" } else { "PEs" }, text.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_one_range() {
        assert_eq!(names(&[3]), "PE 3");
        assert_eq!(names(&[0, 1, 2, 5, 7, 8]), "PEs 0-2, 5, 7-8");
    }

    #[test]
    fn only_processes_that_exist_have_a_state() {
        // The first thread may be waiting for the one that runs this test.
        assert!(["running", "sleeping"].contains(&state(std::process::id())));
        assert_eq!(state(u32::MAX), "state unknown");
    }
}
