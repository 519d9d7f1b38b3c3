//! Handlers for faults, and for being told to end.
#![allow(unsafe_code)]

use super::backtrace;
use onenode::sys::map;
use std::cell::{Cell, UnsafeCell};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::OnceLock;

/// The signals that say that the program has gone wrong, those of a bad access first.
const DEADLY: [libc::c_int; 5] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGABRT, libc::SIGFPE, libc::SIGILL];
/// How many of them a bad access raises.
const FAULTS: usize = 2;

struct Old(UnsafeCell<[MaybeUninit<libc::sigaction>; DEADLY.len()]>);
// SAFETY: written once, in `explain`, before a handler can read it.
unsafe impl Sync for Old {}
static OLD: Old = Old(UnsafeCell::new([MaybeUninit::uninit(); DEADLY.len()]));

/// An access that failed.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// Where to; `None` if the processor does not tell, because no memory can have the address
    /// (it is not canonical).
    pub address: Option<usize>,
    /// Whether it was to write.
    pub writes: bool,
}

impl Fault {
    /// # Safety
    /// Both are what the kernel passes to a handler.
    unsafe fn new(info: *mut libc::siginfo_t, context: *mut libc::c_void) -> Self {
        /// The kernel raised the signal without an address.
        const SI_KERNEL: libc::c_int = 0x80;
        // SAFETY: the caller's promise.
        let address = unsafe { ((*info).si_code != SI_KERNEL).then(|| (*info).si_addr() as usize) };
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the caller's promise. Bit 1 of the error code of a page fault: a write.
        let writes = unsafe {
            let registers = &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
            registers[libc::REG_ERR as usize] & 2 != 0
        };
        #[cfg(not(target_arch = "x86_64"))]
        let writes = context.is_null();
        Self { address, writes }
    }
}

/// A signal of those in [`explain`].
pub struct Event {
    /// Its number.
    pub signal: i32,
    /// The access or instruction that raised it; `None` if a process sent it.
    pub fault: Option<Fault>,
    /// Whether it takes its default action next, which is the process's end.
    pub deadly: bool,
    /// The instruction at which the program was interrupted.
    pub instruction: usize,
}

/// What looks at an event; it runs in a signal handler.
pub type Explain = fn(&Event);

static EXPLAIN: OnceLock<Explain> = OnceLock::new();

/// Memory that this process lacks and the copy that is to take its place: start, bytes,
/// where the copy is.
#[derive(Clone, Copy)]
struct Missing(usize, usize, usize);

thread_local! {
    /// Not a static: what is missing may be the very memory that holds the statics.
    static MISSING: Cell<Missing> = const { Cell::new(Missing(0, 0, 0)) };
}

/// In a child that this thread forks before [`expect_nothing`], the first access to `range`,
/// which is not inherited, finds the memory at `copy` in its place. False if the faults do
/// not come here.
pub fn expect_missing(range: &Range<usize>, copy: usize) -> bool {
    // SAFETY: all-zero bytes are a valid `sigaction`, which the call fills.
    let ours = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGSEGV, std::ptr::null(), &mut action);
        action.sa_sigaction == handler as *const () as usize
    };
    if ours {
        MISSING.set(Missing(range.start, range.len(), copy));
    }
    ours
}

/// Nothing is missing (any more).
pub fn expect_nothing() {
    MISSING.set(Missing(0, 0, 0));
}

/// Puts the copy where memory is missing, if that is why the access to `address` failed.
/// Touches no static.
fn replace_missing(address: usize) -> bool {
    let Missing(start, bytes, copy) = MISSING.get();
    if address.wrapping_sub(start) >= bytes {
        return false;
    }
    MISSING.set(Missing(0, 0, 0));
    // SAFETY: nothing is mapped there, and the copy was made to take the place.
    unsafe { map::move_over(copy, bytes, start).is_ok() }
}

unsafe extern "C" fn handler(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    // SAFETY: the kernel passes a valid `info`, whose address is meaningful when a fault
    // raised the signal, and the context; OLD was filled before.
    unsafe {
        let fault = is_fault(signal, (*info).si_code);
        if fault && replace_missing((*info).si_addr() as usize) {
            return;
        }
        let index = DEADLY.iter().position(|deadly| *deadly == signal).unwrap_or(0);
        let old = &*(*OLD.0.get())[index].as_ptr();
        let ignored = old.sa_sigaction == libc::SIG_IGN;
        if !fault && ignored {
            return;
        }
        if let Some(explain) = EXPLAIN.get() {
            explain(&Event {
                signal,
                fault: fault.then(|| Fault::new(info, context)),
                // Who ignores a fault dies of it all the same.
                deadly: ignored || old.sa_sigaction == libc::SIG_DFL,
                instruction: backtrace::interrupted_at(context),
            });
        }
        // Back to what was there. A fault repeats and takes its usual course, core dump
        // included; a signal that somebody has sent does not come again by itself.
        libc::sigaction(signal, old, std::ptr::null_mut());
        if !fault {
            send_again(signal, info);
        }
    }
}

/// Whether a signal of this code was raised by an access that repeats when the handler
/// returns. Not so if a process sent it (codes up to 0, `sigaction(2)`), or if the kernel tells of
/// broken memory that nobody has touched.
fn is_fault(signal: libc::c_int, code: libc::c_int) -> bool {
    code > 0 && !(signal == libc::SIGBUS && code == libc::BUS_MCEERR_AO)
}

/// Sends a signal to this thread once more, as it was; it comes when the handler returns,
/// which blocks it.
///
/// # Safety
/// `info` is valid.
unsafe fn send_again(signal: libc::c_int, info: *mut libc::siginfo_t) {
    // SAFETY: the kernel only reads `info`, which is valid by the caller's promise.
    unsafe {
        let (process, thread) = (libc::getpid(), libc::gettid());
        if libc::syscall(libc::SYS_rt_tgsigqueueinfo, process, thread, signal, info) != 0 {
            libc::raise(signal); // Some kernels (Kitten) have no such call.
        }
    }
}

/// Has `explain` look at faults, and at the other signals of a program that goes wrong unless
/// the program handles or ignores them; then they take their usual course. It may only do what is
/// safe in a signal handler. Once per process.
pub fn explain(explain: Explain) {
    if EXPLAIN.set(explain).is_err() {
        return;
    }
    for (index, signal) in DEADLY.into_iter().enumerate() {
        // SAFETY: a complete `sigaction` with a handler of the right type; the old
        // one is kept before the handler can run and need it.
        unsafe {
            let old = (*OLD.0.get())[index].as_mut_ptr();
            libc::sigaction(signal, std::ptr::null(), old);
            if index >= FAULTS && (*old).sa_sigaction != libc::SIG_DFL {
                continue;
            }
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}

/// The signals that can be looked at before they end the process.
const ENDING: [libc::c_int; 2] = [libc::SIGTERM, libc::SIGQUIT];
static LOOKS: [OnceLock<fn() -> bool>; 2] = [const { OnceLock::new() }; 2];

unsafe extern "C" fn before_end(signal: libc::c_int) {
    let look = ENDING.iter().zip(&LOOKS).find(|(ending, _)| **ending == signal);
    if look.and_then(|(_, look)| look.get()).is_some_and(|look| look()) {
        return;
    }
    // SAFETY: back to the default action, which the signal then takes when this
    // handler returns and unblocks it.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

/// Calls with all signals blocked for this thread, and so for those that it starts.
pub fn without_signals<R>(call: impl FnOnce() -> R) -> R {
    let mut all = MaybeUninit::uninit();
    let mut before = MaybeUninit::uninit();
    // SAFETY: the first call fills `all`, the second reads it and fills `before`.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
    }
    let result = call();
    // SAFETY: filled above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    result
}

/// Has `look` called when SIGTERM comes, or SIGQUIT, which then takes its default action unless
/// that says true; nothing if the program has a handler of its own. Once per process.
pub fn before_ending_by(signal: i32, look: fn() -> bool) {
    let Some(index) = ENDING.iter().position(|ending| *ending == signal) else { return };
    // SAFETY: complete `sigaction`s; all-zero bytes are a valid one.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut action);
        if action.sa_sigaction != libc::SIG_DFL || LOOKS[index].set(look).is_err() {
            return;
        }
        action = std::mem::zeroed();
        action.sa_sigaction = before_end as *const () as usize;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(signal, &action, std::ptr::null_mut());
    }
}

/// Writes to standard error without locks or allocation.
pub fn write_stderr(text: &[u8]) {
    // SAFETY: the slice is readable for its length.
    unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
}
