//! Handlers for faults and for signals that end the process.
#![allow(unsafe_code)]

use super::backtrace;
use crate::atomics::{AtomicI32, Ordering};
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, raise};
use nix::unistd::{Pid, alarm, getpid, gettid, pause};
use onenode_core::arch;
use onenode_core::sys::map;
use std::cell::Cell;
use std::ops::Range;
use std::sync::OnceLock;

/// Seconds that a process may take to report of what it dies.
const REPORTING: libc::c_uint = 2;

/// Signals of a failing program. Those of a bad access come first.
const DEADLY: [libc::c_int; 5] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGABRT, libc::SIGFPE, libc::SIGILL];
/// How many of them bad accesses raise.
const FAULTS: usize = 2;

/// The actions that [`explain`] has replaced. Written before a handler can need them.
static OLD: [OnceLock<libc::sigaction>; DEADLY.len()] = [const { OnceLock::new() }; DEADLY.len()];

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

/// The kernel raised the signal without an address.
const SI_KERNEL: libc::c_int = 0x80;

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
    /// The kernel's context of the interrupted thread, for the handler.
    context: *mut libc::ucontext_t,
}

impl Event {
    /// Passes to `look` the place of the call that led to an instruction that cannot be executed, through a bad
    /// pointer. Meanwhile the unwinder, which can do nothing there, begins with this call. `None` is passed if
    /// the instruction can be executed, or has been reached in another way.
    pub fn with_caller(&self, look: impl FnOnce(Option<usize>)) {
        if self.fault.and_then(|fault| fault.address) != Some(self.instruction) {
            return look(None);
        }
        // SAFETY: an event exists while its handler runs, with this context. `step_in` undoes `step_out` before
        // the handler returns.
        unsafe {
            let before = arch::step_out(&mut *self.context);
            let caller = arch::program_counter(&*self.context);
            let found = backtrace::is_in_a_file(caller).then_some(caller);
            if found.is_none() {
                arch::step_in(&mut *self.context, before);
            }
            look(found);
            if found.is_some() {
                arch::step_in(&mut *self.context, before);
            }
        }
    }
}

/// A function that examines an event. It runs in a signal handler.
pub type Explain = fn(&Event);

static EXPLAIN: OnceLock<Explain> = OnceLock::new();

/// Memory that this process lacks, and the copy that will replace it: start, bytes, address of the
/// copy.
#[derive(Clone, Copy)]
struct MissingMemory(usize, usize, usize);

thread_local! {
    /// Not a static: the missing memory may be the one that holds the statics.
    static MISSING: Cell<MissingMemory> = const { Cell::new(MissingMemory(0, 0, 0)) };
}

/// In a child that this thread forks before [`expect_nothing`], the first access to `range`, which
/// is not inherited, replaces it by the memory at `copy`. Returns false if this handler does not
/// get the faults.
///
/// # Safety
/// The copy is a mapping of as many bytes, made to replace the range in the child.
pub unsafe fn expect_missing(range: &Range<usize>, copy: usize) -> bool {
    let ours = current(libc::SIGSEGV).sa_sigaction == handler as *const () as usize;
    if ours {
        MISSING.set(MissingMemory(range.start, range.len(), copy));
    }
    ours
}

/// Cancels [`expect_missing`].
pub fn expect_nothing() {
    MISSING.set(MissingMemory(0, 0, 0));
}

/// Moves the copy to the missing memory, if that is why the access to `address` failed. Accesses no
/// static.
fn replace_missing(address: usize) -> bool {
    let MissingMemory(start, bytes, copy) = MISSING.get();
    if address.wrapping_sub(start) >= bytes {
        return false;
    }
    MISSING.set(MissingMemory(0, 0, 0));
    // SAFETY: nothing is mapped there, and the copy was made to replace it, as `expect_missing` asks.
    unsafe { map::move_over(copy, bytes, start).is_ok() }
}

/// Called by the kernel only.
extern "C" fn handler(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let context = context.cast::<libc::ucontext_t>();
    // SAFETY: the kernel passes a valid `info`, whose address is meaningful if a fault raised the
    // signal, and a valid context.
    let (code, address, now) = unsafe { ((*info).si_code, (*info).si_addr() as usize, &*context) };
    // Of a bad access, the context says whether it was a write.
    let writes = DEADLY[..FAULTS].contains(&signal) && arch::writes(now);
    let instruction = arch::program_counter(now);
    let fault = is_fault(signal, code);
    if fault && replace_missing(address) {
        return;
    }
    let index = DEADLY.iter().position(|deadly| *deadly == signal).unwrap_or(0);
    let Some(old) = OLD[index].get() else { return };
    let ignored = old.sa_sigaction == libc::SIG_IGN;
    if !fault && ignored {
        return;
    }
    if let Some(explain) = EXPLAIN.get() {
        let address = (code != SI_KERNEL).then_some(address);
        let fault = fault.then_some(Fault { address, writes });
        // A fault ends the process even if the program ignores the signal.
        let deadly = ignored || old.sa_sigaction == libc::SIG_DFL;
        explain(&Event { signal, fault, deadly, instruction, context });
    }
    // Restores the previous action. A fault repeats and takes its usual course, including a core
    // dump. A signal that a process has sent does not repeat by itself.
    // SAFETY: the action that was in place before, unchanged; `info` is the kernel's.
    unsafe {
        libc::sigaction(signal, old, std::ptr::null_mut());
        if !fault {
            send_again(signal, info);
        }
    }
}

unsafe extern "C" {
    // With no new action only fills the record of the present one.
    safe fn sigaction(
        signal: libc::c_int,
        new: Option<&NoAction>,
        present: &mut libc::sigaction,
    ) -> libc::c_int;
}

/// No action to take instead.
enum NoAction {}

/// The present action of a signal.
fn current(signal: libc::c_int) -> libc::sigaction {
    let mut action = libc::sigaction {
        sa_sigaction: libc::SIG_DFL,
        sa_mask: *SigSet::empty().as_ref(),
        sa_flags: 0,
        sa_restorer: None,
    };
    sigaction(signal, None, &mut action);
    action
}

/// Makes a signal call `handler`, or take its default action.
///
/// # Safety
/// The handler does only what is safe in a handler of this signal, with these flags.
pub(super) unsafe fn handle(signal: libc::c_int, handler: SigHandler, flags: SaFlags) {
    let Ok(signal) = Signal::try_from(signal) else { return };
    let action = SigAction::new(handler, flags, SigSet::empty());
    // SAFETY: the caller answers for the handler. A failure leaves the signal as it is.
    let _ = unsafe { nix::sys::signal::sigaction(signal, &action) };
}

/// The action that [`take`] installs for a signal.
#[derive(Clone, Copy)]
enum Action {
    Default,
    /// Calls [`handler`].
    Explain,
    /// Calls [`fault_again`].
    FaultAgain,
    /// Calls [`die`].
    Die,
    /// Calls [`before_end`].
    BeforeEnd,
}

/// Makes a signal take one of this module's actions.
fn take(signal: libc::c_int, action: Action, flags: SaFlags) {
    let handler = match action {
        Action::Default => SigHandler::SigDfl,
        Action::Explain => SigHandler::SigAction(handler),
        Action::FaultAgain => SigHandler::Handler(fault_again),
        Action::Die => SigHandler::Handler(die),
        Action::BeforeEnd => SigHandler::Handler(before_end),
    };
    // SAFETY: the handlers use local data, atomics, system calls and what is written before, and call what may
    // only do what is safe in a handler. One that runs while the process dies is not interrupted by a fault of
    // its own, which ends the process.
    unsafe { handle(signal, handler, flags) };
}

/// Sends this thread a signal that takes its default action, now or when it is unblocked.
fn raise_default(signal: libc::c_int) {
    take(signal, Action::Default, SaFlags::empty());
    let _ = Signal::try_from(signal).map(raise);
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
        let (process, thread) = (getpid().as_raw(), gettid().as_raw());
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
        let old = OLD[index].get_or_init(|| current(signal));
        if index >= FAULTS && old.sa_sigaction != libc::SIG_DFL {
            continue;
        }
        take(signal, Action::Explain, SaFlags::SA_ONSTACK | SaFlags::SA_RESTART);
    }
}

/// The signal of which this process dies.
static DEADLY_SIGNAL: AtomicI32 = AtomicI32::new(libc::SIGKILL);

extern "C" fn die(_: libc::c_int) {
    let signal = DEADLY_SIGNAL.load(Ordering::Relaxed);
    // It ends the process as soon as it is unblocked.
    raise_default(signal);
    unblock(signal);
}

/// Unblocks a signal in this thread, where its action may run now.
pub(super) fn unblock(signal: libc::c_int) {
    let Ok(signal) = Signal::try_from(signal) else { return };
    let _ = SigSet::from(signal).thread_unblock();
}

/// The thread that reports of what the process dies, and what it says if it faults.
static REPORTER: OnceLock<(Pid, fn())> = OnceLock::new();

/// The function to call if the reporting thread faults. Any other thread stays here.
fn reporters() -> fn() {
    match REPORTER.get() {
        Some((thread, faulted)) if *thread == gettid() => *faulted,
        _ => stay(),
    }
}

/// Keeps this thread where it is: another one is about to end the process.
pub(super) fn stay() -> ! {
    loop {
        pause();
    }
}

extern "C" fn fault_again(signal: libc::c_int) {
    reporters()();
    die(signal);
}

/// Calls `report` in a process that dies of this signal. If it faults, `faulted` is called, and the signal
/// ends the process; likewise if it takes long, because a pipe is full or another thread holds a lock for
/// ever. Once per process.
pub fn guarded(signal: i32, report: impl FnOnce(), faulted: fn()) {
    if REPORTER.set((gettid(), faulted)).is_err() {
        reporters();
        return;
    }
    DEADLY_SIGNAL.store(signal, Ordering::Relaxed);
    for fault in DEADLY[..FAULTS].iter() {
        take(*fault, Action::FaultAgain, SaFlags::SA_ONSTACK);
        unblock(*fault);
    }
    take(libc::SIGALRM, Action::Die, SaFlags::SA_ONSTACK);
    unblock(libc::SIGALRM);
    alarm::set(REPORTING);
    report();
    alarm::cancel();
}

/// The signals that [`before_ending_by`] can handle.
const ENDING: [libc::c_int; 2] = [libc::SIGTERM, libc::SIGQUIT];
static LOOKS: [OnceLock<fn() -> bool>; 2] = [const { OnceLock::new() }; 2];

extern "C" fn before_end(signal: libc::c_int) {
    let look = ENDING.iter().zip(&LOOKS).find(|(ending, _)| **ending == signal);
    if look.and_then(|(_, look)| look.get()).is_some_and(|look| look()) {
        return;
    }
    // The signal takes its action when this handler returns and unblocks the signal.
    raise_default(signal);
}

/// Calls `look` on SIGTERM or SIGQUIT, in a signal handler, where it may only do what is safe there. If it returns
/// false, the signal takes its default action.
/// Does nothing if the program has its own handler. Once per process.
pub fn before_ending_by(signal: i32, look: fn() -> bool) {
    let Some(index) = ENDING.iter().position(|ending| *ending == signal) else { return };
    if current(signal).sa_sigaction != libc::SIG_DFL || LOOKS[index].set(look).is_err() {
        return;
    }
    take(signal, Action::BeforeEnd, SaFlags::SA_RESTART);
}

/// Writes to standard error without locks or allocation.
pub fn write_stderr(text: &[u8]) {
    let _ = nix::unistd::write(std::io::stderr(), text);
}
