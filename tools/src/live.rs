//! Activity and rates of the PEs of a running job: read from the job's file and from /proc, without the PEs'
//! help. `oshrun --top` prints it, `oshtop` shows it.

use crate::names::demangled;
use crate::processes::described;
use onenode_core::atomics::Ordering;
use onenode_core::sys::process;
use oneshmem_job::error::Error;
use oneshmem_job::jobfile::JobFile;
use oneshmem_job::jobfile::control::{Control, Stage};
use oneshmem_job::jobfile::waiting::Wait;
use oneshmem_job::stats::short;
use oneshmem_job::stats::{LostTime, Peer, ProcessUsage, Snapshot};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Where a PE is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Its process does not exist yet.
    Unborn,
    /// It has not called `shmem_init`.
    Before,
    /// It is in `shmem_init`.
    Starting,
    /// It runs, and waits for nobody, as far as the library knows.
    Running,
    /// It waits in the library.
    Waiting,
    /// It has called `shmem_finalize`.
    Finalized,
    /// Its process has ended.
    Ended,
}

impl Phase {
    const ALL: [Self; 7] = [
        Self::Unborn,
        Self::Before,
        Self::Starting,
        Self::Running,
        Self::Waiting,
        Self::Finalized,
        Self::Ended,
    ];

    /// Words for a PE that is there and waits for nobody.
    pub fn described(self) -> &'static str {
        match self {
            Self::Unborn => "has not been started",
            Self::Before => "has not called shmem_init",
            Self::Starting => "in shmem_init",
            Self::Running | Self::Waiting => "not waiting in the library",
            Self::Finalized => "has called shmem_finalize",
            Self::Ended => "has ended",
        }
    }

    /// For so many PEs: as part of a summary.
    fn summed(self) -> &'static str {
        match self {
            Self::Unborn => "not started",
            Self::Before => "before shmem_init",
            Self::Starting => "in shmem_init",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Finalized => "finalized",
            Self::Ended => "ended",
        }
    }
}

/// The phase of a PE in the last program that it has begun, and what it waits for. `control` is that program's
/// control area.
pub fn phase(control: Option<&Control>, pe: usize) -> (Phase, Option<Wait>) {
    let Some(record) = control.map(|control| control.pe(pe)) else { return (Phase::Before, None) };
    let wait = record.waiting.read();
    match (record.stage(), wait) {
        (Stage::Finalized, _) => (Phase::Finalized, None),
        (_, Some(wait)) => (Phase::Waiting, Some(wait)),
        (Stage::Absent, None) => (Phase::Starting, None),
        (Stage::Ready, None) => (Phase::Running, None),
    }
}

/// "PE 3" or "PEs 0-2, 5".
pub fn names(pes: &[usize]) -> String {
    format!("{} {}", noun(pes.len()), ranges(pes))
}

/// "1 PE" or "3 PEs".
pub fn number(pes: usize) -> String {
    format!("{pes} {}", noun(pes))
}

fn noun(pes: usize) -> &'static str {
    if pes == 1 { "PE" } else { "PEs" }
}

/// "3" or "0-2, 5".
fn ranges(pes: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for pe in pes {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *pe => *last = *pe,
            _ => ranges.push((*pe, *pe)),
        }
    }
    let text = ranges.iter().map(|(first, last)| match last - first {
        0 => first.to_string(),
        _ => format!("{first}-{last}"),
    });
    text.collect::<Vec<_>>().join(", ")
}

/// Activity of a PE, or of several PEs together.
#[derive(Clone, Debug, Default)]
pub struct Activity {
    /// Operations in a second; `None` if they are not counted, or not known yet.
    pub operations: Option<f64>,
    /// Bytes moved by them in a second.
    pub bytes: Option<f64>,
    /// Bytes of the symmetric heap in blocks.
    pub heap: u64,
    /// CPUs in use: 1 for a thread that runs all the time.
    pub cpus: Option<f64>,
    /// The part of the time for which a PE was blocked in waits and collectives, 1 for all of it; the sum for
    /// several PEs.
    pub blocked: Option<f64>,
}

impl Activity {
    fn plus(&self, other: &Self) -> Self {
        let sum = |a: Option<f64>, b: Option<f64>| a.map(|a| a + b.unwrap_or(0.0)).or(b);
        Self {
            operations: sum(self.operations, other.operations),
            bytes: sum(self.bytes, other.bytes),
            heap: self.heap + other.heap,
            cpus: sum(self.cpus, other.cpus),
            blocked: sum(self.blocked, other.blocked),
        }
    }

    /// The figures, as in [`COLUMNS`].
    pub fn cells(&self) -> [String; 5] {
        let rate =
            |rate: Option<f64>, step| rate.map_or("-".into(), |rate| short(rate as u64, step));
        let percent =
            |part: Option<f64>| part.map_or("-".into(), |part| format!("{:.0}%", 100.0 * part));
        [
            rate(self.operations, 1000.0),
            rate(self.bytes, 1024.0),
            short(self.heap, 1024.0),
            percent(self.cpus),
            percent(self.blocked),
        ]
    }
}

/// The columns of a table.
pub const COLUMNS: [&str; 7] = ["PE", "calls/s", "bytes/s", "heap", "CPU", "blocked", "state"];

/// The most lines for PEs in a report. With more PEs, those in the same state share one.
const MOST_LINES: usize = 24;

/// A PE at one moment.
#[derive(Clone, Debug)]
struct Member {
    pe: usize,
    phase: Phase,
    state: String,
    lasted: Option<Duration>,
    /// Time that it lost to other processes.
    lost: LostTime,
    doing: Activity,
}

/// A line of a table.
#[derive(Clone, Debug)]
pub struct Line {
    /// Its PEs.
    pub pes: String,
    /// Their activity together.
    pub doing: Activity,
    /// Their common state.
    pub state: String,
    /// Whether they wait.
    pub waits: bool,
}

/// All PEs of this node at one moment.
#[derive(Debug)]
pub struct Sample {
    members: Vec<Member>,
    /// The number of PEs of the job; more than these if others are on other nodes.
    npes: usize,
}

impl Sample {
    /// One line that says how many PEs are in which phase, and what they do together.
    pub fn summary(&self) -> String {
        let mut text = match self.npes - self.members.len() {
            0 => format!("{}:", number(self.npes)),
            _ => {
                let first = self.members.first().map_or(0, |member| member.pe);
                let last = first + self.members.len().max(1) - 1;
                match self.members.len() {
                    1 => format!("this node's PE, {first} of {}:", self.npes),
                    _ => format!("this node's PEs, {first} to {last} of {}:", self.npes),
                }
            }
        };
        for phase in Phase::ALL {
            let count = self.members.iter().filter(|member| member.phase == phase).count();
            if count > 0 {
                let _ = write!(text, " {count} {},", phase.summed());
            }
        }
        let all = self.members.iter().fold(Activity::default(), |sum, it| sum.plus(&it.doing));
        let [operations, bytes, heap, cpu, blocked] = all.cells();
        let _ = match all.operations {
            Some(_) => write!(
                text,
                " {operations} calls/s, {bytes} bytes/s, heap {heap}, CPU {cpu}, blocked {blocked}"
            ),
            None => write!(text, " heap {heap}, CPU {cpu}"),
        };
        text
    }

    /// Whether anybody's operations are counted.
    pub fn is_counted(&self) -> bool {
        self.members.iter().any(|member| member.doing.operations.is_some())
    }

    /// Whether all processes have ended.
    pub fn is_over(&self) -> bool {
        self.members.iter().all(|member| member.phase == Phase::Ended)
    }

    /// A line for each PE, or, if `together`, for all PEs in the same state.
    pub fn lines(&self, together: bool) -> Vec<Line> {
        let mut groups: BTreeMap<(usize, &str), Vec<&Member>> = BTreeMap::new();
        for member in &self.members {
            let (pe, state) = if together { (0, &*member.state) } else { (member.pe, "") };
            groups.entry((pe, state)).or_default().push(member);
        }
        let mut groups: Vec<_> = groups.into_values().collect();
        groups.sort_by_key(|members| members[0].pe);
        groups.iter().map(|members| Line::of(members)).collect()
    }

    /// The summary and at most [`MOST_LINES`] lines, for a terminal or a log, after this time.
    pub fn report(&self, time: Duration) -> Vec<String> {
        let head = format!("after {time:.1?}, {}", self.summary());
        std::iter::once(head).chain(self.text(MOST_LINES)).collect()
    }

    /// The lines as text, at most `most` of them: one for each PE if that is not more.
    fn text(&self, most: usize) -> Vec<String> {
        let lines = self.lines(self.members.len() > most);
        let rest = lines.len().saturating_sub(most);
        let shown = &lines[..lines.len() - rest];
        let names = shown.iter().map(|line| line.pes.len()).max().unwrap_or(0).clamp(4, 20);
        let row = |pes: &str, cells: [&str; 5], state: &str| {
            let [operations, bytes, heap, cpu, blocked] = cells;
            format!(
                "{pes:>names$} {operations:>8} {bytes:>8} {heap:>7} {cpu:>5} {blocked:>7}  {state}"
            )
        };
        let [pes, cells @ .., state] = COLUMNS;
        let head = row(pes, cells, state);
        let shown = shown.iter().map(|line| {
            let cells = line.doing.cells();
            row(&line.pes, cells.each_ref().map(String::as_str), &line.state)
        });
        let rest = (rest > 0)
            .then(|| format!("and {rest} other state{}", if rest == 1 { "" } else { "s" }));
        std::iter::once(head).chain(shown).chain(rest).collect()
    }
}

impl Line {
    /// Of PEs in the same state.
    fn of(members: &[&Member]) -> Self {
        let longest = members.iter().filter_map(|member| member.lasted).max();
        let longest = longest.filter(|time| !time.is_zero());
        let lasted = longest.map_or(String::new(), |time| format!(", for {time:.1?}"));
        let most = members.iter().max_by_key(|member| member.lost.lost);
        let lost = most.and_then(|it| {
            let who = if members.len() > 1 { format!("PE {} ", it.pe) } else { String::new() };
            Some(format!(", {who}{}", it.lost.described()?))
        });
        let lost = lost.unwrap_or_default();
        Self {
            pes: ranges(&members.iter().map(|member| member.pe).collect::<Vec<_>>()),
            doing: members.iter().fold(Activity::default(), |sum, it| sum.plus(&it.doing)),
            state: format!("{}{lasted}{lost}", members[0].state),
            waits: members[0].phase == Phase::Waiting,
        }
    }
}

/// The counters of a PE at some moment.
#[derive(Clone, Copy)]
struct Counts {
    at: Instant,
    calls: Option<Peer>,
    blocked: Option<Duration>,
    run: Option<Duration>,
    used: Option<ProcessUsage>,
}

/// Watches a job.
pub struct Live {
    file: Arc<JobFile>,
    /// The control areas of the job's programs.
    controls: BTreeMap<u32, Control>,
    /// The counters of each PE at the last look.
    before: Vec<Option<Counts>>,
}

impl Live {
    /// Of a job that already runs.
    pub fn attached(file: Arc<JobFile>) -> Self {
        let before = vec![None; file.near().len()];
        Self { file, controls: BTreeMap::new(), before }
    }

    /// Of a job that has begun at this time: nothing was counted before.
    pub fn begun(file: Arc<JobFile>, at: Instant) -> Self {
        let none = Duration::ZERO;
        let nothing = Counts { at, calls: None, blocked: Some(none), run: Some(none), used: None };
        Self { before: vec![Some(nothing); file.near().len()], ..Self::attached(file) }
    }

    /// The PEs of this node now. Rates are those since the last call. A launcher knows the `processes` that it
    /// has started so far.
    pub fn sample(&mut self, processes: Option<&[u32]>) -> Result<Sample, Error> {
        let near = self.file.near();
        let before = self.before.clone();
        let members = near.clone().map(|pe| {
            let started = processes.map(|it| it.get(pe - near.start).copied());
            self.look(pe, started)
        });
        let mut members = members.collect::<Result<Vec<_>, _>>()?;
        for member in &mut members {
            member.lost = self.lost(member.pe, &before).unwrap_or_default();
        }
        Ok(Sample { members, npes: self.file.npes() })
    }

    /// Time that a PE lost to other processes since a look `before`, if that is known.
    fn lost(&self, pe: usize, before: &[Option<Counts>]) -> Option<LostTime> {
        let used = |pe: usize| {
            let place = pe - self.file.near().start;
            let [before, now] = [before, &self.before].map(|it| it[place].as_ref()?.used.as_ref());
            Some([before?, now?])
        };
        let control = self.controls.get(&self.file.programs(pe).checked_sub(1)?)?;
        // One that has just begun, or ended, used little.
        let since = |pe| used(pe).map_or(0, |[before, now]| now.since(before));
        let of_peer = |pe| self.file.pid(pe).map(|_| since(pe));
        LostTime::between(control, pe, used(pe)?, of_peer)
    }

    /// Looks at a PE. `started` is the process that the launcher has started for it, if there is one yet.
    fn look(&mut self, pe: usize, started: Option<Option<u32>>) -> Result<Member, Error> {
        let file = self.file.clone();
        let generation = file.programs(pe).checked_sub(1);
        if let Some(new) = generation.filter(|it| !self.controls.contains_key(it)) {
            self.controls.insert(new, Control::of(file.clone(), new)?);
        }
        let control = generation.and_then(|it| self.controls.get(&it));
        let (mut phase, wait) = phase(control, pe);
        let pid = file.pid(pe).or(started.flatten());
        let status = pid.and_then(process::status);
        let has_gone = match started {
            Some(_) => file.member(pe).gone.load(Ordering::Acquire) == 1,
            None => file.pid(pe).is_some() && status.is_none_or(|it| it.ended),
        };
        match started {
            _ if has_gone => phase = Phase::Ended,
            Some(None) => phase = Phase::Unborn,
            _ => {}
        }
        let state = match (&wait, phase, status) {
            (Some(wait), Phase::Waiting, _) => demangled(&wait.to_string()).into_owned(),
            (_, Phase::Before | Phase::Running, Some(status)) => {
                format!("{}, {}", phase.described(), described(status.state))
            }
            _ => phase.described().into(),
        };
        let total = control.map(|control| Snapshot::total(control, pe)).transpose()?.flatten();
        let lasted = wait.filter(|_| phase == Phase::Waiting).map(|wait| wait.lasted);
        let heap = control.map_or(0, |control| control.pe(pe).heap_used.load(Ordering::Relaxed));
        let is_there = phase < Phase::Finalized;
        let now = Counts {
            at: Instant::now(),
            calls: total.map(|(calls, _)| calls),
            // A wait is counted when it ends.
            blocked: total.map(|(_, blocked)| blocked + lasted.unwrap_or_default()),
            run: status.map(|it| it.run),
            used: pid.and_then(ProcessUsage::of),
        };
        let before = self.before[pe - file.near().start].replace(now);
        Ok(Member {
            pe,
            phase,
            state,
            lasted,
            lost: LostTime::default(),
            doing: Activity { heap: if is_there { heap } else { 0 }, ..now.since(before) },
        })
    }
}

impl Counts {
    /// The difference from an earlier moment.
    fn since(&self, before: Option<Self>) -> Activity {
        let Some(before) = before else { return Activity::default() };
        let seconds = (self.at - before.at).as_secs_f64();
        // The counts of a PE's next program begin at 0.
        let calls = self.calls.map(|now| {
            let before = before.calls.unwrap_or_default();
            let more = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds;
            (more(now.calls, before.calls), more(now.bytes, before.bytes))
        });
        let part =
            |now: Duration, before: Duration| now.saturating_sub(before).as_secs_f64() / seconds;
        Activity {
            operations: calls.map(|(calls, _)| calls),
            bytes: calls.map(|(_, bytes)| bytes),
            heap: 0,
            cpus: self.run.zip(before.run).map(|(now, before)| part(now, before)),
            // A wait's record is a little behind, and several threads may wait.
            blocked: self.blocked.map(|now| part(now, before.blocked.unwrap_or_default()).min(1.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(pe: usize, phase: Phase, state: &str, rate: Option<f64>) -> Member {
        let doing = Activity {
            operations: rate,
            bytes: rate,
            heap: 1 << 20,
            cpus: Some(0.5),
            blocked: rate.map(|_| 0.25),
        };
        let lasted = (phase == Phase::Waiting).then_some(Duration::from_millis(1500));
        Member { pe, phase, state: state.into(), lasted, lost: LostTime::default(), doing }
    }

    fn sample(first: usize, npes: usize) -> Sample {
        let mut members: Vec<_> =
            (first..first + 3).map(|pe| member(pe, Phase::Running, "runs", Some(1500.0))).collect();
        members[1] = member(first + 1, Phase::Waiting, "in x, waiting", Some(0.0));
        Sample { members, npes }
    }

    #[test]
    fn neighbours_are_one_range() {
        assert_eq!(names(&[3]), "PE 3");
        assert_eq!(names(&[0, 1, 2, 5, 7, 8]), "PEs 0-2, 5, 7-8");
    }

    #[test]
    fn a_line_for_each_pe_or_for_each_state() {
        let each = sample(0, 3).text(3);
        assert_eq!(
            each,
            [
                "  PE  calls/s  bytes/s    heap   CPU blocked  state",
                "   0     1.5k     1.5k    1.0m   50%     25%  runs",
                "   1        0        0    1.0m   50%     25%  in x, waiting, for 1.5s",
                "   2     1.5k     1.5k    1.0m   50%     25%  runs",
            ]
        );
        let together = sample(0, 3).text(2);
        assert_eq!(together.len(), 3);
        assert!(
            together[1].starts_with("0, 2     3.0k     2.9k    2.0m  100%     50%"),
            "{together:?}"
        );
        assert_eq!(sample(0, 3).text(1).last().unwrap(), "and 1 other state");
    }

    #[test]
    fn what_others_took_is_told() {
        let mut sample = sample(0, 3);
        let lost = |percent: u64| LostTime {
            all: Duration::from_secs(1),
            lost: Duration::from_millis(10 * percent),
            cpu: Some(1),
        };
        (sample.members[0].lost, sample.members[2].lost) = (lost(4), lost(43));
        let states = |together| sample.lines(together).into_iter().map(|it| it.state);
        let told = "lost 43% of its time to other processes on CPU 1";
        let alone = states(false).collect::<Vec<_>>();
        assert_eq!(alone[0], "runs");
        assert_eq!(alone[2], format!("runs, {told}"));
        assert_eq!(states(true).next().unwrap(), format!("runs, PE 2 {told}"));
    }

    #[test]
    fn the_summary_counts_phases() {
        assert_eq!(
            sample(0, 3).summary(),
            "3 PEs: 2 running, 1 waiting, 3.0k calls/s, 2.9k bytes/s, heap 3.0m, CPU 150%, blocked 75%"
        );
        let part = sample(4, 8).summary();
        assert!(part.starts_with("this node's PEs, 4 to 6 of 8: 2 running"), "{part}");
        let members = vec![member(0, Phase::Unborn, "", None)];
        let text = Sample { members, npes: 1 }.summary();
        assert_eq!(text, "1 PE: 1 not started, heap 1.0m, CPU 50%");
    }

    #[test]
    fn a_job_is_seen_from_its_first_process_on() {
        let file = Arc::new(JobFile::create(2).expect("a job's file"));
        let mut live = Live::attached(file.clone());
        let own = std::process::id();
        let sample = live.sample(Some(&[own])).unwrap();
        assert!(sample.summary().starts_with("2 PEs: 1 not started, 1 before shmem_init"));
        assert!(!sample.is_counted() && !sample.is_over());
        file.member(0).programs.store(1, Ordering::Relaxed);
        let phases = |sample: Sample| sample.members.iter().map(|it| it.phase).collect::<Vec<_>>();
        assert_eq!(phases(live.sample(Some(&[own])).unwrap()), [Phase::Starting, Phase::Unborn]);
        assert_eq!(phases(live.sample(None).unwrap()), [Phase::Starting, Phase::Before]);
        (0..2).for_each(|pe| file.member(pe).gone.store(1, Ordering::Relaxed));
        assert!(live.sample(Some(&[own, own])).unwrap().is_over());
        // What runs since the beginning is known at the first look.
        let mut live = Live::begun(file, Instant::now() - Duration::from_secs(1));
        let doing = &live.sample(Some(&[own])).unwrap().members[0].doing;
        assert!(doing.cpus.is_some() && doing.operations.is_none());
    }
}
