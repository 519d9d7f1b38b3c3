//! The command line of `oshrun`.
//!
//! [`super::line`] divides it into options and programs; `clap` reads the options.

use super::failure::OWN_FAILURE;
use super::line;
use super::usage::command;
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
}

/// PEs that run the same program with the same arguments.
#[derive(Debug)]
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

/// What a PE is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bind {
    /// Nothing: it runs on any CPU.
    None,
    /// One core, all its hardware threads.
    Core,
    /// One hardware thread.
    HwThread,
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

/// The order in which PEs are given to cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Map {
    /// Core after core.
    Core,
    /// NUMA node after NUMA node, in turn.
    Numa,
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
            return Err(command.error(ErrorKind::MissingRequiredArgument, "which program?"));
        }
        if first.is_some() {
            check_later_part(&mut command, &matches)?;
        }
        parts.push(part(&matches, program));
        first = first.or(Some(matches));
    }
    check_numbers(&mut command, &parts)?;
    let Some(first) = first else { unreachable!("a line has at least one part") };
    Ok(read(&first, parts))
}

/// What is said of the whole job is said at its beginning.
fn check_later_part(command: &mut Command, matches: &ArgMatches) -> Result<(), clap::Error> {
    let of_job = command.get_arguments().find(|arg| {
        let id = arg.get_id().as_str();
        matches!(matches.try_contains_id(id), Ok(true))
            && matches.value_source(id) == Some(ValueSource::CommandLine)
            && !["npes", "env", "wdir"].contains(&id)
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

fn part(matches: &ArgMatches, program: Vec<OsString>) -> Program {
    Program {
        npes: matches.get_one::<u16>("npes").map(|npes| usize::from(*npes)),
        environment: matches
            .get_many::<OsString>("env")
            .into_iter()
            .flatten()
            .filter_map(|text| variable(text))
            .collect(),
        wdir: matches.get_one::<PathBuf>("wdir").cloned(),
        program,
    }
}

fn read(matches: &ArgMatches, parts: Vec<Program>) -> Options {
    let word = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    Options {
        parts,
        bind: match (word("bind-to"), word("map-by")) {
            (Some("hwthread"), _) => Bind::HwThread,
            (Some("core"), _) | (None, Some(_)) => Bind::Core,
            _ => Bind::None,
        },
        map: if word("map-by") == Some("numa") { Map::Numa } else { Map::Core },
        report_bindings: matches.get_flag("report-bindings"),
        tag_output: matches.get_flag("tag-output"),
        pty: match (matches.get_flag("pty"), matches.get_flag("no-pty")) {
            (true, _) => Pty::Yes,
            (_, true) => Pty::No,
            _ => Pty::Auto,
        },
        comm_matrix: matches.get_one::<PathBuf>("comm-matrix").cloned(),
        timeout: matches.get_one::<Duration>("timeout").copied(),
    }
}

/// Takes `VAR=value` apart. `VAR` alone asks for what the PEs have anyway.
fn variable(text: &OsStr) -> Option<(OsString, OsString)> {
    use std::os::unix::ffi::OsStrExt;
    let bytes = text.as_bytes();
    let Some(equals) = bytes.iter().position(|byte| *byte == b'=') else {
        if std::env::var_os(text).is_none() {
            eprintln!("oshrun: warning: -x {}: the variable is not set", text.display());
        }
        return None;
    };
    let part = |bytes| OsStr::from_bytes(bytes).to_owned();
    Some((part(&bytes[..equals]), part(&bytes[equals + 1..])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Options, String> {
        try_parse(line.split(' ').map(OsString::from)).map_err(|error| error.to_string())
    }

    #[test]
    fn the_table_is_consistent() {
        command().debug_assert();
    }

    #[test]
    fn one_dash_or_two() {
        for line in [
            "oshrun -n 4 a",
            "oshrun -n4 a",
            "oshrun -n=4 a",
            "oshrun --n 4 a",
            "oshrun -np 4 a",
            "oshrun --np 4 a",
            "oshrun -np=4 a",
            "oshrun --np=4 a",
            "oshrun -n 2 -np 4 a",
            "oshrun -ln 4 a",
            "oshrun -np 4 -- a",
        ] {
            let options = parsed(line).unwrap_or_else(|error| panic!("{line}: {error}"));
            assert_eq!(options.parts[0].npes, Some(4), "{line}");
            assert_eq!(options.parts[0].program, ["a"], "{line}");
        }
        let options = parsed(
            "oshrun -bind-to core --map-by numa -report-bindings -oversubscribe -tag-output \
             -timeout 1.5 -wdir /tmp -x A=b=c -x B= a",
        )
        .unwrap();
        assert_eq!((options.bind, options.map), (Bind::Core, Map::Numa));
        assert!(options.report_bindings && options.tag_output);
        assert_eq!(options.timeout, Some(Duration::from_millis(1500)));
        assert_eq!(options.parts[0].wdir, Some(PathBuf::from("/tmp")));
        let pair = |a: &str, b: &str| (OsString::from(a), OsString::from(b));
        assert_eq!(options.parts[0].environment, [pair("A", "b=c"), pair("B", "")]);
    }

    #[test]
    fn what_follows_the_program_is_its_own() {
        let options = parsed("oshrun -l a -np 4 --help -l").unwrap();
        assert_eq!(options.parts[0].npes, None);
        assert_eq!(options.parts[0].program, ["a", "-np", "4", "--help", "-l"]);
    }

    #[test]
    fn a_colon_begins_another_part() {
        let options =
            parsed("oshrun -l -n 1 a x : -np 3 -x A=B -wdir /tmp a : y : -n2 b").unwrap_err();
        assert!(options.contains("how many PEs run 'y'?"), "{options}");
        let options =
            parsed("oshrun -l -n 1 a x : -np 3 -x A=B -wdir /tmp a : -n2 -- b : -l").unwrap();
        let parts: Vec<_> =
            options.parts.iter().map(|p| (p.npes, p.program.join(OsStr::new(" ")))).collect();
        let part = |npes, program: &str| (Some(npes), program.into());
        assert_eq!(parts, [part(1, "a x"), part(3, "a"), part(2, "b : -l")]);
        assert_eq!(options.parts[1].wdir, Some("/tmp".into()));
        assert_eq!(options.parts[1].environment.len(), 1);
        assert!(options.parts[0].environment.is_empty() && options.tag_output);
        // A colon in a word is no such mark.
        assert_eq!(parsed("oshrun a a:b :c").unwrap().parts.len(), 1);
        for (line, named) in [
            ("oshrun -n 2 a : b", "how many PEs run 'b'?"),
            ("oshrun a : -n 2 b", "how many PEs run 'a'?"),
            ("oshrun -n 2 a :", "which program?"),
            ("oshrun : -n 2 a", "which program?"),
            ("oshrun -n 2 a : -n 2 --timeout 3 a", "'--timeout' is for the whole job"),
            ("oshrun -n 2 a : -n 2 -l a", "'--tag-output' is for the whole job"),
            (&format!("oshrun -n {MAX_PES} a : -n 1 a"), &(MAX_PES + 1).to_string()),
        ] {
            let error = parsed(line).expect_err(line);
            assert!(error.contains(named), "{line}: {error}");
        }
    }

    #[test]
    fn options_of_other_launchers_are_refused_and_told_what_to_do() {
        for (line, option, advice) in [
            ("oshrun -np 2 -hostfile hf a", "'-hostfile'", "leave it out"),
            ("oshrun -np 2 -host h a", "'-host'", "leave it out"),
            ("oshrun -hosts=h -np 2 a", "'-hosts'", "leave it out"),
            ("oshrun --hostfile hf a", "'--hostfile'", "leave it out"),
            ("oshrun -N 2 a", "'-N'", "-n"),
            ("oshrun --ntasks=4 a", "'--ntasks'", "-n"),
            ("oshrun -nolocal a", "'-nolocal'", "leave it out"),
            ("oshrun -xterm 1 a", "'-xterm'", "debugger"),
            ("oshrun -genv A B a", "'-genv'", "-x VAR"),
            ("oshrun --mca btl self a", "'--mca'", "SHMEM_*"),
        ] {
            let error = parsed(line).expect_err(line);
            assert!(error.contains(option) && error.contains(advice), "{line}: {error}");
        }
        // No letter of an unknown word is taken for an option: `-h` is help.
        for line in ["oshrun -hello a", "oshrun -lo a", "oshrun -Vo a", "oshrun -nx 4 a"] {
            let error = parsed(line).expect_err(line);
            assert!(error.contains("unexpected argument"), "{line}: {error}");
        }
        assert!(parsed("oshrun -lh a").unwrap_err().contains("Usage"));
    }

    #[test]
    fn the_last_word_on_terminals_counts() {
        let pty = |line| parsed(line).unwrap().pty;
        assert_eq!(pty("oshrun a"), Pty::Auto);
        assert_eq!(pty("oshrun --no-pty -pty a"), Pty::Yes);
        assert_eq!(pty("oshrun --pty --no-pty a"), Pty::No);
    }

    #[test]
    fn mapping_alone_binds_to_cores() {
        assert_eq!(parsed("oshrun a").unwrap().bind, Bind::None);
        assert_eq!(parsed("oshrun -map-by numa a").unwrap().bind, Bind::Core);
        assert_eq!(parsed("oshrun -map-by numa -bind-to none a").unwrap().bind, Bind::None);
        assert_eq!(parsed("oshrun --bind-to hwthread a").unwrap().bind, Bind::HwThread);
    }

    #[test]
    fn a_wrong_line_is_refused_and_the_option_named() {
        for (line, named) in [
            ("oshrun -np 0 a", "--np"),
            ("oshrun -n -3 a", "-3"),
            ("oshrun -n four a", "four"),
            ("oshrun -np 5000 a", "5000"),
            ("oshrun --bogus a", "--bogus"),
            ("oshrun -bind-to socket a", "socket"),
            ("oshrun --timeout 0 a", "--timeout"),
            ("oshrun --timeout -1 a", "-1"),
            ("oshrun -x", "-x"),
        ] {
            let error = parsed(line).expect_err(line);
            assert!(error.contains(named), "{line}: {error}");
        }
    }
}
