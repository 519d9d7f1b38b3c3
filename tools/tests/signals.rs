//! Signals: forwarded, repeated, and the one that cannot be caught.

mod support;
use oneshmem::translate::MAX_PES;
use support::*;

/// A script that writes its pid to a file, then does `body`.
fn announced(scratch: &Scratch, body: &str) -> String {
    format!("echo $$ > {}/$$; {body}", scratch.0.display())
}

const FOREVER: &str = "while :; do sleep 0.01; done";

#[test]
fn signals_reach_every_pe() {
    for signal in ["INT", "TERM", "HUP", "USR1", "USR2", "QUIT"] {
        let scratch = Scratch::new(&format!("forward-{signal}"));
        // The trap stands before the PE is announced.
        let forever = announced(&scratch, FOREVER);
        let body = format!("trap 'echo got {signal}; exit 0' {signal}; {forever}");
        let job = start(script("-n 3", &body));
        let pids = scratch.pids(3);
        job.signal(signal);
        let done = job.finish().ended_with(0);
        assert_eq!(done.stdout.matches(&format!("got {signal}\n")).count(), 3, "{done:?}");
        all_gone(&pids);
    }
}

#[test]
fn the_user_ends_the_job() {
    for (signal, number) in [("INT", 2), ("TERM", 15)] {
        let scratch = Scratch::new(&format!("end-{signal}"));
        let job = start(script("-n 3", &announced(&scratch, "exec sleep 1000")));
        let pids = scratch.pids(3);
        job.signal(signal);
        let done = job.finish().ended_with(128 + number);
        assert_eq!(done.stderr.lines().count(), 1, "{done:?}");
        assert!(done.stderr.contains(&format!("SIG{signal}")), "{done:?}");
        all_gone(&pids);
    }
}

#[test]
fn pes_that_do_not_listen_end_at_the_second_signal() {
    let scratch = Scratch::new("insist");
    let body = format!("trap '' INT TERM; {}", announced(&scratch, FOREVER));
    let job = start(script("-n 3", &body));
    let pids = scratch.pids(3);
    job.signal("INT");
    std::thread::sleep(std::time::Duration::from_millis(100));
    assert!(pids.iter().all(|pid| state(*pid).is_some()), "one signal is not enough");
    job.signal("TERM");
    let done = job.finish().ended_with(128 + 15);
    assert!(done.stderr.contains("SIGTERM again"), "{done:?}");
    all_gone(&pids);
}

#[test]
fn a_job_is_stopped_and_goes_on() {
    let scratch = Scratch::new("stop");
    // One process a PE: a shell can be stopped while it waits for a child to start, and
    // then does not count as stopped.
    let job = start(script("-n 2", &announced(&scratch, "exec sleep 1000")));
    let mut pids = scratch.pids(2);
    pids.push(job.pid());
    let all = |wanted: fn(char) -> bool| {
        eventually("all processes change their state", || {
            pids.iter().all(|pid| state(*pid).is_some_and(wanted)).then_some(())
        });
    };
    job.signal("TSTP");
    all(|state| state == 'T');
    job.signal("CONT");
    all(|state| state != 'T');
    job.signal("USR1");
    job.finish().ended_with(128 + 10);
}

#[test]
fn a_job_whose_pes_end_while_it_is_stopped_does_not_stand_still() {
    let scratch = Scratch::new("stopped");
    let job = start(script("-n 2", &announced(&scratch, "exec sleep 0.5")));
    let pids = scratch.pids(2);
    job.signal("STOP");
    let ended = |pid: &u32| state(*pid) == Some('Z');
    eventually("both PEs have ended", || pids.iter().all(ended).then_some(()));
    // So long that the launcher's next look for a standstill is due, too.
    std::thread::sleep(std::time::Duration::from_millis(2500));
    job.signal("CONT");
    assert_eq!(job.finish().ended_with(0).stderr, "");
}

#[test]
fn pes_die_with_their_launcher() {
    let scratch = Scratch::new("kill");
    let job = start(script("-n 4", &announced(&scratch, FOREVER)));
    let pids = scratch.pids(4);
    job.signal("KILL");
    all_gone(&pids);
    assert_eq!(job.finish().status.code(), None);
}

#[test]
fn what_pes_have_started_dies_with_the_launcher() {
    let scratch = Scratch::new("kill-scripts");
    let sleeper = "sleep 1000 & echo $! >";
    let body = format!("{sleeper} {}/$!; wait", scratch.0.display());
    let job = start(script("-n 3", &body));
    let pids = scratch.pids(3);
    job.signal("KILL");
    all_gone(&pids);
}

#[test]
fn no_process_is_left_after_a_good_end() {
    let scratch = Scratch::new("guard");
    let body = announced(&scratch, "trap 'exit 0' USR1; while :; do sleep 0.01; done");
    let job = start(script("-n 2", &body));
    scratch.pids(2);
    let children = format!("/proc/{0}/task/{0}/children", job.pid());
    let children = std::fs::read_to_string(children).unwrap();
    let children: Vec<u32> = children.split_whitespace().map(|pid| pid.parse().unwrap()).collect();
    assert_eq!(children.len(), 3, "two PEs and the guard");
    job.signal("USR1");
    job.finish();
    assert!(children.iter().all(|pid| state(*pid).is_none()), "collected, every one");
}

#[test]
fn two_jobs_do_not_meet() {
    let scratches = [Scratch::new("first"), Scratch::new("second")];
    let jobs = scratches.each_ref().map(|s| start(script("-n 2", &announced(s, FOREVER))));
    let pids = scratches.each_ref().map(|s| s.pids(2));
    let [first, second] = jobs;
    first.signal("TERM");
    first.finish().ended_with(128 + 15);
    all_gone(&pids[0]);
    assert!(pids[1].iter().all(|pid| state(*pid).is_some()));
    second.signal("TERM");
    second.finish().ended_with(128 + 15);
}

#[test]
fn a_pe_that_has_left_its_process_group_is_signalled() {
    let job = start(pe("-n 2", "regroup 0 0"));
    let children = format!("/proc/{0}/task/{0}/children", job.pid());
    // The guard and the PEs; they begin in the launcher's group.
    let launchers = group(job.pid()).unwrap();
    eventually("a PE has moved", || {
        let children = std::fs::read_to_string(&children).ok()?;
        let mut pids = children.split_whitespace().map(|pid| pid.parse::<u32>().unwrap());
        pids.any(|pid| group(pid).is_some_and(|g| g != pid && g != launchers)).then_some(())
    });
    job.signal("TERM");
    let done = job.finish().ended_with(128 + 15);
    assert_eq!(done.pids().len(), 4, "{done:?}");
    all_gone(&done.pids());
}

fn group(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.split(' ').nth(2)?.parse().ok()
}

/// So many PEs that they are still being started when the first of them runs.
const MANY: usize = if MAX_PES < 1000 { MAX_PES } else { 1000 };

#[test]
fn a_signal_ends_the_job_while_it_starts() {
    for (signal, number) in [("INT", 2), ("TERM", 15)] {
        let scratch = Scratch::new(&format!("early-{signal}"));
        let job = start(script(&format!("-n {MANY}"), &announced(&scratch, "exec sleep 1000")));
        eventually("a PE runs", || scratch.files().checked_sub(1));
        job.signal(signal);
        let done = job.finish().ended_with(128 + number);
        assert!(done.stderr.contains(&format!("the job ends on signal {number}")), "{done:?}");
        assert!(scratch.files() < MANY, "all PEs were started before the signal was seen");
    }
}

#[test]
fn the_time_may_be_up_and_a_pe_dead_while_the_job_starts() {
    let scratch = Scratch::new("early-time");
    let arguments = format!("-n {MANY} --timeout 0.05");
    let done = run(script(&arguments, &announced(&scratch, "exec sleep 1000"))).ended_with(124);
    assert!(scratch.files() < MANY, "the time counts from the beginning: {done:?}");
    let scratch = Scratch::new("early-death");
    let die = announced(&scratch, "case $ONESHMEM_PE in 0:*) exit 3;; esac; exec sleep 1000");
    let done = run(script(&format!("-n {MANY}"), &die)).ended_with(3);
    assert!(done.stderr.contains("PE 0 (pid "), "{done:?}");
    assert!(scratch.files() < MANY, "the start ends when a PE dies");
}
