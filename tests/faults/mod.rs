//! A campaign of random faults: jobs in which something goes wrong at a random point, over
//! numbers of PEs and launchers. Whatever happens, a job ends within [`BOUND`], leaves nothing
//! behind, and, unless it ends well, says why. A seed repeats a campaign (up to the timing),
//! and a trial of it.
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

/// How long any one trial may take. A job of this campaign takes less than a second.
pub const BOUND: Duration = Duration::from_secs(60);

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// A PE ends, or is replaced, by itself.
    Ends,
    /// A signal to a PE, the launcher, or a shell between them.
    Signals,
    /// Values of the library's variables.
    Variables,
    /// The tuning file.
    Tuning,
    /// Bits of the control area.
    ControlArea,
}

impl FaultKind {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Ends, Self::Signals, Self::Variables, Self::Tuning, Self::ControlArea];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ends => "ends",
            Self::Signals => "signals",
            Self::Variables => "variables",
            Self::Tuning => "tuning",
            Self::ControlArea => "control-area",
        }
    }
}

/// What came of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The job ended as if nothing had happened, or before anything had.
    Well,
    /// With a message that names the PE, or the variable, and the cause.
    Named,
    /// With a message that does not.
    Unnamed,
    /// With wrong results, because words of the control area were changed.
    Misled,
    /// Not at all, because such a word was one that others wait for: a lost message.
    Stuck,
}

/// A trial, as far as it went.
#[derive(Debug)]
pub struct Report {
    /// Its number in the campaign.
    pub index: u64,
    /// What was tried, in words.
    pub what: String,
    /// What came of it, or what is wrong with that.
    pub end: Result<End, Problem>,
}

/// What must not be.
#[derive(Debug)]
pub enum Problem {
    /// The job did not end in time.
    Hung(String),
    /// Something of it was left.
    LeftBehind(String),
    /// It ended in another way that is wrong.
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

/// Counts of a campaign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Trials.
    pub tried: usize,
    /// Those that ended within the bound.
    pub in_time: usize,
    /// Those whose job ended well.
    pub well: usize,
    /// Those that ended with a message that names the cause.
    pub named: usize,
    /// Those that ended with another message.
    pub unnamed: usize,
    /// Those that changes of the control area led to wrong results.
    pub misled: usize,
    /// Those that such changes left waiting.
    pub stuck: usize,
    /// Those that left something behind.
    pub left_behind: usize,
    /// Those with another problem.
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

/// A short campaign of each kind, with the seed of this run of the tests.
pub fn trials() -> Vec<Trial> {
    let short = |kind: FaultKind| {
        let name = format!("faults/{}", kind.name());
        Trial::test(name, move || {
            Ok(campaign(kind, if kind == FaultKind::Variables { 60 } else { 25 })?)
        })
    };
    FaultKind::ALL.into_iter().map(short).collect()
}

fn campaign(kind: FaultKind, count: u64) -> Result<(), String> {
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
            ));
        }
    }
    println!("faults/{}: {counts}", kind.name());
    Ok(())
}

/// The launchers a kind is tried with, of those there are.
pub fn launchers(kind: FaultKind) -> Vec<Launcher> {
    let all: &[Launcher] = match kind {
        FaultKind::Ends | FaultKind::Signals => &[
            Launcher::Oshrun,
            Launcher::Oshrun,
            Launcher::Hydra,
            Launcher::OpenMpi,
            Launcher::Slurm,
        ],
        // The library never signals a process there because of what the control area says.
        FaultKind::ControlArea => &[Launcher::Oshrun],
        FaultKind::Variables | FaultKind::Tuning => {
            &[Launcher::Oshrun, Launcher::Hydra, Launcher::None]
        }
    };
    all.iter().copied().filter(|launcher| launcher.is_present()).collect()
}
