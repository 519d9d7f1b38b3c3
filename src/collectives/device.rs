//! Collectives on memory of devices. The driver copies, so that no algorithm is faster than each
//! member fetching what it needs from the others once all have come; what is to be combined is
//! brought to the processor, piece by piece. Words that members meet at stay in its memory.
#![allow(unsafe_code)]

use crate::engine::DeviceMemory;
use onenode::collectives::alltoall::Shape;
use onenode::collectives::broadcast::Broadcast;
use onenode::collectives::group::{Buffer, Group, Small};
use onenode::collectives::reduce::Reduce;
use onenode::collectives::scan::Scan;
use std::convert::Infallible;

/// Bytes that are brought to the processor at a time.
const PIECE: usize = 4 << 20;

/// A collective of a group with such memory.
pub struct OnDevices<'g, G> {
    pub group: &'g G,
    pub devices: &'static dyn DeviceMemory,
}

impl<G: Group<Stop = Infallible>> OnDevices<'_, G> {
    fn sync(&self) {
        let Ok(()) = self.group.sync();
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
            unsafe { self.devices.copy(to, self.source(source, member), *bytes) };
            to = to.wrapping_add(*bytes);
        }
        self.sync();
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
            unsafe { self.devices.copy(dest.wrapping_add(member * bytes), from, bytes) };
        }
        self.sync();
    }

    /// The same of elements with strides.
    ///
    /// # Safety
    /// As [`super::run::alltoalls`].
    pub unsafe fn alltoalls(&self, dest: *mut u8, source: *const u8, shape: Shape) {
        self.sync();
        let Shape { dst, sst, nelems, elem_bytes } = shape;
        let mine = self.group.index() * nelems;
        for member in 0..self.group.size() {
            let theirs = self.source(source, member);
            for i in 0..nelems {
                let to = dest.wrapping_add((member * nelems + i) * dst * elem_bytes);
                let from = theirs.wrapping_add((mine + i) * sst * elem_bytes);
                // SAFETY: the caller's promise.
                unsafe { self.devices.copy(to, from, elem_bytes) };
            }
        }
        self.sync();
    }

    /// All members' elements combined, in the members' order.
    ///
    /// # Safety
    /// As [`super::run::reduce`].
    pub unsafe fn reduce(&self, call: Reduce) {
        let Reduce { dest, source, n, kernel } = call;
        let all = Scan { dest, source, n, kernel, inclusive: true };
        // SAFETY: the caller's promise.
        unsafe { self.fold(all, self.group.size()) }
    }

    /// The members' elements before this one's combined, with its own if they are to be.
    ///
    /// # Safety
    /// As [`super::run::scan`].
    pub unsafe fn scan(&self, call: Scan) {
        let members = self.group.index() + usize::from(call.inclusive);
        // SAFETY: the caller's promise.
        unsafe { self.fold(call, members) }
    }

    /// Combines the elements of the first `members` members; none are zeros.
    ///
    /// # Safety
    /// As [`super::run::reduce`].
    unsafe fn fold(&self, call: Scan, members: usize) {
        let size = call.kernel.bytes();
        let piece = (PIECE / size).min(call.n);
        // Of words, so that elements are aligned.
        let room = || vec![0u128; (piece * size).div_ceil(size_of::<u128>())];
        let (mut sum, mut other) = (room(), room());
        let (sum, other) = (sum.as_mut_ptr().cast::<u8>(), other.as_mut_ptr().cast::<u8>());
        self.sync();
        for first in (0..call.n).step_by(piece) {
            let n = piece.min(call.n - first);
            if members == 0 {
                // SAFETY: room for so many.
                unsafe { sum.write_bytes(0, n * size) };
            }
            for member in 0..members {
                let from = self.source(call.source, member).wrapping_add(first * size);
                let to = if member == 0 { sum } else { other };
                // SAFETY: the caller's promise, and room for so many.
                unsafe {
                    self.devices.copy(to, from, n * size);
                    if member > 0 {
                        call.kernel.combine(sum, sum, other, n);
                    }
                }
            }
            // The dest may be the source, which others read.
            self.sync();
            // SAFETY: as above.
            unsafe { self.devices.copy(call.dest.wrapping_add(first * size), sum, n * size) };
        }
        self.sync();
    }
}
