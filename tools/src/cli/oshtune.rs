//! The command line of `oshtune`.

use super::{command as base, flag};
use clap::{Arg, Command, ValueHint, value_parser};
use oneshmem_job::jobfile::MAX_PES;
use std::path::PathBuf;

const LEAST_TIME: f64 = 1.0;

const EXAMPLES: &str = "\
Examples:
  oshtune
  oshtune --time 300 --pes 2,4,8,16
  oshtune --host node1,node2                (for jobs over several hosts)
  oshtune --output /etc/oneshmem.tuning     (then set SHMEM_TUNING to it)";

/// Defines the command.
pub fn command() -> Command {
    base("oshtune", "Measures collectives and copies on this machine and writes which methods to use")
        .after_help(EXAMPLES)
        .arg(
            Arg::new("time")
                .long("time")
                .value_name("SECONDS")
                .default_value("60")
                .value_parser(time)
                .help("How long to measure"),
        )
        .arg(
            Arg::new("pes")
                .long("pes")
                .value_name("N,N,...")
                .value_delimiter(',')
                .value_parser(pes)
                .help(
                    "Numbers of PEs to measure with [default: powers of two up to the number of \
                     CPUs, and more PEs than CPUs]",
                )
                .long_help(
                    "Numbers of PEs to measure with. By default: powers of two up to the number of \
                     usable CPUs, that number itself, and twice and four times as many PEs, up to \
                     16. What is measured for a number of PEs applies from there up to the next one.",
                ),
        )
        .arg(
            Arg::new("host")
                .long("host")
                .alias("hosts")
                .value_name("HOST,...")
                .value_delimiter(',')
                .value_parser(host)
                .value_hint(ValueHint::Hostname)
                .help("Measure jobs over these hosts, started through ssh")
                .long_help(
                    "Measure jobs over these hosts, started through ssh, instead of jobs on this \
                     machine. Each host gets the same number of PEs; by default one, two, four and so \
                     on up to the number of this machine's usable CPUs. The rules go to the part of \
                     the file for PEs on several hosts; the other part stays. All hosts must see the \
                     same file, and have CPUs as this machine.",
                ),
        )
        .arg(
            Arg::new("launch-agent")
                .long("launch-agent")
                .value_name("COMMAND")
                .requires("host")
                .help("Reach the hosts through this command instead of ssh, as with oshrun"),
        )
        .arg(
            Arg::new("output")
                .long("output")
                .value_name("FILE")
                .value_hint(ValueHint::FilePath)
                .value_parser(value_parser!(PathBuf))
                .help(
                    "The tuning file to write [default: the one that the library reads: \
                     SHMEM_TUNING, or oneshmem/tuning in the user's config folder]",
                )
                .long_help(
                    "The tuning file to write. By default the one that the library reads: that of \
                     SHMEM_TUNING, or oneshmem/tuning in the user's config folder.",
                ),
        )
        .arg(
            Arg::new("plot")
                .long("plot")
                .value_name("FILE")
                .value_hint(ValueHint::FilePath)
                .value_parser(value_parser!(PathBuf))
                .help("The plot to write [default: the tuning file's name, ending in .svg]")
                .long_help(
                    "The plot to write, an SVG picture: time against size for each algorithm, with \
                     a panel for each operation and number of PEs. By default it has the tuning \
                     file's name, ending in .svg, or in .nodes.svg with --host.",
                ),
        )
        .arg(flag("dry-run").help("Measure and print the results, but write nothing"))
}

fn time(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (LEAST_TIME..1e6).contains(&seconds) => Ok(seconds),
        _ => Err(format!("expected a number of seconds, at least {LEAST_TIME}")),
    }
}

fn host(text: &str) -> Result<String, String> {
    match text.trim() {
        name if !name.is_empty() && !name.contains(':') => Ok(name.into()),
        _ => Err("expected names of hosts, without slots".into()),
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
            (["--host", "a:2,b"], "without slots"),
            (["--host", "a,"], "names of hosts"),
            (["--launch-agent", "x"], "--host"),
        ] {
            let error = command().try_get_matches_from(["oshtune"].iter().chain(&arguments));
            let text = error.expect_err("a bad value").to_string();
            assert!(text.contains(why), "{arguments:?}: {text}");
        }
    }
}
