//! The PEs of a collective as this process reaches them: a regular section of the
//! world, through the one translation.
#![allow(unsafe_code)]

use super::psync::SyncArray;
use crate::atomics::AtomicU64;
use crate::context;
use crate::counter::Counter;
use crate::error::Routine;
use crate::job::about::About;
use crate::slow;
use crate::span::Span;
use crate::stats::{For, Wait};
use crate::team::Team;
use crate::translate::{TABLE, translate};
use onenode::collectives::epoch_group::Controlled;
use onenode::collectives::group::{Outcome, Reach};
use onenode::collectives::memory::{Buffer, Memory};
use onenode::collectives::words::ControlWords;
use onenode::sys::futex;
use std::convert::Infallible;

/// Where `member`'s copy of `address` is mapped here, in the world's numbering.
#[inline(always)]
fn peer(routine: Routine, argument: &'static str, address: usize, world_pe: usize) -> usize {
    // Exact, because some algorithms never touch what they check here: an address in
    // the hole between data segment and heap would not be noticed by its fault.
    if !TABLE.surely_symmetric(address) {
        if argument != "pSync"
            && let Some(mapped) = slow::device_address(routine, address, world_pe)
        {
            return mapped;
        }
        return slow::address_of(routine, argument, context::CTX_DEFAULT, address, world_pe);
    }
    translate(
        context::Default,
        address,
        world_pe,
        |target| target,
        |miss| slow::resolve(routine, argument, context::CTX_DEFAULT, miss, world_pe),
    )
}

/// Ends the job unless all of a span from `address` on is in one segment.
#[inline(always)]
pub fn check(routine: Routine, argument: &'static str, address: usize, span: &Span) {
    if !span.fits(TABLE.room(address)) {
        slow::check_span(routine, argument, address, *span);
    }
}

/// A team in a call of `routine`.
#[derive(Clone, Copy)]
pub struct TeamMembers {
    pub routine: Routine,
    pub team: &'static Team,
}

impl Reach for TeamMembers {
    type Stop = Infallible;
    type Memory = Self;

    #[inline(always)]
    fn index(&self) -> usize {
        self.team.me()
    }
    #[inline(always)]
    fn size(&self) -> usize {
        self.team.size()
    }
    #[inline(always)]
    fn memory(&self) -> &Self {
        self
    }
}

// SAFETY: an address of symmetric memory is translated to where the counterpart is mapped, as is
// all of what `check` finds to be in one segment.
unsafe impl Memory for TeamMembers {
    type Stop = Infallible;

    #[inline(always)]
    fn peer(&self, buffer: Buffer, address: usize, member: usize) -> Result<usize, Infallible> {
        Ok(peer(self.routine, buffer.name(), address, self.team.member(member)))
    }
    #[inline(always)]
    fn check(&self, buffer: Buffer, address: usize, bytes: usize) -> Result<(), Infallible> {
        check(self.routine, buffer.name(), address, &Span::object(bytes));
        Ok(())
    }
}

impl Controlled for TeamMembers {
    #[inline(always)]
    fn words(&self, member: usize) -> &ControlWords {
        self.team.words(member)
    }
    #[inline(always)]
    fn await_counter(&self, counter: &Counter, value: u64) -> Outcome<Self> {
        let routine = self.routine;
        counter.wait(value, move |counter| {
            let about = About::Counter(routine, std::ptr::from_ref(counter).addr());
            Wait::new(For::Collective, about)
        })
    }
    #[cold]
    fn wake(&self, counter: &Counter) {
        futex::wake_all(counter.place());
    }
}

/// An active set in a call of `routine`: members `start + i * stride`.
#[derive(Clone, Copy)]
pub struct ActiveSet {
    pub routine: Routine,
    pub start: usize,
    pub stride: usize,
    pub size: usize,
    pub me: usize,
    pub psync: usize,
}

impl ActiveSet {
    /// The world number of `member`.
    pub fn world_pe(&self, member: usize) -> usize {
        self.start + member * self.stride
    }
}

impl Reach for ActiveSet {
    type Stop = Infallible;
    type Memory = Self;

    fn index(&self) -> usize {
        self.me
    }
    fn size(&self) -> usize {
        self.size
    }
    #[inline(always)]
    fn memory(&self) -> &Self {
        self
    }
}

// SAFETY: an address of symmetric memory is translated to where the counterpart is mapped, as is
// all of what `check` finds to be in one segment.
unsafe impl Memory for ActiveSet {
    type Stop = Infallible;

    fn peer(&self, buffer: Buffer, address: usize, member: usize) -> Result<usize, Infallible> {
        Ok(peer(self.routine, buffer.name(), address, self.world_pe(member)))
    }
    fn check(&self, buffer: Buffer, address: usize, bytes: usize) -> Result<(), Infallible> {
        check(self.routine, buffer.name(), address, &Span::object(bytes));
        Ok(())
    }
}

impl SyncArray for ActiveSet {
    type Word<'w> = &'w AtomicU64;

    fn word(&self, member: usize, element: usize) -> &AtomicU64 {
        let array = peer(self.routine, "pSync", self.psync, self.world_pe(member));
        let word = array + element * size_of::<AtomicU64>();
        // SAFETY: `peer` gives a mapped address that stays mapped while the library
        // is initialised; `pSync` has this element and is aligned (checked at entry),
        // and is only accessed through atomics while the call is in progress.
        unsafe { AtomicU64::from_ptr(word as *mut u64) }
    }
    fn wait_until(&self, mut ready: impl FnMut() -> bool) -> Outcome<Self> {
        let set = [self.start, self.stride, self.size];
        let mut pause = Wait::new(For::Collective, About::ActiveSet(self.routine, set));
        while !ready() {
            pause.step();
        }
        Ok(())
    }
}
