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
//! Taken and released without any other PE about, it costs one exchange each: the other
//! changes of a node that is not in line are plain stores if no other thread of the PE is about, or, on
//! HOME, part of the exchange.
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
    type Wait;
    /// This PE.
    fn me(&self) -> usize;
    /// PE `pe`'s word.
    fn word(&self, pe: usize) -> &AtomicU64;
    /// A wait that begins.
    fn begin(&self) -> Self::Wait;
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

impl<W: Words> Words for &W {
    type Wait = W::Wait;

    fn me(&self) -> usize {
        W::me(self)
    }

    fn word(&self, pe: usize) -> &AtomicU64 {
        W::word(self, pe)
    }

    fn begin(&self) -> Self::Wait {
        W::begin(self)
    }

    fn step(&self, wait: &mut Self::Wait) {
        W::step(self, wait);
    }
}

/// Acquires the lock, waiting in line. If `alone`, this PE has no other thread at work, so
/// that finding the lock held by this PE is refused: nobody could release it.
#[inline]
pub fn set<W: Words + Copy>(words: W, alone: bool) -> Result<(), Refused> {
    // What has to wait is apart, so that who need not saves no registers for it.
    match join(words, alone, |_| true) {
        Ok(0) => Ok(()),
        joined => wait_in_line(words, alone, joined),
    }
}

/// The rest of [`set`] where this PE has `joined` behind another, or not yet.
#[cold]
#[inline(never)]
fn wait_in_line<W: Words + Copy>(
    words: W,
    alone: bool,
    mut joined: Result<u64, Refused>,
) -> Result<(), Refused> {
    let own = words.word(words.me());
    let mut wait = words.begin();
    let before = loop {
        match joined {
            Ok(before) => break before,
            Err(Refused::Mine) if !alone => {
                while own.load(Ordering::Relaxed) & HELD != 0 {
                    words.step(&mut wait);
                }
                joined = join(words, alone, |_| true);
            }
            Err(refused) => return Err(refused),
        }
    };
    if let Some(before) = named(before) {
        // In this order: the one before hands over as soon as it sees us.
        own.fetch_or(WAITING, Ordering::Relaxed);
        words.word(before).fetch_or(name(words.me()) << NEXT_SHIFT, Ordering::AcqRel);
        let mut wait = words.begin();
        while own.load(Ordering::Acquire) & WAITING != 0 {
            words.step(&mut wait);
        }
    }
    Ok(())
}

/// Acquires the lock if nobody has it or waits for it; never waits. `alone` as for [`set`].
#[inline]
pub fn test<W: Words + Copy>(words: W, alone: bool) -> Result<(), Refused> {
    // Looking first keeps a program that polls from taking the cache line.
    if last_in_line(words.word(HOME).load(Ordering::Relaxed)).is_some() {
        return Err(Refused::Theirs);
    }
    join(words, alone, |tail| tail == 0).map(|_| ())
}

/// Takes this PE's node and puts it at the tail, if that is as `when` says; returns what was
/// there.
#[inline]
fn join<W: Words>(words: W, alone: bool, when: impl Fn(u64) -> bool) -> Result<u64, Refused> {
    let me = words.me();
    let own = words.word(me);
    if me == HOME {
        // Both are in one word: one exchange.
        let mut seen = own.load(Ordering::Relaxed);
        loop {
            if seen & HELD != 0 {
                return Err(Refused::Mine);
            }
            if !when(seen & TAIL) {
                return Err(Refused::Theirs);
            }
            let joined = seen & !TAIL | name(me) | HELD;
            // Acquire: what the thread that had the node did comes before.
            match own.compare_exchange_weak(seen, joined, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return Ok(seen & TAIL),
                Err(now) => seen = now,
            }
        }
    }
    let held = if alone {
        // A node that is not in line is touched by nobody else.
        let held = own.load(Ordering::Relaxed) & HELD != 0;
        if !held {
            own.store(HELD, Ordering::Relaxed);
        }
        held
    } else {
        own.fetch_or(HELD, Ordering::AcqRel) & HELD != 0
    };
    if held {
        return Err(Refused::Mine);
    }
    replace_tail(&words, when, TAIL, name(me)).ok_or_else(|| {
        leave(own, alone);
        Refused::Theirs
    })
}

/// Frees the node of a PE that is not HOME, when it is not in line any more.
fn leave(own: &AtomicU64, alone: bool) {
    if alone {
        own.store(0, Ordering::Release);
    } else {
        // Other threads of this PE try to set HELD meanwhile.
        own.fetch_and(!(HELD | NEXT), Ordering::AcqRel);
    }
}

/// Releases the lock to the next in line, by a read-modify-write. `alone` as for [`set`].
#[inline]
pub fn clear<W: Words + Copy>(words: W, alone: bool) -> Result<(), Refused> {
    let me = words.me();
    let own = words.word(me);
    let node = own.load(Ordering::Acquire);
    if node & HELD == 0 || node & WAITING != 0 {
        return Err(Refused::Theirs);
    }
    // The node is free again at the same time as the tail, where both are in one word.
    let node_too = if me == HOME { HELD } else { 0 };
    let last = |tail| tail == name(me);
    if node & NEXT == 0 && replace_tail(&words, last, TAIL | node_too, 0).is_some() {
        if me != HOME {
            leave(own, alone);
        }
    } else {
        hand_over(words, alone);
    }
    Ok(())
}

/// The rest of [`clear`] where another PE is in line.
#[cold]
#[inline(never)]
fn hand_over<W: Words + Copy>(words: W, alone: bool) {
    let me = words.me();
    let own = words.word(me);
    let mut wait = words.begin();
    let next = loop {
        let node = own.load(Ordering::Acquire);
        match named((node & NEXT) >> NEXT_SHIFT) {
            // It is at the tail but has not written itself here yet.
            None => words.step(&mut wait),
            Some(next) => break next,
        }
    };
    // The node first: another thread of this PE may go in line from here on.
    if me == HOME {
        own.fetch_and(!(HELD | NEXT), Ordering::AcqRel);
    } else {
        leave(own, alone);
    }
    words.word(next).fetch_and(!WAITING, Ordering::AcqRel);
}

/// Replaces the tail, with or without bits of HOME's own node in the same word, if the old one
/// is as `when` says; returns the old one.
#[inline]
fn replace_tail<W: Words>(
    words: &W,
    when: impl Fn(u64) -> bool,
    bits: u64,
    by: u64,
) -> Option<u64> {
    let home = words.word(HOME);
    let mut seen = home.load(Ordering::Relaxed);
    while when(seen & TAIL) {
        let new = seen & !bits | by;
        match home.compare_exchange_weak(seen, new, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) => return Some(seen & TAIL),
            Err(now) => seen = now,
        }
    }
    None
}
