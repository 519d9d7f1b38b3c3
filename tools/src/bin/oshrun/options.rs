//! The command line of `oshrun`.
//!
//! [`super::line`] divides it into options and programs; `clap` reads the options.

use super::env_file;
use super::failure::OWN_FAILURE;
use super::hosts::{self, Host};
use super::line;
use super::place::{Bind, Map, Place};
use super::usage::{Cpus, command};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use oneshmem::translate::MAX_PES;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

/// What a job is to be.
#[derive(Debug)]
pub struct Options {
    /// What runs; more than one part if the command line has a colon.
    pub parts: Vec<Program>,
    /// What each PE is bound to.
    pub bind: Bind,
    /// In which order PEs are given to cores.
    pub map: Map,
    /// The CPUs that PEs may use, if not all that this command may use.
    pub cpu_set: Option<Vec<usize>>,
    /// The folder for files with the output of each PE.
    pub output: Option<PathBuf>,
    /// Say where each PE is bound.
    pub report_bindings: bool,
    /// Mark each line of output with its PE.
    pub tag_output: bool,
    /// Whether PEs have pseudo-terminals as their standard output.
    pub pty: Pty,
    /// Draw who communicates with whom to this file.
    pub comm_matrix: Option<PathBuf>,
    /// End the job after this time.
    pub timeout: Option<Duration>,
    /// Over which hosts the PEs run, if not on this machine.
    pub hosts: Option<Hosts>,
}

impl Options {
    /// A job of these parts on this machine.
    pub fn of(parts: Vec<Program>) -> Self {
        Self {
            parts,
            bind: Bind::None,
            map: Map { by: Place::Core, each: None },
            cpu_set: None,
            output: None,
            report_bindings: false,
            tag_output: false,
            pty: Pty::Auto,
            comm_matrix: None,
            timeout: None,
            hosts: None,
        }
    }
}

/// Hosts, and how they are reached.
#[derive(Debug)]
pub struct Hosts {
    /// Their names and slots.
    pub list: Vec<Host>,
    /// The command before a host's name and the command that it is to run; empty if the user has
    /// not named one.
    pub agent: Vec<String>,
    /// Where oneshmem is installed on the hosts, if not where it is here.
    pub prefix: Option<PathBuf>,
}

/// PEs that run the same program with the same arguments.
#[derive(Clone, Debug)]
pub struct Program {
    /// Their number, if given.
    pub npes: Option<usize>,
    /// Variables to set in their environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Where they run.
    pub wdir: Option<PathBuf>,
    /// The program and its arguments.
    pub program: Vec<OsString>,
}

impl Program {
    /// The value that a variable has for these PEs.
    pub fn variable(&self, name: &str) -> Option<OsString> {
        let set = self.environment.iter().rev().find(|(variable, _)| variable == name);
        set.map(|(_, value)| value.clone()).or_else(|| std::env::var_os(name))
    }
}

/// Whether PEs have pseudo-terminals as their standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pty {
    /// If the launcher's own standard output is a terminal.
    Auto,
    /// Always.
    Yes,
    /// Never: pipes.
    No,
}

/// Reads the command line. Prints and exits if it asks for help or is wrong.
pub fn parse(arguments: impl Iterator<Item = OsString>) -> Options {
    try_parse(arguments).unwrap_or_else(|error| {
        let status = match error.print() {
            Ok(()) => error.exit_code(),
            Err(why) => {
                eprintln!("oshrun: cannot write to standard output: {why}");
                OWN_FAILURE.into()
            }
        };
        std::process::exit(status)
    })
}

fn try_parse(arguments: impl Iterator<Item = OsString>) -> Result<Options, clap::Error> {
    let mut command = command();
    command.build();
    let mut parts = Vec::new();
    let mut first = None;
    for line::Piece { options, program } in line::split(&mut command, arguments)? {
        let matches = command.try_get_matches_from_mut(options)?;
        if program.is_empty() {
            return Err(command.error(ErrorKind::MissingRequiredArgument, "no program given"));
        }
        if first.is_some() {
            check_later_part(&mut command, &matches)?;
        }
        let part = part(&matches, program)
            .map_err(|message| command.error(ErrorKind::ValueValidation, message))?;
        parts.push(part);
        first = first.or(Some(matches));
    }
    check_numbers(&mut command, &parts)?;
    let Some(first) = first else { unreachable!("a line has at least one part") };
    let hosts =
        read_hosts(&first).map_err(|message| command.error(ErrorKind::ValueValidation, message))?;
    Ok(Options { hosts, ..read(&first, parts) })
}

/// What is said of the whole job is said at its beginning.
fn check_later_part(command: &mut Command, matches: &ArgMatches) -> Result<(), clap::Error> {
    let of_job = command.get_arguments().find(|arg| {
        let id = arg.get_id().as_str();
        matches!(matches.try_contains_id(id), Ok(true))
            && matches.value_source(id) == Some(ValueSource::CommandLine)
            && !["npes", "env", "env-file", "wdir"].contains(&id)
    });
    let Some(name) = of_job.map(|arg| arg.get_long().unwrap_or_default().to_owned()) else {
        return Ok(());
    };
    let message = format!("'--{name}' is for the whole job: give it before the first program");
    Err(command.error(ErrorKind::ArgumentConflict, message))
}

/// All parts say how many PEs they have, if there are several.
fn check_numbers(command: &mut Command, parts: &[Program]) -> Result<(), clap::Error> {
    if let Some(part) = parts.iter().find(|part| part.npes.is_none() && parts.len() > 1) {
        let message = format!(
            "how many PEs run '{}'? A colon divides the command line into parts, and each begins \
             with -n PES; if the colon is an argument of the program, put '--' before the program",
            part.program[0].display()
        );
        return Err(command.error(ErrorKind::MissingRequiredArgument, message));
    }
    let npes: usize = parts.iter().filter_map(|part| part.npes).sum();
    if npes > MAX_PES {
        let message = format!("the parts have {npes} PEs together; a job has at most {MAX_PES}");
        return Err(command.error(ErrorKind::ValueValidation, message));
    }
    Ok(())
}

fn part(matches: &ArgMatches, program: Vec<OsString>) -> Result<Program, String> {
    let mut environment = Vec::new();
    for path in matches.get_many::<PathBuf>("env-file").into_iter().flatten() {
        environment.extend(env_file::read(path)?);
    }
    let single = matches.get_many::<OsString>("env").into_iter().flatten();
    environment.extend(single.filter_map(|text| variable(text)));
    Ok(Program {
        npes: matches.get_one::<u16>("npes").map(|npes| usize::from(*npes)),
        environment,
        wdir: matches.get_one::<PathBuf>("wdir").cloned(),
        program,
    })
}

fn read(matches: &ArgMatches, parts: Vec<Program>) -> Options {
    let map = matches.get_one::<Map>("map-by").copied();
    let output = matches.get_one::<PathBuf>("output-filename").cloned();
    Options {
        bind: match matches.get_one::<String>("bind-to").map(String::as_str) {
            Some("hwthread") => Bind::HwThread,
            Some(name) => Place::named(name).map_or(Bind::None, Bind::To),
            None if map.is_some() => Bind::To(Place::Core),
            None => Bind::None,
        },
        map: map.unwrap_or(Map { by: Place::Core, each: None }),
        cpu_set: matches.get_one::<Cpus>("cpu-set").map(|cpus| cpus.0.clone()),
        report_bindings: matches.get_flag("report-bindings"),
        tag_output: matches.get_flag("tag-output"),
        pty: match (matches.get_flag("pty"), matches.get_flag("no-pty")) {
            (true, _) => Pty::Yes,
            (_, true) => Pty::No,
            // Files are no terminals.
            _ if output.is_some() => Pty::No,
            _ => Pty::Auto,
        },
        output,
        comm_matrix: matches.get_one::<PathBuf>("comm-matrix").cloned(),
        timeout: matches.get_one::<Duration>("timeout").copied(),
        ..Options::of(parts)
    }
}

fn read_hosts(matches: &ArgMatches) -> Result<Option<Hosts>, String> {
    let list = match (matches.get_one::<String>("host"), matches.get_one::<PathBuf>("hostfile")) {
        (Some(list), None) => hosts::from_list(list).map_err(|why| format!("--host {list}: {why}")),
        (None, Some(path)) => hosts::from_file(path).map_err(|why| format!("--hostfile {why}")),
        (Some(_), Some(_)) => Err("--host and --hostfile both name hosts: give one of them".into()),
        (None, None) => {
            let option = ["launch-agent", "prefix"].into_iter().find(|id| matches.contains_id(id));
            return match option {
                None => Ok(None),
                Some(option) => Err(format!("--{option} is for jobs with --host or --hostfile")),
            };
        }
    };
    let agent = match matches.get_one::<String>("launch-agent") {
        None => Vec::new(),
        Some(text) => shlex::split(text).filter(|words| !words.is_empty()).ok_or_else(|| {
            format!("--launch-agent {text:?}: expected a command, as in \"ssh -x\"")
        })?,
    };
    let prefix = matches.get_one::<PathBuf>("prefix").cloned();
    Ok(Some(Hosts { list: list?, agent, prefix }))
}

/// Takes `VAR=value` apart. `VAR` alone has the value that it has here: PEs on this machine have it
/// anyway, those on others not.
fn variable(text: &OsStr) -> Option<(OsString, OsString)> {
    use std::os::unix::ffi::OsStrExt;
    let bytes = text.as_bytes();
    let Some(equals) = bytes.iter().position(|byte| *byte == b'=') else {
        let value = std::env::var_os(text);
        if value.is_none() {
            eprintln!("oshrun: warning: -x {}: the variable is not set", text.display());
        }
        return Some((text.to_owned(), value?));
    };
    let part = |bytes| OsStr::from_bytes(bytes).to_owned();
    Some((part(&bytes[..equals]), part(&bytes[equals + 1..])))
}

#[cfg(test)]
mod tests;
