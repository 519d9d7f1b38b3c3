//! The states of PEs when a job does not end, or ends badly: one line for all PEs in the same
//! state.

use super::process::Process;
use super::source_lines::{CodeAddress, SourceLines};
use onenode_core::sys::process;
use oneshmem_job::jobfile::JobFile;
use oneshmem_job::jobfile::control::Control;
use oneshmem_job::jobfile::waiting::Wait;
use oneshmem_tools::live::{self, Phase, names};
use oneshmem_tools::names::demangled;
use oneshmem_tools::processes::described;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The maximum number of lines. Keeps the report of a large job readable when all PEs differ.
const MOST_LINES: usize = 24;

/// The PEs whose states are reported.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ReportScope {
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
    whose: ReportScope,
) -> String {
    let mut states = Vec::new();
    for (pe, process) in file.near().zip(processes) {
        if process.end().is_some() {
            continue;
        }
        let (phase, wait) = last_seen(file, pe);
        if wait.is_none() && whose == ReportScope::Waiting {
            continue;
        }
        states.push((pe, process.pid(), phase, wait));
    }
    let mut groups: BTreeMap<(String, Option<String>), SameState> = BTreeMap::new();
    for ((pe, pid, phase, wait), line) in states.iter().zip(lines(&states)) {
        let what = match wait {
            Some(wait) => demangled(&wait.to_string()).into_owned(),
            None => {
                let state = described(process::status(*pid).map_or('?', |it| it.state));
                format!("{}, {state}", phase.described())
            }
        };
        let group = groups.entry((what, line)).or_default();
        group.pes.push(*pe);
        group.longest = group.longest.max(wait.map(|wait| wait.lasted));
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, group)| group.pes[0]);
    let more = groups.len().saturating_sub(MOST_LINES);
    let lines = groups.iter().take(MOST_LINES).map(|((what, line), group)| {
        let longest = group.longest.filter(|time| !time.is_zero());
        let time = longest.map_or(String::new(), |time| format!(", for {time:.1?}"));
        let line = line.as_ref().map_or(String::new(), |line| format!(", called at {line}"));
        format!("{}: {what}{time}{line}", names(&group.pes))
    });
    let rest = (more > 0).then(|| format!("and {more} other states"));
    std::iter::once(message).chain(lines).chain(rest).collect::<Vec<_>>().join("\noshrun: ")
}

/// A PE, its process, and what it does.
type State = (usize, u32, Phase, Option<Wait>);

/// The lines of source where PEs have called what they wait in, as far as they are known.
fn lines(states: &[State]) -> Vec<Option<String>> {
    let place =
        |(_, pid, _, wait): &State| CodeAddress::in_program_of(*pid, wait.as_ref()?.called?);
    let places: Vec<_> = states.iter().map(place).collect();
    let known: Vec<_> = places.iter().flatten().cloned().collect();
    let mut found = SourceLines::default().of(&known).into_iter();
    places.iter().map(|place| place.as_ref().and_then(|_| found.next()?)).collect()
}

/// The phase of a PE in the last program that it ran, and what it waits for.
fn last_seen(file: &Arc<JobFile>, pe: usize) -> (Phase, Option<Wait>) {
    live::phase(Control::last(file, pe).ok().flatten().as_ref(), pe)
}

/// The wait of PE `pe`, if it has lasted for long.
pub fn wait_of(file: &Arc<JobFile>, pe: usize) -> Option<Wait> {
    last_seen(file, pe).1
}
