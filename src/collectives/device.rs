//! Collectives on memory of devices. The driver copies, so that no algorithm is faster than each
//! member fetching what it needs from the others once all have come: all its copies are begun, then
//! waited for once. What is to be combined is brought to the processor, piece by piece: of few bytes
//! by each member, of more a slice by each, whose result the others fetch. Words that members
//! meet at stay in the processor's memory.
#![allow(unsafe_code)]

use crate::engine::{Blocks, DeviceMemory};
use onenode::collectives::alltoall::Shape;
use onenode::collectives::broadcast::Broadcast;
use onenode::collectives::group::{Buffer, Group, Small};
use onenode::collectives::reduce::{Kernel, Reduce};
use onenode::collectives::scan::Scan;
use std::convert::Infallible;
use std::ops::Range;

/// Up to so many bytes each member combines all of a reduction by itself.
const WHOLE: usize = 32 << 10;

/// A collective of a group with such memory.
pub struct OnDevices<'g, G> {
    pub group: &'g G,
    pub devices: &'static dyn DeviceMemory,
}

impl<G: Group<Stop = Infallible>> OnDevices<'_, G> {
    fn sync(&self) {
        let Ok(()) = self.group.sync();
    }

    /// Completes what was begun, and waits for the others.
    fn end(&self) {
        self.devices.quiet();
        self.sync();
    }

    /// Member `member`'s source, as the driver or the processor reaches it.
    fn source(&self, source: *const u8, member: usize) -> *const u8 {
        let Ok(theirs) = self.group.of(Buffer::Source, source, member);
        theirs
    }

    /// The root's source to all.
    ///
    /// # Safety
    /// As [`super::run::broadcast`].
    pub unsafe fn broadcast(&self, call: Broadcast) {
        self.sync();
        if self.group.index() != call.root || call.root_too {
            let from = self.source(call.source, call.root);
            if from != call.dest.cast_const() {
                // SAFETY: the caller's promise.
                unsafe { self.devices.copy(call.dest, from, call.bytes) };
            }
        }
        self.sync();
    }

    /// How many bytes each member gives.
    pub fn lengths(&self, bytes: usize) -> Vec<usize> {
        let (mut mine, mut all) = (Small::default(), Vec::with_capacity(self.group.size()));
        mine[0] = bytes as u64;
        let Ok(()) = self.group.exchange(&mine, |_, theirs| {
            all.push(theirs[0] as usize);
            Ok(())
        });
        all
    }

    /// All sources, of these lengths, one behind the other.
    ///
    /// # Safety
    /// As [`super::run::collect`].
    pub unsafe fn collect(&self, dest: *mut u8, source: *const u8, lengths: &[usize]) {
        self.sync();
        let mut to = dest;
        for (member, bytes) in lengths.iter().enumerate() {
            // SAFETY: the caller's promise.
            unsafe { self.devices.begin(to, self.source(source, member), *bytes) };
            to = to.wrapping_add(*bytes);
        }
        self.end();
    }

    /// `bytes` bytes from each member to each.
    ///
    /// # Safety
    /// As [`super::run::alltoall`].
    pub unsafe fn alltoall(&self, dest: *mut u8, source: *const u8, bytes: usize) {
        self.sync();
        let mine = self.group.index() * bytes;
        for member in 0..self.group.size() {
            let from = self.source(source, member).wrapping_add(mine);
            // SAFETY: the caller's promise.
            unsafe { self.devices.begin(dest.wrapping_add(member * bytes), from, bytes) };
        }
        self.end();
    }

    /// The same of elements with strides.
    ///
    /// # Safety
    /// As [`super::run::alltoalls`].
    pub unsafe fn alltoalls(&self, dest: *mut u8, source: *const u8, shape: Shape) {
        self.sync();
        let Shape { dst, sst, nelems, elem_bytes } = shape;
        let (to_stride, from_stride) = (dst * elem_bytes, sst * elem_bytes);
        let blocks = Blocks { count: nelems, bytes: elem_bytes, to_stride, from_stride }.joined();
        let mine = self.group.index() * nelems;
        for member in 0..self.group.size() {
            let to = dest.wrapping_add(member * nelems * to_stride);
            let from = self.source(source, member).wrapping_add(mine * from_stride);
            // SAFETY: the caller's promise.
            unsafe { self.devices.copy_blocks(to, from, blocks) };
        }
        self.sync();
    }

    /// All members' elements combined, in the members' order.
    ///
    /// # Safety
    /// As [`super::run::reduce`].
    pub unsafe fn reduce(&self, call: Reduce) {
        let Reduce { dest, source, n, kernel } = call;
        let (size, members) = (kernel.bytes(), self.group.size());
        if n * size <= WHOLE {
            let all = Scan { dest, source, n, kernel, inclusive: true };
            // SAFETY: the caller's promise.
            return unsafe { self.whole(all, members) };
        }
        let slice = |member: usize| n * member / members..n * (member + 1) / members;
        self.sync();
        // Where dest is source: nobody else reads what is written here.
        // SAFETY: the caller's promise.
        unsafe { self.slice(kernel, dest, source, slice(self.group.index())) };
        self.sync();
        for member in (0..members).filter(|member| *member != self.group.index()) {
            let Ok(theirs) = self.group.of(Buffer::Dest, dest.cast_const(), member);
            let Range { start, end } = slice(member);
            let (at, bytes) = (start * size, (end - start) * size);
            // SAFETY: the caller's promise.
            unsafe { self.devices.begin(dest.wrapping_add(at), theirs.wrapping_add(at), bytes) };
        }
        self.end();
    }

    /// The members' elements before this one's combined, with its own if they are to be.
    ///
    /// # Safety
    /// As [`super::run::scan`].
    pub unsafe fn scan(&self, call: Scan) {
        let members = self.group.index() + usize::from(call.inclusive);
        // SAFETY: the caller's promise.
        unsafe { self.whole(call, members) }
    }

    /// Combines the elements of the first `members` members; none are zeros.
    ///
    /// # Safety
    /// As [`super::run::reduce`].
    unsafe fn whole(&self, call: Scan, members: usize) {
        let Scan { dest, source, n, kernel, .. } = call;
        let (size, scratch) = (kernel.bytes(), self.devices.scratch());
        // Of all members' as long, that nobody waits for who has come.
        let piece = (scratch.bytes / size / self.group.size()).min(n);
        self.sync();
        for first in (0..n).step_by(piece) {
            let elements = first..n.min(first + piece);
            let (at, bytes) = (first * size, elements.len() * size);
            // SAFETY: the caller's promise, and scratch memory for a piece of each.
            unsafe {
                if members == 0 {
                    scratch.start.write_bytes(0, bytes);
                }
                self.combine(kernel, source, elements, members, scratch.start);
                // The dest may be the source, which others read.
                self.sync();
                self.devices.copy(dest.wrapping_add(at), scratch.start, bytes);
            }
        }
        self.devices.discard(scratch);
        self.sync();
    }

    /// Combines some elements of all members.
    ///
    /// # Safety
    /// As [`super::run::reduce`], and nobody else reads these elements meanwhile, if dest is source.
    unsafe fn slice(&self, kernel: Kernel, dest: *mut u8, source: *const u8, slice: Range<usize>) {
        let (size, members) = (kernel.bytes(), self.group.size());
        let scratch = self.devices.scratch();
        let piece = scratch.bytes / size / members;
        for first in slice.clone().step_by(piece) {
            let elements = first..slice.end.min(first + piece);
            let (to, bytes) = (dest.wrapping_add(first * size), elements.len() * size);
            // SAFETY: the caller's promise, and scratch memory for a piece of each.
            unsafe {
                self.combine(kernel, source, elements, members, scratch.start);
                self.devices.copy(to, scratch.start, bytes);
            }
        }
        self.devices.discard(scratch);
    }

    /// Brings these elements of the first `members` members to scratch memory and combines them at
    /// its start.
    ///
    /// # Safety
    /// The memory has room for them, and the sources are readable.
    unsafe fn combine(
        &self,
        kernel: Kernel,
        source: *const u8,
        elements: Range<usize>,
        members: usize,
        scratch: *mut u8,
    ) {
        let (at, n) = (elements.start * kernel.bytes(), elements.len());
        let bytes = n * kernel.bytes();
        let of = |member: usize| scratch.wrapping_add(member * bytes);
        for member in 0..members {
            let from = self.source(source, member).wrapping_add(at);
            // SAFETY: the caller's promise.
            unsafe { self.devices.begin(of(member), from, bytes) };
        }
        self.devices.quiet();
        for member in 1..members {
            // SAFETY: as above; the copies are complete, and pieces have whole elements, so that
            // all are aligned.
            unsafe { kernel.combine(scratch, scratch, of(member), n) };
        }
    }
}
