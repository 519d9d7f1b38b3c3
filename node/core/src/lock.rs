//! A lock made of one word per PE: an owner field that any running PE may claim, and behind it the
//! queue of waiters by Mellor-Crummey and Scott ("Algorithms for Scalable Synchronization on
//! Shared-Memory Multiprocessors", ACM TOCS 9/1, 1991).
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
//! With nobody in line and the lock free, one exchange takes it and another releases it. A PE that
//! finds it taken puts itself at the tail, writes itself into its predecessor's NEXT, and waits for
//! the WAITING bit of its own word to clear; only its predecessor touches that word. The first in
//! line watches OWNER. So waiters are served in the order in which they came.
//!
//! Where PEs share CPUs, the next PE in line may have no CPU, and each hand-over would cost a
//! process switch. There ([`Order::Running`]) a PE that comes may take a free lock although others
//! wait, until the first in line has waited for a bound and raises HANDOFF: then the lock is
//! reserved for that PE. So the k-th in line gets it after k times the bound, plus the time that
//! the owners hold it.
//!
//! IN_USE means that a thread of this PE uses the node. Other threads of the PE wait for the bit,
//! so each PE is in line at most once. Words start at zero: nobody in line, no node in use.
//!
//! Orders: only read-modify-writes change HOME, so each continues the release sequences of all before it. Those that
//! take the lock, release it or join the line acquire and release, so each happens before the next. That also orders
//! what is done to nodes between two of them, relaxed. A waiter, for one, that has read its WAITING cleared exchanges
//! HOME after its predecessor: were it earlier, it would happen before the predecessor's exchange, and so before the
//! clearing, which it has read. A new waiter alone has nothing of HOME's between its two steps: that it waits has to be
//! seen with its number in NEXT, which is a release that the predecessor acquires.

use crate::atomics::{AtomicU64, Ordering};
use std::time::Duration;

/// The PE whose word holds the lock and the tail. Any PE would do if all agree. If it is the same
/// for every lock, PEs that never wait touch one peer's memory only, and few pages for an array of
/// locks. On one node it does not matter which PE that is.
pub const HOME: usize = 0;

/// The maximum number of PEs that can share a lock: their numbers, plus 1, have 16 bits.
pub const MOST: usize = u16::MAX as usize - 1;

/// Where PEs share CPUs: how long the first in line waits until the lock is reserved for it.
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

/// Which PE is served next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The one that came first.
    Arrival,
    /// The one that runs, until the first in line has waited too long.
    Running,
}

/// A word of a lock, wherever it is. The operations are those of [`AtomicU64`].
pub trait Word {
    /// Reads the word.
    fn load(&self, order: Ordering) -> u64;
    /// Writes the word.
    fn store(&self, value: u64, order: Ordering);
    /// Sets bits and returns the previous value.
    fn fetch_or(&self, bits: u64, order: Ordering) -> u64;
    /// Clears all bits but `bits` and returns the previous value.
    fn fetch_and(&self, bits: u64, order: Ordering) -> u64;
    /// Writes if the word is `current`. Returns the previous value.
    ///
    /// # Errors
    /// If it was not `current`, or spuriously.
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

/// The words of one lock, and how to wait for it.
pub trait Words {
    /// One of its words.
    type Word<'w>: Word
    where
        Self: 'w;
    /// The state of one wait.
    type Wait;
    /// Why a wait may end early. The lock cannot be used any more then.
    type Stop;
    /// This PE's number.
    fn me(&self) -> usize;
    /// PE `pe`'s word.
    ///
    /// # Errors
    /// If it cannot be reached.
    fn word(&self, pe: usize) -> Result<Self::Word<'_>, Self::Stop>;
    /// Begins a wait.
    fn begin(&self) -> Self::Wait;
    /// One step of a wait.
    ///
    /// # Errors
    /// If the wait must end.
    fn step(&self, wait: &mut Self::Wait) -> Result<(), Self::Stop>;
    /// Whether this wait, as the first in line, has lasted too long.
    fn is_overdue(&self, wait: &mut Self::Wait) -> bool;
}

/// Why a call had no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused<S> {
    /// This PE has the lock or waits for it.
    Mine,
    /// Another PE has the lock.
    Theirs,
    /// The wait was ended early.
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

/// The outcome of an attempt to take the lock.
enum Attempt {
    Taken,
    /// This PE is in line, behind the PE that the field names.
    InLine(u64),
    /// The lock is in use, and this PE is not in line.
    Busy,
    /// This PE has the lock or waits for it.
    Mine,
}

/// Acquires the lock, waiting in line if necessary. If `alone`, this PE has no other thread at
/// work, so the call fails if its node is in use: nobody could release it.
///
/// # Errors
/// [`Refused::Mine`], or the reason that ended the wait.
#[inline(always)]
pub fn set<W: Words + Copy>(words: W, alone: bool, order: Order) -> Result<(), Refused<W::Stop>> {
    // The wait is a separate function, so that a call without one saves no registers for it.
    match attempt(words, alone, order, true)? {
        Attempt::Taken => Ok(()),
        other => wait(words, alone, order, other),
    }
}

/// Acquires the lock if it is free and `order` lets this PE have it. Never waits. `alone` as for
/// [`set`].
///
/// # Errors
/// [`Refused::Mine`] or [`Refused::Theirs`].
#[inline(always)]
pub fn test<W: Words + Copy>(words: W, alone: bool, order: Order) -> Result<(), Refused<W::Stop>> {
    // Reading first keeps a program that polls from taking the cache line.
    if !is_free(word(&words, HOME)?.load(Ordering::Relaxed), order) {
        return Err(Refused::Theirs);
    }
    match attempt(words, alone, order, false)? {
        Attempt::Taken => Ok(()),
        Attempt::Mine => Err(Refused::Mine),
        Attempt::InLine(_) | Attempt::Busy => Err(Refused::Theirs),
    }
}

/// Whether a PE that has not been in line may take the lock.
#[inline]
const fn is_free(home: u64, order: Order) -> bool {
    match order {
        Order::Arrival => home & (OWNER | HANDOFF | TAIL) == 0,
        Order::Running => home & (OWNER | HANDOFF) == 0,
    }
}

/// Takes this PE's node, and the lock if it is free. If not, joins the line if `queue`.
#[inline(always)]
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
        // On HOME, node and lock are in one word, so one exchange takes both.
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
        // Acquire: orders the actions of the previous owner, or of the thread that used the node,
        // before ours.
        match home.compare_exchange_weak(seen, new, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) if free => return Ok(Attempt::Taken),
            Ok(_) => return Ok(Attempt::InLine((seen & TAIL) >> TAIL_SHIFT)),
            Err(now) => seen = now,
        }
    }
}

/// Takes the node of a PE other than HOME.
#[inline(always)]
fn take_node(own: &impl Word, alone: bool) -> bool {
    if !alone {
        return own.fetch_or(IN_USE, Ordering::Relaxed) & IN_USE == 0;
    }
    // Nobody else touches a node that is not in line.
    let free = own.load(Ordering::Relaxed) & IN_USE == 0;
    if free {
        own.store(IN_USE, Ordering::Relaxed);
    }
    free
}

/// Frees the node of a PE other than HOME that is not in line.
#[inline(always)]
fn leave_node(own: &impl Word, alone: bool) {
    if alone {
        own.store(0, Ordering::Relaxed);
    } else {
        // Other threads of this PE may try to set the bit meanwhile.
        own.fetch_and(!IN_USE, Ordering::Relaxed);
    }
}

/// Continues [`set`] when the first attempt did not take the lock.
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

/// Waits behind the PE named by `before`, then as the first in line.
fn wait_in_line<W: Words + Copy>(
    words: W,
    order: Order,
    before: u64,
) -> Result<(), Refused<W::Stop>> {
    let me = words.me();
    let (own, home) = (word(&words, me)?, word(&words, HOME)?);
    let mut wait = words.begin();
    if let Some(before) = named(before) {
        // WAITING must be set first: the predecessor clears it as soon as it sees us. No model shows the release:
        // their read-modify-writes take effect in the order of the program.
        own.fetch_or(WAITING, Ordering::Relaxed);
        word(&words, before)?.fetch_or(next(me), Ordering::Release);
        while own.load(Ordering::Relaxed) & WAITING != 0 {
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
    // There is a successor, which may not have written its number here yet.
    let mut wait = words.begin();
    let next = loop {
        match named(own.load(Ordering::Acquire) >> NEXT_SHIFT) {
            Some(next) => break next,
            None => words.step(&mut wait).map_err(Refused::Stopped)?,
        }
    };
    own.fetch_and(!NEXT, Ordering::Relaxed);
    word(&words, next)?.fetch_and(!WAITING, Ordering::Relaxed);
    Ok(())
}

/// Releases the lock with a read-modify-write. `alone` as for [`set`].
///
/// # Errors
/// [`Refused::Theirs`] if this PE does not hold the lock.
#[inline(always)]
pub fn clear<W: Words + Copy>(words: W, alone: bool) -> Result<(), Refused<W::Stop>> {
    let me = words.me();
    let (own, home) = (word(&words, me)?, word(&words, HOME)?);
    if holder(home.load(Ordering::Relaxed)) != Some(me) {
        return Err(Refused::Theirs);
    }
    if me == HOME {
        // Frees the node together with the lock.
        home.fetch_and(!(OWNER | IN_USE), Ordering::AcqRel);
    } else {
        leave_node(&own, alone);
        home.fetch_and(!OWNER, Ordering::AcqRel);
    }
    Ok(())
}
