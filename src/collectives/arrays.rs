//! The dest and source arguments of a collective, and the ranges that algorithms are given of them.
#![allow(unsafe_code)]

use super::members;
use crate::engine::DeviceMemory;
use crate::error::Routine;
use crate::slow;
use crate::span::Span;
use crate::translate::TABLE;
use onenode::collectives::collect::Collect;
use onenode::collectives::group::Group;
use onenode::collectives::range::{Readable, Writable};
use std::convert::Infallible;
use std::marker::PhantomData;

/// Dest and source, as the program has given them.
#[derive(Clone, Copy)]
pub struct Arrays<'m> {
    pub dest: *mut u8,
    pub source: *const u8,
    memory: PhantomData<&'m mut [u8]>,
}

impl<'m> Arrays<'m> {
    /// For one call of a routine.
    ///
    /// # Safety
    /// As the routine has it: for as long as `'m`, on each PE that takes part, what it reads of
    /// `source` is readable and what it writes of `dest` is writable, as far as they are symmetric;
    /// they overlap only where the routine permits it; and no PE accesses them but by the call.
    #[inline(always)]
    pub unsafe fn new<T>(dest: *mut T, source: *const T) -> Self {
        Self { dest: dest.cast(), source: source.cast(), memory: PhantomData }
    }

    /// What the routine writes and reads of them, which must be symmetric in whole. An error if
    /// they are on devices: the way there.
    #[inline(always)]
    pub fn ranges(
        self,
        routine: Routine,
        written: &Span,
        read: &Span,
    ) -> Result<(Writable<'m>, Readable<'m>), &'static dyn DeviceMemory> {
        self.check(routine, written, read);
        if let Some(devices) = self.devices(routine) {
            return Err(devices);
        }
        // There is a number, or the check would have ended the job.
        let (written, read) = (written.bytes.unwrap_or(0), read.bytes.unwrap_or(0));
        // SAFETY: symmetric, as just checked, so the counterparts are on all members; mapped for as
        // long as the library is initialised; and of one call, see `new`.
        Ok(unsafe { (Writable::new(self.dest, written), Readable::new(self.source, read)) })
    }

    /// Dest and source must be symmetric, in whole: what from there on is written and read.
    #[inline(always)]
    pub fn check(self, routine: Routine, written: &Span, read: &Span) {
        members::check(routine, "dest", self.dest.addr(), written);
        members::check(routine, "source", self.source.addr(), read);
    }

    /// The way to the memory of devices, if dest or source is on one.
    #[inline(always)]
    pub fn devices(self, routine: Routine) -> Option<&'static dyn DeviceMemory> {
        if TABLE.copies_open() {
            return None;
        }
        slow::devices_of(routine, &[self.dest.addr(), self.source.addr()])
    }

    /// A collect of as many bytes as each member likes, `bytes` of this PE, which are symmetric.
    #[inline(always)]
    pub fn varying(self, group: &impl Group<Stop = Infallible>, bytes: usize) -> Collect<'m> {
        // SAFETY: see `new`, for the bytes that all PEs give; the group checks that they have room.
        let Ok(call) = unsafe { Collect::varying(group, self.dest, self.source, bytes) };
        call
    }
}
