//! Teams with members on other nodes. The algorithms are the same. A far member's memory has a
//! tagged address, see [`FarMembers`]. Its control words have a copy here, which a wait updates.

use super::far_members::FarMembers;
use super::members::TeamMembers;
use super::subscription;
use crate::atomics::Ordering;
use crate::call::job;
use crate::counter::Counter;
use crate::pause::Wait;
use crate::pe::Job;
use crate::pe::about::About;
use crate::team::Team;
use crate::team::known::FarMemberState;
use onenode_core::collectives::epoch_group::{Controlled, EpochGroup};
use onenode_core::collectives::group::{Outcome, Reach};
use onenode_core::collectives::sent;
use onenode_core::collectives::words::{ControlWords, Mailbox};
use oneshmem_job::error::Routine;
use oneshmem_job::jobfile::nodes::Nodes;
use oneshmem_job::remote::{Action, Amo, CONTROL, Engine, Far};
use oneshmem_job::stats::For;
use std::convert::Infallible;
use std::mem::offset_of;
use std::sync::Arc;

/// A team with far members, in a call of `routine`.
#[derive(Clone)]
pub struct FarTeam {
    members: FarMembers<TeamMembers>,
    known: Arc<[FarMemberState]>,
}

/// The team's group for the algorithms, if the team has members on other nodes.
#[cold]
pub(crate) fn on_team(
    routine: Routine,
    team: &'static Team,
) -> Option<EpochGroup<'static, FarTeam>> {
    let job = job(routine);
    let (network, known) = (job.network()?, team.known()?);
    let members = FarMembers { routine, near: TeamMembers { routine, team }, job, network };
    Some(EpochGroup::new(FarTeam { members, known }, team.epoch()))
}

/// Completes this PE's operations on other nodes and devices. A barrier promises this, and no
/// information that others get from any collective may overtake these operations.
#[cold]
pub(crate) fn complete(routine: Routine) {
    job(routine).complete();
}

/// The current control words of PE `pe`, on another node, in a team's slot.
pub(crate) fn words_of(job: &Job, engine: &dyn Engine, slot: usize, pe: usize) -> ControlWords {
    engine.value(place(job, slot, pe))
}

/// The place of those words.
fn place(job: &Job, slot: usize, pe: usize) -> Far {
    Far { pe, offset: CONTROL + job.control().words_offset(slot, pe) }
}

/// How many times a PE looks for what it is told before it sleeps: its agent may need the CPU.
const AWAKE: u32 = 256;

impl FarTeam {
    /// The team's slot in the control area.
    fn slot(&self) -> usize {
        self.members.near.team.slot()
    }

    /// The far member whose counter this is, in this PE's copy, and the counter's offset in the
    /// member's words.
    fn known(&self, counter: &Counter) -> Option<(usize, usize)> {
        let range = self.known.as_ptr_range();
        let (start, end) = (range.start.addr(), range.end.addr());
        let at = std::ptr::from_ref(counter).addr();
        let offset = at.checked_sub(start).filter(|_| at < end)?;
        let (member, within) =
            (offset / size_of::<FarMemberState>(), offset % size_of::<FarMemberState>());
        Some((member, within - offset_of!(FarMemberState, words)))
    }

    /// The place of a member's control words.
    fn place(&self, member: usize) -> Far {
        place(self.members.job, self.slot(), self.members.number(member))
    }

    fn value(&self, at: Far) -> u64 {
        self.members.network.engine().word(at)
    }

    /// Reports this PE's step to these members' nodes, if they have subscribed, by a write to the
    /// word there that stands for this PE.
    fn notify<I: IntoIterator<Item = usize>>(&self, step: u64, members: impl FnOnce() -> I) {
        let FarMembers { job, network, .. } = self.members;
        let (slot, me) = (self.slot(), job.pe());
        subscription::announced(job.control().subscribers(slot, me), |subscribers| {
            let Some(nodes) = job.nodes() else { return };
            let words = CONTROL + job.control().words_offset(slot, me);
            let offset = words + offset_of!(ControlWords, progress) as u64;
            for member in members() {
                let pe = self.members.number(member);
                if !job.is_near(pe) && subscribers & subscription::bit(nodes.node_of(pe)) != 0 {
                    network.notify(Far { pe, offset }, &[step]);
                    self.known[member].flow.tell(step);
                }
            }
        });
    }

    /// Waits until a far member has reached a step.
    fn await_progress(&self, counter: &Counter, value: u64, member: usize) -> Outcome<Self> {
        if !self.known[member].subscribed.swap(true, Ordering::Relaxed) {
            let FarMembers { job, network, .. } = self.members;
            let (slot, pe) = (self.slot(), self.members.number(member));
            let at = Far { pe, offset: CONTROL + job.control().subscribers_offset(slot, pe) };
            let own = job.nodes().map_or(0, Nodes::own);
            let amo = Amo::on_u64(Action::Or, subscription::bit(own));
            let look = || self.value(self.place(member).plus(offset_of!(ControlWords, progress)));
            // The subscription does not report the current step.
            counter.raise(subscription::subscribe(|| _ = network.fetch(at, amo), look), |_| ());
        }
        if counter.get() >= value {
            return Ok(());
        }
        let told = &self.members.near.words(member).progress;
        if self.is_alone() {
            let about = About::Counter(self.members.routine, told.place().addr());
            self.listen(about, || told.get() >= value);
            return Ok(());
        }
        self.members.near.await_counter(told, value)
    }

    /// Whether this PE is alone on its node. Then others may tell it directly. Otherwise its node's
    /// agent writes what they tell, and wakes sleepers.
    fn is_alone(&self) -> bool {
        self.members.job.near().len() == 1
    }

    /// Waits until something that far members tell has come.
    fn listen(&self, about: About, mut has_come: impl FnMut() -> bool) {
        let (alone, network) = (self.is_alone(), self.members.network);
        let mut wait = Wait::new(For::Collective, about);
        let mut turns = 0;
        while !has_come() {
            if alone && network.receive(turns > AWAKE) {
                turns = 0;
            } else {
                turns += 1;
                wait.step();
            }
        }
    }

    /// Polls a far member's counter until it reaches `value`.
    fn follow(&self, counter: &Counter, value: u64, member: usize, within: usize) {
        let shown = self.members.near.words(member);
        let about = About::Counter(self.members.routine, std::ptr::from_ref(shown).addr() + within);
        let mut wait = Wait::new(For::Collective, about);
        let there = self.place(member).plus(within);
        let stands = loop {
            let stands = self.value(there);
            if stands >= value {
                break stands;
            }
            wait.step();
        };
        if within >= offset_of!(ControlWords, mailboxes) {
            // The member's step was seen first, so the message is complete, and is not overwritten
            // before all members have left the exchange.
            let FarMembers { job, network, .. } = self.members;
            let theirs = words_of(job, network.engine(), self.slot(), self.members.number(member));
            for (ours, theirs) in self.known[member].words.mailboxes.iter().zip(&theirs.mailboxes) {
                for (ours, theirs) in ours.words.iter().zip(&theirs.words) {
                    ours.store(theirs.load(Ordering::Relaxed), Ordering::Relaxed);
                }
            }
        }
        counter.raise(stands, |_| ());
    }
}

impl Reach for FarTeam {
    type Stop = Infallible;
    type Memory = FarMembers<TeamMembers>;

    fn index(&self) -> usize {
        self.members.index()
    }
    fn size(&self) -> usize {
        self.members.size()
    }
    fn memory(&self) -> &FarMembers<TeamMembers> {
        &self.members
    }
    fn number(&self, member: usize) -> usize {
        self.members.number(member)
    }
    fn nodes(&self) -> Vec<usize> {
        self.members.nodes()
    }
}

impl Controlled for FarTeam {
    fn words(&self, member: usize) -> &ControlWords {
        if self.members.is_far(member) {
            &self.known[member].words
        } else {
            self.members.near.words(member)
        }
    }

    fn await_counter(&self, counter: &Counter, value: u64) -> Outcome<Self> {
        if counter.get() >= value {
            return Ok(());
        }
        if let Some((member, within)) = self.known(counter) {
            if within == offset_of!(ControlWords, progress) {
                return self.await_progress(counter, value, member);
            }
            self.follow(counter, value, member, within);
            return Ok(());
        }
        if !std::ptr::eq(counter, &*self.words(self.index()).notifications) {
            return self.members.near.await_counter(counter, value);
        }
        // Far members raise it by atomic operations, which wake nobody.
        let about = About::Counter(self.members.routine, std::ptr::from_ref(counter).addr());
        let mut wait = Wait::new(For::Collective, about);
        while counter.get() < value {
            wait.step();
        }
        Ok(())
    }

    fn wake(&self, counter: &Counter) {
        self.members.near.wake(counter);
    }

    fn announced(&self, step: u64) {
        self.notify(step, || self.nodes());
    }

    fn announced_to(&self, step: u64, member: usize) {
        self.notify(step, || [member]);
    }

    fn sends(&self) -> bool {
        true
    }

    fn send(&self, step: u64, member: usize, message: &[u64]) -> Outcome<Self> {
        let FarMembers { job, network, .. } = self.members;
        let FarMemberState { words: known, flow, .. } = &self.known[member];
        self.await_counter(&known.progress, flow.awaited())?;
        let mailbox = flow.send(step);
        // The member's node has a copy of this PE's words.
        let words = CONTROL + job.control().words_offset(self.slot(), job.pe());
        let at = Far { pe: self.members.number(member), offset: words }
            .plus(offset_of!(ControlWords, mailboxes) + mailbox * size_of::<Mailbox>())
            .plus(offset_of!(Mailbox, words));
        network.notify(at, &sent::encode(step, message));
        Ok(())
    }

    fn owes_answer(&self, member: usize) -> bool {
        self.known[member].flow.owes_answer()
    }

    fn receive(&self, step: u64, member: usize, message: &mut [u64]) -> Outcome<Self> {
        let words = self.members.near.words(member);
        let at = std::ptr::from_ref(&words.mailboxes).addr();
        let about = About::Counter(self.members.routine, at);
        self.listen(about, || sent::receive(words, step, message));
        self.known[member].flow.receive(step);
        Ok(())
    }

    fn notify(&self, member: usize) {
        if self.members.is_far(member) {
            let at = self.place(member).plus(offset_of!(ControlWords, notifications));
            self.members.network.update(at, Amo::on_u64(Action::Add, 1));
        } else {
            self.members.near.notify(member);
        }
    }
}
