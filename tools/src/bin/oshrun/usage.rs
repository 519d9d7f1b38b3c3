//! The table of options, and the help.

use super::place::{Map, Place};
use clap::builder::{OsStringValueParser, PossibleValuesParser};
use clap::{Arg, ArgAction, Command, value_parser};
use nix::sched::CpuSet;
use oneshmem::translate::MAX_PES;
use std::path::PathBuf;
use std::time::Duration;

const HELP: &str = "\
Every option is taken with one dash or two. Options end at the program's name; what follows is
the program's own. The program is looked up in PATH unless its name has a slash, and relative
to --wdir.

A lone colon begins another part, with PES, -x, --env-file, --wdir, program and arguments of its own; PEs are
numbered through. All parts must run the same executable, with whatever arguments. After '--', a
colon is an argument of the program.

With --host or --hostfile PEs are numbered host by host; a host gets as many as it has slots, or an
equal share if no host has any. Variables SHMEM_*, SMA_*, ONESHMEM_* and those of -x go along.

Standard input goes to PE 0. Output comes line by line, never mixed within a line. SIGINT,
SIGTERM, SIGTSTP, SIGCONT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 and SIGWINCH are forwarded to all PEs; a second
SIGINT or SIGTERM ends the job whatever the PEs do. When one PE dies, or exits without
shmem_finalize, the job ends; processes that the PEs started end with it.

Exit status: that of the job, which is 0, the status of shmem_global_exit, the first status
other than 0 that a PE ended with, or 128 + n if a PE was killed by signal n; 124 when --timeout
ended it, 126 or 127 if the program cannot be run or is not found, 2 if the command line is wrong.

Examples:
  oshrun -n 4 ./a.out
  oshrun -n 8 --bind-to core -x SHMEM_SYMMETRIC_SIZE=2g --tag-output ./a.out --size 100
  oshrun --host node1:4,node2:4 ./a.out";

/// The options, for `clap`.
pub fn command() -> Command {
    let words = |words: &'static [&'static str]| PossibleValuesParser::new(words);
    Command::new("oshrun")
        .version(concat!(env!("CARGO_PKG_VERSION"), " (oneshmem)"))
        .about("Runs an OpenSHMEM program, on this machine or on several hosts.")
        .override_usage(
            "oshrun [OPTIONS] PROGRAM [ARGUMENTS] [: -n PES [OPTIONS] PROGRAM [ARGUMENTS]]...",
        )
        .after_help(HELP)
        .args_override_self(true)
        .arg(
            Arg::new("npes")
                .short('n')
                .long("np")
                .alias("n")
                .value_name("PES")
                .value_parser(value_parser!(u16).range(1..=MAX_PES as i64))
                .allow_negative_numbers(true)
                .help("Number of PEs [default: one for each CPU this command may use]"),
        )
        .arg(
            Arg::new("env")
                .short('x')
                .alias("x")
                .value_name("VAR[=VALUE]")
                .action(ArgAction::Append)
                .value_parser(OsStringValueParser::new())
                .help("Set a variable in the PEs' environment; those on this machine have all of this one's"),
        )
        .arg(
            Arg::new("env-file")
                .long("env-file")
                .value_name("FILE")
                .action(ArgAction::Append)
                .value_parser(value_parser!(PathBuf))
                .help("Set the variables of this file, lines VAR=VALUE; -x comes after it"),
        )
        .arg(
            Arg::new("wdir")
                .long("wdir")
                .alias("wd")
                .value_name("DIR")
                .value_parser(value_parser!(PathBuf))
                .help("Run the PEs in this directory"),
        )
        .arg(
            Arg::new("host")
                .short('H')
                .long("host")
                .aliases(["hosts"])
                .value_name("HOST[:SLOTS],...")
                .help("Run the PEs on these hosts, numbered host by host, started through ssh"),
        )
        .arg(
            Arg::new("hostfile")
                .long("hostfile")
                .aliases(["machinefile"])
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("The hosts are in this file: lines HOST, HOST:SLOTS or HOST slots=SLOTS"),
        )
        .arg(
            Arg::new("launch-agent")
                .long("launch-agent")
                .value_name("COMMAND")
                .help("Start hosts through COMMAND HOST ... instead of ssh"),
        )
        .arg(
            Arg::new("prefix")
                .long("prefix")
                .value_name("DIR")
                .value_parser(value_parser!(PathBuf))
                .help("oneshmem is installed there on the hosts [default: where it is here]"),
        )
        .arg(
            Arg::new("bind-to")
                .long("bind-to")
                .value_name("WHAT")
                .value_parser(words(&["none", "hwthread", "core", "l3", "numa", "socket"]))
                .help("Bind each PE to a hardware thread, or to all of a core, cache, NUMA node or socket [default: none]"),
        )
        .arg(
            Arg::new("map-by")
                .long("map-by")
                .value_name("WHAT")
                .value_parser(map)
                .help(
                    "Give PEs to cores in order (core), or to the cores of l3, numa or socket in \
                     turn; ppr:N:WHAT: N PEs for each core, l3, numa, socket or node. Implies \
                     --bind-to core [default: core]",
                ),
        )
        .arg(
            Arg::new("cpu-set")
                .long("cpu-set")
                .alias("cpu-list")
                .value_name("LIST")
                .value_parser(cpus)
                .help("Use these CPUs only, for example 0-3,8; each PE is bound at least to them"),
        )
        .arg(flag("report-bindings").help("Say where each PE is bound"))
        .arg(
            flag("oversubscribe")
                .help("Allow more PEs than CPUs; accepted for compatibility, always allowed"),
        )
        .arg(flag("tag-output").short('l').alias("l").help("Mark each line of output with its PE"))
        .arg(
            flag("pty")
                .overrides_with("no-pty")
                .help("Give PEs a pseudo-terminal as standard output [default: if this command's is one]"),
        )
        .arg(
            flag("no-pty")
                .overrides_with("pty")
                .help("Give PEs a pipe as standard output; C programs write line by line all the same"),
        )
        .arg(
            Arg::new("output-filename")
                .long("output-filename")
                .value_name("DIR")
                .value_parser(value_parser!(PathBuf))
                .help("Write each PE's output to files DIR/pe.N.out and DIR/pe.N.err"),
        )
        .arg(
            Arg::new("comm-matrix")
                .long("comm-matrix")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("Draw which PE moves how many bytes to and from which, as an SVG picture, or a table if FILE ends in .csv"),
        )
        .arg(
            Arg::new("timeout")
                .long("timeout")
                .value_name("SECONDS")
                .value_parser(seconds)
                .allow_negative_numbers(true)
                .help("End the job after this time, with status 124"),
        )
}

fn flag(name: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue)
}

/// A list of CPUs.
#[derive(Clone, Debug)]
pub struct Cpus(pub Vec<usize>);

fn cpus(text: &str) -> Result<Cpus, String> {
    let number = |text: &str| text.parse::<usize>().ok().filter(|cpu| *cpu < CpuSet::count());
    let mut cpus = Vec::new();
    for range in text.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => cpus.extend(first..=last),
            _ => {
                return Err(format!(
                    "expected numbers of CPUs below {} and ranges of them, for example 0-3,8; found \
                     '{range}'",
                    CpuSet::count()
                ));
            }
        }
    }
    cpus.sort_unstable();
    cpus.dedup();
    Ok(Cpus(cpus))
}

fn map(text: &str) -> Result<Map, String> {
    let words: Vec<&str> = text.split(':').collect();
    let map = match words[..] {
        [by @ ("core" | "l3" | "numa" | "socket")] => (Place::named(by), Some(None)),
        ["ppr", each, by] => {
            let each = each.parse().ok().filter(|each| (1..=MAX_PES).contains(each));
            (Place::named(by), each.map(Some))
        }
        _ => (None, None),
    };
    match map {
        (Some(by), Some(each)) => Ok(Map { by, each }),
        _ => Err("expected core, l3, numa, socket, or ppr:N:WHAT, N PEs for each core, l3, numa, \
                  socket or node, for example ppr:2:socket"
            .into()),
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 => Duration::try_from_secs_f64(seconds)
            .map_err(|_| "expected a number of seconds that is not so large".into()),
        _ => Err("expected seconds, more than 0, for example 60 or 0.5".into()),
    }
}
