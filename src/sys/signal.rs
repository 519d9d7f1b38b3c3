//! Handlers for faults, and for being told to end.
#![allow(unsafe_code)]

use super::map;
use std::cell::{Cell, UnsafeCell};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::OnceLock;

/// The signals a bad access raises.
const FAULTS: [libc::c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

struct Old(UnsafeCell<[MaybeUninit<libc::sigaction>; 2]>);
// SAFETY: written once, in `explain_faults`, before a handler can read it.
unsafe impl Sync for Old {}
static OLD: Old = Old(UnsafeCell::new([MaybeUninit::uninit(); 2]));

/// An access that failed.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// Where to; `None` if the processor does not tell, because no memory can have the address
    /// (it is not canonical).
    pub address: Option<usize>,
    /// The instruction that made it; 0 if that is not known.
    pub instruction: usize,
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
        let (instruction, writes) = unsafe {
            let registers = &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
            let error = registers[libc::REG_ERR as usize];
            (registers[libc::REG_RIP as usize] as usize, error & 2 != 0)
        };
        #[cfg(not(target_arch = "x86_64"))]
        let (instruction, writes) = (context as usize & 0, false);
        Self { address, instruction, writes }
    }
}

/// What looks at a fault; it runs in a signal handler.
pub type Explain = fn(&Fault);

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
    // raised the signal; OLD was filled before.
    unsafe {
        let fault = is_fault(signal, (*info).si_code);
        if fault && replace_missing((*info).si_addr() as usize) {
            return;
        }
        let old = &*(*OLD.0.get())[usize::from(signal != FAULTS[0])].as_ptr();
        if fault && let Some(explain) = EXPLAIN.get() {
            explain(&Fault::new(info, context));
        }
        if !fault && old.sa_sigaction == libc::SIG_IGN {
            return;
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

/// Has `explain` look at faults first; then they take their usual course. It may
/// only do what is safe in a signal handler. Once per process.
pub fn explain_faults(explain: Explain) {
    if EXPLAIN.set(explain).is_err() {
        return;
    }
    for (index, signal) in FAULTS.into_iter().enumerate() {
        // SAFETY: a complete `sigaction` with a handler of the right type; the old
        // one is kept before the handler can run and need it.
        unsafe {
            libc::sigaction(signal, std::ptr::null(), (*OLD.0.get())[index].as_mut_ptr());
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}

static TERMINATING: OnceLock<fn() -> bool> = OnceLock::new();

unsafe extern "C" fn terminate(signal: libc::c_int) {
    if TERMINATING.get().is_some_and(|look| look()) {
        return;
    }
    // SAFETY: back to the default action, which the signal then takes when this
    // handler returns and unblocks it.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

/// Has `look` called when SIGTERM comes, which then takes its default action unless that says
/// true; nothing if the program has a handler of its own. Once per process.
pub fn before_terminating(look: fn() -> bool) {
    // SAFETY: complete `sigaction`s; all-zero bytes are a valid one.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGTERM, std::ptr::null(), &mut action);
        if action.sa_sigaction != libc::SIG_DFL || TERMINATING.set(look).is_err() {
            return;
        }
        action = std::mem::zeroed();
        action.sa_sigaction = terminate as *const () as usize;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(libc::SIGTERM, &action, std::ptr::null_mut());
    }
}

/// Writes to standard error without locks or allocation.
pub fn write_stderr(text: &[u8]) {
    // SAFETY: the slice is readable for its length.
    unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
}
