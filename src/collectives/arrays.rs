//! The dest and source arguments of a collective, and the ranges of them that algorithms receive.
#![allow(unsafe_code)]

use super::counterparts;
use crate::argument::memory::In;
use crate::call::job;
use crate::failure;
use crate::slow;
use crate::span::Span;
use crate::translate::TABLE;
use onenode_core::collectives::collect::Collect;
use onenode_core::collectives::group::CollectiveGroup;
use onenode_core::collectives::range::{Readable, Writable};
use oneshmem_job::env;
use oneshmem_job::error::Routine;
use oneshmem_job::remote::DeviceMemory;
use std::convert::Infallible;
use std::marker::PhantomData;

/// Dest and source.
#[derive(Clone, Copy, Debug)]
pub struct Arrays<'m> {
    /// Where the routine writes.
    pub dest: *mut u8,
    /// The start of the array that it reads.
    pub source: *const u8,
    memory: PhantomData<&'m mut [u8]>,
}

/// A table of numbers of a collective, of which every member reads an element of this PE's.
#[derive(Clone, Copy, Debug)]
pub struct Table<'m>(In<'m, usize>);

impl<'m> Table<'m> {
    /// `len` numbers at `at`; `None` if `at` is null.
    ///
    /// # Safety
    /// For all of `'m`, on each PE that takes part: unless `at` is null, the numbers are readable and nobody
    /// writes them.
    pub unsafe fn new(at: *const usize, len: usize) -> Option<Self> {
        // SAFETY: the caller's promise.
        unsafe { In::new(at, len) }.map(Self)
    }

    /// The sum of all numbers.
    pub fn sum(self) -> usize {
        (0..self.0.len()).map(|i| self.get(i)).fold(0, usize::saturating_add)
    }

    /// Number `i`. Panics if there is none.
    pub fn get(self, i: usize) -> usize {
        self.0.get(i)
    }

    /// All of it, which must be symmetric; the argument is called `name`.
    pub fn range(self, routine: Routine, name: &'static str) -> Readable<'m> {
        let (at, bytes) = (self.0.at(), self.0.len() * size_of::<usize>());
        slow::check_symmetric(routine, name, job(routine), at.addr());
        counterparts::check(routine, name, at.addr(), &Span::object(bytes));
        // SAFETY: the checks found it whole in one segment of the processor's memory, which stays mapped while
        // the library is initialised, so the counterparts exist on all members. The caller of `new` guarantees
        // that nobody writes them.
        unsafe { Readable::new(at.cast(), bytes) }
    }
}

impl<'m> Arrays<'m> {
    /// The arguments of one call of a routine.
    ///
    /// # Safety
    /// For all of `'m`, on each PE that takes part: the memory that the routine reads from `source`
    /// on and writes from `dest` on exists if it is symmetric, which the routine checks; the two
    /// overlap only where the routine permits it; and no PE accesses them except in the call.
    #[inline(always)]
    pub unsafe fn new<T>(dest: *mut T, source: *const T) -> Self {
        Self { dest: dest.cast(), source: source.cast(), memory: PhantomData }
    }

    /// The arrays that begin so many bytes after the starts of these.
    pub fn at(self, dest: usize, source: usize) -> Self {
        let (dest, source) = (self.dest.wrapping_add(dest), self.source.wrapping_add(source));
        Self { dest, source, memory: PhantomData }
    }

    /// The ranges that the routine writes and reads, which must be symmetric.
    ///
    /// # Errors
    /// The engine for device memory, if they are on devices.
    #[inline(always)]
    pub fn ranges(
        self,
        routine: Routine,
        written: &Span,
        read: &Span,
    ) -> Result<(Writable<'m>, Readable<'m>), &'static dyn DeviceMemory> {
        self.check(routine, written, read);
        if !TABLE.copies_open() {
            if let Some(devices) = self.apart(routine, written, read) {
                return Err(devices);
            }
        }
        // Both sizes are known, or the check would have ended the job.
        let (written, read) = (written.bytes.unwrap_or(0), read.bytes.unwrap_or(0));
        // SAFETY: `check` found each range whole in one segment. Segments stay mapped while the
        // library is initialised, so the counterparts exist on all members. The caller of `new`
        // guarantees that only the call accesses the ranges, and where they overlap.
        Ok(unsafe { (Writable::new(self.dest, written), Readable::new(self.source, read)) })
    }

    /// The engine for device memory, if dest or source is on a device. Under `SHMEM_DEBUG`, ends the job if the
    /// two overlap without being the same.
    #[cold]
    fn apart(
        self,
        routine: Routine,
        written: &Span,
        read: &Span,
    ) -> Option<&'static dyn DeviceMemory> {
        let (dest, source) = (self.dest.addr(), self.source.addr());
        let [to, from] = [(dest, written), (source, read)]
            .map(|(at, span)| at..at.saturating_add(span.bytes.unwrap_or(0)));
        let overlap = to.start < from.end && from.start < to.end;
        if env::debugging() && overlap && dest != source && !written.is_strided() {
            failure::misuse(
                routine,
                format_args!("dest = {dest:#x}"),
                format_args!(
                    "{} bytes from there on overlap with the {} bytes from source = {source:#x} on; \
                     expected memory apart from each other",
                    to.len(),
                    from.len()
                ),
            );
        }
        self.devices(routine)
    }

    /// Ends the job unless all that is written from dest on and read from source on is symmetric.
    #[inline(always)]
    pub fn check(self, routine: Routine, written: &Span, read: &Span) {
        counterparts::check(routine, "dest", self.dest.addr(), written);
        counterparts::check(routine, "source", self.source.addr(), read);
    }

    /// The engine for device memory, if dest or source is on a device.
    #[inline(always)]
    pub fn devices(self, routine: Routine) -> Option<&'static dyn DeviceMemory> {
        if TABLE.copies_open() {
            return None;
        }
        slow::devices_of(routine, &[self.dest.addr(), self.source.addr()])
    }

    /// The arguments of a collect to which members contribute different amounts, unless it is complete
    /// already. This PE contributes `bytes` bytes, which are symmetric.
    #[inline(always)]
    pub fn varying(
        self,
        group: &impl CollectiveGroup<Stop = Infallible>,
        bytes: usize,
    ) -> Option<Collect<'m>> {
        // SAFETY: this PE's bytes are symmetric: the caller has checked them. The group checks
        // those of dest as soon as it knows what all PEs contribute. The caller of `new` guarantees
        // the rest.
        let Ok(call) = unsafe { Collect::varying(group, self.dest, self.source, bytes) };
        call
    }
}
