//! Handlers for faults and for signals that end the process.
#![allow(unsafe_code)]

use super::backtrace;
use crate::atomics::{AtomicI32, Ordering};
use onenode_core::sys::map;
use std::cell::{Cell, UnsafeCell};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::OnceLock;

/// Seconds that a process may take to report of what it dies.
const REPORTING: libc::c_uint = 2;

/// Signals of a failing program. Those of a bad access come first.
const DEADLY: [libc::c_int; 5] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGABRT, libc::SIGFPE, libc::SIGILL];
/// How many of them bad accesses raise.
const FAULTS: usize = 2;

struct Old(UnsafeCell<[MaybeUninit<libc::sigaction>; DEADLY.len()]>);
// SAFETY: written once, in `explain`, before a handler can read it.
unsafe impl Sync for Old {}
static OLD: Old = Old(UnsafeCell::new([MaybeUninit::uninit(); DEADLY.len()]));

/// The name of a signal of a failing program.
pub fn name(signal: i32) -> &'static str {
    match signal {
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGBUS => "SIGBUS",
        libc::SIGABRT => "SIGABRT",
        libc::SIGFPE => "SIGFPE",
        libc::SIGILL => "SIGILL",
        _ => "unknown",
    }
}

/// A failed access.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// The accessed address. `None` if the processor does not report it, because no memory can have
    /// the address (it is not canonical).
    pub address: Option<usize>,
    /// Whether it was a write.
    pub writes: bool,
}

impl Fault {
    /// # Safety
    /// Both are arguments that the kernel passes to a handler.
    unsafe fn new(info: *mut libc::siginfo_t, context: *mut libc::c_void) -> Self {
        /// The kernel raised the signal without an address.
        const SI_KERNEL: libc::c_int = 0x80;
        // SAFETY: the caller guarantees the kernel's arguments to a handler; this is a valid
        // `siginfo_t`.
        let address = unsafe { ((*info).si_code != SI_KERNEL).then(|| (*info).si_addr() as usize) };
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above; this is a valid `ucontext_t`. Bit 1 of a page fault's error code means
        // a write.
        let writes = unsafe {
            let registers = &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
            registers[libc::REG_ERR as usize] & 2 != 0
        };
        #[cfg(not(target_arch = "x86_64"))]
        let writes = context.is_null();
        Self { address, writes }
    }
}

/// One of the signals handled by [`explain`].
pub struct Event {
    /// The signal's number.
    pub signal: i32,
    /// The access or instruction that raised the signal; `None` if a process sent it.
    pub fault: Option<Fault>,
    /// Whether the default action, which ends the process, comes next.
    pub deadly: bool,
    /// The address of the interrupted instruction.
    pub instruction: usize,
}

/// A function that examines an event. It runs in a signal handler.
pub type Explain = fn(&Event);

static EXPLAIN: OnceLock<Explain> = OnceLock::new();

/// Memory that this process lacks, and the copy that will replace it: start, bytes, address of the
/// copy.
#[derive(Clone, Copy)]
struct Missing(usize, usize, usize);

thread_local! {
    /// Not a static: the missing memory may be the one that holds the statics.
    static MISSING: Cell<Missing> = const { Cell::new(Missing(0, 0, 0)) };
}

/// In a child that this thread forks before [`expect_nothing`], the first access to `range`, which
/// is not inherited, replaces it by the memory at `copy`. Returns false if this handler does not
/// get the faults.
///
/// # Safety
/// The copy is a mapping of as many bytes, made to replace the range in the child.
pub unsafe fn expect_missing(range: &Range<usize>, copy: usize) -> bool {
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

/// Cancels [`expect_missing`].
pub fn expect_nothing() {
    MISSING.set(Missing(0, 0, 0));
}

/// Moves the copy to the missing memory, if that is why the access to `address` failed. Accesses no
/// static.
fn replace_missing(address: usize) -> bool {
    let Missing(start, bytes, copy) = MISSING.get();
    if address.wrapping_sub(start) >= bytes {
        return false;
    }
    MISSING.set(Missing(0, 0, 0));
    // SAFETY: nothing is mapped there, and the copy was made to replace it, as `expect_missing` asks.
    unsafe { map::move_over(copy, bytes, start).is_ok() }
}

unsafe extern "C" fn handler(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    // SAFETY: the kernel passes a valid `info`, whose address is meaningful if a fault raised the
    // signal, and a valid context. OLD was filled before.
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
                // A fault ends the process even if the program ignores the signal.
                deadly: ignored || old.sa_sigaction == libc::SIG_DFL,
                instruction: backtrace::interrupted_at(context),
            });
        }
        // Restores the previous action. A fault repeats and takes its usual course, including a
        // core dump. A signal that a process has sent does not repeat by itself.
        libc::sigaction(signal, old, std::ptr::null_mut());
        if !fault {
            send_again(signal, info);
        }
    }
}

/// Whether an access that repeats when the handler returns raised a signal with this code. Not so
/// if a process sent it (codes up to 0, `sigaction(2)`), or if the kernel reports broken memory
/// that nobody has accessed.
fn is_fault(signal: libc::c_int, code: libc::c_int) -> bool {
    code > 0 && !(signal == libc::SIGBUS && code == libc::BUS_MCEERR_AO)
}

/// Sends a signal to this thread again, unchanged. The handler blocks it, so it arrives when the
/// handler returns.
///
/// # Safety
/// `info` is valid.
unsafe fn send_again(signal: libc::c_int, info: *mut libc::siginfo_t) {
    // SAFETY: the kernel only reads `info`, which the caller guarantees to be valid.
    unsafe {
        let (process, thread) = (libc::getpid(), libc::gettid());
        if libc::syscall(libc::SYS_rt_tgsigqueueinfo, process, thread, signal, info) != 0 {
            libc::raise(signal); // Some kernels (Kitten) have no such call.
        }
    }
}

/// Calls `explain` on faults, and on the other signals of a failing program unless the program
/// handles or ignores them. Afterwards the signals take their usual course. `explain` may only do
/// what is safe in a signal handler. Once per process.
pub fn explain(explain: Explain) {
    if EXPLAIN.set(explain).is_err() {
        return;
    }
    for (index, signal) in DEADLY.into_iter().enumerate() {
        // SAFETY: a complete `sigaction` with a handler of the right type. The old one is stored
        // before the handler can run and need it.
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

/// The signal of which this process dies.
static DEADLY_SIGNAL: AtomicI32 = AtomicI32::new(libc::SIGKILL);

extern "C" fn die(_: libc::c_int) {
    let signal = DEADLY_SIGNAL.load(Ordering::Relaxed);
    // SAFETY: local data, and the default action, which ends the process as soon as the signal is
    // unblocked.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        unblock(signal);
        libc::raise(signal);
    }
}

/// Unblocks a signal in this thread.
///
/// # Safety
/// Its action may run in this thread now.
pub(super) unsafe fn unblock(signal: libc::c_int) {
    let mut set = MaybeUninit::uninit();
    // SAFETY: the first call fills the local that the others change and read.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, set.as_ptr(), std::ptr::null_mut());
    }
}

/// Calls `report` in a process that dies of this signal. If it takes long, because a pipe is full or
/// another thread holds a lock for ever, the signal ends the process meanwhile.
pub fn in_time(signal: i32, report: impl FnOnce()) {
    DEADLY_SIGNAL.store(signal, Ordering::Relaxed);
    // SAFETY: a complete `sigaction` with a handler of the right type, which ends the process as the
    // signal was about to.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = die as *const () as usize;
        action.sa_flags = libc::SA_ONSTACK;
        libc::sigaction(libc::SIGALRM, &action, std::ptr::null_mut());
        unblock(libc::SIGALRM);
        libc::alarm(REPORTING);
    }
    report();
    // SAFETY: the call takes no pointer.
    unsafe { libc::alarm(0) };
}

/// The signals that [`before_ending_by`] can handle.
const ENDING: [libc::c_int; 2] = [libc::SIGTERM, libc::SIGQUIT];
static LOOKS: [OnceLock<fn() -> bool>; 2] = [const { OnceLock::new() }; 2];

unsafe extern "C" fn before_end(signal: libc::c_int) {
    let look = ENDING.iter().zip(&LOOKS).find(|(ending, _)| **ending == signal);
    if look.and_then(|(_, look)| look.get()).is_some_and(|look| look()) {
        return;
    }
    // SAFETY: restores the default action. The signal takes it when this handler returns and
    // unblocks the signal.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

/// Calls `call` with all signals blocked in this thread, and so in threads that it starts.
pub fn without_signals<R>(call: impl FnOnce() -> R) -> R {
    let mut all = MaybeUninit::uninit();
    let mut before = MaybeUninit::uninit();
    // SAFETY: the first call fills `all`; the second reads it and fills `before`.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
    }
    let result = call();
    // SAFETY: filled above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    result
}

/// Calls `look` on SIGTERM or SIGQUIT. If it returns false, the signal takes its default action.
/// Does nothing if the program has its own handler. Once per process.
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
