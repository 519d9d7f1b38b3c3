//! The members' memory on this node: where the counterparts of a range are mapped here.
#![allow(unsafe_code)]

use super::members::{ActiveSet, TeamMembers};
use super::psync::SyncArray;
use crate::atomics::AtomicU64;
use crate::context;
use crate::pause::Wait;
use crate::pe::about::About;
use crate::slow;
use crate::span::Span;
use crate::translate::{TABLE, translate};
use onenode_core::collectives::group::{Outcome, Reach};
use onenode_core::collectives::memory::{Buffer, Memory};
use oneshmem_job::error::Routine;
use oneshmem_job::stats::For;
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
    fn peer(&self, buffer: Buffer, address: usize, pe: usize) -> Result<usize, Infallible> {
        Ok(peer(self.routine, buffer.name(), address, pe))
    }
    #[inline(always)]
    fn check(&self, buffer: Buffer, address: usize, bytes: usize) -> Result<(), Infallible> {
        check(self.routine, buffer.name(), address, &Span::object(bytes));
        Ok(())
    }
}

// SAFETY: `peer` returns addresses in a member's slot, and ends the job for other addresses; `check` ends it
// unless all bytes are in one segment, which mirrors have unchanged. No address is a name.
unsafe impl Memory for ActiveSet {
    type Stop = Infallible;

    fn peer(&self, buffer: Buffer, address: usize, pe: usize) -> Result<usize, Infallible> {
        Ok(peer(self.routine, buffer.name(), address, pe))
    }
    fn check(&self, buffer: Buffer, address: usize, bytes: usize) -> Result<(), Infallible> {
        check(self.routine, buffer.name(), address, &Span::object(bytes));
        Ok(())
    }
}

impl ActiveSet {
    /// Ends the job unless the `pSync` array is symmetric.
    pub fn check_psync(&self) {
        peer(self.routine, "pSync", self.psync.address(), self.number(self.me));
    }
}

impl SyncArray for ActiveSet {
    type Word<'w> = &'w AtomicU64;

    fn word(&self, member: usize, element: usize) -> &AtomicU64 {
        let array = peer(self.routine, "pSync", self.psync.address(), self.number(member));
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
