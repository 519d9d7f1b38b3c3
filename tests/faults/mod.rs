//! A campaign of random faults: jobs in which something goes wrong at a random point, with various
//! numbers of PEs and launchers. Whatever happens, a job ends within [`BOUND`], leaves nothing
//! behind, and, unless it ends well, says why. A seed reproduces a campaign or one of its trials,
//! except for the timing.
//!
//! ```sh
//! cargo run --locked -p oneshmem-tests --bin faults -- --seed 7 --count 200
//! ```

mod control_area;
mod processes;
mod random;
mod signals;
mod trial;
mod variables;

use crate::launch;
use crate::launchers::Launcher;
use libtest_mimic::Trial;
use std::time::Duration;
pub use trial::run;

/// The time limit of a trial. Jobs of this campaign normally take less than a second.
pub const BOUND: Duration = Duration::from_secs(60);

/// The kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// A PE ends by itself, or executes another program.
    Ends,
    /// A signal to a PE, the launcher, or a shell between them.
    Signals,
    /// Values of the library's environment variables.
    Variables,
    /// The tuning file.
    Tuning,
    /// Bits of the control area.
    ControlArea,
    /// As [`Ends`](Self::Ends), in a job over two emulated hosts.
    FarEnds,
    /// As [`Signals`](Self::Signals), likewise; also to agents and the launchers of the hosts.
    FarSignals,
}

impl FaultKind {
    /// All kinds.
    pub const ALL: [Self; 7] = [
        Self::Ends,
        Self::Signals,
        Self::Variables,
        Self::Tuning,
        Self::ControlArea,
        Self::FarEnds,
        Self::FarSignals,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ends => "ends",
            Self::Signals => "signals",
            Self::Variables => "variables",
            Self::Tuning => "tuning",
            Self::ControlArea => "control-area",
            Self::FarEnds => "far-ends",
            Self::FarSignals => "far-signals",
        }
    }

    /// The same on one host.
    fn near(self) -> Self {
        match self {
            Self::FarEnds => Self::Ends,
            Self::FarSignals => Self::Signals,
            near => near,
        }
    }
}

/// The outcome of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The job ended as if nothing had happened, or before it started.
    Well,
    /// The job ended with a message that names the PE or variable, and the cause.
    Named,
    /// The job ended with a message that does not name them.
    Unnamed,
    /// The job had wrong results, because words of the control area were changed.
    Misled,
    /// The job did not end, because others wait for such a word: a lost message.
    Stuck,
}

/// The result of a trial.
#[derive(Debug)]
pub struct Report {
    /// The trial's number in the campaign.
    pub index: u64,
    /// Describes the fault.
    pub what: String,
    /// The outcome, or what is wrong with it.
    pub end: Result<End, Problem>,
}

/// An outcome that must not occur.
#[derive(Debug)]
pub enum Problem {
    /// The job did not end in time.
    Hung(String),
    /// Something was left behind.
    LeftBehind(String),
    /// The job ended in another wrong way.
    Wrong(String),
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Hung(text) => write!(f, "HUNG\n{text}"),
            Self::LeftBehind(text) => write!(f, "LEFT BEHIND\n{text}"),
            Self::Wrong(text) => write!(f, "WRONG\n{text}"),
        }
    }
}

/// Statistics of a campaign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The number of trials.
    pub tried: usize,
    /// Trials that ended within the limit.
    pub in_time: usize,
    /// Trials whose job ended well.
    pub well: usize,
    /// Trials that ended with a message that names the cause.
    pub named: usize,
    /// Trials that ended with another message.
    pub unnamed: usize,
    /// Trials with wrong results due to changes of the control area.
    pub misled: usize,
    /// Trials that hung due to such changes.
    pub stuck: usize,
    /// Trials that left something behind.
    pub left_behind: usize,
    /// Trials with another problem.
    pub wrong: usize,
}

impl Counts {
    /// Counts a trial.
    pub fn add(&mut self, report: &Report) {
        self.tried += 1;
        self.in_time += usize::from(!matches!(report.end, Ok(End::Stuck) | Err(Problem::Hung(_))));
        match report.end {
            Ok(End::Well) => self.well += 1,
            Ok(End::Named) => self.named += 1,
            Ok(End::Unnamed) => self.unnamed += 1,
            Ok(End::Misled) => self.misled += 1,
            Ok(End::Stuck) => self.stuck += 1,
            Err(Problem::LeftBehind(_)) => self.left_behind += 1,
            Err(Problem::Wrong(_)) => self.wrong += 1,
            Err(Problem::Hung(_)) => {}
        }
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { tried, in_time, well, named, unnamed, misled, stuck, left_behind, wrong } = self;
        write!(
            f,
            "{tried} tried, {in_time} ended in time; {well} as if nothing had happened, {named} with \
             a message that names the cause, {unnamed} with another, {misled} misled and {stuck} left waiting \
             by changed words; {left_behind} left something behind, {wrong} went wrong otherwise"
        )
    }
}

/// A short campaign of each kind, with the seed of this test run.
pub fn trials() -> Vec<Trial> {
    let short = |kind: FaultKind| {
        let name = format!("faults/{}", kind.name());
        let is_far = kind != kind.near();
        let count = match kind {
            FaultKind::Variables => 60,
            _ if is_far => 10,
            _ => 25,
        };
        Trial::test(name, move || campaign(kind, count))
            .with_ignored_flag(is_far && Launcher::Hosts.is_absent())
    };
    FaultKind::ALL.into_iter().map(short).collect()
}

fn campaign(kind: FaultKind, count: u64) -> crate::Result {
    let seed = launch::seed().parse().map_err(|_| "CHECK_SEED is no number")?;
    let mut counts = Counts::default();
    for index in 0..count {
        let report = run(seed, index, kind)?;
        counts.add(&report);
        if let Err(problem) = report.end {
            return Err(format!(
                "{}\n{problem}\nagain: faults --seed {seed} --kind {} --only {index}",
                report.what,
                kind.name()
            )
            .into());
        }
    }
    println!("faults/{}: {counts}", kind.name());
    Ok(())
}

/// The available launchers to use for a kind.
pub fn launchers(kind: FaultKind) -> Vec<Launcher> {
    let all: &[Launcher] = match kind {
        FaultKind::Ends | FaultKind::Signals => &[
            Launcher::Oshrun,
            Launcher::Oshrun,
            Launcher::Hydra,
            Launcher::OpenMpi,
            Launcher::Slurm,
        ],
        FaultKind::FarEnds | FaultKind::FarSignals => &[Launcher::Hosts],
        // Under oshrun the library never signals a process because of the control area's contents.
        FaultKind::ControlArea => &[Launcher::Oshrun],
        FaultKind::Variables | FaultKind::Tuning => {
            &[Launcher::Oshrun, Launcher::Hydra, Launcher::None]
        }
    };
    all.iter().copied().filter(|launcher| launcher.is_present()).collect()
}
