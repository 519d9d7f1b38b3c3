//! Collectives on memory of devices. The driver copies, so no algorithm is faster than this: once
//! all members have arrived, each starts copying what it needs from the others, then waits once.
//! Reductions bring the elements to the processor, piece by piece. For few bytes each member
//! combines all of them; for more, each combines a slice, and the others fetch its result. Control
//! words stay in the processor's memory.
#![allow(unsafe_code)]

use super::arrays::Arrays;
use onenode_core::collectives::alltoall::StridedLayout;
use onenode_core::collectives::group::{CollectiveGroup, Small};
use onenode_core::collectives::memory::{Buffer, Memory};
use onenode_core::collectives::range::{Readable, Writable};
use onenode_core::collectives::reduce::Kernel;
use oneshmem_job::remote::{DeviceMemory, Scratch, StridedBlocks};
use std::convert::Infallible;
use std::ops::Range;

/// Up to this many bytes each member combines all elements of a reduction itself.
const WHOLE: usize = 32 << 10;

/// A collective of a group on such memory.
pub struct OnDevices<'g, G> {
    pub group: &'g G,
    pub devices: &'static dyn DeviceMemory,
}

impl<G: CollectiveGroup<Stop = Infallible>> OnDevices<'_, G> {
    fn sync(&self) {
        let Ok(()) = self.group.sync();
    }

    /// Completes the copies and waits for the other members.
    fn end(&self) {
        self.devices.quiet();
        self.sync();
    }

    /// The address of `member`'s counterpart of `own`, as the driver or the processor accesses it.
    fn of(&self, buffer: Buffer, own: *const u8, member: usize) -> *const u8 {
        if member == self.group.index() {
            return own;
        }
        let (memory, number) = (self.group.memory(), self.group.number(member));
        let Ok(theirs) = memory.peer(buffer, own.addr(), number);
        theirs as *const u8
    }

    /// Member `member`'s source.
    fn source(&self, arrays: Arrays<'_>, member: usize) -> *const u8 {
        self.of(Buffer::Source, arrays.source, member)
    }

    /// Copies the root's source to all.
    pub fn broadcast(&self, arrays: Arrays<'_>, bytes: usize, root: usize, root_too: bool) {
        self.sync();
        if self.group.index() != root || root_too {
            let from = self.source(arrays, root);
            if from != arrays.dest.cast_const() {
                // SAFETY: this many bytes of arrays that only this call accesses; the root waits
                // below.
                unsafe { self.devices.copy(arrays.dest, from, StridedBlocks::one(bytes)) };
            }
        }
        self.sync();
    }

    /// How many bytes each member contributes.
    pub fn lengths(&self, bytes: usize) -> Vec<usize> {
        let (mut mine, mut all) = (Small::default(), Vec::with_capacity(self.group.size()));
        mine[0] = bytes as u64;
        let Ok(()) = self.group.exchange(&mine, |_, theirs| {
            all.push(theirs[0] as usize);
            Ok(())
        });
        all
    }

    /// Concatenates all sources, which have these lengths.
    pub fn collect(&self, arrays: Arrays<'_>, lengths: &[usize]) {
        self.sync();
        let mut at = 0;
        // Where there are no elements, the address may be any.
        for (member, bytes) in lengths.iter().enumerate().filter(|(_, bytes)| **bytes > 0) {
            self.fetch(arrays, at, member, 0, StridedBlocks::one(*bytes));
            at += *bytes;
        }
        self.end();
    }

    /// Begins to copy a block of `bytes` bytes from `member`'s source, which waits until the copy is complete.
    pub fn begin(&self, block: Arrays<'_>, member: usize, bytes: usize) {
        self.fetch(block, 0, member, 0, StridedBlocks::one(bytes));
    }

    /// Begins to copy blocks from byte `from` on of `member`'s source to byte `to` on of dest.
    fn fetch(
        &self,
        arrays: Arrays<'_>,
        to: usize,
        member: usize,
        from: usize,
        blocks: StridedBlocks,
    ) {
        let (dest, source) = (arrays.dest.wrapping_add(to), self.source(arrays, member));
        // SAFETY: both arrays have these blocks, and all members wait until the copy is complete.
        unsafe { self.devices.begin(dest, source.wrapping_add(from), blocks) };
    }

    /// Copies `bytes` bytes from each member to each.
    pub fn alltoall(&self, arrays: Arrays<'_>, bytes: usize) {
        self.sync();
        let mine = self.group.index() * bytes;
        for member in (0..self.group.size()).filter(|_| bytes > 0) {
            self.fetch(arrays, member * bytes, member, mine, StridedBlocks::one(bytes));
        }
        self.end();
    }

    /// As [`alltoall`](Self::alltoall), for strided elements.
    pub fn alltoalls(&self, arrays: Arrays<'_>, shape: StridedLayout) {
        self.sync();
        let StridedLayout { dst, sst, nelems, elem_bytes } = shape;
        let (to_stride, from_stride) = (dst * elem_bytes, sst * elem_bytes);
        let blocks =
            StridedBlocks { count: nelems, bytes: elem_bytes, to_stride, from_stride }.joined();
        let mine = self.group.index() * nelems;
        for member in (0..self.group.size()).filter(|_| nelems > 0) {
            let to = member * nelems * to_stride;
            self.fetch(arrays, to, member, mine * from_stride, blocks);
        }
        self.end();
    }

    /// Combines all members' elements, in the members' order.
    pub fn reduce(&self, arrays: Arrays<'_>, n: usize, kernel: Kernel) {
        let (size, members) = (kernel.bytes(), self.group.size());
        if n * size <= WHOLE {
            return self.whole(arrays, n, kernel, members);
        }
        let slice = |member: usize| n * member / members..n * (member + 1) / members;
        self.sync();
        // If dest is also the source: no other member reads the elements that are written here.
        self.slice(kernel, arrays, slice(self.group.index()));
        self.sync();
        for member in (0..members).filter(|member| *member != self.group.index()) {
            let theirs = self.of(Buffer::Dest, arrays.dest, member);
            let Range { start, end } = slice(member);
            let (at, bytes) = (start * size, (end - start) * size);
            let (to, from) = (arrays.dest.wrapping_add(at), theirs.wrapping_add(at));
            // SAFETY: elements that the member combined before the `sync` above; it waits below.
            unsafe { self.devices.begin(to, from, StridedBlocks::one(bytes)) };
        }
        self.end();
    }

    /// Combines the elements of the first `members` members; zeros if there are none.
    pub fn whole(&self, arrays: Arrays<'_>, n: usize, kernel: Kernel, members: usize) {
        let scratch = self.devices.scratch();
        // The same length for all members, so that all make the same number of steps and none waits
        // for a member that has finished.
        let piece = scratch.bytes / kernel.bytes() / self.group.size();
        self.sync();
        for first in (0..n).step_by(piece) {
            let elements = first..n.min(first + piece);
            // Dest may also be the source, so it is written only when no member reads it any more.
            self.combine(kernel, arrays, elements, members, &scratch, || self.sync());
        }
        self.devices.discard(scratch);
        self.sync();
    }

    /// Combines some elements of all members. No other member reads these elements of dest
    /// meanwhile.
    fn slice(&self, kernel: Kernel, arrays: Arrays<'_>, slice: Range<usize>) {
        let scratch = self.devices.scratch();
        let members = self.group.size();
        let piece = scratch.bytes / kernel.bytes() / members;
        for first in slice.clone().step_by(piece) {
            let elements = first..slice.end.min(first + piece);
            self.combine(kernel, arrays, elements, members, &scratch, || ());
        }
        self.devices.discard(scratch);
    }

    /// Copies these elements of the first `members` members to scratch memory, combines them at its start, and
    /// copies the result to dest after `before`.
    fn combine(
        &self,
        kernel: Kernel,
        arrays: Arrays<'_>,
        elements: Range<usize>,
        members: usize,
        scratch: &Scratch,
        before: impl FnOnce(),
    ) {
        let (at, n) = (elements.start * kernel.bytes(), elements.len());
        let bytes = n * kernel.bytes();
        assert!(bytes * members.max(1) <= scratch.bytes, "scratch memory has room for all members");
        let of = |member: usize| scratch.start.wrapping_add(member * bytes);
        // SAFETY: the scratch memory has room for these elements of each member, as just checked, and is this call's.
        // Sources and dest have them, too, and no owner writes its source before the next `sync`. What is combined
        // has been copied, and what is copied to dest is combined.
        unsafe {
            if members == 0 {
                scratch.start.write_bytes(0, bytes);
            }
            for member in 0..members {
                let from = self.source(arrays, member).wrapping_add(at);
                self.devices.begin(of(member), from, StridedBlocks::one(bytes));
            }
            self.devices.quiet();
            let sum = Writable::new(scratch.start, bytes);
            for member in 1..members {
                kernel.combine(sum, sum.readable(), Readable::new(of(member), bytes), n);
            }
            before();
            let result = StridedBlocks::one(bytes);
            self.devices.copy(arrays.dest.wrapping_add(at), scratch.start, result);
        }
    }
}
