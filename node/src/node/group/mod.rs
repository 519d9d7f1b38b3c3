//! Groups: ranks of a node that synchronise and run collectives.
//!
//! Each member has control words for the group in its own header ([`crate::header`]). The others find
//! them there by the group's name, which all members derive in the same way. When a member leaves
//! the group, its words stay until all others have left, too, because late members still read them.

mod call;
mod found;
mod lock;
mod members;
mod names;

use super::{Inner, Node};
use crate::Rank;
use crate::error::Error;
use found::Found;
use members::{Limit, Members, Watch};
use onenode_core::collectives::algorithm::Algorithm;
use onenode_core::collectives::barrier;
use onenode_core::collectives::choices::Choices;
use onenode_core::collectives::epoch::Epoch;
use onenode_core::collectives::epoch_group::EpochGroup;
use onenode_core::collectives::rules::RuleTable;
use onenode_core::collectives::words::ControlWords;
use onenode_core::counter::Counter;
use onenode_core::sys::futex;
use onenode_core::sys::mutex;
use std::sync::Arc;
use std::time::Duration;

pub use call::{Collective, ElementType, Operation, Reduction};
pub(super) use names::Groups;

/// Ranks that synchronise, including this one. All members open the group with the same number and
/// the same ranks in the same order, and make the same calls in the same order. Dropping it leaves
/// the group.
///
/// A call that fails before this process has met all members changes nothing, and can be made again. A
/// later one whose failure is not about an argument leaves members at different steps. The group can
/// then only be dropped; further calls return the same error.
pub struct Group {
    /// The name of the group in its members' headers.
    name: u64,
    ranks: Box<[Rank]>,
    me: usize,
    /// The slot of this process's words in its header.
    slot: usize,
    /// The members' words found so far.
    found: Box<[Option<Found>]>,
    /// Number of members whose words are not found yet; usually 0.
    missing: usize,
    epoch: Epoch,
    choices: Choices,
    /// The step at which this process has arrived, and the first member not yet seen there.
    arrival: Option<(u64, usize)>,
    watch: Watch,
    /// Why the group is no longer usable.
    failure: Option<Error>,
    node: Arc<Inner>,
}

impl Group {
    /// Opens the group of these ranks. Does not wait: the first call that needs another member
    /// waits until that member has opened the group. The client chooses `id`. Several groups of the
    /// same ranks can have the same one if all members open them in the same order.
    ///
    /// # Errors
    /// [`Error::Argument`] if this process's rank is not among `ranks`, or a rank occurs twice;
    /// [`Error::NoWay`] if this process is already in 1024 groups, the maximum.
    pub fn new(node: &Node, id: u64, ranks: &[Rank]) -> Result<Self, Error> {
        node.0.check()?;
        let Some(own) = node.0.rank else {
            let value = "one without a rank";
            return Err(Error::argument("node", value, "one that was opened with a rank"));
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
        let mut found: Box<[Option<Found>]> = ranks.iter().map(|_| None).collect();
        found[me] = Some(Found::own(node.0.clone(), slot));
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

    /// The members, in order.
    pub fn ranks(&self) -> &[Rank] {
        &self.ranks
    }

    /// This process's index among the members.
    pub fn index(&self) -> usize {
        self.me
    }

    /// Waits until all members have called it. On return, their earlier writes are visible.
    ///
    /// # Errors
    /// [`Error::Died`] or [`Error::Left`] if a member has ended or left before it arrived;
    /// [`Error::Time`] if the wait exceeds `limit`; any error of the progress function;
    /// [`Error::NoCard`] and [`Error::Elsewhere`] for a member that cannot be reached.
    pub fn barrier(&mut self, limit: Duration) -> Result<(), Error> {
        self.carry_out::<barrier::Algorithm>(None, 0, limit, ())
    }

    /// Notifies all members that this process has arrived, without waiting: the first half of a
    /// barrier, for clients that must also serve a network. Make no other call of the group until
    /// [`arrived`](Self::arrived) has returned true.
    ///
    /// # Errors
    /// [`Error::Argument`] if this process has already arrived.
    pub fn arrive(&mut self) -> Result<(), Error> {
        self.check()?;
        let step = self.epoch.open(1) + 1;
        self.words(self.me).progress.raise(step, wake);
        self.arrival = Some((step, 0));
        Ok(())
    }

    /// Whether all members have arrived: the second half of a barrier. Returns true once for each
    /// [`arrive`](Self::arrive).
    ///
    /// # Errors
    /// As for [`barrier`](Self::barrier), except [`Error::Time`]; [`Error::Argument`] if this
    /// process has not arrived.
    pub fn arrived(&mut self) -> Result<bool, Error> {
        self.check_usable()?;
        let Some((step, first)) = self.arrival else {
            let value = "one at which this process has not arrived";
            return Err(Error::argument("group", value, "a call of arrive first"));
        };
        self.see_arrivals(step, first)
    }

    fn see_arrivals(&mut self, step: u64, first: usize) -> Result<bool, Error> {
        for member in first..self.ranks.len() {
            let come = self.find(member)? && self.words(member).progress.get() >= step;
            if !come {
                self.arrival = Some((step, member));
                let mut watch = std::mem::take(&mut self.watch);
                let looked = watch.look(self, step, None, || self.has_come(member, step));
                self.watch = watch;
                return self.keep(looked).map(|()| false);
            }
        }
        self.arrival = None;
        self.epoch.all_came_to(step);
        Ok(true)
    }

    fn has_come(&self, member: usize, step: u64) -> bool {
        self.found[member].is_some() && self.words(member).progress.get() >= step
    }

    /// An error if the group is no longer usable or belongs to another process.
    fn check_usable(&self) -> Result<(), Error> {
        self.node.check()?;
        match &self.failure {
            None => Ok(()),
            Some(failure) => Err(failure.clone()),
        }
    }

    /// An error if no collective can start.
    fn check(&self) -> Result<(), Error> {
        self.check_usable()?;
        match self.arrival {
            None => Ok(()),
            Some(_) => {
                let value = "one at which this process has arrived";
                Err(Error::argument("group", value, "arrived to return true first"))
            }
        }
    }

    /// Remembers an error that leaves members at different steps.
    fn keep<T>(&mut self, outcome: Result<T, Error>) -> Result<T, Error> {
        if let Err(error) = &outcome {
            self.failure = Some(error.clone());
        }
        outcome
    }

    /// Chooses an algorithm for `bytes` per member, and runs it.
    fn carry_out<A: Algorithm>(
        &mut self,
        buffers: Option<&Collective<'_>>,
        bytes: usize,
        limit: Duration,
        call: A::Call<'_>,
    ) -> Result<(), Error> {
        self.check()?;
        let limit = Limit::new(limit);
        self.meet(&limit)?;
        let size = self.ranks.len();
        let table = self.choices.table(|| RuleTable::built_in(size));
        // Algorithms are never set by name here.
        let algorithm: A = self.choices.choose(table, size, bytes).unwrap_or(A::ALL[0]);
        let members = Members { group: self, buffers, limit: &limit };
        let group = EpochGroup::new(members, &self.epoch);
        let outcome = algorithm.run(&group, call, || self.choices.degree());
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
                pause.get_or_insert_with(|| node.wait_for(rank, limit.deadline())).step()?;
            }
        }
        Ok(())
    }

    /// Looks for a member's words, unless already found.
    fn find(&mut self, member: usize) -> Result<bool, Error> {
        if self.found[member].is_some() {
            return Ok(true);
        }
        let Some(header) = self.node.reach(self.ranks[member])? else { return Ok(false) };
        let Some(slot) = header.header.find_group(self.name) else { return Ok(false) };
        self.found[member] = Some(Found::of(header, slot));
        self.missing -= 1;
        Ok(true)
    }

    /// The words of a member, which must have been found.
    fn words(&self, member: usize) -> &ControlWords {
        match &self.found[member] {
            Some(found) => found.words(),
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
            // The headers and the node belong to the parent.
            std::mem::forget((std::mem::take(&mut self.found), self.node.clone()));
            return;
        }
        self.node.header.leave_group(self.slot);
        let others = std::mem::take(&mut self.found).into_iter().flatten();
        let others = others.filter_map(Found::header).collect();
        mutex::lock(&self.node.groups).leave(self.slot, self.name, others);
    }
}
