//! A lock on one word a PE: an owner that whoever runs may become, and behind it the queue of
//! Mellor-Crummey and Scott ("Algorithms for Scalable Synchronization on Shared-Memory
//! Multiprocessors", ACM TOCS 9/1, 1991) of those who wait for it.
//!
//! ```text
//!  bit  63 .... 48    47 .... 32    31 .... 16    15 ............. 0
//!       NEXT          TAIL          OWNER         IN_USE WAITING HANDOFF
//!       |             |             |             |      |       `--- on HOME only
//!       |             |             |             `------`--- this PE's node: it waits or has
//!       |             |             |                   the lock; it is not yet first in line
//!       |             |             `--- on HOME only: who has the lock, pe + 1
//!       |             `--- on HOME only: the last in line, pe + 1
//!       `--- this PE's node: who comes behind it, pe + 1
//! ```
//!
//! Nobody in line, and the lock free: one exchange takes it, another gives it back. Who finds it
//! taken puts itself at the tail, writes itself into its predecessor's NEXT, and waits for its
//! own WAITING bit to fall, on its own word, which only its predecessor touches. The first in line
//! looks at OWNER. So waiters are served in the order they came.
//!
//! Where PEs share CPUs, the one whose turn it is may have none, and each hand-over would cost a
//! switch between processes. There ([`Order::Running`]) a PE that comes takes a free lock although
//! others wait, until the first in line has waited for a bound and raises HANDOFF: then the lock is
//! for that one. So the k-th in line has it after k times the bound and what the owners take.
//!
//! IN_USE says that a thread of this PE has the node. Other threads of the PE wait for the bit, so
//! that each PE is in line at most once. Words start zero: nobody in line, no node in use.

use crate::atomics::{AtomicU64, Ordering};
use std::time::Duration;

/// Whose word holds the lock and the tail. Any PE would do, if all agree. The same for every lock
/// means that one peer's memory, and of an array of locks few pages, are touched
/// by PEs that never wait; which PE's memory it is does not matter on one node.
pub const HOME: usize = 0;

/// Most PEs that can share a lock: their numbers, plus 1, have 16 bits.
pub const MOST: usize = u16::MAX as usize - 1;

/// How long the first in line waits, where PEs share CPUs, until the lock is kept for it.
pub const PATIENCE: Duration = Duration::from_millis(1);

const HANDOFF: u64 = 1;
const WAITING: u64 = 1 << 1;
const IN_USE: u64 = 1 << 2;
const OWNER_SHIFT: u32 = 16;
const OWNER: u64 = 0xffff << OWNER_SHIFT;
const TAIL_SHIFT: u32 = 32;
const TAIL: u64 = 0xffff << TAIL_SHIFT;
const NEXT_SHIFT: u32 = 48;
const NEXT: u64 = 0xffff << NEXT_SHIFT;

/// Who is served next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Who came first.
    Arrival,
    /// Who runs, until the first in line has waited too long.
    Running,
}

/// A word of a lock, wherever it lies. The operations are those of [`AtomicU64`].
pub trait Word {
    /// Reads.
    fn load(&self, order: Ordering) -> u64;
    /// Writes.
    fn store(&self, value: u64, order: Ordering);
    /// Sets bits; returns what stood there.
    fn fetch_or(&self, bits: u64, order: Ordering) -> u64;
    /// Keeps bits; returns what stood there.
    fn fetch_and(&self, bits: u64, order: Ordering) -> u64;
    /// Writes if `current` stands there; what stood there is the result.
    ///
    /// # Errors
    /// If it was not `current`, or for no reason.
    fn compare_exchange_weak(
        &self,
        current: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u64, u64>;
}

impl Word for &AtomicU64 {
    #[inline(always)]
    fn load(&self, order: Ordering) -> u64 {
        AtomicU64::load(self, order)
    }
    #[inline(always)]
    fn store(&self, value: u64, order: Ordering) {
        AtomicU64::store(self, value, order);
    }
    #[inline(always)]
    fn fetch_or(&self, bits: u64, order: Ordering) -> u64 {
        AtomicU64::fetch_or(self, bits, order)
    }
    #[inline(always)]
    fn fetch_and(&self, bits: u64, order: Ordering) -> u64 {
        AtomicU64::fetch_and(self, bits, order)
    }
    #[inline(always)]
    fn compare_exchange_weak(
        &self,
        current: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u64, u64> {
        AtomicU64::compare_exchange_weak(self, current, new, success, failure)
    }
}

/// The words of one lock, and how to wait.
pub trait Words {
    /// A word of it.
    type Word<'w>: Word
    where
        Self: 'w;
    /// State of one wait.
    type Wait;
    /// Why a wait may end early. The lock can then not be used any more.
    type Stop;
    /// This PE.
    fn me(&self) -> usize;
    /// PE `pe`'s word.
    ///
    /// # Errors
    /// If it cannot be reached.
    fn word(&self, pe: usize) -> Result<Self::Word<'_>, Self::Stop>;
    /// A wait that begins.
    fn begin(&self) -> Self::Wait;
    /// One step of a wait.
    ///
    /// # Errors
    /// If the wait is to end.
    fn step(&self, wait: &mut Self::Wait) -> Result<(), Self::Stop>;
    /// Whether this wait, as the first in line, has lasted too long.
    fn is_overdue(&self, wait: &mut Self::Wait) -> bool;
}

/// Why a call did nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused<S> {
    /// This PE has the lock, or waits for it.
    Mine,
    /// Another PE has the lock.
    Theirs,
    /// The wait was ended.
    Stopped(S),
}

/// The PE that a field of 16 bits names, if any.
const fn named(field: u64) -> Option<usize> {
    match field & 0xffff {
        0 => None,
        name => Some(name as usize - 1),
    }
}

const fn owner(pe: usize) -> u64 {
    (pe as u64 + 1) << OWNER_SHIFT
}

const fn next(pe: usize) -> u64 {
    (pe as u64 + 1) << NEXT_SHIFT
}

const fn tail(pe: usize) -> u64 {
    (pe as u64 + 1) << TAIL_SHIFT
}

/// The PE at the tail, from the word of [`HOME`].
pub const fn last_in_line(home: u64) -> Option<usize> {
    named(home >> TAIL_SHIFT)
}

/// The PE that has the lock, from the word of [`HOME`].
pub const fn holder(home: u64) -> Option<usize> {
    named(home >> OWNER_SHIFT)
}

impl<W: Words> Words for &W {
    type Word<'w>
        = W::Word<'w>
    where
        Self: 'w;
    type Wait = W::Wait;
    type Stop = W::Stop;

    fn me(&self) -> usize {
        W::me(self)
    }
    fn word(&self, pe: usize) -> Result<W::Word<'_>, W::Stop> {
        W::word(self, pe)
    }
    fn begin(&self) -> Self::Wait {
        W::begin(self)
    }
    fn step(&self, wait: &mut Self::Wait) -> Result<(), W::Stop> {
        W::step(self, wait)
    }
    fn is_overdue(&self, wait: &mut Self::Wait) -> bool {
        W::is_overdue(self, wait)
    }
}

#[inline(always)]
fn word<W: Words>(words: &W, pe: usize) -> Result<W::Word<'_>, Refused<W::Stop>> {
    words.word(pe).map_err(Refused::Stopped)
}

/// What came of an attempt to take the lock.
enum Attempt {
    Taken,
    /// This PE is in line, behind the PE that the field names.
    InLine(u64),
    /// The lock is in use, and this PE is not in line.
    Busy,
    /// This PE has the lock, or waits for it.
    Mine,
}

/// Acquires the lock, waiting in line. If `alone`, this PE has no other thread at work, so
/// that finding its node in use is refused: nobody could release it.
///
/// # Errors
/// [`Refused::Mine`], or what ended the wait.
#[inline]
pub fn set<W: Words + Copy>(words: W, alone: bool, order: Order) -> Result<(), Refused<W::Stop>> {
    // What has to wait is apart, so that who need not saves no registers for it.
    match attempt(words, alone, order, true)? {
        Attempt::Taken => Ok(()),
        other => wait(words, alone, order, other),
    }
}

/// Acquires the lock if it is free and, by `order`, for this PE; never waits. `alone` as for
/// [`set`].
///
/// # Errors
/// [`Refused::Mine`] or [`Refused::Theirs`].
#[inline]
pub fn test<W: Words + Copy>(words: W, alone: bool, order: Order) -> Result<(), Refused<W::Stop>> {
    // Looking first keeps a program that polls from taking the cache line.
    if !is_free(word(&words, HOME)?.load(Ordering::Relaxed), order) {
        return Err(Refused::Theirs);
    }
    match attempt(words, alone, order, false)? {
        Attempt::Taken => Ok(()),
        Attempt::Mine => Err(Refused::Mine),
        Attempt::InLine(_) | Attempt::Busy => Err(Refused::Theirs),
    }
}

/// Whether one who comes may take the lock.
#[inline]
const fn is_free(home: u64, order: Order) -> bool {
    match order {
        Order::Arrival => home & (OWNER | HANDOFF | TAIL) == 0,
        Order::Running => home & (OWNER | HANDOFF) == 0,
    }
}

/// Takes this PE's node, and the lock if it is free. If not, goes in line if it is to `queue`.
#[inline]
fn attempt<W: Words>(
    words: W,
    alone: bool,
    order: Order,
    queue: bool,
) -> Result<Attempt, Refused<W::Stop>> {
    let me = words.me();
    let at_home = me == HOME;
    let (own, home) = (word(&words, me)?, word(&words, HOME)?);
    if !at_home && !take_node(&own, alone) {
        return Ok(Attempt::Mine);
    }
    let mut seen = home.load(Ordering::Relaxed);
    loop {
        // Where both are in one word, one exchange takes the node, too.
        if at_home && seen & IN_USE != 0 {
            return Ok(Attempt::Mine);
        }
        let node = if at_home { IN_USE } else { 0 };
        let free = is_free(seen, order);
        if !free && !queue {
            if !at_home {
                leave_node(&own, alone);
            }
            return Ok(Attempt::Busy);
        }
        let new = if free { seen | owner(me) | node } else { seen & !TAIL | tail(me) | node };
        // Acquire: what the owner before, or the thread that had the node, did comes before.
        match home.compare_exchange_weak(seen, new, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) if free => return Ok(Attempt::Taken),
            Ok(_) => return Ok(Attempt::InLine((seen & TAIL) >> TAIL_SHIFT)),
            Err(now) => seen = now,
        }
    }
}

/// Takes the node of a PE that is not HOME.
#[inline]
fn take_node(own: &impl Word, alone: bool) -> bool {
    if !alone {
        return own.fetch_or(IN_USE, Ordering::AcqRel) & IN_USE == 0;
    }
    // A node that is not in line is touched by nobody else.
    let free = own.load(Ordering::Relaxed) & IN_USE == 0;
    if free {
        own.store(IN_USE, Ordering::Relaxed);
    }
    free
}

/// Frees the node of a PE that is not HOME and not in line.
#[inline]
fn leave_node(own: &impl Word, alone: bool) {
    if alone {
        own.store(0, Ordering::Release);
    } else {
        // Other threads of this PE try to set the bit meanwhile.
        own.fetch_and(!IN_USE, Ordering::AcqRel);
    }
}

/// The rest of [`set`] where the first attempt has not taken the lock.
#[cold]
#[inline(never)]
fn wait<W: Words + Copy>(
    words: W,
    alone: bool,
    order: Order,
    mut attempted: Attempt,
) -> Result<(), Refused<W::Stop>> {
    let own = word(&words, words.me())?;
    let mut wait = words.begin();
    loop {
        match attempted {
            Attempt::Taken => return Ok(()),
            Attempt::InLine(before) => return wait_in_line(words, order, before),
            Attempt::Mine | Attempt::Busy if alone => return Err(Refused::Mine),
            Attempt::Mine | Attempt::Busy => {
                while own.load(Ordering::Relaxed) & IN_USE != 0 {
                    words.step(&mut wait).map_err(Refused::Stopped)?;
                }
                attempted = attempt(words, alone, order, true)?;
            }
        }
    }
}

/// Waits behind the PE that `before` names, then as the first in line.
fn wait_in_line<W: Words + Copy>(
    words: W,
    order: Order,
    before: u64,
) -> Result<(), Refused<W::Stop>> {
    let me = words.me();
    let (own, home) = (word(&words, me)?, word(&words, HOME)?);
    let mut wait = words.begin();
    if let Some(before) = named(before) {
        // In this order: the one before makes us the first as soon as it sees us.
        own.fetch_or(WAITING, Ordering::Relaxed);
        word(&words, before)?.fetch_or(next(me), Ordering::AcqRel);
        while own.load(Ordering::Acquire) & WAITING != 0 {
            words.step(&mut wait).map_err(Refused::Stopped)?;
        }
        wait = words.begin();
    }
    let mut seen = home.load(Ordering::Relaxed);
    loop {
        if seen & OWNER != 0 {
            if order == Order::Running && seen & HANDOFF == 0 && words.is_overdue(&mut wait) {
                home.fetch_or(HANDOFF, Ordering::Relaxed);
            }
            words.step(&mut wait).map_err(Refused::Stopped)?;
            seen = home.load(Ordering::Relaxed);
            continue;
        }
        let last = seen & TAIL == tail(me);
        let gone = if last { TAIL | HANDOFF } else { HANDOFF };
        let new = seen & !gone | owner(me);
        match home.compare_exchange_weak(seen, new, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) if last => return Ok(()),
            Ok(_) => break,
            Err(now) => seen = now,
        }
    }
    // Somebody is behind us, who may not have written itself here yet.
    let mut wait = words.begin();
    let next = loop {
        match named(own.load(Ordering::Acquire) >> NEXT_SHIFT) {
            Some(next) => break next,
            None => words.step(&mut wait).map_err(Refused::Stopped)?,
        }
    };
    own.fetch_and(!NEXT, Ordering::Relaxed);
    word(&words, next)?.fetch_and(!WAITING, Ordering::AcqRel);
    Ok(())
}

/// Releases the lock, by a read-modify-write. `alone` as for [`set`].
///
/// # Errors
/// [`Refused::Theirs`] if this PE does not hold the lock.
#[inline]
pub fn clear<W: Words + Copy>(words: W, alone: bool) -> Result<(), Refused<W::Stop>> {
    let me = words.me();
    let (own, home) = (word(&words, me)?, word(&words, HOME)?);
    if holder(home.load(Ordering::Relaxed)) != Some(me) {
        return Err(Refused::Theirs);
    }
    if me == HOME {
        // The node is free again at the same time as the lock.
        home.fetch_and(!(OWNER | IN_USE), Ordering::AcqRel);
    } else {
        leave_node(&own, alone);
        home.fetch_and(!OWNER, Ordering::AcqRel);
    }
    Ok(())
}
