//! What a PE finds when it starts, and jobs that do not start.

mod support;
use support::*;

use std::fs;
use std::os::unix::fs::PermissionsExt;

#[test]
fn a_pe_knows_its_place_and_inherits_the_jobs_file() {
    let done = run(script(
        "-n 3",
        r#"IFS=: read pe npes fd launcher <<- end
		$ONESHMEM_PE
		end
        [ $launcher = $PPID ] || echo wrong launcher
        echo $pe of $npes $(readlink /proc/self/fd/$fd)"#,
    ))
    .ended_with(0);
    let file = "/memfd:oneshmem (deleted)";
    assert_eq!(done.lines(), [0, 1, 2].map(|pe| format!("{pe} of 3 {file}")));
}

#[test]
fn a_pe_starts_clean() {
    // The job's file is all that is added to what the launcher was started with.
    let count = "ls /proc/self/fd | wc -l";
    let before = std::process::Command::new("sh").args(["-c", count]).output().unwrap().stdout;
    let before: usize = String::from_utf8(before).unwrap().trim().parse().unwrap();
    let done = run(script("-n 2", count)).ended_with(0);
    assert_eq!(done.stdout, format!("{0}\n{0}\n", before + 1));
    let done = run(oshrun("-n 1 grep -E Sig(Blk|Ign) /proc/self/status")).ended_with(0);
    for line in done.stdout.lines() {
        let mask = u64::from_str_radix(line.split_whitespace().nth(1).unwrap(), 16).unwrap();
        // Real-time signals are not touched, nor is the hang-up that nohup ignores.
        assert_eq!(mask & 0x7fff_fffe, 0, "{line}");
    }
}

#[test]
fn by_default_there_is_a_pe_for_each_usable_cpu() {
    let cpus = std::thread::available_parallelism().unwrap().get();
    let done = run(oshrun("echo here")).ended_with(0);
    assert_eq!(done.stdout.lines().count(), cpus);
}

#[test]
fn environment_and_directory() {
    let done = run(script("-n 2 -x A=1 -x B=x=y -wdir /proc", "echo $A $B $(pwd)")).ended_with(0);
    assert_eq!(done.stdout, "1 x=y /proc\n1 x=y /proc\n");
    let mut command = script("-n 1 -x OSHRUN_TEST_A -x OSHRUN_TEST_B", "echo $OSHRUN_TEST_A");
    command.env("OSHRUN_TEST_A", "inherited");
    let done = run(command).ended_with(0);
    assert_eq!(done.stdout, "inherited\n");
    assert!(done.stderr.contains("OSHRUN_TEST_B"), "{done:?}");
}

#[test]
fn harmless_options_of_other_launchers_are_noted() {
    let done = run(oshrun("--allow-run-as-root -n 1 -v echo hello")).ended_with(0);
    assert_eq!(done.stdout, "hello\n");
    let lines: Vec<_> = done.stderr.lines().collect();
    assert_eq!(
        lines[0],
        "oshrun: note: the option '--allow-run-as-root' of other launchers has no effect: any user \
         may run jobs"
    );
    assert!(lines[1].starts_with("oshrun: note: the option '-v' "), "{done:?}");
    assert_eq!(lines.len(), 2, "{done:?}");
}

#[test]
fn variables_of_a_file() {
    let scratch = Scratch::new("env-file");
    let file = scratch.0.join("variables");
    fs::write(&file, "# two\n\nA=1\nB= x=y \n").unwrap();
    let arguments = format!("-n 1 --env-file {} -x A=2", file.display());
    let done = run(script(&arguments, r#"echo "$A,$B,""#)).ended_with(0);
    assert_eq!(done.stdout, "2, x=y ,\n");
    fs::write(&file, "A=1\nexport B\n").unwrap();
    let done = run(script(&arguments, "echo never")).ended_with(2);
    assert!(done.stdout.is_empty(), "{done:?}");
    assert!(
        done.stderr.contains("variables: line 2: expected VAR=VALUE, found 'export B'"),
        "{done:?}"
    );
}

#[test]
fn some_cpus_only() {
    let text = "grep Cpus_allowed_list /proc/self/status | cut -f2";
    let usable = run(script("-n 1", text)).stdout;
    let first = usable.trim().split(['-', ',']).next().unwrap().to_owned();
    // As many PEs as the set has CPUs, all of them bound.
    for bind in ["none", "core", "l3", "numa", "socket"] {
        let done = run(script(&format!("--cpu-set {first} --bind-to {bind}"), text)).ended_with(0);
        assert_eq!(done.lines(), [&first]);
    }
    let done = run(script("--cpu-set 0,1023 -n 1", text)).ended_with(1);
    for words in ["--cpu-set: oshrun may not use CPU", "1023; it may use CPU"] {
        assert!(done.stderr.contains(words), "{done:?}");
    }
    // Of what this machine has of each, there is at least one.
    for place in ["core", "l3", "numa", "socket", "node"] {
        let arguments = format!("--cpu-set {first} --map-by ppr:3:{place}");
        let done = run(script(&arguments, text)).ended_with(0);
        assert_eq!(done.lines(), [&first; 3]);
        let done = run(script(&format!("{arguments} -n 4"), text)).ended_with(1);
        assert!(done.stderr.contains(&format!("ppr:3:{place} has room for 3 PEs")), "{done:?}");
    }
}

#[test]
fn pes_are_bound_and_it_is_reported() {
    let script_text = "grep Cpus_allowed_list /proc/self/status | cut -f2";
    let usable = run(script("-n 1", script_text)).stdout;
    for bind in ["core", "hwthread"] {
        let arguments = format!("-n 2 --bind-to {bind} -report-bindings");
        let done = run(script(&arguments, script_text)).ended_with(0);
        for (pe, line) in done.stderr.lines().enumerate().take(2) {
            assert!(line.contains(&format!("PE {pe} (pid ")), "{done:?}");
        }
        // The picture has both, in order.
        let drawn: Vec<_> = done.stderr.lines().filter(|line| line.starts_with("    [")).collect();
        assert!(drawn.concat().contains('0') && drawn.concat().contains('1'), "{done:?}");
        let mut bound = done.lines();
        bound.dedup();
        if usable.trim().contains(['-', ',']) {
            assert_eq!(bound.len(), 2, "two places for two PEs: {done:?}");
        }
        for cpus in bound {
            assert!(done.stderr.contains(&format!(" {cpus} (core")), "{done:?}");
        }
    }
    let done = run(script("-n 1 --bind-to none --report-bindings", script_text)).ended_with(0);
    assert_eq!(done.stdout, usable);
    assert!(done.stderr.contains("not bound"), "{done:?}");
}

#[test]
fn each_pe_has_cpus_for_its_threads() {
    let text = r#"echo "$(grep Cpus_allowed_list /proc/self/status | cut -f2) $OMP_NUM_THREADS""#;
    let started = |arguments: &str| {
        let mut command = script(arguments, text);
        command.env_remove("OMP_NUM_THREADS");
        run(command)
    };
    let usable = started("-n 1 --bind-to none").ended_with(0).stdout.trim().to_owned();
    let first = usable.split(['-', ',']).next().unwrap();
    for arguments in ["--cpus-per-pe 1", "--map-by core:PE=1", "--bind-to hwthread:1"] {
        // Of one CPU, a PE gets one; there is room for no other.
        let done = started(&format!("--cpu-set {first} {arguments}")).ended_with(0);
        assert_eq!(done.lines(), [format!("{first} 1")], "{done:?}");
        assert!(done.stderr.contains("note: OMP_NUM_THREADS=1 is set for the PEs"), "{done:?}");
        let done = started(&format!("-x OMP_NUM_THREADS=9 --cpu-set {first} {arguments}"));
        assert_eq!((&*done.stdout, &*done.stderr), (&*format!("{first} 9\n"), ""));
    }
    let done = started(&format!("--cpu-set {first} --cpus-per-pe 2")).ended_with(1);
    let words = "each PE is to have 2 cores of one node, but there are 1 that oshrun may use";
    assert!(done.stdout.is_empty() && done.stderr.contains(words), "{done:?}");
    if let Some((first, last)) = usable.split_once('-').filter(|(_, last)| !last.contains(',')) {
        let all = last.parse::<usize>().unwrap() - first.parse::<usize>().unwrap() + 1;
        let done = started(&format!("--bind-to hwthread:{all}")).ended_with(0);
        assert_eq!(done.lines(), [format!("{usable} {all}")], "{done:?}");
        // On a host, too. The shell stands for the remote one, and runs this launcher.
        let mut command = oshrun(&format!("--host a:1 --bind-to hwthread:{all}"));
        let agent = concat!("sh -c 'exec \"", env!("CARGO_BIN_EXE_oshrun"), "\" --node' sh");
        command.args(["--launch-agent", agent, "sh", "-c", text]);
        let done = run({
            command.env_remove("OMP_NUM_THREADS");
            command
        });
        assert_eq!(done.ended_with(0).lines(), [format!("{usable} {all}")]);
    }
}

#[test]
fn what_cannot_be_run_is_said_once() {
    let scratch = Scratch::new("start");
    let file = |name: &str, text: &str, mode| {
        let path = scratch.0.join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path.display().to_string()
    };
    let plain = file("plain", "#!/bin/sh\n", 0o644);
    let interpreter = file("interpreter", "#!/nonexistent/interpreter\n", 0o755);
    let directory = scratch.0.display().to_string();
    for (program, status) in [
        ("oshrun-test-no-such-program", 127),
        ("./no/such/program", 127),
        (&*interpreter, 127),
        (&*plain, 126),
        (&*directory, 126),
    ] {
        let done = run(oshrun(&format!("-n 4 {program}"))).ended_with(status);
        assert_eq!(done.stderr.lines().count(), 1, "{done:?}");
        assert!(done.stderr.starts_with(&format!("oshrun: {program}")), "{done:?}");
    }
    file("here", "#!/bin/sh\n", 0o755);
    let mut command = oshrun("-n 2 here");
    command.current_dir(&scratch.0);
    let done = run(command).ended_with(127);
    assert!(done.stderr.contains("did you mean ./here?"), "{done:?}");
    let done = run(oshrun(&format!("-n 2 -wdir {directory} ./here"))).ended_with(0);
    assert_eq!(done.stderr, "");
    let done = run(oshrun("-n 2 -wdir /no/such/directory true")).ended_with(1);
    assert!(done.stderr.contains("--wdir /no/such/directory"), "{done:?}");
}

#[test]
fn help_and_version() {
    for option in ["--help", "-help", "-h"] {
        let done = run(oshrun(option)).ended_with(0);
        for named in ["--np", "--bind-to", "--map-by", "--timeout", "--tag-output", "--wdir"] {
            assert!(done.stdout.contains(named), "{option}: {named}");
        }
    }
    for option in ["--version", "-version", "-V"] {
        assert!(run(oshrun(option)).ended_with(0).stdout.starts_with("oshrun "));
    }
    let done = run(oshrun("-n 2")).ended_with(2);
    assert!(done.stderr.contains("no program given"), "{done:?}");
    run(oshrun("-bogus true")).ended_with(2);
}

#[test]
fn programs_of_other_implementations_are_refused() {
    let scratch = Scratch::new("other-implementation");
    let cc = |arguments: &str| {
        let mut command = std::process::Command::new("cc");
        command.current_dir(&scratch.0).args(arguments.split(' '));
        run(command).ended_with(0);
    };
    fs::write(scratch.0.join("empty.c"), "").unwrap();
    fs::write(scratch.0.join("main.c"), "int main(void) { return 0; }\n").unwrap();
    for name in ["liboshmem.so.40", "libsma.so.8", "libshmem.so.1", "libmpi.so.40"] {
        cc(&format!("-shared -fPIC -Wl,-soname,{name} empty.c -o {name}"));
    }
    for (libraries, is_refused) in [
        ("liboshmem.so.40", true),
        ("libmpi.so.40 libsma.so.8", true),
        ("libsma.so.8 libshmem.so.1", false),
        ("libmpi.so.40", false),
    ] {
        cc(&format!(
            "main.c -Wl,--no-as-needed {libraries} -Wl,-rpath,{} -o a",
            scratch.0.display()
        ));
        let done = run(oshrun(&format!("-n 2 -wdir {} ./a", scratch.0.display())));
        let done = done.ended_with(if is_refused { 126 } else { 0 });
        assert_eq!(done.stderr.lines().count(), usize::from(is_refused), "{done:?}");
        let library = libraries.split(' ').next_back().unwrap();
        let words = [library, "another OpenSHMEM implementation", "oshcc"];
        assert!(!is_refused || words.iter().all(|word| done.stderr.contains(word)), "{done:?}");
    }
}

#[test]
fn options_of_other_launchers_run_nothing() {
    for option in ["-nodelist a,b", "-add-host a", "--ntasks=3", "-ppn 2", "-mca btl self"] {
        let done = run(oshrun(&format!("-np 2 {option} echo ran"))).ended_with(2);
        assert_eq!(done.stdout, "", "{option}");
        let name = option.split([' ', '=']).next().unwrap();
        assert!(done.stderr.contains(&format!("'{name}', which other launchers have")), "{done:?}");
    }
}

#[test]
fn parts_with_arguments_of_their_own() {
    let show = r#"echo ${ONESHMEM_PE%:*:*} $0 $A $(pwd)"#;
    let mut command = oshrun("-n 1 -x A=1 -wdir /proc sh -c");
    command.args([show, "master", ":", "-n", "2", "sh", "-c", show, "worker"]);
    command.args([":", "-n", "1", "-wdir", "/dev", "--", "sh", "-c", show, ":"]);
    let done = run(command).ended_with(0);
    let here = std::env::current_dir().unwrap();
    let here = here.display();
    let expected =
        ["0:4 master 1 /proc".into(), format!("1:4 worker {here}"), format!("2:4 worker {here}")];
    assert_eq!(done.lines()[..3], expected);
    assert_eq!(done.lines()[3], "3:4 : /dev");
    // All are one job: what one PE waits for, the others bring.
    let mut command = pe("-n 1", "finalize 2 7");
    let program = command.get_args().nth(4).unwrap().to_owned();
    command.args([":", "-n", "2"]).arg(program).args(["finalize", "2", "7"]);
    assert_eq!(run(command).ended_with(7).stdout.matches("outlived").count(), 2);
    // A name that is wrong in any part starts nothing.
    let done = run(oshrun("-n 1 echo ran : -n 1 oshrun-test-no-such-program")).ended_with(127);
    assert_eq!(done.stdout, "");
}

#[test]
fn many_more_pes_than_open_files_allow_at_first() {
    let mut command = std::process::Command::new("sh");
    let oshrun = env!("CARGO_BIN_EXE_oshrun");
    command.args(["-c", &format!("ulimit -Sn 64; exec {oshrun} -n 80 sh -c 'ulimit -Sn'")]);
    let done = run(command).ended_with(0);
    assert_eq!(done.stdout, "64\n".repeat(80));
}

#[test]
fn a_limit_on_the_stack_does_not_matter_or_is_told() {
    let oshrun = env!("CARGO_BIN_EXE_oshrun");
    let under = |limit: usize, arguments: &str| {
        let mut command = std::process::Command::new("bash");
        command.args(["-c", &format!("ulimit -s {limit}; exec {oshrun} {arguments}")]);
        // The environment lies on the stack, too.
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        run(command)
    };
    let done = under(16, "-n 1 true").ended_with(1);
    assert_eq!(
        done.stderr,
        "oshrun: the limit on the stack (ulimit -s) is 16 kB; expected 64 or more\n"
    );
    // What is not optimised takes more of it.
    let enough = if cfg!(debug_assertions) { 96 } else { 64 };
    let done = under(enough, "-n 2 -l --bind-to core -x A=1 echo ok").ended_with(0);
    assert_eq!(done.stdout.len(), 14);
    under(enough, "--help all").ended_with(0);
}

#[test]
fn a_limit_on_the_size_of_files_does_not_matter_or_is_told() {
    let program = pe("", "").get_args().nth(2).unwrap().to_string_lossy().into_owned();
    let oshrun = env!("CARGO_BIN_EXE_oshrun");
    let shell = |line: &str| {
        let mut command = std::process::Command::new("bash");
        command.args(["-c", line]);
        run(command)
    };
    // The soft limit is raised for the job's file, and PEs have what they would have.
    for launcher in [&format!("{oshrun} -n 2"), ""] {
        shell(&format!("ulimit -Sf 1000; {launcher} {program} finalize 9 0")).ended_with(0);
        let done = shell(&format!("ulimit -f 1000; {launcher} {program} finalize 9 0"));
        assert_eq!(done.status.code(), Some(1), "{done:?}");
        assert!(done.stderr.contains("larger than 1024000 bytes (ulimit -Hf)"), "{done:?}");
    }
    let done = shell(&format!("ulimit -Sf 1000; {oshrun} -n 2 bash -c 'ulimit -f'")).ended_with(0);
    assert_eq!(done.stdout, "1000\n1000\n");
}

#[test]
fn programs_are_found_without_path() {
    let scratch = Scratch::new("path");
    let file = scratch.0.join("here");
    fs::write(&file, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    let unset = |arguments: &str| {
        let mut command = oshrun(arguments);
        command.current_dir(&scratch.0);
        // `env` itself is looked up in this process's.
        let mut bare = std::process::Command::new("env");
        bare.args(["-u", "PATH"]).args(command.get_args()).current_dir(&scratch.0);
        run(bare)
    };
    unset("-n 2 true").ended_with(0);
    // Not in the current directory, which an empty PATH means.
    let done = unset("-n 2 here").ended_with(127);
    assert!(done.stderr.contains("PATH is not set"), "{done:?}");
    run(oshrun("-n 2 -x PATH= true")).ended_with(127);
}

#[test]
fn without_dev_null_the_message_says_so() {
    let line =
        format!("mount -t tmpfs none /dev && exec {} -n 2 true", env!("CARGO_BIN_EXE_oshrun"));
    let unshare = |arguments: &[&str]| {
        let mut command = std::process::Command::new("unshare");
        command.arg("-rm").args(arguments);
        run(command)
    };
    if !unshare(&["true"]).status.success() {
        println!("not tested: namespaces are not allowed here");
        return;
    }
    let done = unshare(&["sh", "-c", &line]).ended_with(1);
    assert!(done.stderr.contains("/dev/null") && done.stderr.contains("No such file"), "{done:?}");
}
