//! The help of `oshrun --help`: all options in brief, or everything on one topic.

use clap::{Arg, ArgAction, Command};

/// A topic: its name, the heading of its options (empty if it has none), and further text.
pub struct Topic {
    /// The argument of `--help`.
    pub name: &'static str,
    /// The heading of its options.
    pub heading: &'static str,
    /// Further text.
    pub text: &'static str,
}

/// The topics, in the order in which options are listed.
pub const TOPICS: [Topic; 9] = [
    Topic { name: "job", heading: JOB, text: JOB_TEXT },
    Topic { name: "environment", heading: ENVIRONMENT, text: "" },
    Topic { name: "hosts", heading: HOSTS, text: HOSTS_TEXT },
    Topic { name: "binding", heading: BINDING, text: "" },
    Topic { name: "output", heading: OUTPUT, text: OUTPUT_TEXT },
    Topic { name: "debugging", heading: DEBUGGING, text: "" },
    Topic { name: "signals", heading: "", text: SIGNALS_TEXT },
    Topic { name: "status", heading: "", text: STATUS_TEXT },
    Topic { name: "examples", heading: "", text: EXAMPLES },
];

/// The heading for parts of a job.
pub const JOB: &str = "Job";
/// The heading for variables and directories.
pub const ENVIRONMENT: &str = "Environment";
/// The heading for hosts.
pub const HOSTS: &str = "Hosts";
/// The heading for CPUs.
pub const BINDING: &str = "Binding";
/// The heading for streams.
pub const OUTPUT: &str = "Output";
/// The heading for debuggers and statistics.
pub const DEBUGGING: &str = "Debugging";
/// The heading for options that are not about jobs.
pub const OTHER: &str = "Help";

/// The names of all topics, and the name for all of them together.
pub const NAMES: [&str; 10] = [
    "job",
    "environment",
    "hosts",
    "binding",
    "output",
    "debugging",
    "signals",
    "status",
    "examples",
    "all",
];

/// The option that makes clap print the help: `--help` itself takes a topic.
const PRINT: &str = "print-help";

const JOB_TEXT: &str = "\
Options end at the program's name; everything after it belongs to the program. Every option may be
written with one dash or two. The program is looked up in PATH unless its name has a slash, and
relative to --wdir.

A lone colon starts another part of the job, with -n, -x, --env-file, --wdir, program and arguments
of its own. PEs are numbered through all parts. Static data are symmetric between PEs of one
executable only. After '--', a colon is an argument of the program.";

const HOSTS_TEXT: &str = "\
PEs are numbered host by host. A host gets as many PEs as it has slots; if no host has slots, each
gets an equal share. Variables named SHMEM_*, SMA_* and ONESHMEM_* and those of -x and --env-file
are set on all hosts.";

const OUTPUT_TEXT: &str = "\
PE 0 reads standard input. Output is passed on line by line; lines of different PEs never mix.";

const SIGNALS_TEXT: &str = "\
SIGINT, SIGTERM, SIGTSTP, SIGCONT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 and SIGWINCH are forwarded to
all PEs. A second SIGINT or SIGTERM ends the job even if the PEs ignore it. On SIGQUIT, oshrun also
prints what each PE is waiting for.

When a PE dies, or exits without calling shmem_finalize, the job ends. Processes started by the PEs
end with it.";

const STATUS_TEXT: &str = "\
Exit status: 0 if all PEs succeed; the argument of shmem_global_exit; the first nonzero status of a
PE; 128 + n if a PE is killed by signal n; 124 if --timeout ends the job; 126 or 127 if the program
cannot be run or is not found; 1 if oshrun fails; 2 if the command line is wrong.";

const EXAMPLES: &str = "\
Examples:
  oshrun -n 4 ./a.out
  oshrun -n 8 --bind-to core -x SHMEM_SYMMETRIC_SIZE=2g --tag-output ./a.out --size 100
  oshrun -n 1 ./a.out master : -n 7 ./a.out worker
  oshrun --host node1:4,node2:4 ./a.out";

/// The help for one topic or for none, as printed by clap.
pub fn help(command: Command, topic: Option<&str>) -> clap::Error {
    match of_topic(command, topic).try_get_matches_from(["oshrun", "--print-help"]) {
        Err(help) => help,
        Ok(_) => unreachable!("an option that prints help ends the parsing"),
    }
}

/// The command with its help limited to a topic.
fn of_topic(command: Command, topic: Option<&str>) -> Command {
    let action = if topic.is_some() { ArgAction::HelpLong } else { ArgAction::HelpShort };
    let command = command.arg(Arg::new(PRINT).long(PRINT).action(action).hide(true));
    let text = |chosen: &dyn Fn(&Topic) -> bool| {
        let texts = TOPICS.iter().filter(|it| chosen(it)).map(|it| it.text);
        texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
    };
    match topic {
        None => {
            let names = &NAMES[..NAMES.len() - 1];
            let more = format!(
                "{EXAMPLES}\n\n'oshrun --help TOPIC' explains a topic, 'oshrun --help all' all of them. \
                 Topics:\n{}.",
                names.join(", ")
            );
            command.after_help(more)
        }
        Some("all") => command.after_long_help(text(&|_| true)),
        Some(name) => {
            let Some(topic) = TOPICS.iter().find(|it| it.name == name) else { return command };
            let hidden = |heading: Option<&str>| heading != Some(topic.heading);
            command
                .mut_args(|arg| match hidden(arg.get_help_heading()) {
                    true => arg.hide(true),
                    false => arg,
                })
                .help_template(if topic.heading.is_empty() {
                    "{after-help}"
                } else {
                    "{all-args}{after-help}"
                })
                .after_long_help(topic.text)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_topic_has_a_name() {
        let names: Vec<_> = TOPICS.iter().map(|topic| topic.name).chain(["all"]).collect();
        assert_eq!(names, NAMES);
    }
}
