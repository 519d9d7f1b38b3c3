//! Checks, in every wait, whether the job can still make progress.
//!
//! Under `oshrun` the launcher sees PEs end and sets the abort word. Under other launchers the PEs
//! of a node watch each other (`jobfile::life`).

use crate::atomics::{AtomicBool, Ordering};
use crate::failure;
use crate::failure::ending::{self, patience};
use crate::pe::Job;
use crate::pe::launcher::Launcher;
use onenode_core::sys::process;
use oneshmem_job::env;
use oneshmem_job::jobfile::abort::NOTICED;
use oneshmem_job::jobfile::control::Stage;
use oneshmem_job::jobfile::life::{self, Life, REPLACED};
use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// How often a waiting PE checks that peers are alive.
const INTERVAL: Duration = Duration::from_millis(100);
/// How many peers it checks each time, usually and in a large job, where each check takes the
/// kernel time in proportion to the number of PEs.
const AT_ONCE: usize = 64;
const AT_ONCE_IN_CROWD: usize = 8;
/// How often a PE that cannot reach another looks why.
const LOOK: Duration = Duration::from_millis(1);

/// The state of a wait between checks of its peers.
#[derive(Debug, Default)]
pub struct Watch {
    looked: Option<Instant>,
    /// How often the wait has checked; it saturates.
    checks: u8,
    /// A PE that gives no sign of life although its end has not been seen, and since when.
    silent: Option<(usize, Instant)>,
}

impl Watch {
    /// The state of a wait that has not checked yet.
    pub const fn new() -> Self {
        Self { looked: None, checks: 0, silent: None }
    }

    /// How often the wait has checked; it saturates.
    pub const fn checks(&self) -> u8 {
        self.checks
    }
}

/// The factor by which PEs of a large job sleep longer and check each other less often, so that all
/// of them together use no more of the machine than those of a small one.
pub fn crowd(npes: usize) -> u32 {
    /// Up to this size it makes no difference.
    const FEW: usize = 64;
    npes.div_ceil(FEW) as u32
}

/// Checks for peers that have ended, at most every `INTERVAL` (less often in a large job). Returns
/// whether it has checked.
pub fn check_peers(job: &Job, watch: &mut Watch) -> bool {
    let now = Instant::now();
    match watch.looked {
        Some(at) if now - at < INTERVAL * crowd(job.near.len()) => return false,
        _ => watch.looked = Some(now),
    }
    watch.checks = watch.checks.saturating_add(1);
    job.looked.fetch_add(at_once(job.near.len()), Ordering::Relaxed);
    check_left(job);
    check_silent(job, watch, now);
    check_gone(job);
    if let Some(network) = job.network() {
        network.check_connections();
    }
    if job.launcher != Launcher::Oshrun {
        check_arrivals(job, now);
    }
    true
}

/// How many nanoseconds of CPU time the other PEs have used that are on this PE's CPU, as far as known.
#[cold]
pub(crate) fn time_of_neighbours(job: &Job) -> u64 {
    job.note_cpu();
    let others = job.control.neighbours(job.pe);
    others.filter_map(|pe| job.control.job().pid(pe)).map(process::time_of).sum()
}

fn at_once(npes: usize) -> usize {
    AT_ONCE.div_ceil(crowd(npes) as usize).max(AT_ONCE_IN_CROWD)
}

/// The peers to check this time: a few, and different ones each time, so that the total cost grows
/// with the number of PEs and not with its square. Every PE starts at a different peer, so some PE
/// soon notices a lost one.
fn some_peers(job: &Job) -> impl Iterator<Item = usize> + use<> {
    peers_after(job.near.clone(), job.pe, job.looked.load(Ordering::Relaxed))
        .take(at_once(job.near.len()))
}

/// The other PEs of a node, which has the PEs `near`, in a circle: first the one that is `skipped`
/// places behind the successor of PE `pe`.
fn peers_after(near: Range<usize>, pe: usize, skipped: usize) -> impl Iterator<Item = usize> {
    let others = near.len() - 1;
    let own = pe - near.start;
    (0..others).map(move |i| {
        let place = 1 + (skipped % others + i) % others;
        near.start + (own + place) % near.len()
    })
}

/// Checks for peers that are initialised and give no sign of life.
fn check_silent(job: &Job, watch: &mut Watch, now: Instant) {
    let mut peers = watch.silent.iter().map(|(pe, _)| *pe).chain(some_peers(job));
    let silent = peers.find_map(|pe| Some((pe, silence(job, pe)?)));
    let since = silent.map(|(pe, _)| match watch.silent {
        Some((before, since)) if before == pe => since,
        _ => now,
    });
    watch.silent = silent.map(|(pe, _)| pe).zip(since);
    let is_over = since.is_some_and(|since| now - since >= patience(job));
    if let (Some((pe, life)), true) = (silent, is_over) {
        lose_silent(job, pe, life);
    }
}

/// Ends the job because of PE `pe`, which gives no sign of life.
fn lose_silent(job: &Job, pe: usize, life: Life) -> ! {
    let what = match life {
        Life::Replaced => REPLACED,
        _ => "ended without calling shmem_finalize",
    };
    lose(job, pe, format_args!("{what}"))
}

/// How PE `pe` ended, if it is initialised, gives no sign of life, and its end has not been seen.
fn silence(job: &Job, pe: usize) -> Option<Life> {
    let ready = || job.control.pe(pe).stage() == Stage::Ready;
    if !ready() || is_gone(job, pe) {
        return None;
    }
    let life = life::of(job.control.job(), pe).ok()?;
    // Checked again: it may have finalised in between.
    (life != Life::Alive && ready()).then_some(life)
}

/// Checks for peers that will never take part: one that ended before its program initialised, or
/// after it finalised while this PE has initialised again.
fn check_gone(job: &Job) {
    let absent = |pe: &usize| job.control.pe(*pe).stage() == Stage::Absent;
    if let Some(pe) = some_peers(job).filter(absent).find(|pe| is_gone(job, *pe)) {
        // Its launcher has seen how it ended, and is about to say so.
        if job.launcher == Launcher::Oshrun {
            ending::give_way(job);
        }
        lose_missing(job, pe, false);
    }
    let lifetime = job.lifetime.load(Ordering::Relaxed);
    let record = |pe: usize| job.control.pe(pe);
    let behind = |pe| record(pe).stage() == Stage::Finalized && record(pe).lifetime() < lifetime;
    let has_left = |pe: &usize| {
        let life = || life::of(job.control.job(), *pe);
        behind(*pe)
            && (is_gone(job, *pe) || matches!(life(), Ok(Life::Ended | Life::Replaced)))
            // Checked again: it may have initialised in between, and died.
            && behind(*pe)
    };
    if let Some(pe) = some_peers(job).find(has_left) {
        lose_missing(job, pe, true);
    }
}

/// Ends the job because of PE `pe`, whose process has ended and for which this PE waits.
/// `has_begun`: it has begun the program that this PE runs, though not this lifetime.
pub(crate) fn lose_missing(job: &Job, pe: usize, has_begun: bool) -> ! {
    let lose = |what: fmt::Arguments| lose(job, pe, what);
    match (has_begun, job.control.generation()) {
        (true, _) => lose(format_args!(
            "ended after shmem_finalize, while this PE has initialised again and waits for it"
        )),
        (false, 0) => lose(format_args!("ended without calling shmem_init")),
        (false, before) => lose(format_args!(
            "ended after {before} of the job's programs; this PE runs one more, and all PEs must run \
             the same programs"
        )),
    }
}

/// Whether the launcher has seen PE `pe` end.
fn is_gone(job: &Job, pe: usize) -> bool {
    job.control.job().member(pe).gone.load(Ordering::Relaxed) != 0
}

/// Ends the job because of PE `pe`.
fn lose(job: &Job, pe: usize, what: fmt::Arguments) -> ! {
    ending::lose(job, pe, 1, what)
}

/// Ends this process if PE `pe` of this node, which cannot be reached, has died. That is the cause,
/// to be reported instead of what follows from it: by the launcher, which gets some time to see it, or
/// by a peer. Returns if the PE has not died.
pub fn leave_if_dead(job: &Job, pe: usize) {
    let until = Instant::now() + NOTICED;
    loop {
        ending::look(job);
        let is_over = Instant::now() >= until;
        if let Some(life) = silence(job, pe).filter(|_| is_over || patience(job).is_zero()) {
            lose_silent(job, pe, life);
        }
        if is_over {
            return;
        }
        process::sleep(LOOK);
    }
}

/// Checks for a peer that has finalised without this PE. A PE finalises only after all PEs have
/// entered the last barrier. A PE that has not entered it, or entered it at a different step, has
/// made different calls and would wait for ever. (A PE that has entered it may still be waiting
/// there, because PEs do not leave a barrier at the same time.)
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

/// How many seconds PEs wait for each other to come.
pub(crate) fn limit() -> f64 {
    env::STARTUP_TIMEOUT.seconds().ok().flatten().unwrap_or(60.0)
}

/// The message on PEs that have not come in time.
pub(crate) fn absent(missing: &[usize], npes: usize) -> String {
    let missing: Vec<_> = missing.iter().map(usize::to_string).collect();
    format!(
        "PE {} of {npes} did not call shmem_init within {} s (SHMEM_STARTUP_TIMEOUT sets how long to \
         wait)",
        missing.join(", "),
        limit()
    )
}

fn check_arrivals(job: &Job, now: Instant) {
    static STARTED: OnceLock<Instant> = OnceLock::new();
    let waited = now - *STARTED.get_or_init(|| now);
    let limit = limit();
    if waited.as_secs_f64() < limit {
        return;
    }
    static ALL_ARRIVED: AtomicBool = AtomicBool::new(false);
    if ALL_ARRIVED.load(Ordering::Relaxed) {
        return;
    }
    let missing: Vec<_> = job.at_stage(Stage::Absent).collect();
    ALL_ARRIVED.store(missing.is_empty(), Ordering::Relaxed);
    if !missing.is_empty() {
        failure::fatal(format_args!("{}", absent(&missing, job.npes)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_peer_has_its_turn() {
        for start in [0, 1, 3, 8] {
            for npes in 1..200_usize {
                let near = start..start + npes;
                let turns = npes.div_ceil(at_once(npes));
                for pe in [start, start + npes / 2, start + npes - 1] {
                    let looked: BTreeSet<_> = (0..=turns)
                        .map(|turn| turn * at_once(npes))
                        .flat_map(|skipped| {
                            peers_after(near.clone(), pe, skipped).take(at_once(npes))
                        })
                        .collect();
                    let others = near.clone().filter(|other| *other != pe).collect();
                    assert_eq!(looked, others, "PE {pe} of {near:?}");
                }
            }
        }
    }
}
