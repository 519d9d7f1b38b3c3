//! Is the job still going? Looked at by every PE that waits.
//!
//! Under `oshrun` the launcher sees PEs end and says so in the abort word. Under
//! other launchers the PEs look after each other: each holds a lock on one byte of
//! the job's file, which the kernel drops when the process ends, however it ends.

use super::abort::{self, Kind};
use super::control::Stage;
use super::{Job, existing};
use crate::atomics::Ordering;
use crate::env;
use crate::error;
use crate::job::launch::Launcher;
use crate::sys::{ending, process};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// How often a waiting PE looks for peers' signs of life.
const INTERVAL: Duration = Duration::from_millis(100);
/// How long the launcher may take to see a PE end.
const NOTICED: Duration = Duration::from_secs(1);
/// How long PEs may take to leave by themselves when the job is ended.
const GRACE: Duration = Duration::from_millis(200);

/// Looks whether the job was ended; if so, ends this process too. Cheap.
#[inline]
pub fn look(job: &Job) {
    let word = job.control().header().abort.load(Ordering::Relaxed);
    if word != 0 {
        leave(word);
    }
}

/// When the job is being ended, a PE that computes is told so by SIGTERM: it writes
/// out its streams, as `shmem_global_exit` promises, and leaves. Writing them is nothing for a
/// signal handler; should it fail in the middle of what was interrupted, SIGKILL follows
/// shortly, and the PE has lost no more than it would have anyway.
pub(super) fn leave_when_told() {
    crate::sys::signal::before_terminating(|| {
        if super::fork::is_child() {
            return false;
        }
        if ending::hurry() {
            return true;
        }
        if let Some(job) = existing() {
            look(job);
        }
        false
    });
}

#[cold]
fn leave(word: u64) -> ! {
    ending::flush_and_exit(abort::decode(word).map_or(1, |abort| abort.status))
}

/// What a wait remembers between its looks at the peers.
#[derive(Debug, Default)]
pub struct Watch {
    looked: Option<Instant>,
    /// Since when a PE that has not ended gives no sign of life.
    silent: Option<Instant>,
}

impl Watch {
    /// A wait that has not looked yet.
    pub const fn new() -> Self {
        Self { looked: None, silent: None }
    }
}

/// Looks for peers that are gone, at most every `INTERVAL`.
pub fn check_peers(job: &Job, watch: &mut Watch) {
    let now = Instant::now();
    match watch.looked {
        Some(at) if now - at < INTERVAL => return,
        _ => watch.looked = Some(now),
    }
    check_left(job);
    if job.launcher != Launcher::Oshrun {
        check_signs_of_life(job);
        check_arrivals(job, now);
    } else if let Some(pe) =
        job.at_stage(Stage::Absent).find(|pe| job.control.pe(*pe).gone.load(Ordering::Relaxed) != 0)
    {
        error::fatal(format_args!("PE {pe} ended without calling shmem_init"));
    } else {
        check_silent(job, watch, now);
    }
}

/// A process whose sign of life is gone, and which has not ended, has become another program
/// that knows nothing of the job.
fn check_silent(job: &Job, watch: &mut Watch, now: Instant) {
    let silent = silent_peers(job).find(|pe| job.control.pe(*pe).gone.load(Ordering::Relaxed) == 0);
    match (silent, watch.silent) {
        (None, _) => watch.silent = None,
        (Some(_), None) => watch.silent = Some(now),
        (Some(pe), Some(since)) if now - since >= NOTICED => error::fatal(format_args!(
            "PE {pe} (pid {}) runs another program now (exec), without having called \
             shmem_finalize",
            job.control.pe(pe).pid.load(Ordering::Relaxed)
        )),
        _ => {}
    }
}

/// Peers that are initialised and give no sign of life.
fn silent_peers(job: &Job) -> impl Iterator<Item = usize> + '_ {
    let silent = |pe: &usize| matches!(job.control.living(*pe), Ok(None));
    // Looked at again: it may have finalised in between.
    let ready = |pe: &usize| job.control.pe(*pe).stage() == Stage::Ready;
    job.at_stage(Stage::Ready).filter(|pe| *pe != job.pe).filter(silent).filter(ready)
}

/// A PE finalises only after all have come to what it takes for the last barrier. Who has not,
/// or has come to it in another step, has made other calls and would wait for ever. (Who has
/// may still wait there: not all leave a barrier at the same time.)
fn check_left(job: &Job) {
    let session = job.session.load(Ordering::Relaxed);
    let last_step = |pe| job.control.pe(pe).last_step.load(Ordering::Relaxed);
    let left = job
        .at_stage(Stage::Finalized)
        .find(|pe| job.control.pe(*pe).session() == session && last_step(*pe) != last_step(job.pe));
    if let Some(pe) = left {
        error::fatal(format_args!(
            "PE {pe} has finalised while this PE still waits in a collective or for an update; \
             all PEs must make the same collective calls in the same order"
        ));
    }
}

fn check_signs_of_life(job: &Job) {
    if let Some(pe) = silent_peers(job).next() {
        let pid = job.control.pe(pe).pid.load(Ordering::Relaxed);
        if abort::raise(&job.control, Kind::PeerDied, pe, 1) {
            error::say(format_args!(
                "PE {pe} (pid {pid}) ended without calling shmem_finalize; ending the job"
            ));
        }
        end_job(1);
    }
}

fn check_arrivals(job: &Job, now: Instant) {
    static STARTED: OnceLock<Instant> = OnceLock::new();
    let waited = now - *STARTED.get_or_init(|| now);
    let limit = env::STARTUP_TIMEOUT.seconds().ok().flatten().unwrap_or(60.0);
    if waited.as_secs_f64() < limit {
        return;
    }
    let missing: Vec<_> = job.at_stage(Stage::Absent).map(|pe| pe.to_string()).collect();
    if !missing.is_empty() {
        error::fatal(format_args!(
            "PE {} of {} did not call shmem_init within {limit} s \
             (SHMEM_STARTUP_TIMEOUT sets how long to wait)",
            missing.join(", "),
            job.npes
        ));
    }
}

/// Ends the whole job with `status`, this process last. The abort word has been
/// raised by the caller.
pub fn end_job(status: i32) -> ! {
    if ending::begin()
        && let Some(job) = existing()
        && job.launcher.leaves_ending_to_pes()
        && job.npes > 1
    {
        let peers = || (0..job.npes).filter(|pe| *pe != job.pe);
        let holder = |pe: usize| job.control.living(pe).ok().flatten();
        // Those who wait see the word; those who compute are told; the rest are made to.
        for signal in [libc::SIGTERM, libc::SIGKILL] {
            let until = Instant::now() + GRACE;
            while Instant::now() < until && peers().any(|pe| holder(pe).is_some()) {
                std::thread::sleep(Duration::from_millis(5));
            }
            for pid in peers().filter_map(holder).filter(|pid| *pid > 0) {
                process::kill(pid, signal);
            }
        }
    }
    ending::flush_and_exit(status)
}
