//! Ending a job early: this PE ends, and if necessary ends the others.

use super::fault;
use crate::atomics::{Ordering, fence};
use crate::message;
use crate::pe::launcher::Launcher;
use crate::pe::{Job, existing, is_child};
use crate::sys::{ending, signal, streams};
use onenode_core::sys::process;
use oneshmem_job::jobfile::JobFile;
use oneshmem_job::jobfile::abort::{self, AbortKind, Cause, NOTICED};
use oneshmem_job::jobfile::control::Stage;
use oneshmem_job::jobfile::life::{self, Life};
use std::fmt;
use std::time::{Duration, Instant};

/// How long PEs may take to end by themselves when the job ends.
const GRACE: Duration = Duration::from_millis(200);
/// How long they may take once they have been told by a signal.
const TOLD: Duration = Duration::from_millis(500);
/// How often the PE that ends the job looks for those that are left.
const EACH_LOOK: Duration = Duration::from_millis(5);
/// How long the launcher of a job on several nodes may take to end this process, once it knows that
/// the job has ended.
const LAUNCHER: Duration = Duration::from_secs(5);
/// How many seconds the PE that ends the job may take to finish its connections to other nodes.
const CONNECTIONS: u32 = 5;
/// How many seconds the handlers of `exit` may take then.
const HANDLERS: u32 = 1;
/// How often a PE looks whether that has happened.
const LOOK: Duration = Duration::from_millis(1);

/// Last of all exit handlers: ends the job if the program still owes a finalisation, unless `oshrun`
/// reports it, and if the handlers run in [`exit_job`]. Whatever status the program has chosen, this process
/// ends with the job's: other launchers return that of any process.
pub(crate) fn leave_unfinalised() {
    let Some(job) = existing().filter(|_| !is_child()) else { return };
    if is_exiting() {
        end_exit();
    }
    let owes = job.control.pe(job.pe).stage() == Stage::Ready;
    if !owes || job.launcher == Launcher::Oshrun || job.npes == 1 {
        return;
    }
    let file = job.control.job();
    if abort::raise(file, AbortKind::Fatal, job.pe, 1) {
        message::say("exits without calling shmem_finalize; ending the job");
        notify_nodes(job);
        end_peers(job, 1);
        go(file.header().abort.load(Ordering::Relaxed));
    }
    look(job);
}

/// Checks whether the job has ended; if so, ends this process too. Cheap.
#[inline]
pub fn look(job: &Job) {
    let word = job.control().job().header().abort.load(Ordering::Relaxed);
    if word != 0 {
        leave_settled(job, word);
    }
}

/// Installs a handler for SIGTERM, which PEs that compute receive when the job ends: they flush
/// their streams, as `shmem_global_exit` promises, and exit. Flushing is not safe in a signal
/// handler; if it fails, SIGKILL follows shortly, and the PE has lost no more than without the
/// handler.
pub(crate) fn leave_on_signal() {
    signal::before_ending_by(libc::SIGTERM, || {
        if is_child() {
            return false;
        }
        if ending::hurry() {
            return true;
        }
        if let Some(job) = existing() {
            if let word @ 1.. = job.control().job().header().abort.load(Ordering::Relaxed) {
                leave(job, word);
            }
        }
        false
    });
}

/// Ends this process if it joins a job that has ended.
/// `is_spread` says whether a launcher has started the job on several nodes.
pub(crate) fn leave_if_late(file: &JobFile, is_spread: bool) {
    if let word @ 1.. = file.header().abort.load(Ordering::Acquire) {
        leave_late(word, is_spread);
    }
}

/// Ends this process, which joins a job that has ended with `word`. `is_spread` as above.
pub(crate) fn leave_late(word: u64, is_spread: bool) -> ! {
    let failure = abort::decode(word).filter(|cause| cause.kind != AbortKind::GlobalExit);
    if let Some(Cause { pe, .. }) = failure {
        message::say(format_args!("the job had ended before this PE joined: PE {pe} ended it"));
    }
    if is_spread {
        await_launcher();
    }
    go(word)
}

/// Under launchers other than `oshrun`, which cannot report what PEs wait for, makes each PE report
/// it on SIGQUIT.
pub(crate) fn report_wait_on_signal(job: &Job) {
    if job.launcher != Launcher::Oshrun {
        signal::before_ending_by(libc::SIGQUIT, || {
            existing().filter(|_| !is_child()).inspect(|job| fault::report_own_wait(job));
            false
        });
    }
}

/// Leaves the job, after the end of the PE that is dying if that is what `word` says.
#[cold]
fn leave_settled(job: &Job, word: u64) -> ! {
    if is_exiting() {
        // A handler of `exit` waits in the library. Those that are left could, too.
        ending::only_in_exiting_thread();
        end_exit();
    }
    let word = settled(job, word);
    if job.launcher == Launcher::Oshrun {
        if let Some(network) = job.network() {
            streams::flush();
            network.leave();
        }
    }
    leave(job, word)
}

/// Waits until somebody has seen the end of a PE that is dying, which may still report where it was:
/// launchers end all PEs as soon as one of them ends. Returns the job's word then. On Kitten nobody
/// does that, and a process is listed even after its end.
fn settled(job: &Job, mut word: u64) -> u64 {
    let mut ended = None;
    while let Some(Cause { kind: AbortKind::Dying, pe, status }) = abort::decode(word) {
        if job.launcher == Launcher::Kitten || !job.is_near(pe) {
            break;
        }
        // Another thread's end is this one's, too.
        if pe != job.pe && !matches!(life::of(job.control.job(), pe), Ok(Life::Alive)) {
            let since = *ended.get_or_insert_with(Instant::now);
            if since.elapsed() >= patience(job) {
                let number = status.wrapping_sub(128);
                let name = signal::name(number);
                lose(job, pe, status, format_args!("was killed by signal {number} ({name})"));
            }
        }
        // All PEs look, each at as many locks as there are PEs.
        process::sleep(LOOK * job.near.len().div_ceil(64) as u32);
        word = job.control.job().header().abort.load(Ordering::Acquire);
    }
    word
}

/// How long after the end of a PE to wait for a launcher, which can report how it ended.
pub(crate) fn patience(job: &Job) -> Duration {
    if job.launcher == Launcher::Oshrun { NOTICED } else { Duration::ZERO }
}

/// Ends the job with `status` because of the end of PE `pe`. The first PE to do so reports it.
pub(crate) fn lose(job: &Job, pe: usize, status: i32, what: fmt::Arguments) -> ! {
    let file = job.control.job();
    if abort::raise(file, AbortKind::PeerDied, pe, status) {
        message::say(format_args!("{} {what}; ending the job", called(file, pe)));
    }
    end_job(status)
}

/// PE `pe` in messages, with its process if that is known.
fn called(file: &JobFile, pe: usize) -> String {
    match file.member(pe).pid.load(Ordering::Relaxed) {
        0 => format!("PE {pe}"),
        pid => format!("PE {pe} (pid {pid})"),
    }
}

fn leave(job: &Job, word: u64) -> ! {
    report_last_wait(job);
    if job.exchange.is_some() {
        await_launcher();
    }
    go(word)
}

/// Lets the launcher of a job on several nodes end this process: the PE that wrote the abort word
/// asks it to end all. If a PE exits by itself meanwhile, the launcher reports another status, or
/// waits for ever.
fn await_launcher() {
    streams::flush();
    process::sleep(LAUNCHER);
}

/// Lets the launcher say first, for a short time, why PEs of other nodes cannot be reached: they may
/// have died, or it has ended them itself and is about to end this one, too.
pub fn give_way(job: &Job) {
    let until = Instant::now() + NOTICED;
    while Instant::now() < until {
        look(job);
        process::sleep(LOOK);
    }
}

fn go(word: u64) -> ! {
    ending::flush_and_exit(abort::decode(word).map_or(1, |abort| abort.status))
}

/// Reports what this PE is waiting for when the job fails, under launchers that do not report it.
fn report_last_wait(job: &Job) {
    let wanted = |cause: abort::Cause| cause.kind != AbortKind::GlobalExit;
    if job.launcher != Launcher::Oshrun && abort::cause(job.control.job()).is_some_and(wanted) {
        fault::report_own_wait(job);
    }
}

/// Ends the whole job with `status`, this process last. The caller has raised the abort word.
pub fn end_job(status: i32) -> ! {
    existing().inspect(|job| report_last_wait(job));
    if ending::begin() {
        if let Some(job) = existing() {
            finish_connections(job);
            end_peers(job, status);
        }
    }
    ending::flush_and_exit(status)
}

/// Ends the whole job with `status`, this process last and as `exit` does: its handlers run first, for at most
/// [`HANDLERS`] seconds. The caller has raised the abort word, so a handler that waits in the library ends the process.
pub(crate) fn exit_job(job: &Job, status: i32) -> ! {
    // Not after them: UCX ends itself among the handlers.
    let before = || {
        finish_connections(job);
        // Kitten's alarm hangs the kernel.
        if job.launcher != Launcher::Kitten {
            ending::limit(HANDLERS, end_late);
        }
    };
    ending::exit(status, before, end_exit)
}

/// Whether this process runs the handlers of `exit` before it ends the job.
pub(crate) fn is_exiting() -> bool {
    ending::is_exiting()
}

/// Ends the job after the handlers of `exit`, or in their place.
fn end_exit() -> ! {
    ending::end_limit();
    match ending::begin() {
        true => end_late(),
        false => ending::flush_and_exit(settled_status()),
    }
}

/// Ends the job but for what this PE has to do with other nodes, which is done or takes too long.
fn end_late() -> ! {
    existing().inspect(|job| end_peers(job, settled_status()));
    ending::flush_and_exit(settled_status())
}

/// The status of the job, which has been ended.
fn settled_status() -> i32 {
    let word = existing().map_or(0, |job| job.control.job().header().abort.load(Ordering::Relaxed));
    abort::decode(word).map_or(1, |cause| cause.status)
}

/// Completes this PE's connections, or else tells the other nodes of the job's end before the connections
/// break. Where this takes long, [`end_late`] goes on.
fn finish_connections(job: &Job) {
    let Some(network) = job.network() else { return };
    ending::limit(CONNECTIONS, end_late);
    streams::flush();
    // `oshrun` tells the others, too.
    if !network.finish_early() || job.launcher != Launcher::Oshrun {
        notify_nodes(job);
    }
    ending::end_limit();
}

/// Tells the other nodes of the job's end.
fn notify_nodes(job: &Job) {
    if let Some(network) = job.network() {
        network.notify_end(job.control.job().header().abort.load(Ordering::Relaxed));
    }
}

/// Ends the other PEs, unless the launcher does.
fn end_peers(job: &Job, status: i32) {
    if job.launcher == Launcher::Oshrun {
        // It does.
    } else if job.launcher == Launcher::Kitten {
        // PEs see the word when they wait. Those that compute need a signal, which only root may send
        // there.
        life::notify_all(&job.control, job.near(), job.pe);
    } else if job.exchange.is_some() {
        warn_peers(job);
        ask_launcher(job.launcher, status, job.exchange.is_some());
        // Slurm has no exit status for the job as a whole: it reports the worst of the PEs'.
        if job.launcher != Launcher::Slurm {
            process::sleep(LAUNCHER);
        }
    } else if job.near.len() > 1 {
        end_near(job, status);
    }
}

/// Lets the other PEs of a job on several nodes flush their streams: the launcher may kill them at
/// once.
fn warn_peers(job: &Job) {
    streams::flush();
    process::sleep(abort::NOTICE);
    life::notify_all(&job.control, job.near(), job.pe);
    process::sleep(abort::NOTICE);
}

/// Asks the launcher to end the job. `is_talking`: as for [`Launcher::abort`].
pub(crate) fn ask_launcher(launcher: Launcher, status: i32, is_talking: bool) {
    // The launcher may end this process at once, and lose output that has not been read yet.
    streams::flush();
    ending::wait_for_readers(GRACE);
    launcher.abort(status, is_talking);
}

/// Waiting peers see the abort word, those that initialise look for it, and those that compute get
/// SIGTERM; the launcher ends those that run another program; any others are killed.
fn end_near(job: &Job, status: i32) {
    let file = job.control.job();
    // A PE that has just made itself visible is either seen here, or sees the abort word.
    fence(Ordering::SeqCst);
    let is_ready = |pe: usize| job.control.pe(pe).stage() == Stage::Ready;
    let life = |pe: usize| match life::of(file, pe) {
        // A PE that finalised and then became another program (exec) is free to run.
        Ok(Life::Replaced) if !is_ready(pe) => Life::Ended,
        life => life.unwrap_or(Life::Ended),
    };
    let is_left = |pe: &usize| life(*pe) != Life::Ended;
    let begun = Instant::now();
    let (mut waited, mut told, mut last_told) = (Duration::ZERO, Vec::new(), Duration::ZERO);
    // Counted in looks, not by the clock: while this process or the machine stands still, peers
    // cannot be blamed.
    let mut left: Vec<usize> = loop {
        let left: Vec<_> = job.near().filter(|pe| *pe != job.pe && is_left(pe)).collect();
        if left.is_empty() {
            return;
        }
        let all_told = || left.iter().all(|pe| told.contains(pe));
        if waited >= LAUNCHER || waited - last_told >= TOLD && all_told() {
            break left;
        }
        if waited >= GRACE {
            for pe in left.into_iter().filter(|pe| is_ready(*pe)) {
                if !told.contains(&pe) {
                    life::notify_end(&job.control, pe);
                    told.push(pe);
                    last_told = waited;
                }
            }
        }
        process::sleep(EACH_LOOK);
        waited += EACH_LOOK;
    };
    ask_launcher(job.launcher, status, job.exchange.is_some());
    // Only these: a PE that joins from now on sees the abort word.
    let mut waited = Duration::ZERO;
    while waited < GRACE && !left.is_empty() {
        process::sleep(EACH_LOOK);
        waited += EACH_LOOK;
        left.retain(is_left);
    }
    for pe in left {
        let (who, waited) = (called(file, pe), begun.elapsed());
        message::say(format_args!("{who} has not ended {waited:.1?} after the job; killing it"));
        life::signal(file, pe, libc::SIGKILL);
    }
}
