//! The options of `oshrun`. [`super::topics`] has the rest of its help.

use super::topics::{BINDING, DEBUGGING, ENVIRONMENT, HOSTS, JOB, NAMES, OTHER, OUTPUT};
use super::{command as base, flag, values};
use clap::builder::{OsStringValueParser, PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, Command, ValueHint, value_parser};
use oneshmem_job::jobfile::MAX_PES;
use std::path::PathBuf;

/// Defines the command.
pub fn command() -> Command {
    let no_topic = PossibleValue::new("").hide(true);
    let topics = NAMES.into_iter().map(PossibleValue::new).chain([no_topic]);
    base("oshrun", "Runs an OpenSHMEM program on this machine or on several hosts")
        .override_usage(
            "oshrun [OPTIONS] PROGRAM [ARGUMENTS] [: -n PES [OPTIONS] PROGRAM [ARGUMENTS]]...",
        )
        .args_override_self(true)
        .disable_help_flag(true)
        .disable_version_flag(true)
        .next_help_heading(JOB)
        .args(job())
        .next_help_heading(ENVIRONMENT)
        .args(environment())
        .next_help_heading(HOSTS)
        .args(hosts())
        .next_help_heading(BINDING)
        .args(binding())
        .next_help_heading(OUTPUT)
        .args(output())
        .next_help_heading(DEBUGGING)
        .args(debugging())
        .next_help_heading(OTHER)
        .arg(
            Arg::new("help")
                .short('h')
                .long("help")
                .value_name("TOPIC")
                .num_args(0..=1)
                .default_missing_value("")
                .value_parser(PossibleValuesParser::new(topics))
                .hide_possible_values(true)
                .help("Print this help, or details on a topic")
                .long_help(format!(
                    "Print how to use the command, or details on one topic: {}.",
                    NAMES.join(", ")
                )),
        )
        .arg(
            Arg::new("version")
                .short('V')
                .long("version")
                .action(ArgAction::Version)
                .help("Print the version"),
        )
}

/// An option whose value is a file.
fn file(name: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .value_name("FILE")
        .value_hint(ValueHint::FilePath)
        .value_parser(value_parser!(PathBuf))
}

/// An option whose value is a folder.
fn folder(name: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .value_name("DIR")
        .value_hint(ValueHint::DirPath)
        .value_parser(value_parser!(PathBuf))
}

fn job() -> [Arg; 4] {
    [
        Arg::new("npes")
            .short('n')
            .long("np")
            .alias("n")
            .value_name("PES")
            .value_parser(values::count)
            .allow_negative_numbers(true)
            .help("Number of PEs [default: one for each usable CPU]")
            .long_help(format!(
                "Number of PEs, 1 to {MAX_PES}. By default one for each CPU that oshrun may use."
            )),
        Arg::new("npernode")
            .short('N')
            .long("npernode")
            .alias("N")
            .value_name("PES")
            .value_parser(values::count)
            .allow_negative_numbers(true)
            .help("Number of PEs on each host")
            .long_help(
                "Number of PEs on each host of --host or --hostfile, or on this machine. With -n it \
                 is the maximum number on each host.",
            ),
        folder("wdir").alias("wd").help("Run the PEs in this directory"),
        Arg::new("timeout")
            .long("timeout")
            .value_name("SECONDS")
            .value_parser(values::seconds)
            .allow_negative_numbers(true)
            .help("End the job after this time, with status 124")
            .long_help(
                "End the job after this time, counted from the start of oshrun, with status 124. A \
                 fraction is allowed.",
            ),
    ]
}

fn environment() -> [Arg; 2] {
    [
        Arg::new("env")
            .short('x')
            .alias("x")
            .value_name("VAR[=VALUE]")
            .action(ArgAction::Append)
            .value_parser(OsStringValueParser::new())
            .help("Set an environment variable for the PEs; may be repeated")
            .long_help(
                "Set a variable in the environment of the PEs. Without a value, the variable gets \
                 the value that it has here; there is a warning if it has none. PEs on this machine \
                 inherit the whole environment of oshrun anyway. May be repeated.",
            ),
        file("env-file")
            .action(ArgAction::Append)
            .help("Set the variables in this file; may be repeated")
            .long_help(
                "Set the variables in this file, one VAR=VALUE per line. The value is everything \
                 after the equals sign. Empty lines and lines that start with # are ignored. -x \
                 overrides the file. May be repeated.",
            ),
    ]
}

fn hosts() -> [Arg; 4] {
    [
        Arg::new("host")
            .short('H')
            .long("host")
            .alias("hosts")
            .value_name("HOST[:SLOTS],...")
            .value_hint(ValueHint::Hostname)
            .help("Run the PEs on these hosts, started through ssh"),
        file("hostfile")
            .alias("machinefile")
            .help("Run the PEs on the hosts in this file")
            .long_help(
                "Run the PEs on the hosts in this file: HOST, HOST:SLOTS or HOST slots=SLOTS on each \
                 line, and comments after a #.",
            ),
        Arg::new("launch-agent")
            .long("launch-agent")
            .value_name("COMMAND")
            .value_hint(ValueHint::CommandString)
            .help("Reach the hosts through this command instead of ssh")
            .long_help(
                "Reach each host through COMMAND HOST, followed by the command to run there, instead \
                 of through ssh. Words are quoted as for a shell.",
            ),
        folder("prefix")
            .help("Where oneshmem is installed on the hosts [default: the same place as here]")
            .long_help(
                "Where oneshmem is installed on the hosts. By default in the same place as here.",
            ),
    ]
}

fn binding() -> [Arg; 6] {
    [
        Arg::new("bind-to")
            .long("bind-to")
            .value_name("WHAT")
            .value_parser(values::Binds)
            .hide_possible_values(true)
            .help("Bind each PE to none|hwthread|core|l3|numa|socket|node [default: none]")
            .long_help(
                "What to bind each PE to: none (the default), hwthread (one hardware thread), or all \
                 hardware threads of a core (also called slot), of the cores that share a last-level \
                 cache (l3), of a NUMA node (numa), of a socket, or all that oshrun may use (node). \
                 If there are more PEs than places, PEs share places. core:N and hwthread:N bind \
                 each PE to N of them, as --cpus-per-pe N does. In a job over several hosts, each \
                 host's agent is bound to the CPUs that no PE there is bound to, if there are any.",
            ),
        Arg::new("cpus-per-pe")
            .long("cpus-per-pe")
            .value_name("N")
            .value_parser(values::cpus_per_pe)
            .allow_negative_numbers(true)
            .help("Give each PE N cores, for programs whose PEs have several threads")
            .long_help(
                "Give each PE N cores of its own, next to each other, and bind it to them: for \
                 programs whose PEs have several threads. With --bind-to hwthread or --map-by \
                 hwthread, N hardware threads; with --bind-to none, PEs are not bound. Without -n \
                 the job has as many PEs as that makes. If OMP_NUM_THREADS is not set, it is set to \
                 N for the PEs, and a note says so. The same as --map-by core:PE=N and --bind-to \
                 core:N.",
            ),
        Arg::new("map-by")
            .long("map-by")
            .value_name("WHAT")
            .value_parser(values::map)
            .help("Assign PEs to places: core, l3, numa, ..., ppr:N:PLACE [default: core]")
            .long_help(
                "How to assign PEs to places. core (the default; also called slot): to the cores in \
                 order. hwthread: to the hardware threads in order, all of a core first. l3, numa, \
                 socket: to caches, NUMA nodes or sockets in turn. node: to the cores of the \
                 machine in order. ppr:N:PLACE: N PEs to the first place, the next N to the second \
                 one and so on; without -n the job has as many PEs as that makes, and more are an \
                 error. With :PE=CPUS behind it, as in core:PE=4 or ppr:2:numa:PE=4, each PE gets \
                 so many CPUs, as with --cpus-per-pe, and never some of two places. Without \
                 --bind-to, this option implies --bind-to hwthread for hwthread, and --bind-to core \
                 otherwise.",
            ),
        Arg::new("cpu-set")
            .long("cpu-set")
            .alias("cpu-list")
            .value_name("LIST")
            .value_parser(values::cpus)
            .help("Use only these CPUs, for example 0-3,8")
            .long_help(
                "Use only these CPUs, numbered as in /proc/cpuinfo, for example 0-3,8. Without \
                 --bind-to, each PE is bound to all of them. A CPU that oshrun may not use is an \
                 error.",
            ),
        flag("report-bindings")
            .help("Print where each PE is bound")
            .long_help(
                "Print on standard error where each PE is bound, and draw the machine: a pair of \
                 brackets for each last-level cache, a bar between cores, and for each hardware \
                 thread its PE, or a dot if it has none. Over several hosts, print also where each \
                 host's agent is bound.",
            ),
        flag("oversubscribe")
            .help("Accepted for compatibility: more PEs than CPUs are always allowed"),
    ]
}

fn output() -> [Arg; 4] {
    [
        flag("tag-output")
            .short('l')
            .alias("l")
            .help("Start each line of output with the number of its PE")
            .long_help("Start each line of output with the number of its PE, as in [3]."),
        folder("output-filename")
            .help("Write the output of each PE to DIR/pe.N.out and DIR/pe.N.err")
            .long_help(
                "Write the standard output and standard error of PE N to the files pe.N.out and \
                 pe.N.err in this directory instead of passing them on. The directory is created if \
                 it does not exist; existing files are overwritten. A job on several hosts has all \
                 files on this one.",
            ),
        flag("pty")
            .overrides_with("no-pty")
            .help("Give PEs a pseudo-terminal as standard output")
            .long_help(
                "Give each PE a pseudo-terminal as its standard output. This is the default if the \
                 standard output of oshrun is a terminal.",
            ),
        flag("no-pty").overrides_with("pty").help("Give PEs a pipe as standard output").long_help(
            "Give each PE a pipe as its standard output. C programs still write line by line.",
        ),
    ]
}

fn debugging() -> [Arg; 4] {
    [
        Arg::new("debug")
            .long("debug")
            .value_name("PES")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("all")
            .value_parser(values::pes)
            .help("Start all PEs, or these, under a debugger: gdb or lldb, in tmux or xterm")
            .long_help(
                "Stop all PEs, or those in a list such as --debug=0,4-7, at the first instruction of \
                 the program, and attach gdb to each of them, or lldb if there is no gdb. Each \
                 debugger has a window: of the present tmux session; else an xterm, if DISPLAY is \
                 set; else of a new tmux session, whose name is printed. If there is neither tmux \
                 nor xterm, or no debugger, the command to attach to each PE is printed, and the PEs \
                 wait for it. While PEs are debugged, the others wait for them in shmem_init \
                 without a time limit. The windows are closed when \
                 the job ends. For jobs on one machine.",
            ),
        Arg::new("top")
            .long("top")
            .value_name("SECONDS")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("2")
            .value_parser(values::interval)
            .help("Print what each PE does and waits for, and how fast, every 2 seconds, or so often")
            .long_help(
                "Print on standard error, every 2 seconds or as often as said, what each PE \
                 does: calls and bytes moved in a second, bytes of the symmetric heap in \
                 blocks, CPU, how much of the time it is blocked in waits and collectives, and its \
                 state: what it waits for and for how long, or where it is \
                 in the start of the job. With more than 24 PEs, those in the same state share \
                 a line. The PEs' own output is passed on as ever, between these lines. \
                 Operations take longer while they are counted; loads and stores through \
                 shmem_ptr are not counted. 0 prints nothing and only counts, for oshtop, which \
                 shows the same in a terminal of its own. In a job over several hosts, there \
                 are such lines for each host.",
            ),
        file("trace")
            .help("Write what each PE does, and when, for Perfetto's viewer (JSON)")
            .long_help(
                "Record the calls of all PEs, with their beginnings and ends, and write them to this file \
                 when the job has ended, as JSON that https://ui.perfetto.dev opens: a track for each PE, \
                 with puts, gets, atomic operations, waits, collectives and their algorithms, and \
                 allocations, and arrows from updates of variables to the waits that they end. Short operations that follow each other are one event. Each PE \
                 keeps the last 32768 events; the file says how many are lost. Operations take longer while \
                 they are recorded. The same as -x SHMEM_TRACE=FILE, but that on one machine the file is \
                 also written if the job fails. In a job over several hosts, PE 0 writes it on its host.",
            ),
        file("comm-matrix")
            .help("Draw how many bytes each PE moves to and from each other PE (SVG or .csv)")
            .long_help(
                "Count the bytes of the puts, gets and atomic operations of each PE on each other PE, \
                 and draw them to this file as an SVG picture when the job has ended: a row for each \
                 PE that calls, a column for each PE whose memory is accessed; the more bytes, the \
                 darker the cell. Hover over a cell to see its value; with more than 256 PEs a cell \
                 represents several. If the name of the file ends in .csv, a table is written \
                 instead: a line with calls and bytes for each pair of PEs. Data moved by \
                 collectives is not included. Operations take longer while they are counted. In a job \
                 over several hosts, the picture has lines and another colour, and the table has \
                 another column, for what goes from host to host; rows of hosts that are lost are \
                 missing, and a message says so.",
            ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::topics;

    #[test]
    fn the_definition_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn every_option_has_a_topic() {
        for arg in command().get_arguments() {
            let heading = arg.get_help_heading().unwrap_or_default();
            let of_topic = topics::TOPICS.iter().any(|topic| topic.heading == heading);
            assert!(of_topic || heading == OTHER, "{}", arg.get_id());
        }
    }
}
