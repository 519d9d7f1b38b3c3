//! Teams with members on other nodes. The algorithms are the same. A far member's memory has a name,
//! see [`Names`]; of its control words there is a copy here, which is brought up to date while it is
//! waited for.
#![allow(unsafe_code)]

use super::members::TeamMembers;
use super::names::Names;
use crate::atomics::Ordering;
use crate::counter::Counter;
use crate::engine::{Action, Amo, CONTROL, Engine, Far, Over};
use crate::error::Routine;
use crate::job::{Job, about::About, job};
use crate::stats::{For, Wait};
use crate::team::Team;
use onenode::collectives::epoch_group::{Controlled, EpochGroup};
use onenode::collectives::group::{Buffer, Outcome, Reach};
use onenode::collectives::scratch::Scratch;
use onenode::collectives::words::ControlWords;
use std::convert::Infallible;
use std::mem::{MaybeUninit, offset_of};

/// A team with far members, in a call of `routine`.
#[derive(Clone, Copy)]
pub struct FarTeam {
    team: TeamMembers,
    names: Names,
    copies: &'static [ControlWords],
}

/// The team as the algorithms see it, if it has members on other nodes.
#[cold]
pub(crate) fn on_team(
    routine: Routine,
    team: &'static Team,
) -> Option<EpochGroup<'static, FarTeam>> {
    let job = job(routine);
    let (engine, copies) = (job.engine()?, team.copies()?);
    let members =
        FarTeam { team: TeamMembers { routine, team }, names: Names { job, engine }, copies };
    Some(EpochGroup::new(members, team.epoch()))
}

/// Completes what this PE has issued to other nodes: a barrier promises it, and what others learn
/// from any collective must not overtake it.
#[cold]
pub(crate) fn complete(routine: Routine) {
    if let Some(engine) = job(routine).engine() {
        engine.quiet();
    }
}

/// The control words of PE `pe` of another node in a team's slot, as they are now.
pub(crate) fn words_of(job: &Job, engine: &dyn Engine, slot: usize, pe: usize) -> ControlWords {
    let mut words = MaybeUninit::<ControlWords>::uninit();
    let bytes = size_of::<ControlWords>();
    // SAFETY: the engine fills all of it in, and any bytes are control words.
    unsafe {
        engine.get(words.as_mut_ptr().cast(), place(job, slot, pe), bytes, Over::AtReturn);
        words.assume_init()
    }
}

/// Where they are.
fn place(job: &Job, slot: usize, pe: usize) -> Far {
    Far { pe, offset: CONTROL + job.control().words_offset(slot, pe) }
}

impl FarTeam {
    fn pe(&self, member: usize) -> usize {
        self.team.team.member(member)
    }

    fn is_far(&self, member: usize) -> bool {
        !self.names.job.is_near(self.pe(member))
    }

    /// Which member's copy a counter is in, and where there.
    fn copied(&self, counter: &Counter) -> Option<(usize, usize)> {
        let range = self.copies.as_ptr_range();
        let (start, end) = (range.start.addr(), range.end.addr());
        let at = std::ptr::from_ref(counter).addr();
        let offset = at.checked_sub(start).filter(|_| at < end)?;
        Some((offset / size_of::<ControlWords>(), offset % size_of::<ControlWords>()))
    }

    /// Where a member's control words are.
    fn place(&self, member: usize) -> Far {
        place(self.names.job, self.team.team.slot(), self.pe(member))
    }

    /// Looks at a far member's counter until it stands at `value`.
    fn follow(&self, counter: &Counter, value: u64, member: usize, within: usize) {
        let shown = self.team.words(member);
        let about = About::Counter(self.team.routine, std::ptr::from_ref(shown).addr() + within);
        let mut wait = Wait::new(For::Collective, about);
        let there = self.place(member).plus(within);
        let stands = loop {
            let mut bytes = [0; 8];
            // SAFETY: so many bytes; a counter begins with its value.
            unsafe { self.names.engine.get(bytes.as_mut_ptr(), there, 8, Over::AtReturn) };
            let stands = u64::from_le_bytes(bytes);
            if stands >= value {
                break stands;
            }
            wait.step();
        };
        if within >= offset_of!(ControlWords, mailboxes) {
            // After its step was seen: the message is complete, and is not written again before
            // all members have left the exchange.
            let theirs =
                words_of(self.names.job, self.names.engine, self.team.team.slot(), self.pe(member));
            for (ours, theirs) in self.copies[member].mailboxes.iter().zip(&theirs.mailboxes) {
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

    fn index(&self) -> usize {
        self.team.index()
    }
    fn size(&self) -> usize {
        self.team.size()
    }
    fn peer(&self, buffer: Buffer, address: usize, member: usize) -> Result<usize, Infallible> {
        if !self.is_far(member) {
            return self.team.peer(buffer, address, member);
        }
        Ok(self.names.of(self.team.routine, buffer, address, self.pe(member)))
    }
    fn check(&self, buffer: Buffer, address: usize, bytes: usize) -> Outcome<Self> {
        self.team.check(buffer, address, bytes)
    }
    fn nodes(&self) -> Vec<usize> {
        self.names.nodes(self.size(), |member| self.pe(member))
    }
    unsafe fn copy(&self, from: *const u8, to: *mut u8, bytes: usize) {
        // SAFETY: the caller's promise.
        unsafe { self.names.copy(from, to, bytes) }
    }
    unsafe fn near(&self, at: *const u8, bytes: usize, room: &mut Option<Scratch>) -> *const u8 {
        // SAFETY: the caller's promise.
        unsafe { self.names.near(at, bytes, room) }
    }
}

impl Controlled for FarTeam {
    fn words(&self, member: usize) -> &ControlWords {
        if self.is_far(member) { &self.copies[member] } else { self.team.words(member) }
    }

    fn await_counter(&self, counter: &Counter, value: u64) -> Outcome<Self> {
        if counter.get() >= value {
            return Ok(());
        }
        if let Some((member, within)) = self.copied(counter) {
            self.follow(counter, value, member, within);
            return Ok(());
        }
        if !std::ptr::eq(counter, &*self.words(self.index()).notifications) {
            return self.team.await_counter(counter, value);
        }
        // Far members raise it by atomic operations, which wake nobody.
        let about = About::Counter(self.team.routine, std::ptr::from_ref(counter).addr());
        let mut wait = Wait::new(For::Collective, about);
        while counter.get() < value {
            wait.step();
        }
        Ok(())
    }

    fn wake(&self, counter: &Counter) {
        self.team.wake(counter);
    }

    fn notify(&self, member: usize) {
        if self.is_far(member) {
            let at = self.place(member).plus(offset_of!(ControlWords, notifications));
            self.names.engine.update(at, Amo { action: Action::Add, operand: 1, bytes: 8 });
        } else {
            self.team.notify(member);
        }
    }
}
