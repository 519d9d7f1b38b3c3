//! Is the job still going? Looked at by every PE that waits.
//!
//! Under `oshrun` the launcher sees PEs end and says so in the abort word. Under
//! other launchers the PEs of a node look after each other (`super::life`).

use super::abort::{self, AbortKind};
use super::control::{Control, Stage};
use super::file::JobFile;
use super::life::{self, Life};
use super::{Job, ending};
use crate::atomics::{AtomicBool, Ordering};
use crate::env;
use crate::failure;
use crate::job::launcher::Launcher;
use crate::message;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// How often a waiting PE looks for peers' signs of life.
const INTERVAL: Duration = Duration::from_millis(100);
/// How many of them it looks at each time, and in a large job: each look takes the kernel as long
/// as there are PEs.
const AT_ONCE: usize = 64;
const AT_ONCE_IN_CROWD: usize = 8;
/// How long the launcher may take to see a PE end.
const NOTICED: Duration = Duration::from_secs(1);

/// What a wait remembers between its looks at the peers.
#[derive(Debug, Default)]
pub struct Watch {
    looked: Option<Instant>,
    /// A PE that gives no sign of life, though its end has not been seen, and since when.
    silent: Option<(usize, Instant)>,
}

impl Watch {
    /// A wait that has not looked yet.
    pub const fn new() -> Self {
        Self { looked: None, silent: None }
    }
}

/// By how much longer PEs of a large job sleep and leave each other alone: so that all of them
/// together take no more of the machine than those of a small one.
pub fn crowd(npes: usize) -> u32 {
    /// Up to here it does not matter.
    const FEW: usize = 64;
    npes.div_ceil(FEW) as u32
}

/// Looks for peers that are gone, at most every `INTERVAL` (in a large job less often).
/// Returns whether it has looked.
pub fn check_peers(job: &Job, watch: &mut Watch) -> bool {
    let now = Instant::now();
    match watch.looked {
        Some(at) if now - at < INTERVAL * crowd(job.near.len()) => return false,
        _ => watch.looked = Some(now),
    }
    job.looked.fetch_add(at_once(job.near.len()), Ordering::Relaxed);
    check_left(job);
    check_silent(job, watch, now);
    check_gone(job);
    if let Some(engine) = job.engine() {
        engine.look();
    }
    if job.launcher != Launcher::Oshrun {
        check_arrivals(job, now);
    }
    true
}

fn at_once(npes: usize) -> usize {
    AT_ONCE.div_ceil(crowd(npes) as usize).max(AT_ONCE_IN_CROWD)
}

/// The peers to look at this time: a few, other ones each time, so that the cost of looking
/// grows with the number of PEs and not with its square. Every PE begins elsewhere, so a lost
/// peer is soon seen by somebody.
fn some_peers(job: &Job) -> impl Iterator<Item = usize> + '_ {
    let most = at_once(job.near.len());
    let first = job.pe + 1 + job.looked.load(Ordering::Relaxed);
    let near = job.near.len();
    (0..most.min(near - 1))
        .map(move |i| job.near.start + (first + i) % near)
        .filter(|pe| *pe != job.pe)
}

/// Peers that are initialised and give no sign of life.
fn check_silent(job: &Job, watch: &mut Watch, now: Instant) {
    let mut peers = watch.silent.iter().map(|(pe, _)| *pe).chain(some_peers(job));
    let silent = peers.find_map(|pe| Some((pe, silence(job, pe)?)));
    let since = silent.map(|(pe, _)| match watch.silent {
        Some((before, since)) if before == pe => since,
        _ => now,
    });
    watch.silent = silent.map(|(pe, _)| pe).zip(since);
    // The launcher sees a PE end, too, and can say how.
    let patience = if job.launcher == Launcher::Oshrun { NOTICED } else { Duration::ZERO };
    if let (Some((pe, life)), Some(since)) = (silent, since)
        && now - since >= patience
    {
        let what = match life {
            Life::Replaced => "runs another program now (exec), without having called",
            _ => "ended without calling",
        };
        lose(job, pe, format_args!("{what} shmem_finalize"));
    }
}

/// What has become of PE `pe` if it is initialised, gives no sign of life, and its end has not
/// been seen.
fn silence(job: &Job, pe: usize) -> Option<Life> {
    let ready = || job.control.pe(pe).stage() == Stage::Ready;
    if !ready() || is_gone(job, pe) {
        return None;
    }
    let life = life::of(job.control.job(), pe).ok()?;
    // Looked at again: it may have finalised in between.
    (life != Life::Alive && ready()).then_some(life)
}

/// Whether PE `pe`, of this node, runs another program though it has not finalised.
pub fn is_replaced(file: &Arc<JobFile>, pe: usize) -> bool {
    let replaced = || matches!(life::of(file, pe), Ok(Life::Replaced));
    let control = || Control::last(file, pe).ok().flatten();
    // Looked at again: it may have become another program in good order, and initialised.
    replaced() && control().is_some_and(|last| last.pe(pe).stage() == Stage::Ready) && replaced()
}

/// Peers that will never come to where this PE is: one has ended before its program
/// initialised, or after it finalised, while this PE has initialised again.
fn check_gone(job: &Job) {
    let absent = |pe: &usize| job.control.pe(*pe).stage() == Stage::Absent;
    if let Some(pe) = some_peers(job).filter(absent).find(|pe| is_gone(job, *pe)) {
        match job.control.generation() {
            0 => lose(job, pe, format_args!("ended without calling shmem_init")),
            before => lose(
                job,
                pe,
                format_args!(
                    "ended after {before} of the job's programs; this PE runs one more, and all PEs \
                 must run the same programs"
                ),
            ),
        }
    }
    let lifetime = job.lifetime.load(Ordering::Relaxed);
    let record = |pe: usize| job.control.pe(pe);
    let behind = |pe| record(pe).stage() == Stage::Finalized && record(pe).lifetime() < lifetime;
    let has_left = |pe: &usize| {
        let life = || life::of(job.control.job(), *pe);
        behind(*pe)
            && (is_gone(job, *pe) || matches!(life(), Ok(Life::Ended | Life::Replaced)))
            // Looked at again: it may have initialised in between, and died.
            && behind(*pe)
    };
    if let Some(pe) = some_peers(job).find(has_left) {
        lose(
            job,
            pe,
            format_args!(
                "ended after shmem_finalize, while this PE has initialised again and waits for it"
            ),
        );
    }
}

/// Whether the launcher has seen PE `pe` end.
fn is_gone(job: &Job, pe: usize) -> bool {
    job.control.job().member(pe).gone.load(Ordering::Relaxed) != 0
}

/// Ends the job because of PE `pe`. The first PE to see it says so.
fn lose(job: &Job, pe: usize, what: fmt::Arguments) -> ! {
    let file = job.control.job();
    if abort::raise(file, AbortKind::PeerDied, pe, 1) {
        match file.member(pe).pid.load(Ordering::Relaxed) {
            0 => message::say(format_args!("PE {pe} {what}; ending the job")),
            pid => message::say(format_args!("PE {pe} (pid {pid}) {what}; ending the job")),
        }
    }
    ending::end_job(1)
}

/// A PE finalises only after all have come to what it takes for the last barrier. Who has not,
/// or has come to it in another step, has made other calls and would wait for ever. (Who has
/// may still wait there: not all leave a barrier at the same time.)
fn check_left(job: &Job) {
    let lifetime = job.lifetime.load(Ordering::Relaxed);
    let record = |pe: usize| job.control.pe(pe);
    let last_step = |pe| record(pe).last_step.load(Ordering::Relaxed);
    let has_left = |pe: &usize| {
        record(*pe).stage() == Stage::Finalized
            && record(*pe).lifetime() == lifetime
            && last_step(*pe) != last_step(job.pe)
    };
    if let Some(pe) = some_peers(job).find(has_left) {
        failure::fatal(format_args!(
            "PE {pe} has finalised while this PE still waits in a collective or for an update; \
             all PEs must make the same collective calls in the same order"
        ));
    }
}

fn check_arrivals(job: &Job, now: Instant) {
    static STARTED: OnceLock<Instant> = OnceLock::new();
    let waited = now - *STARTED.get_or_init(|| now);
    let limit = env::STARTUP_TIMEOUT.seconds().ok().flatten().unwrap_or(60.0);
    if waited.as_secs_f64() < limit {
        return;
    }
    static ALL_ARRIVED: AtomicBool = AtomicBool::new(false);
    if ALL_ARRIVED.load(Ordering::Relaxed) {
        return;
    }
    let missing: Vec<_> = job.at_stage(Stage::Absent).map(|pe| pe.to_string()).collect();
    ALL_ARRIVED.store(missing.is_empty(), Ordering::Relaxed);
    if !missing.is_empty() {
        failure::fatal(format_args!(
            "PE {} of {} did not call shmem_init within {limit} s \
             (SHMEM_STARTUP_TIMEOUT sets how long to wait)",
            missing.join(", "),
            job.npes
        ));
    }
}
