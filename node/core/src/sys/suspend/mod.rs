//! Replaces a piece of memory by a file's pages while nobody can write to it: the program's other
//! threads are held meanwhile.
//!
//! A write between the copy and the mapping would be lost. These could write:
//!
//! * This thread: from a signal handler, so all signals are blocked; or to its own stack, if the
//!   program has put it there, so another stack is used.
//! * Other threads, if there are any. A helper process that shares this one's memory seizes them
//!   all with ptrace, as debuggers and leak checkers do ([`ptrace`]). A seized thread stops at the
//!   boundary of user mode, never within a system call, so none of its calls is writing either. A
//!   thread that waits for the child of a `vfork`, which shares the memory, stops only once that
//!   child has ended or called exec.
//! * Where ptrace is refused (because of another tracer, or a filter of system calls), each thread
//!   gets a signal whose handler holds it ([`signals`]).
//!
//! Nothing is moved until every thread of the process is held, including those started meanwhile.
//! If one cannot be held, nothing is moved, and the error names it.
//!
//! Not covered: writes by the kernel for a call that has returned already (asynchronous input), and
//! processes that a program has created with `clone(CLONE_VM)` and keeps running.
#![allow(unsafe_code)]

mod ptrace;
mod signals;

pub use signals::signal;

use super::raw;
use super::relocate::Relocation;
use super::threads::{self, Buffer, List};
use super::{map, maps, process};
use crate::arch::{self, Meeting};
use crate::atomics::{AtomicU32, Ordering};
use crate::error::Error;
use std::ffi::c_void;
use std::time::Duration;

/// How long to wait for a thread to be held.
const PATIENCE: Duration = Duration::from_secs(30);
const STACK: usize = 256 << 10;

/// A thread that is held or will be.
#[repr(C)]
struct HeldThread {
    /// Its thread ID; 0 if it has ended.
    thread: AtomicU32,
    /// [`RUNNING`], or how it is held: each method has its own values.
    state: AtomicU32,
}

/// The thread is not held yet.
const RUNNING: u32 = 0;

/// Whether the memory was moved, and if not, why.
#[derive(Clone, Copy, Debug)]
enum Outcome {
    /// The helper ended without a result.
    None,
    Moved,
    /// This system call failed.
    Failed(i32),
    /// This thread cannot be held.
    Free(Free),
}

impl Outcome {
    /// The outcome of the work: 0 or an error number.
    fn of(error: i32) -> Self {
        if error == 0 { Self::Moved } else { Self::Failed(error) }
    }
}

/// A thread that cannot be held, and the reason.
type Free = (u32, Reason);

#[derive(Clone, Copy, Debug)]
enum Reason {
    /// An error number of ptrace.
    Refused(i32),
    /// It blocks the signal.
    Blocks(i32),
    /// It does not stop.
    Late,
    /// The list of threads cannot be read.
    Unlisted,
}

/// Everything that the work needs, outside of the memory that moves and independent of the C
/// library. Below the block lies a stack, above it the table of threads.
#[repr(C)]
struct Block {
    meeting: Meeting,
    work: Relocation,
    caller: u32,
    list: List,
    outcome: Outcome,
    /// The number of threads in the table.
    known: AtomicU32,
    /// Nonzero as long as handlers must hold their threads.
    hold: AtomicU32,
    /// The signal that holds threads where ptrace is refused.
    signal: i32,
}

impl Block {
    const TABLE: usize = STACK + size_of::<Self>().next_multiple_of(4096);
    /// Untouched memory costs nothing.
    const BYTES: usize = Self::TABLE + threads::MOST * size_of::<HeldThread>();

    fn new(work: &Relocation) -> Result<*mut Self, Error> {
        let block = (map::private_anywhere(Self::BYTES)? + STACK) as *mut Self;
        // SAFETY: fresh memory of that size, aligned to pages.
        unsafe {
            block.write(Self {
                meeting: Meeting::default(),
                work: *work,
                caller: threads::current(),
                list: List::open(),
                outcome: Outcome::None,
                known: AtomicU32::new(0),
                hold: AtomicU32::new(0),
                signal: 0,
            });
        }
        Ok(block)
    }

    /// The end of the stack.
    fn top(block: *mut Self) -> usize {
        block as usize
    }

    /// # Safety
    /// Nobody uses the block any more.
    unsafe fn free(block: *mut Self) {
        // SAFETY: made by `new`, and the caller's promise.
        unsafe {
            (*block).list.close();
            map::unmap(block.cast::<u8>().sub(STACK), Self::BYTES);
        }
    }

    /// The threads that are held or will be.
    fn table(&self) -> &[HeldThread] {
        let known = self.known.load(Ordering::Acquire) as usize;
        // SAFETY: the table is there, initially zero, with room for the largest possible number of
        // threads; its entries are atomics.
        unsafe {
            let first = (&raw const *self).cast::<u8>().sub(STACK).add(Self::TABLE);
            std::slice::from_raw_parts(first.cast(), known)
        }
    }

    /// The entry of a thread.
    fn find(&self, thread: u32) -> Option<&HeldThread> {
        self.table().iter().find(|held| held.thread.load(Ordering::Relaxed) == thread)
    }

    /// Adds an entry for a thread. `None` if the table is full, which cannot happen.
    fn add(&self, thread: u32) -> Option<&HeldThread> {
        let known = self.known.load(Ordering::Relaxed);
        if known as usize == threads::MOST {
            return None;
        }
        self.known.store(known + 1, Ordering::Release);
        let held = self.table().last()?;
        held.state.store(RUNNING, Ordering::Relaxed);
        held.thread.store(thread, Ordering::Release);
        Some(held)
    }

    /// Holds all threads but the caller: `seize` each new one, then `wait` for them. A thread that
    /// is not known yet was started by one that was not held yet, so when a complete list shows no
    /// new thread, all are held.
    fn hold_all(
        &mut self,
        seize: fn(&Self, u32) -> Result<bool, Reason>,
        wait: fn(&Self, Duration) -> Result<(), Free>,
    ) -> Result<(), Free> {
        let until = raw::now() + PATIENCE;
        let mut buffer: Buffer = [0; threads::WORDS];
        loop {
            let (mut listed, mut fresh, mut failure) = (0, false, None);
            let complete = self.list.each(&mut buffer, &mut |thread| {
                listed += 1;
                if thread == self.caller || self.find(thread).is_some() {
                    return true;
                }
                match seize(self, thread) {
                    // A thread that has ended was counted in the place of one that the list omits.
                    // Only the first of a process stays in the list.
                    Ok(seized) => fresh |= seized || thread != self.list.process(),
                    Err(reason) => failure = Some((thread, reason)),
                }
                failure.is_none()
            });
            if let Some(failure) = failure {
                return Err(failure);
            }
            wait(self, until)?;
            // The list can omit a thread if another one ends while it is read.
            let all = self.list.count().is_none_or(|count| count == listed);
            if complete && all && !fresh {
                return Ok(());
            }
            if raw::now() > until {
                return Err((self.caller, Reason::Unlisted));
            }
        }
    }

    /// Records the outcome: of holding, and of the work if all threads are held.
    ///
    /// # Safety
    /// If `held` is `Ok`, all threads are held and nobody writes to the memory.
    unsafe fn conclude(&mut self, held: Result<(), Free>) {
        self.outcome = match held {
            Err(free) => Outcome::Free(free),
            // SAFETY: the caller's promise.
            Ok(()) => Outcome::of(unsafe { self.work.carry_out() }),
        };
    }
}

unsafe extern "C" fn alone(block: *mut c_void) {
    // SAFETY: the block is this call's; there is no other thread, and signals are blocked.
    unsafe { (*block.cast::<Block>()).conclude(Ok(())) };
}

/// Moves memory into a file, as the relocation describes, without losing a write to it.
///
/// # Safety
/// The relocation satisfies the contract of [`Relocation::carry_out`], except as regards other
/// threads, handlers and the stack.
pub unsafe fn relocate(work: &Relocation) -> Result<(), Error> {
    let before = raw::block_signals(!0);
    // SAFETY: the caller's promise, and signals are blocked.
    let outcome = unsafe { relocate_undisturbed(work) };
    raw::block_signals(before);
    match outcome? {
        Outcome::Moved => Ok(()),
        Outcome::Failed(error) => Err(Error::System {
            call: "moving memory into a memory file",
            source: maps::refused(std::io::Error::from_raw_os_error(error)),
        }),
        Outcome::Free((thread, reason)) => Err(not_held(thread, reason)),
        Outcome::None => unreachable!("signals::relocate always has an outcome"),
    }
}

/// # Safety
/// As for [`relocate`]; all signals are blocked.
unsafe fn relocate_undisturbed(work: &Relocation) -> Result<Outcome, Error> {
    let single = threads::alone();
    // SAFETY: signals are blocked. At first there is no other thread, and the stack is elsewhere. Later the block was
    // made just now, with a stack below it, and exists as long as anybody uses it.
    unsafe {
        if single && !(work.start..work.end).contains(&arch::stack_pointer()) {
            return Ok(Outcome::of(work.carry_out()));
        }
        let block = Block::new(work)?;
        if single {
            arch::on_other(Block::top(block), alone, block.cast());
        } else if !raw::on_valgrind() {
            ptrace::relocate(block);
        }
        if let Outcome::None | Outcome::Free((_, Reason::Refused(_))) = (*block).outcome {
            return signals::relocate(block);
        }
        let outcome = (*block).outcome;
        Block::free(block);
        Ok(outcome)
    }
}

/// The error for a thread that was not held.
fn not_held(thread: u32, reason: Reason) -> Error {
    let path = format!("/proc/self/task/{thread}/comm");
    let name = std::fs::read_to_string(path).unwrap_or_default();
    let why = match reason {
        Reason::Refused(error) => {
            format!("ptrace: {}", std::io::Error::from_raw_os_error(error))
        }
        Reason::Blocks(signal) => {
            format!("ptrace is not allowed here, and the thread blocks signal {signal}")
        }
        Reason::Late => format!("it did not stop within {} s", PATIENCE.as_secs()),
        Reason::Unlisted => "the list of threads kept changing".into(),
    };
    Error::NoWay(format!(
        "memory of the program moves into shared memory, and thread {thread} ({}) of process {}, \
         which could write to it meanwhile, cannot be held: {why}; initialise before this thread is \
         started",
        name.trim_end(),
        process::pid()
    ))
}
