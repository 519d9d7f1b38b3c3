//! The command line.

use clap::{Arg, ArgMatches, Command, value_parser};
use oneshmem_tools::cli;
use std::path::PathBuf;

/// The user's options.
#[derive(Debug)]
pub struct Options {
    /// Seconds of measuring.
    pub time: f64,
    /// Numbers of PEs, ascending; empty: those that suit the machine.
    pub pes: Vec<usize>,
    /// The file of rules.
    pub output: Option<PathBuf>,
    /// The file of the picture.
    pub plot: Option<PathBuf>,
    /// Whether to write nothing.
    pub dry_run: bool,
    /// The hosts of jobs over several nodes, if those are to be measured.
    pub hosts: Option<Hosts>,
}

/// Hosts, each of which gets the same number of PEs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosts {
    /// Their names.
    pub names: Vec<String>,
    /// The command that reaches them, if it is not ssh.
    pub agent: Option<String>,
}

/// The options of a PE of a measuring job.
#[derive(Debug)]
pub struct Assignment {
    /// Seconds of measuring.
    pub seconds: f64,
    /// Indices of points in the plan.
    pub points: Vec<usize>,
    /// The algorithm of the barriers that are not measured.
    pub barrier: String,
}

/// The task of this process.
pub enum Task {
    /// Run the command.
    Tune(Options),
    /// Run as a PE of a job that measures collectives.
    Pe(Assignment),
    /// Run as a PE of a job that measures copies for so many seconds.
    Copies(f64),
}

/// The first argument of a PE of a job that measures collectives.
pub const PE: &str = "pe";
/// The first argument of a PE of a job that measures copies.
pub const COPIES: &str = "pe-copies";

/// Parses the command line. Ends the process if it is wrong or asks for help.
pub fn read() -> Task {
    let mut arguments = std::env::args_os().skip(1).peekable();
    if arguments.peek().is_some_and(|first| first == PE) {
        let part = pe_command().get_matches_from(arguments);
        let seconds = required(&part, "seconds");
        let barrier = required(&part, "barrier");
        return Task::Pe(Assignment { seconds, points: list(&part, "points"), barrier });
    }
    if arguments.peek().is_some_and(|first| first == COPIES) {
        let matches = Command::new(COPIES).arg(seconds()).get_matches_from(arguments);
        return Task::Copies(required(&matches, "seconds"));
    }
    let matches = cli::oshtune::command().get_matches();
    let mut pes: Vec<usize> = list(&matches, "pes");
    pes.sort_unstable();
    pes.dedup();
    Task::Tune(Options {
        time: required(&matches, "time"),
        pes,
        output: matches.get_one("output").cloned(),
        plot: matches.get_one("plot").cloned(),
        dry_run: matches.get_flag("dry-run"),
        hosts: matches.get_many("host").map(|names| Hosts {
            names: names.cloned().collect(),
            agent: matches.get_one("launch-agent").cloned(),
        }),
    })
}

fn required<T: Clone + Send + Sync + 'static>(matches: &ArgMatches, name: &str) -> T {
    matches.get_one::<T>(name).expect("it is required or has a default").clone()
}

fn list(matches: &ArgMatches, name: &str) -> Vec<usize> {
    matches.get_many(name).unwrap_or_default().copied().collect()
}

/// The command line of a PE of a measuring job: `oshtune pe SECONDS POINTS BARRIER`.
fn pe_command() -> Command {
    let points =
        Arg::new("points").required(true).value_delimiter(',').value_parser(value_parser!(usize));
    Command::new(PE).arg(seconds()).arg(points).arg(Arg::new("barrier").required(true))
}

fn seconds() -> Arg {
    Arg::new("seconds").required(true).value_parser(value_parser!(f64))
}
