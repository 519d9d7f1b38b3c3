//! The command line.

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use oneshmem::translate::MAX_PES;
use std::path::PathBuf;

/// What a user asks for.
#[derive(Debug)]
pub struct Options {
    /// Seconds of measuring.
    pub time: f64,
    /// Numbers of PEs, ascending; none: those that suit the machine.
    pub pes: Vec<usize>,
    /// The file of rules.
    pub output: Option<PathBuf>,
    /// The picture.
    pub plot: Option<PathBuf>,
    /// Whether nothing is to be written.
    pub dry_run: bool,
}

/// What a PE of a measuring job is asked for.
#[derive(Debug)]
pub struct Assignment {
    /// Seconds of measuring.
    pub seconds: f64,
    /// Which points of the plan, by number.
    pub points: Vec<usize>,
}

/// What this process is to do.
pub enum Wanted {
    /// Be the command.
    Tune(Options),
    /// Be a PE of one of its jobs.
    Pe(Assignment),
}

const LEAST_TIME: f64 = 1.0;

/// Reads the command line; ends the process if it is wrong or asks for help.
pub fn read() -> Wanted {
    let matches = command().get_matches();
    match matches.subcommand() {
        Some((_, part)) => Wanted::Pe(Assignment {
            seconds: required(part, "seconds"),
            points: list(part, "points"),
        }),
        None => {
            let mut pes: Vec<usize> = list(&matches, "pes");
            pes.sort_unstable();
            pes.dedup();
            Wanted::Tune(Options {
                time: required(&matches, "time"),
                pes,
                output: matches.get_one("output").cloned(),
                plot: matches.get_one("plot").cloned(),
                dry_run: matches.get_flag("dry-run"),
            })
        }
    }
}

fn required(matches: &ArgMatches, name: &str) -> f64 {
    *matches.get_one(name).expect("it is required or has a default")
}

fn list(matches: &ArgMatches, name: &str) -> Vec<usize> {
    matches.get_many(name).unwrap_or_default().copied().collect()
}

fn command() -> Command {
    Command::new("oshtune")
        .version(concat!(env!("CARGO_PKG_VERSION"), " (oneshmem)"))
        .about("Measures the algorithms of collectives on this machine and writes which to run.")
        .arg(
            Arg::new("time")
                .long("time")
                .value_name("SECONDS")
                .help("How long to measure")
                .default_value("60")
                .value_parser(time),
        )
        .arg(
            Arg::new("pes")
                .long("pes")
                .value_name("N,N,...")
                .help("Numbers of PEs to measure with [default: powers of two up to the CPUs, the CPUs, and more PEs than CPUs]")
                .value_delimiter(',')
                .value_parser(pes),
        )
        .arg(
            Arg::new("output")
                .long("output")
                .value_name("PATH")
                .help("The file to write [default: the one that the library looks for: SHMEM_TUNING, else oneshmem/tuning in the user's config folder]")
                .value_parser(value_parser!(PathBuf)),
        )
        .arg(
            Arg::new("plot")
                .long("plot")
                .value_name("PATH")
                .help("The plot to write [default: as the file, ending in .svg]")
                .value_parser(value_parser!(PathBuf)),
        )
        .arg(
            Arg::new("dry-run")
                .long("dry-run")
                .help("Measure and tell, but write nothing")
                .action(ArgAction::SetTrue),
        )
        .after_help("Examples:\n  oshtune\n  oshtune --time 300 --pes 2,4,8,16\n  oshtune --output /etc/oneshmem.tuning     for SHMEM_TUNING to name")
        .subcommand(
            Command::new("pe")
                .hide(true)
                .about("Be a PE of a measuring job")
                .arg(Arg::new("seconds").required(true).value_parser(value_parser!(f64)))
                .arg(
                    Arg::new("points")
                        .required(true)
                        .value_delimiter(',')
                        .value_parser(value_parser!(usize)),
                ),
        )
        .disable_help_subcommand(true)
}

fn time(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (LEAST_TIME..1e6).contains(&seconds) => Ok(seconds),
        _ => Err(format!("expected seconds, at least {LEAST_TIME}")),
    }
}

fn pes(text: &str) -> Result<usize, String> {
    match text.trim().parse() {
        Ok(pes) if (2..=MAX_PES).contains(&pes) => Ok(pes),
        _ => Err(format!("expected numbers of PEs, from 2 to {MAX_PES}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn bad_values_are_told() {
        for (arguments, why) in [
            (["--time", "0"], "at least 1"),
            (["--time", "soon"], "at least 1"),
            (["--pes", "2,1"], "from 2 to"),
            (["--pes", "2,x"], "from 2 to"),
            (["--tine", "3"], "--time"),
        ] {
            let error = command().try_get_matches_from(["oshtune"].iter().chain(&arguments));
            let text = error.expect_err("a bad value").to_string();
            assert!(text.contains(why), "{arguments:?}: {text}");
        }
    }
}
