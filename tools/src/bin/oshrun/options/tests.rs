//! Valid and invalid command lines.

use super::*;

fn parsed(line: &str) -> Result<Options, String> {
    try_parse(line.split(' ').map(OsString::from)).map_err(|error| error.to_string())
}

#[test]
fn the_table_is_consistent() {
    cli::oshrun::command().debug_assert();
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
    assert_eq!(options.bind, Bind::To(Place::Core));
    assert_eq!(options.map, Map { by: Place::Numa, each: None });
    assert!(options.report_bindings && options.tag_output);
    assert_eq!(options.timeout, Some(Duration::from_millis(1500)));
    assert_eq!(options.parts[0].wdir, Some("/tmp".into()));
    let pair = |a: &str, b: &str| (OsString::from(a), OsString::from(b));
    assert_eq!(options.parts[0].environment, [pair("A", "b=c"), pair("B", "")]);
}

#[test]
fn what_names_no_variable_is_refused() {
    for name in ["=1", "", "=", "A\nB=1", "A\nB", "A\tB=1"] {
        let error = parsed(&format!("oshrun -x {name} a")).expect_err(name);
        assert!(error.contains(&format!("-x {name:?}: expected VAR or VAR=VALUE")), "{error}");
    }
    // What is unusual but possible, such as a function of bash.
    let options = parsed("oshrun -x BASH_FUNC_f%%=() -x 1=a\nb a").unwrap();
    assert_eq!(options.parts[0].environment.len(), 2);
}

#[test]
fn files_that_never_end_are_refused() {
    for option in ["--hostfile", "--env-file"] {
        let error = parsed(&format!("oshrun -n 1 {option} /dev/zero a")).expect_err(option);
        assert!(error.contains(&format!("{option} /dev/zero: it has more than 16 MiB")), "{error}");
    }
}

#[test]
fn what_follows_the_program_is_its_own() {
    let options = parsed("oshrun -l a -np 4 --help -l").unwrap();
    assert_eq!(options.parts[0].npes, None);
    assert_eq!(options.parts[0].program, ["a", "-np", "4", "--help", "-l"]);
}

#[test]
fn a_colon_begins_another_part() {
    let options = parsed("oshrun -l -n 1 a x : -np 3 -x A=B -wdir /tmp a : y : -n2 b").unwrap_err();
    assert!(options.contains("how many PEs run 'y'?"), "{options}");
    let options = parsed("oshrun -l -n 1 a x : -np 3 -x A=B -wdir /tmp a : -n2 -- b : -l").unwrap();
    let parts: Vec<_> =
        options.parts.iter().map(|p| (p.npes, p.program.join(OsStr::new(" ")))).collect();
    let part = |npes, program: &str| (Some(npes), program.into());
    assert_eq!(parts, [part(1, "a x"), part(3, "a"), part(2, "b : -l")]);
    assert_eq!(options.parts[1].wdir, Some("/tmp".into()));
    assert_eq!(options.parts[1].environment.len(), 1);
    assert!(options.parts[0].environment.is_empty() && options.tag_output);
    // A colon within a word separates nothing.
    assert_eq!(parsed("oshrun a a:b :c").unwrap().parts.len(), 1);
    for (line, named) in [
        ("oshrun -n 2 a : b", "how many PEs run 'b'?"),
        ("oshrun a : -n 2 b", "how many PEs run 'a'?"),
        ("oshrun -n 2 a :", "no program given"),
        ("oshrun : -n 2 a", "no program given"),
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
        ("oshrun -np 2 -nodelist h a", "'-nodelist'", "--host"),
        ("oshrun -add-host=h -np 2 a", "'-add-host'", "--host"),
        ("oshrun --ntasks=4 a", "'--ntasks'", "-n"),
        ("oshrun -nolocal a", "'-nolocal'", "--host"),
        ("oshrun -xterm 1 a", "'-xterm'", "--debug"),
        ("oshrun -ppn 2 a", "'-ppn'", "-N PES"),
        ("oshrun --gpus-per-node=1 a", "'--gpus-per-node'", "salloc"),
        ("oshrun -genv A B a", "'-genv'", "-x VAR"),
        ("oshrun --mca btl self a", "'--mca'", "SHMEM_*"),
        // A value would follow in Slurm's srun.
        ("oshrun -q a", "'-q'", "omit it"),
    ] {
        let error = parsed(line).expect_err(line);
        assert!(error.contains(option) && error.contains(advice), "{line}: {error}");
    }
    // No letter of an unknown word is read as an option: `-h` is help.
    for line in ["oshrun -hello a", "oshrun -lo a", "oshrun -Vo a", "oshrun -nx 4 a"] {
        let error = parsed(line).expect_err(line);
        assert!(error.contains("unexpected argument"), "{line}: {error}");
    }
    assert!(parsed("oshrun -lh ./a").unwrap_err().contains("Usage"));
}

#[test]
fn harmless_options_of_other_launchers_are_ignored() {
    for option in ["--allow-run-as-root", "-v", "-verbose", "-quiet", "--kill-on-bad-exit=1", "-u"]
    {
        let options = parsed(&format!("oshrun {option} -n 2 a b")).unwrap();
        assert_eq!(options.parts[0].npes, Some(2), "{option}");
        assert_eq!(options.parts[0].program, ["a", "b"], "{option}");
    }
}

#[test]
fn so_many_pes_on_each_host() {
    let npes = |line| parsed(line).unwrap().parts.iter().map(|part| part.npes).collect::<Vec<_>>();
    assert_eq!(npes("oshrun -N 3 a"), [Some(3)]);
    assert_eq!(npes("oshrun -N3 a"), [Some(3)]);
    assert_eq!(npes("oshrun --npernode 3 -n 2 a"), [Some(2)]);
    let slots = |line| {
        let hosts = parsed(line).unwrap().hosts.unwrap();
        hosts.list.iter().map(|host| host.slots).collect::<Vec<_>>()
    };
    assert_eq!(slots("oshrun --host a,b -N 2 p"), [Some(2), Some(2)]);
    assert_eq!(slots("oshrun --host a:3,b:2 -N 2 p"), [Some(2), Some(2)]);
    for (line, named) in [
        ("oshrun -N 2 -n 3 a", "-N 2 allows 2 PEs on this machine, but the job has 3"),
        ("oshrun -N 2 -n 1 a : -n 2 a", "but the job has 3"),
        ("oshrun -N 2 --host a:1,b:2 a", "-N 2: a has only 1 slot"),
        ("oshrun -N 0 a", "--npernode"),
        ("oshrun -n 1 a : -n 1 -N 1 a", "'--npernode' is for the whole job"),
    ] {
        let error = parsed(line).expect_err(line);
        assert!(error.contains(named), "{line}: {error}");
    }
}

#[test]
fn all_pes_or_some_are_debugged() {
    let debug = |line| parsed(line).unwrap().debug;
    assert_eq!(debug("oshrun a"), None);
    // The next argument is the program.
    assert_eq!(debug("oshrun -debug a"), Some(Pes::All));
    assert_eq!(parsed("oshrun --debug 0 a").unwrap().parts[0].program, ["0", "a"]);
    assert_eq!(debug("oshrun --debug=0,2-3 a"), Some(Pes::Some(vec![0, 2, 3])));
    let error = parsed("oshrun --debug=x a").unwrap_err();
    assert!(error.contains("expected numbers of PEs") && error.contains("'x'"), "{error}");
}

#[test]
fn help_is_printed_whatever_follows() {
    for line in [
        "oshrun --help",
        "oshrun -h ./a",
        "oshrun -n 2 -help a b",
        "oshrun --help -n 2 a",
        "oshrun --help binding",
    ] {
        assert!(parsed(line).unwrap_err().contains("--bind-to"), "{line}");
    }
    assert!(!parsed("oshrun --help status").unwrap_err().contains("--bind-to"));
}

#[test]
fn an_unknown_topic_of_help_is_told_with_the_topics() {
    for line in ["oshrun --help nonsense", "oshrun -h nonsense", "oshrun --help=nonsense"] {
        let error = parsed(line).unwrap_err();
        let topics = topics::TOPICS.iter().all(|topic| error.contains(topic.name));
        assert!(error.contains("invalid value 'nonsense'") && topics, "{line}: {error}");
    }
}

#[test]
fn hosts_are_listed_in_the_ways_of_other_launchers() {
    for line in [
        "oshrun --host a,b:2 -n 2 p",
        "oshrun -host a:1,b:2 p",
        "oshrun -hosts a:1,b:2 p",
        "oshrun -H a:1,b:2 p",
    ] {
        let options = parsed(line);
        assert_eq!(options.is_ok(), !line.contains("a,b:2"), "{line}");
        let Some(hosts) = options.ok().and_then(|options| options.hosts) else { continue };
        assert_eq!(hosts.list.len(), 2, "{line}");
        assert!(hosts.agent.is_empty() && hosts.prefix.is_none(), "{line}");
    }
    let options = parsed("oshrun --host a --launch-agent ip\u{a0}x --prefix /opt/o p").unwrap();
    assert_eq!(options.hosts.unwrap().prefix, Some("/opt/o".into()));
    for (line, named) in [
        ("oshrun --prefix /x p", "--prefix needs --host"),
        ("oshrun --launch-agent ssh p", "--launch-agent needs --host"),
        ("oshrun --host a --hostfile f p", "not both"),
        ("oshrun --host a:0 p", "--host a:0"),
        ("oshrun --hostfile /nowhere/hosts p", "/nowhere/hosts: No such file"),
        ("oshrun --host a --launch-agent ' p", "expected a command"),
    ] {
        let error = parsed(line).expect_err(line);
        assert!(error.contains(named), "{line}: {error}");
    }
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
    assert_eq!(parsed("oshrun -map-by numa a").unwrap().bind, Bind::To(Place::Core));
    let options = parsed("oshrun --map-by ppr:2:socket --bind-to l3 --cpu-set 3,0-1,1 a").unwrap();
    assert_eq!(options.map, Map { by: Place::Socket, each: Some(2) });
    assert_eq!(options.bind, Bind::To(Place::L3));
    assert_eq!(options.cpu_set, Some(vec![0, 1, 3]));
    assert_eq!(parsed("oshrun -map-by numa -bind-to none a").unwrap().bind, Bind::None);
    assert_eq!(parsed("oshrun -map-by hwthread a").unwrap().bind, Bind::To(Place::HwThread));
    assert_eq!(parsed("oshrun -map-by slot -bind-to slot a").unwrap().bind, Bind::To(Place::Core));
    assert_eq!(parsed("oshrun --bind-to hwthread a").unwrap().bind, Bind::To(Place::HwThread));
}

#[test]
fn each_pe_gets_several_cpus() {
    for (line, bind, by) in [
        ("--cpus-per-pe 3", Bind::To(Place::Core), Place::Core),
        ("-cpus-per-pe 3 --bind-to hwthread", Bind::To(Place::HwThread), Place::Core),
        ("--cpus-per-pe 3 --bind-to none", Bind::None, Place::Core),
        ("--bind-to core:3", Bind::To(Place::Core), Place::Core),
        ("--map-by slot:PE=3", Bind::To(Place::Core), Place::Core),
        ("--map-by hwthread:PE=3", Bind::To(Place::HwThread), Place::HwThread),
        ("--map-by ppr:2:numa:PE=3 --cpus-per-pe 3", Bind::To(Place::Core), Place::Numa),
    ] {
        let options = parsed(&format!("oshrun {line} -x OMP_NUM_THREADS=7 a")).expect(line);
        assert_eq!((options.cpus_per_pe, options.bind), (Some(3), bind), "{line}");
        assert_eq!(options.map.by, by, "{line}");
        // The user's number counts.
        assert_eq!(options.parts[0].variable("OMP_NUM_THREADS").as_deref(), Some(OsStr::new("7")));
    }
    assert_eq!(parsed("oshrun --bind-to core a").unwrap().cpus_per_pe, None);
}

#[test]
fn a_wrong_line_is_refused_and_the_option_named() {
    for (line, named) in [
        ("oshrun -np 0 a", "--np"),
        ("oshrun -n -3 a", "-3"),
        ("oshrun -n four a", "four"),
        ("oshrun -np 5000 a", "5000"),
        ("oshrun --bogus a", "--bogus"),
        ("oshrun -bind-to board a", "board"),
        ("oshrun -map-by board a", "expected hwthread, slot, core, l3, numa"),
        ("oshrun -map-by node --host b,c -n 2 a", "PEs are numbered host by host"),
        ("oshrun -map-by core:PE=0 a", "expected a number of CPUs from 1 to 1024"),
        ("oshrun -map-by core:4 a", "core:PE=4"),
        ("oshrun -bind-to numa:2 a", "core:N or hwthread:N"),
        ("oshrun -bind-to core:x a", "expected a number of CPUs"),
        ("oshrun --cpus-per-pe -1 a", "-1"),
        (
            "oshrun --cpus-per-pe 2 -bind-to socket a",
            "--bind-to socket would give it all of a socket",
        ),
        (
            "oshrun --cpus-per-pe 2 -bind-to core:4 a",
            "--cpus-per-pe gives each PE 2 CPUs, but --bind-to gives it 4",
        ),
        ("oshrun -n 1 a : -n 1 --cpus-per-pe 2 a", "'--cpus-per-pe' is for the whole job"),
        ("oshrun -map-by ppr:0:socket a", "ppr:N:WHAT"),
        ("oshrun -map-by ppr:2 a", "ppr:N:WHAT"),
        ("oshrun -map-by ppr:2:board a", "ppr:N:WHAT"),
        ("oshrun --cpu-set 1,x a", "found 'x'"),
        ("oshrun --cpu-set 3-1 a", "found '3-1'"),
        ("oshrun --cpu-set 0-99999999999 a", "expected numbers of CPUs below 1024"),
        ("oshrun --env-file /nowhere/variables a", "/nowhere/variables: No such file"),
        ("oshrun -n 1 a : -n 1 --output-filename d a", "'--output-filename' is for the whole job"),
        ("oshrun --timeout 0 a", "--timeout"),
        ("oshrun --timeout -1 a", "-1"),
        ("oshrun -x", "-x"),
    ] {
        let error = parsed(line).expect_err(line);
        assert!(error.contains(named), "{line}: {error}");
    }
}
