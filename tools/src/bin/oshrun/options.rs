//! The command line of `oshrun`.
//!
//! [`super::line`] splits it into options and programs; `clap` parses the options.

use super::env_file;
use super::failure::OWN_FAILURE;
use super::hosts::{self, Host};
use super::line;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use oneshmem_job::env::TRACE;
use oneshmem_job::jobfile::MAX_PES;
use oneshmem_tools::cli::values::{Numbers, Pes};
use oneshmem_tools::cli::{self, topics};
use oneshmem_tools::live::number;
use oneshmem_tools::place::{Bind, Map, Place};
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

/// How many threads programs with OpenMP start.
const THREADS: &str = "OMP_NUM_THREADS";

/// The settings of a job. Those that do not concern nodes do not travel to them.
#[derive(Debug, Serialize, Deserialize)]
pub struct Options {
    /// The programs to run: more than one if the command line has a colon.
    pub parts: Vec<Program>,
    /// The part of the machine to which each PE is bound.
    pub bind: Bind,
    /// The order in which PEs are mapped to cores.
    pub map: Map,
    /// How many CPUs each PE has, if the user says that: cores, or hardware threads if it is bound or
    /// mapped to these.
    pub cpus_per_pe: Option<usize>,
    /// The CPUs that PEs may use. `None` for all that this command may use.
    pub cpu_set: Option<Vec<usize>>,
    /// The folder for files with the output of each PE.
    #[serde(skip)]
    pub output: Option<PathBuf>,
    /// Report where each PE is bound.
    pub report_bindings: bool,
    /// Prefix each line of output with its PE.
    #[serde(skip)]
    pub tag_output: bool,
    /// Whether PEs have pseudo-terminals as their standard output.
    pub pty: Pty,
    /// The PEs to start under a debugger.
    #[serde(skip)]
    pub debug: Option<Pes>,
    /// Write the communication matrix to this file.
    #[serde(skip)]
    pub comm_matrix: Option<PathBuf>,
    /// Count what the PEs do, and tell of it so often; never if this is zero.
    pub top: Option<Duration>,
    /// Where to write the timeline, if wanted.
    #[serde(skip)]
    pub trace: Option<PathBuf>,
    /// End the job after this time.
    #[serde(skip)]
    pub timeout: Option<Duration>,
    /// The hosts on which the PEs run, if not on this machine.
    #[serde(skip)]
    pub hosts: Option<Hosts>,
}

impl Options {
    /// A job of these parts on this machine, with defaults for everything else.
    pub fn of(parts: Vec<Program>) -> Self {
        Self {
            parts,
            bind: Bind::None,
            map: Map { by: Place::Core, each: None },
            cpus_per_pe: None,
            cpu_set: None,
            output: None,
            report_bindings: false,
            tag_output: false,
            pty: Pty::Auto,
            debug: None,
            comm_matrix: None,
            top: None,
            trace: None,
            timeout: None,
            hosts: None,
        }
    }
}

/// Hosts, and how to reach them.
#[derive(Debug)]
pub struct Hosts {
    /// Their names and slots.
    pub list: Vec<Host>,
    /// The command that precedes a host's name and the command to run there. Empty if the user
    /// names none.
    pub agent: Vec<String>,
    /// Where oneshmem is installed on the hosts, if not in the same place as here.
    pub prefix: Option<PathBuf>,
}

/// PEs that run the same program with the same arguments.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Program {
    /// The number of PEs, if given.
    pub npes: Option<usize>,
    /// Variables to set in their environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Their working directory.
    pub wdir: Option<OsString>,
    /// The program and its arguments.
    pub program: Vec<OsString>,
}

impl Program {
    /// The value of a variable for these PEs.
    pub fn variable(&self, name: &str) -> Option<OsString> {
        let set = self.environment.iter().rev().find(|(variable, _)| variable == name);
        set.map(|(_, value)| value.clone()).or_else(|| std::env::var_os(name))
    }
}

/// Whether PEs have pseudo-terminals as their standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pty {
    /// If the launcher's own standard output is a terminal.
    Auto,
    /// Always.
    Yes,
    /// Never: pipes.
    No,
}

/// Parses the command line. Prints a message and exits if it asks for help or is wrong.
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
    let mut command = cli::oshrun::command();
    command.build();
    let mut parts = Vec::new();
    let mut first = None;
    for line::Piece { options, program, notes } in line::split(&mut command, arguments)? {
        let matches = command.try_get_matches_from_mut(options)?;
        if let Some(topic) = matches.get_one::<String>("help") {
            return Err(topics::help(
                cli::oshrun::command(),
                Some(&**topic).filter(|topic| !topic.is_empty()),
            ));
        }
        if program.is_empty() {
            return Err(command.error(ErrorKind::MissingRequiredArgument, "no program given"));
        }
        if first.is_some() {
            check_later_part(&mut command, &matches)?;
        }
        notes.iter().for_each(|note| eprintln!("oshrun: {note}"));
        let part = part(&matches, program)
            .map_err(|message| command.error(ErrorKind::ValueValidation, message))?;
        parts.push(part);
        first = first.or(Some(matches));
    }
    let Some(first) = first else { unreachable!("a line has at least one part") };
    let per_host = first.get_one::<u16>("npernode").map(|pes| usize::from(*pes));
    check_numbers(&mut command, &parts)?;
    let hosts = read_hosts(&first).and_then(|mut hosts| {
        if let Some(pes) = per_host {
            limit(pes, hosts.as_mut(), &mut parts)?;
        }
        Ok(hosts)
    });
    let options = hosts.and_then(|hosts| read(&first, parts, hosts));
    options.map_err(|message| command.error(ErrorKind::ValueValidation, message))
}

/// Limits the number of PEs per host, and sets it where none is given.
fn limit(pes: usize, hosts: Option<&mut Hosts>, parts: &mut [Program]) -> Result<(), String> {
    if let Some(hosts) = hosts {
        if let Some(host) = hosts.list.iter().find(|host| host.slots.is_some_and(|it| it < pes)) {
            let (name, slots) = (&host.name, host.slots.unwrap_or_default());
            let plural = if slots == 1 { "" } else { "s" };
            return Err(format!("-N {pes}: {name} has only {slots} slot{plural}"));
        }
        hosts.list.iter_mut().for_each(|host| host.slots = Some(pes));
        return Ok(());
    }
    let all: usize = parts.iter_mut().map(|part| *part.npes.get_or_insert(pes)).sum();
    if all > pes {
        return Err(format!(
            "-N {pes} allows {} on this machine, but the job has {all}; --host names more hosts",
            number(pes)
        ));
    }
    Ok(())
}

/// Checks that options for the whole job are given before the first program.
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

/// Checks that each of several parts has a number of PEs.
fn check_numbers(command: &mut Command, parts: &[Program]) -> Result<(), clap::Error> {
    if let Some(part) = parts.iter().find(|part| part.npes.is_none() && parts.len() > 1) {
        let message = format!(
            "how many PEs run '{}'? A colon separates the parts of a job, and each part needs -n \
             PES; if the colon is an argument of the program, put '--' before the program",
            part.program[0].to_string_lossy()
        );
        return Err(command.error(ErrorKind::MissingRequiredArgument, message));
    }
    let npes: usize = parts.iter().filter_map(|part| part.npes).sum();
    if npes > MAX_PES {
        let message = format!("the parts have {npes} PEs in total; a job has at most {MAX_PES}");
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
    for text in single {
        environment.extend(variable(text)?);
    }
    Ok(Program {
        npes: matches.get_one::<u16>("npes").map(|npes| usize::from(*npes)),
        environment,
        wdir: matches.get_one::<PathBuf>("wdir").map(|wdir| wdir.clone().into()),
        program,
    })
}

fn read(
    matches: &ArgMatches,
    mut parts: Vec<Program>,
    hosts: Option<Hosts>,
) -> Result<Options, String> {
    let map = matches.get_one::<(Map, Option<usize>)>("map-by").copied();
    let bind = matches.get_one::<(Bind, Option<usize>)>("bind-to").copied();
    let output = matches.get_one::<PathBuf>("output-filename").cloned();
    let cpus_per_pe = cpus_per_pe(&[
        ("--cpus-per-pe", matches.get_one::<usize>("cpus-per-pe").copied()),
        ("--map-by", map.and_then(|(_, cpus)| cpus)),
        ("--bind-to", bind.and_then(|(_, cpus)| cpus)),
    ])?;
    let map = map.map(|(map, _)| map);
    let bind = match bind {
        Some((bind, _)) => bind,
        None if map.is_some_and(|map| map.by == Place::HwThread) => Bind::To(Place::HwThread),
        None if map.is_some() || cpus_per_pe.is_some() => Bind::To(Place::Core),
        None => Bind::None,
    };
    if let (Some(cpus), Bind::To(place @ (Place::L3 | Place::Numa | Place::Socket | Place::Node))) =
        (cpus_per_pe, bind)
    {
        let place = place.name();
        return Err(format!(
            "each PE is to have {cpus} CPUs, and --bind-to {place} would give it all of a {place}: \
             expected --bind-to core, hwthread or none with a number of CPUs"
        ));
    }
    let by_node = matches!(map, Some(Map { by: Place::Node, each: None }));
    if by_node && hosts.is_some() {
        return Err(
            "--map-by node: PEs are numbered host by host, not in turn; expected -N PES, or \
                    --map-by core for the order on each host"
                .into(),
        );
    }
    if let Some(cpus) = cpus_per_pe {
        set_threads(&mut parts, cpus);
    }
    let trace = matches.get_one::<PathBuf>("trace").map(std::path::absolute).transpose();
    let trace = trace.map_err(|error| format!("--trace: {error}"))?;
    for (part, path) in parts.iter_mut().zip(trace.iter().cycle()) {
        part.environment.push((TRACE.name.into(), path.into()));
    }
    Ok(Options {
        hosts,
        bind,
        map: map.unwrap_or(Map { by: Place::Core, each: None }),
        cpus_per_pe,
        cpu_set: matches.get_one::<Numbers>("cpu-set").map(|cpus| cpus.0.clone()),
        report_bindings: matches.get_flag("report-bindings"),
        tag_output: matches.get_flag("tag-output"),
        pty: match (matches.get_flag("pty"), matches.get_flag("no-pty")) {
            (true, _) => Pty::Yes,
            (_, true) => Pty::No,
            // Output to files does not use terminals.
            _ if output.is_some() => Pty::No,
            _ => Pty::Auto,
        },
        output,
        debug: matches.get_one::<Pes>("debug").cloned(),
        comm_matrix: matches.get_one::<PathBuf>("comm-matrix").cloned(),
        top: matches.get_one::<Duration>("top").copied(),
        trace,
        timeout: matches.get_one::<Duration>("timeout").copied(),
        ..Options::of(parts)
    })
}

/// The number of CPUs per PE that the options give, which must not differ.
fn cpus_per_pe(given: &[(&str, Option<usize>)]) -> Result<Option<usize>, String> {
    let mut given = given.iter().filter_map(|(option, cpus)| Some((option, (*cpus)?)));
    let Some((option, cpus)) = given.next() else { return Ok(None) };
    match given.find(|(_, other)| *other != cpus) {
        None => Ok(Some(cpus)),
        Some((other, others)) => Err(format!(
            "{option} gives each PE {cpus} CPUs, but {other} gives it {others}: expected one number"
        )),
    }
}

/// Lets OpenMP start as many threads as a PE has CPUs, unless the user says how many.
fn set_threads(parts: &mut [Program], cpus: usize) {
    let mut is_set = false;
    for part in parts.iter_mut().filter(|part| part.variable(THREADS).is_none()) {
        part.environment.push((THREADS.into(), cpus.to_string().into()));
        is_set = true;
    }
    if is_set {
        eprintln!("oshrun: note: {THREADS}={cpus} is set for the PEs, since each has {cpus} CPUs");
    }
}

fn read_hosts(matches: &ArgMatches) -> Result<Option<Hosts>, String> {
    let list = match (matches.get_one::<String>("host"), matches.get_one::<PathBuf>("hostfile")) {
        (Some(list), None) => hosts::from_list(list).map_err(|why| format!("--host {list}: {why}")),
        (None, Some(path)) => hosts::from_file(path).map_err(|why| format!("--hostfile {why}")),
        (Some(_), Some(_)) => Err("give either --host or --hostfile, not both".into()),
        (None, None) => {
            let option = ["launch-agent", "prefix"].into_iter().find(|id| matches.contains_id(id));
            return match option {
                None => Ok(None),
                Some(option) => Err(format!("--{option} needs --host or --hostfile")),
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

/// Splits `VAR=value`. `VAR` alone has the value of this environment: PEs on this machine inherit
/// it anyway, PEs on other hosts do not. `None` if it is not set.
fn variable(text: &OsStr) -> Result<Option<(OsString, OsString)>, String> {
    let bytes = text.as_bytes();
    let equals = bytes.iter().position(|byte| *byte == b'=');
    let (name, value) = bytes.split_at(equals.unwrap_or(bytes.len()));
    if !env_file::is_name(name) {
        return Err(format!("-x {text:?}: expected VAR or VAR=VALUE, without blanks in VAR"));
    }
    let name = OsStr::from_bytes(name).to_owned();
    let value = match value.split_first() {
        Some((_, value)) => Some(OsStr::from_bytes(value).to_owned()),
        None => std::env::var_os(&name),
    };
    if value.is_none() {
        eprintln!("oshrun: warning: -x {}: the variable is not set", name.to_string_lossy());
    }
    Ok(value.map(|value| (name, value)))
}

#[cfg(test)]
mod tests;
