//! How this process ends when the job does: by one of its threads, once, and in bounded time.
#![allow(unsafe_code)]

use super::streams;
use crate::atomics::{AtomicBool, AtomicI32, Ordering};

/// The thread that ends the process; 0 while none does.
static THREAD: AtomicI32 = AtomicI32::new(0);
/// Whether it has begun to write out the streams.
static FLUSHING: AtomicBool = AtomicBool::new(false);
static STATUS: AtomicI32 = AtomicI32::new(0);

/// How long a process that writes out its streams goes on after it was told to end once more.
const LAST_MICROSECONDS: libc::suseconds_t = 300_000;

/// Makes this thread the one that ends the process. Any other thread that comes here stays.
/// False if this one was that already: it has come from a signal handler.
pub fn begin() -> bool {
    // SAFETY: no memory is passed.
    let me = unsafe { libc::gettid() };
    match THREAD.compare_exchange(0, me, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => true,
        Err(other) if other == me => false,
        Err(_) => loop {
            // SAFETY: no memory is passed.
            unsafe { libc::pause() };
        },
    }
}

/// Writes out what C's streams hold, then ends the process at once, without running exit
/// handlers: other threads may be anywhere.
pub fn flush_and_exit(status: i32) -> ! {
    begin();
    STATUS.store(status, Ordering::Relaxed);
    if !FLUSHING.swap(true, Ordering::Relaxed) {
        take_alarms();
        streams::flush();
    }
    exit_now(status)
}

/// Ends the process at once; nothing is written out that another process has too.
pub fn exit_now(status: i32) -> ! {
    // SAFETY: no memory is passed.
    unsafe { libc::_exit(status) }
}

extern "C" fn alarm(_: libc::c_int) {
    exit_now(STATUS.load(Ordering::Relaxed))
}

/// Has the process end when SIGALRM comes, and this thread take it.
fn take_alarms() {
    // SAFETY: a complete `sigaction`, a handler of the right type, and a local set.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = alarm as *const () as usize;
        libc::sigaction(libc::SIGALRM, &action, std::ptr::null_mut());
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGALRM);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &set, std::ptr::null_mut());
    }
}

/// If the process is writing out its streams, whose readers may be slow, has it end soon. For a
/// signal handler.
pub fn hurry() -> bool {
    if !FLUSHING.load(Ordering::Relaxed) {
        return false;
    }
    let soon = libc::timeval { tv_sec: 0, tv_usec: LAST_MICROSECONDS };
    let timer =
        libc::itimerval { it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 }, it_value: soon };
    // SAFETY: the call reads the local.
    if unsafe { libc::setitimer(libc::ITIMER_REAL, &timer, std::ptr::null_mut()) } != 0 {
        exit_now(STATUS.load(Ordering::Relaxed));
    }
    true
}
