//! Options of other launchers that users have in their scripts, and what to do here instead.

use std::fmt;

/// Some options of other launchers.
struct Options {
    /// As they are written, less the dashes.
    names: &'static [&'static str],
    /// What to do instead.
    advice: &'static str,
}

const MACHINES: &str = "--host HOST[:SLOTS],... or --hostfile FILE names the hosts";
const NUMBER: &str =
    "give the number of all PEs with -n, and how many a host has with --host HOST:SLOTS,...";
const VARIABLES: &str = "-x VAR=VALUE sets a variable; --env-file FILE sets those of a file; PEs have all of this command's anyway";
const BINDING: &str = "--bind-to none|hwthread|core|l3|numa|socket, --map-by core|l3|numa|socket|ppr:N:WHAT and \
     --cpu-set LIST choose where PEs run";
const FILES: &str = "--output-filename DIR writes each PE's output to files of its own";
const PARTS: &str =
    "write the parts on the command line: -n 1 PROGRAM ARGUMENTS : -n 3 PROGRAM ...";
const QUIET: &str = "leave it out; SHMEM_DEBUG=1 and SHMEM_INFO=1 make the library say more";
const TIME: &str = "--timeout SECONDS ends the job after a time";
const ANY_USER: &str = "any user may run jobs; leave it out";
const END: &str = "when a PE dies the job ends; leave it out";
const DEBUGGER: &str =
    "run the debugger as the program: oshrun -n 2 gdb ./a.out, or xterm -e gdb ./a.out";
const SETTINGS: &str =
    "there are no such parameters; oshinfo lists the variables SHMEM_* that set the library";
const ALLOCATION: &str =
    "it is about the allocation: give it to salloc or sbatch, and run oshrun in there";

/// From the manuals of Open MPI's mpirun (4 and 5), MPICH's mpiexec.hydra and Slurm's srun.
const TABLE: &[Options] = &[
    Options {
        names: &[
            "f",
            "machine",
            "default-hostfile",
            "add-host",
            "add-hostfile",
            "w",
            "nodelist",
            "nodefile",
            "hostlist",
            "x-host",
            "exclude",
            "nolocal",
            "localonly",
            "local",
            "relative",
        ],
        advice: MACHINES,
    },
    Options {
        names: &[
            "c",
            "N",
            "ntasks",
            "npernode",
            "npersocket",
            "pernode",
            "ppn",
            "perhost",
            "ppr",
            "nodes",
            "ntasks-per-node",
            "ntasks-per-socket",
            "ntasks-per-core",
            "tasks-per-node",
            "max-vm-size",
            "novm",
            "procs",
        ],
        advice: NUMBER,
    },
    Options {
        names: &[
            "env",
            "genv",
            "envlist",
            "genvlist",
            "envall",
            "genvall",
            "envnone",
            "genvnone",
            "export",
            "export-file",
            "set-env",
        ],
        advice: VARIABLES,
    },
    Options {
        names: &["D", "chdir", "cwd", "dir", "set-cwd-to-session-dir"],
        advice: "--wdir DIR runs the PEs there",
    },
    Options {
        names: &[
            "bind",
            "binding",
            "bind-to-core",
            "bind-to-socket",
            "bind-to-none",
            "bycore",
            "bynode",
            "byslot",
            "bysocket",
            "cpu-bind",
            "cpu_bind",
            "mem-bind",
            "cpus-per-proc",
            "cpus-per-rank",
            "cpus-per-task",
            "rank-by",
            "rankfile",
            "rf",
            "rankmap",
            "slot-list",
            "distribution",
            "m",
            "hint",
            "use-hwthread-cpus",
            "nooversubscribe",
            "no-oversubscribe",
            "O",
            "overcommit",
            "ranks-per-proc",
            "topolib",
            "map",
            "display-map",
            "display-devel-map",
            "display-topo",
            "display",
            "topo",
        ],
        advice: BINDING,
    },
    Options {
        names: &["label", "prepend-rank", "prepend-pattern", "timestamp-output"],
        advice: "--tag-output, or -l, marks each line with its PE",
    },
    Options {
        names: &[
            "output",
            "output-directory",
            "outfile-pattern",
            "errfile-pattern",
            "outfile",
            "errfile",
            "o",
            "e",
            "error",
            "merge-stderr-to-stdout",
            "stream-buffering",
        ],
        advice: FILES,
    },
    Options {
        names: &["stdin", "i", "input", "s"],
        advice: "PE 0 has this command's standard input",
    },
    Options {
        names: &["u", "unbuffered"],
        advice: "lines are passed on as they come; leave it out",
    },
    Options { names: &["configfile", "app", "multi-prog", "p4pg"], advice: PARTS },
    Options {
        names: &[
            "q",
            "quiet",
            "Q",
            "v",
            "verbose",
            "d",
            "debug-devel",
            "debug-daemons",
            "show-progress",
            "print-all-exitcodes",
            "print-rank-map",
            "report-pid",
            "report-uri",
            "report-events",
            "report-state-on-timeout",
            "get-stack-traces",
            "do-not-launch",
            "dvm",
        ],
        advice: QUIET,
    },
    Options { names: &["t", "time", "time-limit", "maxtime"], advice: TIME },
    Options { names: &["info"], advice: "oshinfo tells of the installation" },
    Options { names: &["allow-run-as-root"], advice: ANY_USER },
    Options {
        names: &[
            "K",
            "kill-on-bad-exit",
            "k",
            "no-kill",
            "disable-auto-cleanup",
            "enable-recovery",
            "disable-recovery",
            "max-restarts",
            "continuous",
            "W",
            "wait",
            "usize",
        ],
        advice: END,
    },
    Options { names: &["xterm", "debug", "gdb", "tv", "debugger"], advice: DEBUGGER },
    Options {
        names: &[
            "mca",
            "gmca",
            "pmca",
            "prtemca",
            "gpmixmca",
            "pmixmca",
            "omca",
            "am",
            "tune",
            "rmk",
            "launcher",
            "launcher-exec",
            "bootstrap",
            "bootstrap-exec",
            "iface",
            "noprefix",
            "personality",
            "mpi",
            "channel-files",
            "demux",
            "ckpoint",
            "ckpointlib",
            "pmi-port",
            "pmi",
            "enable-x",
            "disable-x",
            "resv-ports",
            "network",
            "preload-binary",
            "preload-files",
            "bcast",
            "tmpdir",
            "ofi-provider",
            "plm",
        ],
        advice: SETTINGS,
    },
    Options {
        names: &[
            "p",
            "partition",
            "A",
            "account",
            "J",
            "job-name",
            "jobid",
            "mem",
            "mem-per-cpu",
            "gres",
            "gpus",
            "G",
            "gpus-per-task",
            "C",
            "constraint",
            "qos",
            "reservation",
            "exclusive",
            "overlap",
            "exact",
            "immediate",
            "begin",
            "dependency",
            "het-group",
            "threads-per-core",
        ],
        advice: ALLOCATION,
    },
];

/// An option of another launcher.
#[derive(Debug, PartialEq, Eq)]
pub struct Foreign {
    /// As the user wrote it, without a value.
    option: String,
    advice: &'static str,
}

impl Foreign {
    /// Whether an option that is not one of ours, `name` with `dashes` before it, is another
    /// launcher's. One letter alone takes one dash.
    pub fn look_up(dashes: &str, name: &str) -> Option<Self> {
        // Open MPI and Slurm take `--cpu_bind` as `--cpu-bind`.
        let plain = if name.len() > 1 { name.replace('_', "-") } else { name.into() };
        let found = TABLE.iter().find(|options| {
            options.names.iter().any(|known| *known == name || *known == plain)
                && (name.len() > 1 || dashes.len() == 1)
        })?;
        Some(Self { option: format!("{dashes}{name}"), advice: found.advice })
    }
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(
            f,
            "oshrun has no option '{}', which other launchers have: {}",
            self.option, self.advice
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_option_is_listed_twice() {
        let names: Vec<_> = TABLE.iter().flat_map(|options| options.names).collect();
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
    }

    #[test]
    fn an_option_is_found_however_it_is_written() {
        let advice = |dashes, name| Foreign::look_up(dashes, name).map(|foreign| foreign.advice);
        assert_eq!(advice("-", "nodelist"), Some(MACHINES));
        assert_eq!(advice("--", "nodelist"), Some(MACHINES));
        assert_eq!(advice("--", "ntasks_per_node"), Some(NUMBER));
        assert_eq!(advice("-", "N"), Some(NUMBER));
        assert_eq!(advice("--", "N"), None);
        assert_eq!(advice("--", "bogus"), None);
    }
}
