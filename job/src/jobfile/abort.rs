//! Why a job ends early: one word in the job's head, set once and visible to all PEs.
//!
//! ```text
//!  63    56 55           32 31            0
//!  |  kind |       pe      |     status    |       0: the job is alive
//! ```
//!
//! The first PE to [`raise`] a cause decides the job's cause and status; later ones find the word
//! set and accept it. A waiting PE checks the word each time it polls. A PE that a signal ends says so
//! first of all, before anything that could hang or fault again ([`AbortKind::Dying`]); whoever sees it
//! end, the launcher or a peer, puts the cause in the place of that.

use super::JobFile;
use crate::atomics::Ordering;
use std::time::Duration;

/// How long the PEs of a job on several nodes have to see that it has ended, until those that
/// compute get a signal.
pub const NOTICE: Duration = Duration::from_millis(100);

/// How long the launcher may take to see a PE end.
pub const NOTICED: Duration = Duration::from_secs(1);

/// The cause of the job's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum AbortKind {
    /// A PE called `shmem_global_exit`.
    GlobalExit = 1,
    /// The library ended it, because of a misuse or an error from which it cannot continue. The PE
    /// has already reported it.
    Fatal = 2,
    /// The launcher ended it: a PE died, the time limit was reached, or a signal asked for it.
    Launcher = 3,
    /// A PE found a peer dead (under launchers that do not watch PEs).
    PeerDied = 4,
    /// A PE dies of the signal `status` - 128, and may still be reporting where.
    Dying = 5,
}

impl AbortKind {
    /// Whether it says how a dying PE has ended.
    const fn settles(self) -> bool {
        matches!(self, Self::Launcher | Self::PeerDied)
    }
}

/// Why a job ends: what happened, at which PE, and the job's exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The kind of cause.
    pub kind: AbortKind,
    /// The PE that caused it or that it happened to.
    pub pe: usize,
    /// The job's exit status.
    pub status: i32,
}

const PE_SHIFT: u32 = 32;
const PE_MASK: u64 = (1 << 24) - 1;
const KIND_SHIFT: u32 = 56;

/// Encodes a cause as a word, which is never 0.
pub const fn encode(kind: AbortKind, pe: usize, status: i32) -> u64 {
    (kind as u64) << KIND_SHIFT | (pe as u64 & PE_MASK) << PE_SHIFT | status as u32 as u64
}

/// Decodes a word; `None` if it is 0. A word that is invalid (another process can write there)
/// counts as a fatal error with status 1.
pub const fn decode(word: u64) -> Option<Cause> {
    if word == 0 {
        return None;
    }
    let status = word as u32 as i32;
    let (kind, status) = match word >> KIND_SHIFT {
        1 => (AbortKind::GlobalExit, status),
        2 => (AbortKind::Fatal, status),
        3 => (AbortKind::Launcher, status),
        4 => (AbortKind::PeerDied, status),
        5 => (AbortKind::Dying, status),
        _ => (AbortKind::Fatal, 1),
    };
    Some(Cause { kind, pe: (word >> PE_SHIFT & PE_MASK) as usize, status })
}

/// Why the job is ending; `None` if it is not.
pub fn cause(job: &JobFile) -> Option<Cause> {
    decode(job.header().abort.load(Ordering::Acquire))
}

/// Ends the job with a word that a PE of another node has raised.
pub fn accept(job: &JobFile, word: u64) {
    // If the job is already ending, the first cause counts.
    set(job, word, false);
}

/// Ends the job for this cause. `false` if it is already ending: the first cause counts.
pub fn raise(job: &JobFile, kind: AbortKind, pe: usize, status: i32) -> bool {
    set(job, encode(kind, pe, status), kind.settles())
}

/// Sets the word if there is none, or if it `settles` how a dying PE has ended.
fn set(job: &JobFile, word: u64, settles: bool) -> bool {
    let is_dying = |old| decode(old).is_some_and(|cause| cause.kind == AbortKind::Dying);
    let next = |old| (old == 0 || settles && is_dying(old)).then_some(word);
    job.header().abort.fetch_update(Ordering::AcqRel, Ordering::Acquire, next).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_survives_the_word() {
        for kind in [
            AbortKind::GlobalExit,
            AbortKind::Fatal,
            AbortKind::Launcher,
            AbortKind::PeerDied,
            AbortKind::Dying,
        ] {
            for pe in [0, 1, 4095] {
                for status in [0, 1, 255, -1, i32::MIN, i32::MAX] {
                    let word = encode(kind, pe, status);
                    assert_ne!(word, 0);
                    assert_eq!(decode(word), Some(Cause { kind, pe, status }));
                }
            }
        }
        assert_eq!(decode(0), None);
        for invalid in [7, 0x1000, 6 << KIND_SHIFT] {
            assert_eq!(decode(invalid), Some(Cause { kind: AbortKind::Fatal, pe: 0, status: 1 }));
        }
    }

    #[test]
    fn the_first_cause_stands() {
        let job = JobFile::create(2).expect("a job's file");
        assert_eq!(cause(&job), None);
        assert!(raise(&job, AbortKind::GlobalExit, 1, 7));
        assert!(!raise(&job, AbortKind::Launcher, 0, 9));
        assert_eq!(cause(&job), Some(Cause { kind: AbortKind::GlobalExit, pe: 1, status: 7 }));
    }

    #[test]
    fn how_a_dying_pe_has_ended_is_the_cause() {
        for kind in [AbortKind::Launcher, AbortKind::PeerDied] {
            let job = JobFile::create(3).expect("a job's file");
            assert!(raise(&job, AbortKind::Dying, 1, 139));
            // What others do meanwhile is no cause, nor is a second death.
            for late in [AbortKind::GlobalExit, AbortKind::Fatal, AbortKind::Dying] {
                assert!(!raise(&job, late, 2, 9));
            }
            assert!(raise(&job, kind, 1, 139));
            assert!(!raise(&job, kind, 0, 1));
            assert_eq!(cause(&job), Some(Cause { kind, pe: 1, status: 139 }));
        }
    }
}
