//! The members' memory: where the counterparts of a range are mapped here. Members on other nodes
//! have the names of [`names`](super::names) instead, which only the engine can use.
#![allow(unsafe_code)]

use super::far::FarTeam;
use super::far_set::FarSet;
use super::members::{ActiveSet, TeamMembers};
use super::names::Names;
use super::psync::SyncArray;
use crate::atomics::AtomicU64;
use crate::context;
use crate::engine::Completion;
use crate::error::Routine;
use crate::job::about::About;
use crate::slow;
use crate::span::Span;
use crate::stats::{For, Wait};
use crate::translate::{TABLE, translate};
use onenode_core::collectives::group::Outcome;
use onenode_core::collectives::memory::{Buffer, Memory};
use onenode_core::collectives::range::{self, Readable, Remote, Writable};
use onenode_core::collectives::scratch::Scratch;
use std::convert::Infallible;

/// Where the counterpart of `address` on PE `world_pe` of the world is mapped here.
#[inline(always)]
fn peer(routine: Routine, argument: &'static str, address: usize, world_pe: usize) -> usize {
    // The check is exact, because some algorithms never access what they check here: an address in
    // the hole between data segment and heap would not fault.
    if !TABLE.surely_symmetric(address) {
        if argument != "pSync" {
            if let Some(mapped) = slow::device_address(routine, address, world_pe) {
                return mapped;
            }
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

/// Ends the job unless the whole span that starts at `address` is in one segment.
#[inline(always)]
pub fn check(routine: Routine, argument: &'static str, address: usize, span: &Span) {
    if !span.bytes.is_some_and(|bytes| TABLE.has_room(address, bytes)) {
        slow::check_span(routine, argument, address, *span);
    }
}

// SAFETY: `peer` returns the address where the counterpart of a symmetric address is mapped here,
// and ends the job for other addresses. `check` ends the job unless all bytes are in one segment,
// and mirrors have each segment unchanged. No address is a name.
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

// SAFETY: as for the members of a team.
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

/// For a group that has members on other nodes; `near` is the same group as if all members were on
/// this node.
macro_rules! far_memory {
    ($($group:ty: $near:ident;)*) => {$(
        // SAFETY: a member on this node is reached as in a group that has no others. The address of
        // a member on another node is a name, which `copy` and `near` pass to the engine. The
        // engine copies exactly so many bytes to or from the counterpart of the address, or ends
        // the job.
        unsafe impl Memory for $group {
            type Stop = Infallible;

            fn peer(&self, buffer: Buffer, address: usize, member: usize) -> Result<usize, Infallible> {
                if !self.is_far(member) {
                    return self.$near.peer(buffer, address, member);
                }
                Ok(self.names.of(self.$near.routine, buffer, address, self.pe(member)))
            }
            fn check(&self, buffer: Buffer, address: usize, bytes: usize) -> Result<(), Infallible> {
                self.$near.check(buffer, address, bytes)
            }
            // The members' arrays are in the caches of several nodes.
            fn copy(&self, from: Remote<Readable<'_>>, to: Remote<Writable<'_>>, _: usize) {
                copy(&self.names, from, to);
            }
            fn near<'m>(
                &self,
                from: Remote<Readable<'m>>,
                room: &'m mut Option<Scratch>,
            ) -> Readable<'m> {
                if Names::named(from.address()).is_none() {
                    // SAFETY: the address is not a name, so it is mapped here.
                    return unsafe { from.range() };
                }
                let room = room.insert(Scratch::new(from.bytes())).all();
                copy(&self.names, from, room.into());
                room.readable()
            }
        }
    )*};
}
far_memory! {
    FarTeam: team;
    FarSet: set;
}

/// Copies bytes; one side may be a name. A put is complete on return, so that a step announced next
/// cannot overtake it.
fn copy(names: &Names, from: Remote<Readable<'_>>, to: Remote<Writable<'_>>) {
    let bytes = from.bytes();
    assert_eq!(bytes, to.bytes(), "a copy has two lengths");
    let (far_from, far_to) = (Names::named(from.address()), Names::named(to.address()));
    // SAFETY: the code below never loads from a name or stores to one.
    let (from, to) = unsafe { (from.range(), to.range()) };
    match (far_from, far_to) {
        (None, None) => range::copy(from, to),
        _ if bytes == 0 => {}
        (Some(from), None) => {
            // SAFETY: `to` is not a name, so its bytes are mapped here, and writable, as those of a
            // `Writable` are. The transfer is over on return.
            unsafe { names.network.get(to.at(), from, bytes, Completion::AtReturn) };
        }
        (None, Some(to)) => {
            // SAFETY: `from` is not a name, so its bytes are mapped here, and readable, as those of
            // a `Readable` are. The transfer is over on return.
            unsafe { names.network.put(to, from.at(), bytes, Completion::AtReturn) };
            names.network.quiet();
        }
        (Some(_), Some(_)) => unreachable!("one side of a copy is this PE's own memory"),
    }
}

impl ActiveSet {
    /// Ends the job unless the `pSync` array is symmetric.
    pub fn check_psync(&self) {
        peer(self.routine, "pSync", self.psync.address(), self.world_pe(self.me));
    }
}

impl SyncArray for ActiveSet {
    type Word<'w> = &'w AtomicU64;

    fn word(&self, member: usize, element: usize) -> &AtomicU64 {
        let array = peer(self.routine, "pSync", self.psync.address(), self.world_pe(member));
        let word = array + element * size_of::<AtomicU64>();
        // SAFETY: `peer` ends the job unless the array is symmetric, and returns where the member's
        // array is mapped while the library is initialised. A `PSyncArray` has this element, and
        // only collectives access it during the call, by atomic operations. `active_set::checked`
        // found the array aligned.
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
