//! The consequences of one PE's end for the job.

use super::process::End;
use nix::sys::signal::Signal;
use oneshmem_job::jobfile::control::Stage;

/// The consequence of a PE's end.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    /// None: it has done its work. Its exit status counts.
    Fine(i32),
    /// The job cannot go on: the reason, and the exit status of the job.
    Fatal(String, i32),
}

/// Judges a PE that ended as `end` at this stage. `implicit` says that the end of its program
/// finalises (after `start_pes`). A PE that never initialised the library is ignored: peers that
/// wait for it will report it.
pub fn judge(end: End, stage: Stage, implicit: bool) -> Verdict {
    let unfinished = "without calling shmem_finalize";
    match end {
        End::Killed(signal, core) => {
            let core = if core { ", core dumped" } else { "" };
            let why = format!("was killed by {}{core}", signal_name(signal));
            Verdict::Fatal(why, 128 + signal)
        }
        End::Exited(status) if stage == Stage::Finalized => Verdict::Fine(status),
        End::Exited(0) if stage == Stage::Absent || implicit => Verdict::Fine(0),
        End::Exited(0) => Verdict::Fatal(format!("exited {unfinished}"), 1),
        End::Exited(status) => {
            Verdict::Fatal(format!("exited with status {status} {unfinished}"), status)
        }
    }
}

/// Whether the end is a bus error. With XPMEM, memory disappears with its owner. Other PEs that
/// access it get SIGBUS, and may be seen to end first.
pub fn is_bus_error(end: End) -> bool {
    matches!(end, End::Killed(libc::SIGBUS, _))
}

/// Sorts PEs that ended together by how likely they are the cause: first those that were killed,
/// then those that exited, last those that died in the memory of another PE, which they have
/// `blamed`.
pub fn sort_causes(ended: &mut [(usize, End)], blamed: impl Fn(usize) -> Option<usize>) {
    ended.sort_by_key(|(pe, end)| {
        let victim = is_bus_error(*end) && blamed(*pe).is_some();
        (victim, matches!(end, End::Exited(_)))
    });
}

/// Names a signal.
pub fn signal_name(signal: i32) -> String {
    match Signal::try_from(signal) {
        Ok(name) => format!("signal {signal} ({name})"),
        Err(_) => format!("signal {signal}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_died_in_anothers_memory_is_not_the_cause() {
        let bus = End::Killed(libc::SIGBUS, false);
        let (exit, kill) = (End::Exited(3), End::Killed(9, false));
        let first = |mut ended: Vec<(usize, End)>, victims: &[usize]| {
            sort_causes(&mut ended, |pe| victims.contains(&pe).then_some(1));
            ended[0]
        };
        assert_eq!(first(vec![(0, bus), (1, exit)], &[0]), (1, exit));
        assert_eq!(first(vec![(1, exit), (0, bus)], &[0]), (1, exit));
        assert_eq!(first(vec![(0, bus), (1, kill), (2, exit)], &[0]), (1, kill));
        assert_eq!(first(vec![(0, bus), (2, bus)], &[0]), (2, bus));
        // If no PE is blamed, it counts as any other death.
        assert_eq!(first(vec![(1, exit), (0, bus)], &[]), (0, bus));
        assert_eq!(first(vec![(1, exit), (2, kill)], &[2]), (2, kill));
    }

    #[test]
    fn every_end_is_judged() {
        let killed = |signal, stage| judge(End::Killed(signal, false), stage, false);
        let exited = |status, stage| judge(End::Exited(status), stage, false);
        let fatal = |why: &str, status| Verdict::Fatal(why.into(), status);
        let without = "without calling shmem_finalize";

        assert_eq!(exited(0, Stage::Absent), Verdict::Fine(0));
        assert_eq!(exited(0, Stage::Ready), fatal(&format!("exited {without}"), 1));
        assert_eq!(exited(0, Stage::Finalized), Verdict::Fine(0));
        assert_eq!(exited(3, Stage::Finalized), Verdict::Fine(3));
        for stage in [Stage::Absent, Stage::Ready] {
            assert_eq!(exited(3, stage), fatal(&format!("exited with status 3 {without}"), 3));
        }
        for stage in [Stage::Absent, Stage::Ready, Stage::Finalized] {
            assert_eq!(killed(11, stage), fatal("was killed by signal 11 (SIGSEGV)", 139));
            assert_eq!(killed(40, stage), fatal("was killed by signal 40", 168));
        }
        assert_eq!(judge(End::Exited(0), Stage::Ready, true), Verdict::Fine(0));
        assert_eq!(
            judge(End::Killed(6, true), Stage::Ready, true),
            fatal("was killed by signal 6 (SIGABRT), core dumped", 134)
        );
    }
}
