//! Ranks of a node that synchronise, and what they do together.
//!
//! Each member has control words for the group in its own home ([`crate::home`]); the others find
//! them there by the group's name, which members make alike. When a member leaves the group, its
//! words stay until all others have left it, too: whoever is late reads them still.
#![allow(unsafe_code)]

mod call;
mod lock;
mod members;
mod names;

use super::peer::Reached;
use super::{Inner, Node};
use crate::Rank;
use crate::collectives::algorithm::Algorithm;
use crate::collectives::barrier;
use crate::collectives::choices::Choices;
use crate::collectives::epoch::Epoch;
use crate::collectives::epoch_group::EpochGroup;
use crate::collectives::rules::Table;
use crate::collectives::words::ControlWords;
use crate::counter::Counter;
use crate::error::Error;
use crate::home::GROUP_BYTES;
use crate::sys::futex;
use members::{Limit, Members, Watch};
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

pub use call::{Collective, ElementType, Operation, Reduction};
pub(super) use names::Groups;

const _: () = assert!(size_of::<ControlWords>() <= GROUP_BYTES);
const _: () = assert!(GROUP_BYTES.is_multiple_of(align_of::<ControlWords>()));

/// Ranks that synchronise, this one included. All members open it with the same number and the same
/// ranks in the same order, and make the same calls in the same order. Left when dropped.
///
/// A call that ends with [`Error::Died`], [`Error::Left`], [`Error::Time`] or what the progress
/// function says leaves members in different places: the group can only be dropped then, and
/// calls say the same again.
pub struct Group {
    /// What members name it by in their homes.
    name: u64,
    ranks: Box<[Rank]>,
    me: usize,
    /// Of this process's words in its home.
    slot: usize,
    /// Where the members' words are, as far as they were found.
    found: Box<[Option<Found>]>,
    /// How many were: all, mostly.
    missing: usize,
    epoch: Epoch,
    choices: Choices,
    /// What this process has arrived at, and the first member that it has not seen there.
    arrival: Option<(u64, usize)>,
    watch: Watch,
    failure: Option<Failure>,
    node: Arc<Inner>,
}

// SAFETY: the pointers lead to shared memory of atomics, which is mapped as long as the group has
// its node and the homes.
unsafe impl Send for Group {}
// SAFETY: as above; nothing changes by a shared reference but atomics.
unsafe impl Sync for Group {}

/// A member's words.
pub(super) struct Found {
    words: NonNull<ControlWords>,
    slot: usize,
    /// What keeps them mapped; `None`: they are this process's own.
    home: Option<Arc<Reached>>,
}

/// Why a group is of no use any more.
#[derive(Clone, Copy)]
enum Failure {
    Died(Rank),
    Left(Rank),
    Time,
    Stopped,
}

impl Failure {
    /// Of errors that end a collective in its midst.
    fn of(error: &Error) -> Self {
        match *error {
            Error::Died { rank } => Self::Died(rank),
            Error::Left { rank } => Self::Left(rank),
            Error::Time => Self::Time,
            _ => Self::Stopped,
        }
    }

    fn error(self) -> Error {
        match self {
            Self::Died(rank) => Error::Died { rank },
            Self::Left(rank) => Error::Left { rank },
            Self::Time => Error::Time,
            Self::Stopped => Error::Stopped,
        }
    }
}

impl Group {
    /// Opens the group of these ranks. Waits for nobody: the first call that needs another member
    /// waits until that one has opened it. `id` is the client's choice; several groups of the same
    /// ranks can have the same one, if all members open them in the same order.
    ///
    /// # Errors
    /// [`Error::Argument`] if this process's rank is not among `ranks`, or one is there twice;
    /// [`Error::NoWay`] if this process is in as many groups as it can be, 1024.
    pub fn new(node: &Node, id: u64, ranks: &[Rank]) -> Result<Self, Error> {
        node.0.check()?;
        let Some(own) = node.0.rank else {
            return Err(Error::argument(
                "node",
                "one that numbers peers as they are met",
                "a rank",
            ));
        };
        let Some(me) = ranks.iter().position(|rank| *rank == own) else {
            let value = format!("{ranks:?}");
            return Err(Error::argument("ranks", value, format!("this process's, {own}, too")));
        };
        let mut sorted = ranks.to_vec();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|two| two[0] == two[1]) {
            return Err(Error::argument("ranks", format!("{} twice", twice[0]), "each rank once"));
        }
        let (name, slot) = Groups::enter(&node.0, id, ranks)?;
        let words = node.0.home.group_words(slot).cast();
        let mut found: Box<[Option<Found>]> = ranks.iter().map(|_| None).collect();
        found[me] = Some(Found { words, slot, home: None });
        Ok(Self {
            name,
            ranks: ranks.into(),
            me,
            slot,
            missing: ranks.len() - 1,
            found,
            epoch: Epoch::new([0; 4].map(Into::into)),
            choices: Choices::new(),
            arrival: None,
            watch: Watch::default(),
            failure: None,
            node: node.0.clone(),
        })
    }

    /// Its members, in their order.
    pub fn ranks(&self) -> &[Rank] {
        &self.ranks
    }

    /// This process's place among the members.
    pub fn index(&self) -> usize {
        self.me
    }

    /// Returns when all members have called it. What they wrote before can be read then.
    ///
    /// # Errors
    /// [`Error::Died`] or [`Error::Left`] if a member has ended or left before it came;
    /// [`Error::Time`] if that takes longer than `limit`; what the progress function says;
    /// [`Error::NoCard`] and [`Error::Elsewhere`] for a member that cannot be reached.
    pub fn barrier(&mut self, limit: Duration) -> Result<(), Error> {
        self.carry_out::<barrier::Algorithm>(None, 0, limit, ())
    }

    /// Tells all members that this process has come, and does not wait: the first half of a
    /// barrier, for clients who have a network to look after. No other call of the group until
    /// [`arrived`](Self::arrived) has been true.
    ///
    /// # Errors
    /// [`Error::Argument`] if it has arrived already.
    pub fn arrive(&mut self) -> Result<(), Error> {
        self.check()?;
        let step = self.epoch.open(1) + 1;
        // SAFETY: this group's own words, mapped as long as its node.
        let own = unsafe { self.node.home.group_words(self.slot).cast::<ControlWords>().as_ref() };
        own.progress.raise(step, wake);
        self.arrival = Some((step, 0));
        Ok(())
    }

    /// Whether all members have come: the second half of a barrier. True once for each
    /// [`arrive`](Self::arrive).
    ///
    /// # Errors
    /// As for [`barrier`](Self::barrier), but that no time is up; [`Error::Argument`] if this
    /// process has not arrived.
    pub fn arrived(&mut self) -> Result<bool, Error> {
        self.check_usable()?;
        let Some((step, first)) = self.arrival else {
            return Err(Error::argument("group", "one without an arrival", "arrive to come first"));
        };
        let outcome = self.see_arrivals(step, first);
        self.keep(outcome)
    }

    fn see_arrivals(&mut self, step: u64, first: usize) -> Result<bool, Error> {
        for member in first..self.ranks.len() {
            let come = self.find(member)? && self.words(member).progress.get() >= step;
            if !come {
                self.arrival = Some((step, member));
                let mut watch = std::mem::take(&mut self.watch);
                let looked = watch.look(self, step, None, || self.has_come(member, step));
                self.watch = watch;
                return looked.map(|()| false);
            }
        }
        self.arrival = None;
        self.epoch.all_came_to(step);
        Ok(true)
    }

    fn has_come(&self, member: usize, step: u64) -> bool {
        self.found[member].is_some() && self.words(member).progress.get() >= step
    }

    /// An error if the group is of no use any more, or not this process's.
    fn check_usable(&self) -> Result<(), Error> {
        self.node.check()?;
        self.failure.map_or(Ok(()), |failure| Err(failure.error()))
    }

    /// An error if no collective can begin.
    fn check(&self) -> Result<(), Error> {
        self.check_usable()?;
        match self.arrival {
            None => Ok(()),
            Some(_) => {
                Err(Error::argument("group", "one at which it has arrived", "arrived first"))
            }
        }
    }

    /// Remembers an error that leaves members in different places.
    fn keep<T>(&mut self, outcome: Result<T, Error>) -> Result<T, Error> {
        if let Err(error) = &outcome {
            self.failure = Some(Failure::of(error));
        }
        outcome
    }

    /// Chooses an algorithm for `bytes` a member, and runs it.
    fn carry_out<A: Algorithm>(
        &mut self,
        buffers: Option<&Collective<'_>>,
        bytes: usize,
        limit: Duration,
        call: A::Call<'_>,
    ) -> Result<(), Error> {
        self.check()?;
        let limit = Limit::new(limit);
        let outcome = self.meet(&limit).and_then(|()| {
            let size = self.ranks.len();
            let table = self.choices.table(|| Table::built_in(size));
            // No algorithm is ever named.
            let algorithm: A = self.choices.choose(table, size, bytes).unwrap_or(A::ALL[0]);
            let members = Members { group: self, buffers, limit: &limit };
            let group = EpochGroup::new(members, &self.epoch);
            algorithm.run(&group, call, || self.choices.degree())
        });
        self.keep(outcome)
    }

    /// Waits until the words of all members are found.
    fn meet(&mut self, limit: &Limit) -> Result<(), Error> {
        if self.missing == 0 {
            return Ok(());
        }
        let node = self.node.clone();
        for member in 0..self.ranks.len() {
            let mut pause = None;
            while !self.find(member)? {
                let rank = self.ranks[member];
                pause.get_or_insert_with(|| node.pause(rank, limit.deadline())).step()?;
            }
        }
        Ok(())
    }

    /// Looks for the words of a member, unless they were found.
    fn find(&mut self, member: usize) -> Result<bool, Error> {
        if self.found[member].is_some() {
            return Ok(true);
        }
        let Some(home) = self.node.reach(self.ranks[member])? else { return Ok(false) };
        let Some(slot) = home.home.find_group(self.name) else { return Ok(false) };
        let words = home.home.group_words(slot).cast();
        self.found[member] = Some(Found { words, slot, home: Some(home) });
        self.missing -= 1;
        Ok(true)
    }

    /// The words of a member that were found.
    fn words(&self, member: usize) -> &ControlWords {
        match &self.found[member] {
            // SAFETY: mapped as long as the home is held, aligned and long enough (see above), and
            // atomics only, which are valid for any bytes.
            Some(found) => unsafe { found.words.as_ref() },
            None => unreachable!("members meet before they do anything else"),
        }
    }
}

fn wake(counter: &Counter) {
    futex::wake_all(counter.place());
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.node.is_child() {
            // The homes and the node are the parent's.
            std::mem::forget((std::mem::take(&mut self.found), self.node.clone()));
            return;
        }
        self.node.home.leave_group(self.slot);
        let others = std::mem::take(&mut self.found).into_iter().flatten();
        let others = others.filter_map(|found| Some((found.home?, found.slot))).collect();
        super::lock(&self.node.groups).leave(self.slot, self.name, others);
    }
}
