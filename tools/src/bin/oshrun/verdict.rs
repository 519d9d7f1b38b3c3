//! What the end of one PE means for the job.

use super::process::End;
use nix::sys::signal::Signal;
use oneshmem::job::control::Stage;

/// What the end of a PE means.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing: it has done its work. Its exit status counts.
    Fine(i32),
    /// The job cannot go on: why, and the status it ends with.
    Fatal(String, i32),
}

/// Judges a PE that ended as `end` at this stage of its life; `implicit` if its
/// program's end is to finalise (after `start_pes`). One that never initialised the
/// library is no concern of this one: peers that wait for it will say so.
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

/// A signal in words.
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
