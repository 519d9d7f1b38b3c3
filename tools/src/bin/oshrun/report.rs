//! The states of PEs when a job does not end, or ends badly: one line for all PEs in the same
//! state.

use super::process::Process;
use oneshmem::job::control::Control;
use oneshmem::job::file::JobFile;
use oneshmem::job::waiting::Wait;
use oneshmem_tools::live::{self, Phase, names};
use oneshmem_tools::names::demangled;
use oneshmem_tools::processes::Stat;
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
        let (phase, wait) = last_seen(file, pe);
        if wait.is_none() && whose == Whose::Waiting {
            continue;
        }
        let what = match &wait {
            Some(wait) => demangled(&wait.to_string()).into_owned(),
            None => {
                let state = Stat::of(process.pid()).map_or("state unknown", |it| it.described());
                format!("{}, {state}", phase.described())
            }
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

/// The phase of a PE in the last program that it ran, and what it waits for.
fn last_seen(file: &Arc<JobFile>, pe: usize) -> (Phase, Option<Wait>) {
    live::phase(Control::last(file, pe).ok().flatten().as_ref(), pe)
}

/// What PE `pe` waits for, if it has waited for long.
pub fn wait_of(file: &Arc<JobFile>, pe: usize) -> Option<Wait> {
    last_seen(file, pe).1
}
