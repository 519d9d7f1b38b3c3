//! Ends this process when the job ends: by one of its threads, once, and in bounded time.
#![allow(unsafe_code)]

use super::{signal, streams};
use crate::atomics::{AtomicBool, AtomicI32, Ordering};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{SaFlags, SigHandler, Signal};
use nix::unistd::{alarm, gettid};
use onenode_core::sys::process::{self, exit_now};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The thread that ends the process; 0 if none does.
static THREAD: AtomicI32 = AtomicI32::new(0);
/// Whether it has started to flush the streams.
static FLUSHING: AtomicBool = AtomicBool::new(false);
static STATUS: AtomicI32 = AtomicI32::new(0);

/// How long a process that is flushing its streams continues after a second request to end.
const LAST_MICROSECONDS: libc::suseconds_t = 300_000;

/// Makes this thread the one that ends the process. Any other thread that calls this never returns.
/// `false` if it is this thread already: the call comes from a signal handler.
pub fn begin() -> bool {
    let me = gettid().as_raw();
    match THREAD.compare_exchange(0, me, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => true,
        Err(other) if other == me => false,
        Err(_) => signal::stay(),
    }
}

/// Flushes C's streams, then ends the process at once without running exit handlers, because other
/// threads may be anywhere.
pub fn flush_and_exit(status: i32) -> ! {
    begin();
    STATUS.store(status, Ordering::Relaxed);
    if !FLUSHING.swap(true, Ordering::Relaxed) {
        take_alarms(at_alarm);
        streams::flush();
    }
    exit_now(status)
}

/// The thread that has called [`exit`]; 0 if none has.
static EXITING: AtomicI32 = AtomicI32::new(0);
/// The function to call when the end takes too long.
static LATE: OnceLock<fn() -> !> = OnceLock::new();

extern "C" fn late(_: libc::c_int) {
    // The thread that was to end the process hangs.
    THREAD.store(gettid().as_raw(), Ordering::Relaxed);
    LATE.get().inspect(|late| late());
}

/// Has `then` end the process in a signal handler if that has not been done, or [`end_limit`] called, within so
/// many seconds. The first one counts.
pub fn limit(seconds: u32, then: fn() -> !) {
    LATE.get_or_init(|| then);
    take_alarms(late);
    alarm::set(seconds);
}

/// Ends the time that [`limit`] has begun, if it has.
pub fn end_limit() {
    if LATE.get().is_some() {
        alarm::cancel();
    }
}

/// Calls `first` and exit(3) once, in the first thread that comes here; `then` if a handler of `exit` calls this.
pub fn exit(status: i32, first: impl FnOnce(), then: fn() -> !) -> ! {
    let me = gettid().as_raw();
    if EXITING.compare_exchange(0, me, Ordering::Relaxed, Ordering::Relaxed).is_err() {
        only_in_exiting_thread();
        then();
    }
    first();
    std::process::exit(status)
}

/// Whether [`exit`] has been called.
pub fn is_exiting() -> bool {
    EXITING.load(Ordering::Relaxed) != 0
}

/// Keeps all threads but the one that has called [`exit`].
pub fn only_in_exiting_thread() {
    if EXITING.load(Ordering::Relaxed) != gettid().as_raw() {
        signal::stay();
    }
}

extern "C" fn at_alarm(_: libc::c_int) {
    exit_now(STATUS.load(Ordering::Relaxed))
}

/// Makes SIGALRM end the process by a handler, and unblocks it in this thread.
fn take_alarms(handler: extern "C" fn(libc::c_int)) {
    // SAFETY: `at_alarm` ends the process by a system call. What `late` does in a handler, as in one for SIGTERM,
    // may fail; the process is about to end, and would not have ended without it.
    unsafe { signal::handle(libc::SIGALRM, SigHandler::Handler(handler), SaFlags::empty()) };
    signal::unblock(libc::SIGALRM);
}

/// If the process is flushing its streams, whose readers may be slow, makes it end soon. For signal
/// handlers.
pub fn hurry() -> bool {
    if !FLUSHING.load(Ordering::Relaxed) {
        return false;
    }
    let soon = libc::timeval { tv_sec: 0, tv_usec: LAST_MICROSECONDS };
    let timer =
        libc::itimerval { it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 }, it_value: soon };
    if setitimer(libc::ITIMER_REAL, &timer, None) != 0 {
        exit_now(STATUS.load(Ordering::Relaxed));
    }
    true
}

/// Asks the kernel to kill this process when its parent dies.
pub fn die_with_parent() {
    let _ = set_pdeathsig(Signal::SIGKILL);
}

/// Waits until everything written to standard output and error has been read, if they are pipes,
/// but no longer than `limit`.
pub fn wait_for_readers(limit: Duration) {
    let until = Instant::now() + limit;
    for pipe in [libc::STDOUT_FILENO, libc::STDERR_FILENO] {
        let unread = || {
            let mut bytes: libc::c_int = 0;
            // SAFETY: the call fills the local, or fails if this is not a pipe.
            let failed = unsafe { libc::ioctl(pipe, libc::FIONREAD, &mut bytes) };
            failed == 0 && bytes > 0
        };
        while unread() && Instant::now() < until {
            process::sleep(Duration::from_millis(1));
        }
    }
}

unsafe extern "C" {
    // Any function of this type may run at any exit.
    safe fn atexit(handler: extern "C" fn()) -> libc::c_int;
    // Reads the new value, and fills the old one.
    safe fn setitimer(
        which: libc::c_int,
        new: &libc::itimerval,
        old: Option<&mut libc::itimerval>,
    ) -> libc::c_int;
}

/// Runs `handler` when the process calls `exit` or returns from `main`: before the program's handlers
/// that were registered earlier, and before the destructors of its global objects.
pub fn at_exit(handler: extern "C" fn()) {
    atexit(handler);
}

/// The function that [`at_last`] has been given.
static LAST: OnceLock<fn()> = OnceLock::new();

/// Runs `handler` when the process has called `exit` and all of the program's handlers and destructors
/// have run: those of a library run after the program's, and in the program itself (static programs,
/// those in Rust) those of this priority run last. Only the first handler counts.
pub fn at_last(handler: fn()) {
    LAST.get_or_init(|| handler);
}

/// 101 is the latest priority that is not reserved for the compiler and the C library.
#[used]
#[unsafe(link_section = ".fini_array.00101")]
static AT_LAST: extern "C" fn() = last;

extern "C" fn last() {
    LAST.get().inspect(|handler| handler());
}
