//! How jobs end, and that nothing is left of them.

mod support;
use support::*;

#[test]
fn a_pe_killed_by_a_signal_ends_the_job() {
    let done = run(pe("-n 4", "abort 2")).ended_with(128 + 6);
    let message = &done.stderr;
    assert!(message.contains("PE 2 (pid ") && message.contains("SIGABRT"), "{done:?}");
    assert!(done.pids().iter().any(|pid| message.contains(&format!("(pid {pid})"))), "{done:?}");
    // The PE tells where it was. The launcher has one line for that, and others only for PEs that
    // have begun to wait.
    let own = message.lines().filter(|line| line.starts_with("oshrun: "));
    let (waits, told): (Vec<_>, Vec<_>) = own.partition(|line| line.contains("waiting for"));
    assert_eq!(told.len(), 1, "{done:?}");
    assert!(waits.iter().all(|line| line.contains("waiting for PE ")), "{done:?}");
    assert!(message.contains("oneshmem: PE 2: SIGABRT in\n"), "{done:?}");
    // It may die before PE 3 is started.
    assert!((3..=4).contains(&done.pids().len()), "{done:?}");
    all_gone(&done.pids());
}

#[test]
fn a_pe_that_leaves_without_finalize_ends_the_job() {
    let done = run(pe("-n 3", "exit 1 5")).ended_with(5);
    assert!(done.stderr.contains("PE 1 (pid "), "{done:?}");
    assert!(done.stderr.contains("exited with status 5 without calling shmem_finalize"));
    all_gone(&done.pids());
    let done = run(pe("-n 3", "exit 2 0")).ended_with(1);
    assert!(done.stderr.contains("PE 2 (pid "), "{done:?}");
    assert!(done.stderr.contains("exited without calling shmem_finalize"), "{done:?}");
    all_gone(&done.pids());
}

#[test]
fn after_finalize_a_status_is_only_a_status() {
    let done = run(pe("-n 3", "finalize 1 6")).ended_with(6);
    assert_eq!(done.stderr, "");
    assert_eq!(done.stdout.matches("outlived").count(), 2, "{done:?}");
    run(pe("-n 3", "finalize 1 0")).ended_with(0);
}

#[test]
fn after_start_pes_the_end_finalises() {
    assert_eq!(run(pe("-n 3", "start_pes")).ended_with(0).stderr, "");
}

#[test]
fn global_exit_ends_pes_that_compute() {
    for status in [0, 7, 255] {
        let done = run(pe("-n 3", &format!("global_exit 1 {status}"))).ended_with(status);
        assert_eq!(done.stderr, "");
        assert!(done.stdout.contains("pid "));
        all_gone(&done.pids());
    }
}

#[test]
fn a_pe_that_never_comes_is_not_waited_for() {
    let done = run(pe("-n 3", "absent 1"));
    assert!(!done.status.success(), "{done:?}");
    assert!(done.stderr.contains("PE 1") && done.stderr.contains("shmem_init"), "{done:?}");
    all_gone(&done.pids());
}

#[test]
fn programs_that_are_no_pes_end_the_job_with_their_status() {
    let sleeper = "echo pid $$; case $ONESHMEM_PE in 1:*) exit 9;; esac; exec sleep 1000";
    let done = run(script("-n 3", sleeper)).ended_with(9);
    assert!(done.stderr.contains("PE 1 (pid "), "{done:?}");
    all_gone(&done.pids());
}

#[test]
fn a_script_takes_what_it_started_with_it() {
    // The crash of one PE ends the others' children too, those that ignore SIGTERM as well.
    let scratch = Scratch::new("script");
    let text = format!(
        "trap '' TERM; cd {}; sleep 1000 & echo pid $!; echo pid $$; touch $$
         case $ONESHMEM_PE in 1:*)
            while [ $(ls | wc -l) -lt 3 ]; do sleep 0.01; done; kill -KILL $$;;
         esac; wait",
        scratch.0.display()
    );
    let done = run(script("-n 3", &text)).ended_with(128 + 9);
    assert_eq!(done.pids().len(), 6);
    all_gone(&done.pids());
    // Nor does one survive the normal end.
    let done = run(script("-n 2", "sleep 1000 > /dev/null 2>&1 & echo pid $!")).ended_with(0);
    assert_eq!(done.pids().len(), 2);
    all_gone(&done.pids());
}

#[test]
fn what_a_pe_started_may_finish_its_output() {
    let done = run(script("-n 2", "(sleep 0.1; echo late) &")).ended_with(0);
    assert_eq!(done.stdout, "late\nlate\n");
}

#[test]
fn the_last_words_come_before_the_message() {
    let mut command = std::process::Command::new("sh");
    let oshrun = env!("CARGO_BIN_EXE_oshrun");
    command.args(["-c", &format!("{oshrun} -n 1 sh -c 'echo last words; kill -9 $$' 2>&1")]);
    let done = run(command).ended_with(128 + 9);
    let lines: Vec<_> = done.stdout.lines().collect();
    assert_eq!(lines.len(), 2, "{done:?}");
    assert_eq!(lines[0], "last words");
    assert!(lines[1].contains("signal 9 (SIGKILL)"));
}

#[test]
fn a_real_time_signal_is_a_signal() {
    let done = run(script("-n 1", "kill -40 $$")).ended_with(128 + 40);
    assert!(done.stderr.contains("killed by signal 40"), "{done:?}");
}

#[test]
fn the_time_is_up() {
    let done = run(script("-n 2 -timeout 0.3", "echo pid $$; exec sleep 1000")).ended_with(124);
    assert!(done.stderr.contains("did not end within"), "{done:?}");
    all_gone(&done.pids());
    run(oshrun("-n 2 --timeout 50 true")).ended_with(0);
}

#[test]
fn what_a_pe_has_moved_to_another_session_ends_with_the_job() {
    // The shell that starts it is gone at once, so that it is nobody's child.
    let leave = "(setsid sh -c 'echo pid $$; sleep 1000 & echo pid $!; wait' &); sleep 0.3";
    for status in [0, 3] {
        let done = run(script("-n 2", &format!("{leave}; exit {status}"))).ended_with(status);
        assert_eq!(done.pids().len(), 4, "{done:?}");
        all_gone(&done.pids());
    }
}

#[test]
fn a_pe_that_has_left_its_process_group_ends_with_the_job() {
    for (option, ending, status) in
        [("", "regroup 0 5", 5), ("--timeout 0.5", "regroup 0 0", 124), ("", "regroup 1 4", 4)]
    {
        let done = run(pe(&format!("-n 2 {option}"), ending)).ended_with(status);
        assert_eq!(done.pids().len(), 4, "{done:?}");
        all_gone(&done.pids());
    }
}
