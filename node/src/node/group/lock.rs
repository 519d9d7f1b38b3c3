//! A lock among the members of a group, over one word of each.
#![allow(unsafe_code)]

use super::super::View;
use super::super::wait::CheckTimer;
use super::members::Limit;
use super::{Group, Inner};
use crate::config::State;
use crate::error::Error;
use onenode_core::atomics::AtomicU64;
use onenode_core::lock::{self, Order, Refused, Words};
use onenode_core::pause::{Pause, WaitPolicy, Waiting};
use std::time::{Duration, Instant};

impl Group {
    /// Acquires a lock: a word of 8 bytes in the view, at the address `word` of this process,
    /// initially zero on all members. Members get it in the order of their calls. Where they share
    /// CPUs, a running member may take a free lock until the first in line has waited for 1 ms. The
    /// lock is kept in the first member's memory: withdraw that region last.
    ///
    /// With a limit, the call does not join the line but tries again and again, so that it can give
    /// up. Threads of one process exclude each other, too. A thread that has the lock must not call
    /// this again.
    ///
    /// # Errors
    /// [`Error::Argument`] and [`Error::NotMapped`]; [`Error::Time`]; [`Error::Died`] if a member
    /// has ended, or an error of the progress function. After one of these two in a call without a
    /// limit, the lock cannot be used any more.
    pub fn lock(&self, word: usize, view: &View, limit: Duration) -> Result<(), Error> {
        let limit = Limit::new(limit);
        let words = self.words_of_lock(word, view, &limit)?;
        if limit.deadline().is_none() {
            return lock::set(&words, false, words.order()).map_err(|why| refused(why, word));
        }
        let mut wait = words.begin();
        loop {
            match lock::test(&words, false, words.order()) {
                Ok(()) => return Ok(()),
                Err(Refused::Stopped(error)) => return Err(error),
                Err(_) => words.step(&mut wait)?,
            }
        }
    }

    /// Releases a lock that this process holds.
    ///
    /// # Errors
    /// [`Error::Argument`] if this process does not hold it.
    pub fn unlock(&self, word: usize, view: &View) -> Result<(), Error> {
        let limit = Limit::new(Duration::MAX);
        let words = self.words_of_lock(word, view, &limit)?;
        lock::clear(&words, false).map_err(|why| refused(why, word))
    }

    fn words_of_lock<'g>(
        &'g self,
        word: usize,
        view: &'g View,
        limit: &'g Limit,
    ) -> Result<LockWords<'g>, Error> {
        self.check_usable()?;
        if word % align_of::<AtomicU64>() != 0 {
            return Err(Error::argument("word", format!("{word:#x}"), "a multiple of 8"));
        }
        view.check(word, size_of::<AtomicU64>())?;
        if self.ranks.len() > lock::MOST {
            let expected = format!("at most {} members", lock::MOST);
            return Err(Error::argument("group", self.ranks.len(), expected));
        }
        Ok(LockWords { group: self, view, word, limit })
    }
}

/// The error for a refusal.
fn refused(refused: Refused<Error>, word: usize) -> Error {
    let word = format!("{word:#x}");
    match refused {
        Refused::Stopped(error) => error,
        Refused::Mine => Error::argument("word", word, "a lock that this process has not"),
        Refused::Theirs => Error::argument("word", word, "a lock that this process holds"),
    }
}

/// One lock, during a call.
#[derive(Clone, Copy)]
struct LockWords<'g> {
    group: &'g Group,
    view: &'g View,
    word: usize,
    limit: &'g Limit,
}

impl LockWords<'_> {
    fn order(&self) -> Order {
        if self.group.node.policy.shared() { Order::Running } else { Order::Arrival }
    }
}

impl<'g> Words for LockWords<'g> {
    type Word<'w>
        = &'w AtomicU64
    where
        Self: 'w;
    type Wait = (Pause<ForLock<'g>>, Option<Instant>);
    type Stop = Error;

    fn me(&self) -> usize {
        self.group.me
    }
    fn word(&self, member: usize) -> Result<&AtomicU64, Error> {
        let rank = self.group.ranks[member];
        let address = self.view.address(self.word, rank, self.limit.deadline())?;
        // SAFETY: 8 bytes of the view, as was checked, mapped as long as the view is, and aligned
        // like this process's own. While they are a lock, all members access them as atomics.
        Ok(unsafe { AtomicU64::from_ptr(address as *mut u64) })
    }
    fn begin(&self) -> Self::Wait {
        let timer = CheckTimer::default();
        (Pause::new(ForLock { group: self.group, limit: self.limit, timer }), None)
    }
    fn step(&self, (pause, _): &mut Self::Wait) -> Result<(), Error> {
        pause.step()
    }
    fn is_overdue(&self, (_, since): &mut Self::Wait) -> bool {
        since.get_or_insert_with(Instant::now).elapsed() >= lock::PATIENCE
    }
}

/// A wait for a lock that any member may hold.
struct ForLock<'g> {
    group: &'g Group,
    limit: &'g Limit,
    timer: CheckTimer,
}

impl ForLock<'_> {
    fn node(&self) -> &Inner {
        &self.group.node
    }
}

impl Waiting for ForLock<'_> {
    type Stop = Error;

    fn policy(&self) -> &WaitPolicy {
        &self.node().policy
    }
    fn turn(&mut self) -> Result<(), Error> {
        self.node().turn(self.limit.deadline())
    }
    fn look(&mut self, _: Instant) -> Result<(), Error> {
        self.turn()?;
        if !self.timer.is_due() {
            return Ok(());
        }
        let others = self.group.ranks.iter().enumerate().filter(|(m, _)| *m != self.group.me);
        for (_, rank) in others {
            if self.node().state(*rank) == State::Dead {
                return Err(Error::Died { rank: *rank });
            }
        }
        Ok(())
    }
}
