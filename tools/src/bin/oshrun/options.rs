//! The command line of `oshrun`.
//!
//! Users come from other launchers, so long options are taken with one dash or
//! two (`-np 4`, `--np 4`), and everything from the program's name on belongs to
//! the program. Both are settled by [`split`] before `clap` sees the options.

use clap::builder::{OsStringValueParser, PossibleValuesParser};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use oneshmem::translate::MAX_PES;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

/// What a job is to be.
#[derive(Debug)]
pub struct Options {
    /// Number of PEs, if given.
    pub npes: Option<usize>,
    /// Variables to set in the PEs' environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Where the PEs run.
    pub wdir: Option<PathBuf>,
    /// What each PE is bound to.
    pub bind: Bind,
    /// In which order PEs are given to cores.
    pub map: Map,
    /// Say where each PE is bound.
    pub report_bindings: bool,
    /// Mark each line of output with its PE.
    pub tag_output: bool,
    /// Draw who communicates with whom to this file.
    pub comm_matrix: Option<PathBuf>,
    /// End the job after this time.
    pub timeout: Option<Duration>,
    /// The program and its arguments.
    pub program: Vec<OsString>,
}

impl Options {
    /// The value that a variable has for the PEs.
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

/// The order in which PEs are given to cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Map {
    /// Core after core.
    Core,
    /// NUMA node after NUMA node, in turn.
    Numa,
}

const HELP: &str = "\
Every option is taken with one dash or two. Options end at the program's name; what follows is
the program's own. The program is looked up in PATH unless its name has a slash, and relative
to --wdir.

Standard input goes to PE 0. Output comes line by line, never mixed within a line. SIGINT,
SIGTERM, SIGTSTP, SIGCONT, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 are forwarded to all PEs; a second
SIGINT or SIGTERM ends the job whatever the PEs do. When one PE dies, or exits without
shmem_finalize, the job ends; processes that the PEs started end with it.

Exit status: that of the job, which is 0, the status of shmem_global_exit, the first status
other than 0 that a PE ended with, or 128 + n if a PE was killed by signal n; 124 when --timeout
ended it, 126 or 127 if the program cannot be run or is not found, 2 if the command line is wrong.

Examples:
  oshrun -n 4 ./a.out
  oshrun -n 8 --bind-to core -x SHMEM_SYMMETRIC_SIZE=2g --tag-output ./a.out --size 100";

fn command() -> Command {
    let words = |words: &'static [&'static str]| PossibleValuesParser::new(words);
    Command::new("oshrun")
        .version(concat!(env!("CARGO_PKG_VERSION"), " (oneshmem)"))
        .about("Runs an OpenSHMEM program on this machine.")
        .override_usage("oshrun [OPTIONS] PROGRAM [ARGUMENTS]")
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
                .help("Set a variable in the PEs' environment; they have all of this one's anyway"),
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
            Arg::new("bind-to")
                .long("bind-to")
                .value_name("WHAT")
                .value_parser(words(&["none", "core", "hwthread"]))
                .help("Bind each PE to a core or to a hardware thread [default: none]"),
        )
        .arg(
            Arg::new("map-by")
                .long("map-by")
                .value_name("WHAT")
                .value_parser(words(&["core", "numa"]))
                .help("Give PEs to cores in order, or to NUMA nodes in turn; implies --bind-to core [default: core]"),
        )
        .arg(flag("report-bindings").help("Say where each PE is bound"))
        .arg(
            flag("oversubscribe")
                .help("Allow more PEs than CPUs; accepted for compatibility, always allowed"),
        )
        .arg(flag("tag-output").short('l').alias("l").help("Mark each line of output with its PE"))
        .arg(
            Arg::new("comm-matrix")
                .long("comm-matrix")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("Draw which PE moves how many bytes to and from which, as an SVG picture"),
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

fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 => Duration::try_from_secs_f64(seconds)
            .map_err(|_| "expected a number of seconds that is not so large".into()),
        _ => Err("expected seconds, more than 0, for example 60 or 0.5".into()),
    }
}

/// Reads the command line. Prints and exits if it asks for help or is wrong.
pub fn parse(arguments: impl Iterator<Item = OsString>) -> Options {
    let mut command = command();
    command.build();
    let (options, program) = split(&command, arguments);
    let matches = match command.try_get_matches_from_mut(options) {
        Ok(matches) => matches,
        Err(error) => error.exit(),
    };
    if program.is_empty() {
        command.error(clap::error::ErrorKind::MissingRequiredArgument, "which program?").exit()
    }
    read(&matches, program)
}

fn read(matches: &ArgMatches, program: Vec<OsString>) -> Options {
    let word = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    Options {
        npes: matches.get_one::<u16>("npes").map(|npes| usize::from(*npes)),
        environment: matches
            .get_many::<OsString>("env")
            .into_iter()
            .flatten()
            .filter_map(|text| variable(text))
            .collect(),
        wdir: matches.get_one::<PathBuf>("wdir").cloned(),
        bind: match (word("bind-to"), word("map-by")) {
            (Some("hwthread"), _) => Bind::HwThread,
            (Some("core"), _) | (None, Some(_)) => Bind::Core,
            _ => Bind::None,
        },
        map: if word("map-by") == Some("numa") { Map::Numa } else { Map::Core },
        report_bindings: matches.get_flag("report-bindings"),
        tag_output: matches.get_flag("tag-output"),
        comm_matrix: matches.get_one::<PathBuf>("comm-matrix").cloned(),
        timeout: matches.get_one::<Duration>("timeout").copied(),
        program,
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

/// Divides a command line into the options (with this command's own name first),
/// long ones with two dashes, and the program with its arguments.
fn split(
    command: &Command,
    arguments: impl Iterator<Item = OsString>,
) -> (Vec<OsString>, Vec<OsString>) {
    let mut arguments = arguments.peekable();
    let mut options: Vec<OsString> = arguments.next().into_iter().collect();
    while let Some(argument) = arguments.next_if(|argument| is_option(argument)) {
        if argument == "--" {
            break;
        }
        let (argument, wants_value) = two_dashes(command, argument);
        options.push(argument);
        if wants_value {
            options.extend(arguments.next());
        }
    }
    (options, arguments.collect())
}

fn is_option(argument: &OsStr) -> bool {
    let bytes = argument.as_encoded_bytes();
    bytes.len() > 1 && bytes[0] == b'-'
}

/// An option as `clap` wants it, and whether the next argument is its value. What
/// is no option of ours is left for `clap` to complain about.
fn two_dashes(command: &Command, argument: OsString) -> (OsString, bool) {
    let Some(text) = argument.to_str() else { return (argument, false) };
    let takes_value = |arg: &Arg| arg.get_action().takes_values();
    let (name, value) = match text.trim_start_matches('-').split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (text.trim_start_matches('-'), None),
    };
    let long = command.get_arguments().find(|arg| {
        arg.get_long() == Some(name) || arg.get_all_aliases().unwrap_or_default().contains(&name)
    });
    if let Some(arg) = long
        && (name.len() > 1 || text.starts_with("--"))
    {
        let dashed = format!("--{}", text.trim_start_matches('-'));
        return (dashed.into(), takes_value(arg) && value.is_none());
    }
    // Short options, perhaps several in one: `-n 4`, `-n4`, `-ln4`.
    let mut letters = text[1..].chars();
    let wants = letters.find_map(|letter| {
        let arg = command.get_arguments().find(|arg| arg.get_short() == Some(letter))?;
        takes_value(arg).then_some(())
    });
    let wants_value = wants.is_some() && letters.next().is_none();
    (argument, wants_value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Options, String> {
        let mut command = command();
        command.build();
        let words = line.split(' ').map(OsString::from);
        let (options, program) = split(&command, words);
        let matches = command.try_get_matches_from_mut(options).map_err(|e| e.to_string())?;
        Ok(read(&matches, program))
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
            assert_eq!(options.npes, Some(4), "{line}");
            assert_eq!(options.program, ["a"], "{line}");
        }
        let options = parsed(
            "oshrun -bind-to core --map-by numa -report-bindings -oversubscribe -tag-output \
             -timeout 1.5 -wdir /tmp -x A=b=c -x B= a",
        )
        .unwrap();
        assert_eq!((options.bind, options.map), (Bind::Core, Map::Numa));
        assert!(options.report_bindings && options.tag_output);
        assert_eq!(options.timeout, Some(Duration::from_millis(1500)));
        assert_eq!(options.wdir, Some(PathBuf::from("/tmp")));
        let pair = |a: &str, b: &str| (OsString::from(a), OsString::from(b));
        assert_eq!(options.environment, [pair("A", "b=c"), pair("B", "")]);
    }

    #[test]
    fn what_follows_the_program_is_its_own() {
        let options = parsed("oshrun -l a -np 4 --help -l").unwrap();
        assert_eq!(options.npes, None);
        assert_eq!(options.program, ["a", "-np", "4", "--help", "-l"]);
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
