//! The queue lock of Mellor-Crummey and Scott ("Algorithms for Scalable
//! Synchronization on Shared-Memory Multiprocessors", ACM TOCS 9/1, 1991), with
//! tail and queue nodes packed into one word a PE.
//!
//! ```text
//!  bit  63      62 ...... 32    31        30 ...... 0
//!       HELD    NEXT: pe + 1    WAITING   TAIL: pe + 1
//!       `------ this PE's node -------'   only on PE HOME: the last in line
//! ```
//!
//! A PE that comes puts itself at the tail. If it found nobody there, it holds the
//! lock; else it writes itself into its predecessor's NEXT and waits for its own
//! WAITING bit to fall, on its own word, which only its predecessor touches. So
//! waiters are served in the order they came, and a hand-over is one write to one
//! waiter.
//!
//! HELD says that a thread of this PE has the node: it waits, or holds the lock. Other
//! threads of the PE wait for the bit, so that each PE is in line at most once.
//! Words start zero: nobody in line, no node in use.

use crate::atomics::{AtomicU64, Ordering};

/// Whose word holds the tail. Any PE would do, if all agree. The same for every lock
/// means that one peer's memory, and of an array of locks few pages, are touched
/// by PEs that never wait; which PE's memory it is does not matter on one node.
pub const HOME: usize = 0;

const TAIL: u64 = (1 << 31) - 1;
const WAITING: u64 = 1 << 31;
const NEXT_SHIFT: u32 = 32;
const NEXT: u64 = TAIL << NEXT_SHIFT;
const HELD: u64 = 1 << 63;

/// The words of one lock, and how to wait.
pub trait Words {
    /// State of one wait.
    type Wait: Default;
    /// This PE.
    fn me(&self) -> usize;
    /// PE `pe`'s word.
    fn word(&self, pe: usize) -> &AtomicU64;
    /// One step of a wait.
    fn step(&self, wait: &mut Self::Wait);
}

/// Why a call did nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// This PE has the lock, or waits for it.
    Mine,
    /// Another PE has the lock.
    Theirs,
}

/// A PE in a field: 0 means none.
const fn name(pe: usize) -> u64 {
    pe as u64 + 1
}

/// The PE that a field names, if any.
const fn named(field: u64) -> Option<usize> {
    match field {
        0 => None,
        name => Some(name as usize - 1),
    }
}

/// The PE at the tail, from the word of [`HOME`].
pub const fn last_in_line(home: u64) -> Option<usize> {
    named(home & TAIL)
}

/// Acquires the lock, waiting in line. If `alone`, no other thread of this PE could
/// release it, so that finding it held by this PE is refused.
pub fn set<W: Words>(words: &W, alone: bool) -> Result<(), Refused> {
    let own = words.word(words.me());
    let mut wait = W::Wait::default();
    // Acquire: what the thread that had the node did comes before.
    while own.fetch_or(HELD, Ordering::AcqRel) & HELD != 0 {
        if alone {
            return Err(Refused::Mine);
        }
        while own.load(Ordering::Relaxed) & HELD != 0 {
            words.step(&mut wait);
        }
    }
    if let Some(before) = named(replace_tail(words, |_| true, name(words.me())).unwrap_or(0)) {
        // In this order: the one before hands over as soon as it sees us.
        own.fetch_or(WAITING, Ordering::Relaxed);
        words.word(before).fetch_or(name(words.me()) << NEXT_SHIFT, Ordering::AcqRel);
        let mut wait = W::Wait::default();
        while own.load(Ordering::Acquire) & WAITING != 0 {
            words.step(&mut wait);
        }
    }
    Ok(())
}

/// Acquires the lock if nobody has it or waits for it; never waits.
pub fn test<W: Words>(words: &W) -> Result<(), Refused> {
    // Looking first keeps a program that polls from taking the cache line.
    if last_in_line(words.word(HOME).load(Ordering::Relaxed)).is_some() {
        return Err(Refused::Theirs);
    }
    let own = words.word(words.me());
    if own.fetch_or(HELD, Ordering::AcqRel) & HELD != 0 {
        return Err(Refused::Mine);
    }
    replace_tail(words, |tail| tail == 0, name(words.me())).map(|_| ()).ok_or_else(|| {
        own.fetch_and(!HELD, Ordering::Release);
        Refused::Theirs
    })
}

/// Releases the lock to the next in line.
pub fn clear<W: Words>(words: &W) -> Result<(), Refused> {
    let me = words.me();
    let own = words.word(me);
    let node = own.load(Ordering::Acquire);
    if node & HELD == 0 || node & WAITING != 0 {
        return Err(Refused::Theirs);
    }
    let mut next = named((node & NEXT) >> NEXT_SHIFT);
    if next.is_none() && replace_tail(words, |tail| tail == name(me), 0).is_none() {
        // One is at the tail but has not written itself here yet.
        let mut wait = W::Wait::default();
        next = loop {
            let node = own.load(Ordering::Acquire);
            match named((node & NEXT) >> NEXT_SHIFT) {
                None => words.step(&mut wait),
                next => break next,
            }
        };
    }
    // The node first: another thread of this PE may go in line from here on.
    own.fetch_and(!(HELD | NEXT), Ordering::AcqRel);
    if let Some(next) = next {
        words.word(next).fetch_and(!WAITING, Ordering::AcqRel);
    }
    Ok(())
}

/// Replaces the tail by `tail` if the old one is as `when` says; returns the old one.
/// The other bits of the word are HOME's own node and stay.
fn replace_tail<W: Words>(words: &W, when: impl Fn(u64) -> bool, tail: u64) -> Option<u64> {
    let home = words.word(HOME);
    let mut seen = home.load(Ordering::Relaxed);
    while when(seen & TAIL) {
        match home.compare_exchange_weak(
            seen,
            seen & !TAIL | tail,
            Ordering::AcqRel,
            Ordering::Relaxed,
        ) {
            Ok(_) => return Some(seen & TAIL),
            Err(now) => seen = now,
        }
    }
    None
}
