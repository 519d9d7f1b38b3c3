//! How the job ends early: this PE leaves, or ends the others, too.

use super::abort::{self, AbortKind, Cause};
use super::control::Stage;
use super::launcher::Launcher;
use super::life::{self, Life};
use super::{Job, existing, fault, meet};
use crate::atomics::Ordering;
use crate::message;
use crate::sys::{ending, signal, streams};
use std::time::{Duration, Instant};

/// How long PEs may take to leave by themselves when the job is ended.
const GRACE: Duration = Duration::from_millis(200);
/// How long a launcher of several nodes may take to end this process, once it knows that the job
/// has ended.
const LAUNCHER: Duration = Duration::from_secs(5);

/// Looks whether the job was ended; if so, ends this process too. Cheap.
#[inline]
pub fn look(job: &Job) {
    let word = job.control().job().header().abort.load(Ordering::Relaxed);
    if word != 0 {
        leave(job, word);
    }
}

/// When the job is being ended, a PE that computes is told so by SIGTERM: it writes
/// out its streams, as `shmem_global_exit` promises, and leaves. Writing them is nothing for a
/// signal handler; should it fail in the middle of what was interrupted, SIGKILL follows
/// shortly, and the PE has lost no more than it would have anyway.
pub(super) fn leave_when_told() {
    signal::before_ending_by(libc::SIGTERM, || {
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

/// Ends this process, which comes to a job that has ended with `word`.
pub(super) fn leave_late(word: u64) -> ! {
    if let Some(Cause { kind, pe, .. }) = abort::decode(word)
        && kind != AbortKind::GlobalExit
    {
        message::say(format_args!("the job was over before this PE came: PE {pe} has ended it"));
    }
    go(word)
}

/// Where no launcher of ours tells what the PEs wait for, each does when SIGQUIT comes.
pub(super) fn tell_when_asked(job: &Job) {
    if job.launcher != Launcher::Oshrun {
        signal::before_ending_by(libc::SIGQUIT, || {
            existing().filter(|_| !super::is_child()).inspect(|job| fault::tell_own_wait(job));
            false
        });
    }
}

#[cold]
fn leave(job: &Job, word: u64) -> ! {
    tell_last_wait(job);
    if job.pmi.is_some() {
        // The PE that has written the word asks the launcher to end all. Whoever leaves by itself
        // meanwhile makes it report another status, or wait for ever.
        streams::flush();
        std::thread::sleep(LAUNCHER);
    }
    go(word)
}

/// Where a launcher starts PEs on several nodes, it may have ended those that cannot be reached any
/// more, and is about to end this one, too. Otherwise returns soon.
pub fn give_way(job: &Job) {
    const SECOND: Duration = Duration::from_secs(1);
    if job.pmi.is_some() {
        std::thread::sleep(SECOND);
    }
}

fn go(word: u64) -> ! {
    ending::flush_and_exit(abort::decode(word).map_or(1, |abort| abort.status))
}

/// Where no launcher of ours does, tells what this PE still waits for when the job is lost.
fn tell_last_wait(job: &Job) {
    let wanted = |cause: abort::Cause| cause.kind != AbortKind::GlobalExit;
    if job.launcher != Launcher::Oshrun && abort::cause(job.control.job()).is_some_and(wanted) {
        fault::tell_own_wait(job);
    }
}

/// Ends the whole job with `status`, this process last. The abort word has been
/// raised by the caller.
pub fn end_job(status: i32) -> ! {
    existing().inspect(|job| tell_last_wait(job));
    if ending::begin()
        && let Some(job) = existing()
        && job.launcher.leaves_ending_to_pes()
    {
        end_peers(job, status);
    }
    ending::flush_and_exit(status)
}

/// Ends the other PEs.
pub(super) fn end_peers(job: &Job, status: i32) {
    if job.pmi.is_some() {
        ask_launcher(job, status);
        std::thread::sleep(LAUNCHER);
    } else if job.near.len() > 1 {
        end_near(job, status);
    }
}

/// Asks the launcher to end the job.
fn ask_launcher(job: &Job, status: i32) {
    // It may end this process at once, with what nobody has read yet.
    streams::flush();
    ending::wait_for_readers(GRACE);
    // Whoever has not come yet will not come any more.
    job.launcher.abort(status, || {
        if let Some(point) = &job.meeting {
            job.near().filter(|pe| *pe != job.pe).for_each(|pe| {
                point.take_notice(pe);
            });
        }
    });
}

/// Peers that wait see the abort word; those that compute are told by SIGTERM; the launcher ends
/// those that have not come yet or run another program; what is left then is killed.
fn end_near(job: &Job, status: i32) {
    let file = job.control.job();
    if let Some(point) = &job.meeting {
        meet::close(file, point);
    }
    let life = |pe: usize| match life::of(file, pe) {
        // Another program, in the place of one that had finalised, is free to run.
        Ok(Life::Replaced) if job.control.pe(pe).stage() != Stage::Ready => Life::Ended,
        life => life.unwrap_or(Life::Ended),
    };
    let peers = || job.near().filter(|pe| *pe != job.pe);
    let wait = || {
        let until = Instant::now() + GRACE;
        while Instant::now() < until && peers().any(|pe| life(pe) != Life::Ended) {
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    wait();
    peers()
        .filter(|pe| life(*pe) == Life::Alive)
        .for_each(|pe| life::signal(file, pe, libc::SIGTERM));
    wait();
    let all_came = file.header().joined.load(Ordering::Relaxed) as usize == job.npes;
    if !all_came || peers().any(|pe| life(pe) != Life::Ended) {
        ask_launcher(job, status);
        wait();
    }
    peers()
        .filter(|pe| life(*pe) != Life::Ended)
        .for_each(|pe| life::signal(file, pe, libc::SIGKILL));
}
