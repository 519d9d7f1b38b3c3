//! Options of other launchers that users have in their scripts, and what to use here instead.

use std::fmt;

/// Options of other launchers, without their dashes, and what to use instead.
struct Options(&'static str, &'static str);

/// Options without a value that change nothing about what a job does here, and why. All launchers
/// that have them agree that no value follows.
const HARMLESS: [Options; 4] = [
    Options("allow-run-as-root", "any user may run jobs"),
    Options(
        "quiet Q v vv vvv verbose show-progress report-state-on-timeout \
         leave-session-attached",
        "SHMEM_DEBUG=1 and SHMEM_INFO=1 make the library print more, and SIGQUIT makes oshrun print \
         what each PE is doing",
    ),
    Options("u unbuffered", "output is passed on as soon as a line is complete"),
    Options("K kill-on-bad-exit", "a job always ends when a PE dies"),
];

/// From the manuals of Open MPI's mpirun (4 and 5), MPICH's and Intel's mpiexec.hydra, and Slurm's
/// srun.
const TABLE: [Options; 23] = [
    Options(
        "f machine default-hostfile add-host add-hostfile w nodelist F nodefile hostlist x-host \
         exclude nolocal no-local localonly localhost local localroot r relative skip-launch-node \
         order-nodes spread-job use-min-nodes sort-nodes",
        "--host HOST[:SLOTS],... or --hostfile FILE names the hosts",
    ),
    Options(
        "ntasks pernode npersocket ppn perhost ppr nodes ntasks-per-node ntasks-per-socket \
         ntasks-per-core ntasks-per-gpu tasks-per-node max-vm-size novm procs pes rr grr mincpus",
        "-n PES is the number of all PEs, -N PES the number on each host, and --map-by \
         ppr:N:socket the number on each socket",
    ),
    Options(
        "env genv envlist genvlist envall genvall envnone genvnone export export-file set-env E \
         preserve-env get-user-env propagate umask",
        "-x VAR=VALUE sets a variable, and --env-file FILE sets those in a file; PEs on this \
         machine inherit all others",
    ),
    Options(
        "D chdir cwd dir path set-cwd-to-session-dir",
        "--wdir DIR runs the PEs in a directory",
    ),
    Options(
        "bind binding bind-to-core bind-to-socket bind-to-none bycore bynode byslot bysocket \
         cpu-bind mem-bind membind rank-by rankfile rf \
         rankmap slot-list distribution m hint use-hwthread-cpus nooversubscribe no-oversubscribe \
         O overcommit topolib map cartofile cf display-map display-devel-map \
         display-diffable-map display-allocation display-devel-allocation display-topo display \
         topo extra-node-info B cores-per-socket sockets-per-node threads-per-core core-spec S \
         thread-spec cpu-freq accel-bind gpu-bind tres-bind print-rank-map use-app-topology",
        "--bind-to none|hwthread|core|l3|numa|socket|node, --map-by \
         hwthread|core|l3|numa|socket|ppr:N:PLACE, --cpus-per-pe N and --cpu-set LIST choose where PEs \
         run; --report-bindings prints it",
    ),
    Options(
        "c",
        "--cpus-per-pe N binds each PE to N cores, where srun's -c N is meant; -n PES is the number of PEs",
    ),
    Options(
        "cpus-per-proc cpus-per-rank cpus-per-task ranks-per-proc",
        "--cpus-per-pe N binds each PE to N cores; a PE that is not bound may use all CPUs",
    ),
    Options(
        "label prepend-rank prepend-pattern timestamp-output xml",
        "--tag-output, or -l, marks each line with its PE",
    ),
    Options(
        "output output-directory outfile-pattern errfile-pattern outfile errfile o e error \
         merge-stderr-to-stdout open-mode xml-file ordered-output",
        "--output-filename DIR writes the output of each PE to files of its own",
    ),
    Options("stdin i input s", "PE 0 reads the standard input of oshrun; omit the option"),
    Options(
        "stream-buffering",
        "output is passed on as soon as a line is complete; omit the option",
    ),
    Options(
        "configfile app multi-prog p4pg index-argv-by-rank",
        "write the parts on the command line: -n 1 PROGRAM ARGUMENTS : -n 3 PROGRAM ...",
    ),
    Options(
        "q d debug-devel debug-daemons debug-daemons-file print-all-exitcodes report-pid report-uri \
         report-events report-child-jobs-separately get-stack-traces do-not-launch do-not-resolve dvm \
         dvm-uri hnp ompi-server test-only X disable-status slurmd-debug output-proctable \
         parsable parseable msg-timeout",
        "omit it; SHMEM_DEBUG=1 and SHMEM_INFO=1 make the library print more, and SIGQUIT \
         makes oshrun print what each PE is doing",
    ),
    Options(
        "t time time-min time-limit maxtime deadline",
        "--timeout SECONDS ends the job after a time",
    ),
    Options("info", "oshinfo describes the installation"),
    Options(
        "k no-kill disable-auto-cleanup enable-recovery disable-recovery \
         max-restarts continuous with-ft W wait usize quit-on-interrupt silent-abort \
         initial-errhandler server-wait-time wait-for-server",
        "a job always ends when a PE dies; omit the option",
    ),
    Options(
        "signal forward-signals",
        "signals to oshrun are forwarded to all PEs; omit the option",
    ),
    Options(
        "xterm gdb tv debugger stop-on-exec stop-in-init stop-in-app",
        "--debug starts each PE under gdb or lldb; for another debugger, run it as the program: \
         oshrun -n 2 DEBUGGER ./a.out",
    ),
    Options(
        "t-collector aps gtool check-mpi profile acctg-freq",
        "run the tool as the program, as in oshrun -n 2 valgrind ./a.out; SHMEM_STATS=1 prints \
         statistics",
    ),
    Options(
        "launcher launcher-exec bootstrap bootstrap-exec plm exec-agent",
        "--launch-agent COMMAND is what reaches the hosts of --host or --hostfile, ssh by default",
    ),
    Options(
        "am tune",
        "SHMEM_TUNING=FILE names a tuning file, which oshtune writes, and --env-file FILE sets \
         variables",
    ),
    Options(
        "mca gmca pmca prtemca gpmixmca pmixmca omca rmk branch-count iface noprefix noconf personality mpi channel-files \
         demux ckpoint ckpointlib ckpoint-interval ckpoint-prefix ckpoint-num ckpoint-preserve \
         pmi-port pmi pmi-connect enable-x disable-x disable-hostname-propagation resv-ports network \
         preload-binary preload-files send-libs compress bcast tmpdir ofi-provider nameserver \
         runtime-options rtos gpu-support memory-alloc-kinds pset num-connect-retries keepalive \
         use-regexp fwd-mpirun-port recon treewidth T threads epilog prolog task-epilog task-prolog \
         container x11",
        "such parameters do not exist here; oshinfo lists the SHMEM_* variables that configure the \
         library",
    ),
    Options(
        "p partition A account J job-name jobid mem mem-per-cpu mem-per-gpu gres gres-flags gpus G \
         gpus-per-task gpus-per-node gpus-per-socket gpus-per-proc gpu-subdevs-per-proc \
         cpus-per-gpu gpu-freq C constraint cluster-constraint prefer qos reservation exclusive \
         overlap exact I immediate b begin dependency P het-group M clusters L licenses comment \
         contiguous mail-type mail-user mcs-label nice priority power reboot switches tmp wckey \
         bb bbf delay-boot hold Z no-allocate tres-per-task wait-all-nodes extra",
        "it concerns the allocation: give it to salloc or sbatch, and run oshrun inside",
    ),
];

/// The words of a table about an option.
fn find(table: &[Options], dashes: &str, name: &str) -> Option<&'static str> {
    // Open MPI and Slurm accept `--cpu_bind` for `--cpu-bind`.
    let plain = if name.len() > 1 { name.replace('_', "-") } else { name.into() };
    let found = table.iter().find(|Options(names, _)| {
        names.split_whitespace().any(|known| known == name || known == plain)
            && (name.len() > 1 || dashes.len() == 1)
    });
    found.map(|Options(_, advice)| *advice)
}

/// An option of another launcher.
#[derive(Debug, PartialEq, Eq)]
pub struct Foreign {
    /// As the user wrote it, without a value.
    option: String,
    advice: &'static str,
}

impl Foreign {
    /// Looks up an option that is not ours, `name` preceded by `dashes`, among those of other
    /// launchers. Options of one letter take one dash.
    pub fn look_up(dashes: &str, name: &str) -> Option<Self> {
        let advice = find(&TABLE, dashes, name)?;
        Some(Self { option: format!("{dashes}{name}"), advice })
    }

    /// The note for the user if such an option changes nothing here, so that it can be ignored.
    pub fn harmless(dashes: &str, name: &str) -> Option<String> {
        let why = find(&HARMLESS, dashes, name)?;
        Some(format!("note: the option '{dashes}{name}' of other launchers has no effect: {why}"))
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
    fn no_option_is_listed_twice_or_is_our_own() {
        let tables = || TABLE.iter().chain(&HARMLESS);
        let names = || tables().flat_map(|Options(names, _)| names.split_whitespace());
        let mut seen = HashSet::new();
        for name in names() {
            assert!(seen.insert(name), "{name}");
        }
        for arg in oneshmem_tools::cli::oshrun::command().get_arguments() {
            let short = arg.get_short().map(String::from);
            let own = arg.get_long().map(String::from).into_iter().chain(short);
            let own = own.chain(arg.get_all_aliases().into_iter().flatten().map(String::from));
            for name in own {
                assert!(!seen.contains(&*name), "{name}");
            }
        }
    }

    #[test]
    fn an_option_is_found_however_it_is_written() {
        let advice = |dashes, name| Foreign::look_up(dashes, name).map(|foreign| foreign.advice);
        let starts = |found: Option<&str>, text| found.is_some_and(|found| found.starts_with(text));
        assert!(starts(advice("-", "nodelist"), "--host"));
        assert!(starts(advice("--", "nodelist"), "--host"));
        assert!(starts(advice("--", "ntasks_per_node"), "-n PES"));
        assert!(starts(advice("-", "c"), "--cpus-per-pe N"));
        assert!(starts(advice("-", "launcher"), "--launch-agent"));
        assert!(starts(advice("--", "cpus-per-proc"), "--cpus-per-pe N"));
        assert!(starts(advice("--", "tune"), "SHMEM_TUNING"));
        assert_eq!(advice("--", "c"), None);
        assert_eq!(advice("--", "bogus"), None);
    }
}
