//! The collectives over any group: the checks of a call's data, the choice of the algorithm, and
//! its run. Teams and active sets share them; each checks what the members are.
//!
//! What a PE gives is told as a [`Span`]. Nothing here is called for nothing.
#![allow(unsafe_code)]

use super::device::OnDevices;
use super::far::FarTeam;
use super::far_set::FarSet;
use super::members::{self, ActiveSet, TeamMembers};
use super::psync::PSync;
use super::select::{self, choose, choose_far};
use crate::error::Routine;
use crate::failure;
use crate::slow;
use crate::span::Span;
use crate::translate::TABLE;
use onenode::collectives::algorithm::Algorithm;
use onenode::collectives::alltoall::{self, Alltoall, Blocks, Shape};
use onenode::collectives::barrier;
use onenode::collectives::broadcast::{self, Broadcast};
use onenode::collectives::collect::{self, Collect, Parts};
use onenode::collectives::epoch_group::EpochGroup;
use onenode::collectives::group::Group;
use onenode::collectives::reduce::{self, Kernel, Reduce};
use onenode::collectives::scan::{self, Scan};
use std::convert::Infallible;
use std::ffi::c_int;

/// A group whose members end together: no collective ends early.
pub trait Members: Group<Stop = Infallible> {
    /// Whether members are on several nodes.
    const OVER_NODES: bool = false;
}

impl Members for EpochGroup<'_, TeamMembers> {}
impl Members for PSync<ActiveSet> {}
impl Members for PSync<FarSet> {
    const OVER_NODES: bool = true;
}
impl Members for EpochGroup<'_, FarTeam> {
    const OVER_NODES: bool = true;
}

/// Chooses the algorithm for so many bytes a member, and runs it.
///
/// # Safety
/// As [`Algorithm::run`].
#[inline(always)]
unsafe fn run<A: Algorithm, G: Members>(routine: Routine, group: &G, bytes: usize, call: A::Call) {
    let algorithm: A = if G::OVER_NODES {
        choose_far(routine, group.size(), bytes)
    } else {
        choose(routine, group.size(), bytes)
    };
    // SAFETY: the caller's promise, passed on.
    let Ok(()) = unsafe { algorithm.run(group, call, || select::CHOICES.degree()) };
}

/// The way to the memory of devices, if dest or source is on one.
#[inline(always)]
fn on_devices<'g, G: Members>(
    routine: Routine,
    group: &'g G,
    dest: *const u8,
    source: *const u8,
) -> Option<OnDevices<'g, G>> {
    if TABLE.copies_open() {
        return None;
    }
    let devices = slow::devices_of(routine, &[dest.addr(), source.addr()])?;
    Some(OnDevices { group, devices })
}

/// Dest and source must be symmetric, in whole: what from there on is written and read.
#[inline(always)]
fn check_data(
    routine: Routine,
    (dest, written): (*mut u8, Span),
    (source, read): (*const u8, Span),
) {
    members::check(routine, "dest", dest as usize, written);
    members::check(routine, "source", source as usize, read);
}

/// Waits until all members have called it.
#[inline]
pub fn sync(routine: Routine, group: &impl Members) {
    // SAFETY: barriers ask nothing.
    unsafe { run::<barrier::Algorithm, _>(routine, group, 0, ()) }
}

/// The PE number of a root.
fn checked_root(routine: Routine, root: c_int, size: usize) -> usize {
    usize::try_from(root).ok().filter(|root| *root < size).unwrap_or_else(|| {
        failure::misuse(
            routine,
            format_args!("PE_root = {root}"),
            format_args!("expected a PE number from 0 to {}", size - 1),
        )
    })
}

/// The `part` of the source of member `root` goes to the dest of every other member, and to the
/// root's own if `root_too`.
///
/// # Safety
/// `source` is readable at the root and `dest` writable for it, not overlapping, and no PE
/// accesses them in conflict with the call.
pub unsafe fn broadcast(
    routine: Routine,
    group: &impl Members,
    dest: *mut u8,
    source: *const u8,
    part: Span,
    root: c_int,
    root_too: bool,
) {
    let (root, bytes) = (checked_root(routine, root, group.size()), part.accessed);
    if bytes > 0 {
        check_data(routine, (dest, part), (source, part));
        let call = Broadcast { dest, source, bytes, root, root_too };
        if let Some(devices) = on_devices(routine, group, dest, source) {
            // SAFETY: the caller's promise, passed on.
            return unsafe { devices.broadcast(call) };
        }
        // SAFETY: the caller's promise, passed on.
        unsafe { run::<broadcast::Algorithm, _>(routine, group, bytes, call) }
    }
}

/// The concatenation of all sources, of which each member has a `part` as large as it likes.
///
/// # Safety
/// `source` is readable for it, `dest` writable for all members', not overlapping, and no PE
/// accesses them in conflict with the call.
pub unsafe fn collect(
    routine: Routine,
    group: &impl Members,
    dest: *mut u8,
    source: *const u8,
    part: Span,
) {
    let (size, bytes) = (group.size(), part.accessed);
    if bytes > 0 {
        check_data(routine, (dest, part), (source, part));
    }
    if let Some(devices) = on_devices(routine, group, dest, source) {
        let lengths = devices.lengths(bytes);
        members::check(routine, "dest", dest as usize, Span::object(lengths.iter().sum()));
        // SAFETY: the caller's promise, passed on.
        return unsafe { devices.collect(dest, source, &lengths) };
    }
    // SAFETY: the caller's promise, passed on.
    unsafe {
        let Ok(parts) = collect::small::exchange_lengths(group, dest, source, bytes);
        let mean = parts.bytes(0, size) / size;
        run::<collect::Algorithm, _>(routine, group, mean, Collect { dest, source, parts });
    }
}

/// The concatenation of all sources, a `part` of each.
///
/// # Safety
/// As for [`collect`].
pub unsafe fn fcollect(
    routine: Routine,
    group: &impl Members,
    dest: *mut u8,
    source: *const u8,
    part: Span,
) {
    let bytes = part.accessed;
    check_data(routine, (dest, part.times(group.size())), (source, part));
    if let Some(devices) = on_devices(routine, group, dest, source) {
        // SAFETY: the caller's promise, passed on.
        return unsafe { devices.collect(dest, source, &vec![bytes; group.size()]) };
    }
    let call = Collect { dest, source, parts: Parts::Equal(bytes) };
    // SAFETY: the caller's promise, passed on.
    unsafe { run::<collect::EqualAlgorithm, _>(routine, group, bytes, call) }
}

/// A `part` from each member to each member.
///
/// # Safety
/// `source` is readable and `dest` writable for one a member, not overlapping, and no PE accesses
/// them in conflict with the call.
pub unsafe fn alltoall(
    routine: Routine,
    group: &impl Members,
    dest: *mut u8,
    source: *const u8,
    part: Span,
) {
    let (bytes, all) = (part.accessed, part.times(group.size()));
    check_data(routine, (dest, all), (source, all));
    if let Some(devices) = on_devices(routine, group, dest, source) {
        // SAFETY: the caller's promise, passed on.
        return unsafe { devices.alltoall(dest, source, bytes) };
    }
    let call = Alltoall { dest, source, blocks: Blocks::Dense(bytes) };
    // SAFETY: the caller's promise, passed on.
    unsafe { run::<alltoall::Algorithm, _>(routine, group, bytes, call) }
}

/// `nelems` elements of `elem_bytes` bytes from each member to each member, `strides` elements
/// apart in dest and in source.
///
/// # Safety
/// `source` is readable and `dest` writable at the strided indices, not overlapping, and no PE
/// accesses them in conflict with the call.
pub unsafe fn alltoalls(
    routine: Routine,
    group: &impl Members,
    dest: *mut u8,
    source: *const u8,
    strides: (isize, isize),
    nelems: usize,
    elem_bytes: usize,
) {
    let shape = checked_shape(routine, strides, nelems, elem_bytes);
    let [written, read] = spans(shape, group.size());
    check_data(routine, (dest, written), (source, read));
    if let Some(devices) = on_devices(routine, group, dest, source) {
        // SAFETY: the caller's promise, passed on.
        return unsafe { devices.alltoalls(dest, source, shape) };
    }
    let call = Alltoall { dest, source, blocks: Blocks::Strided(shape) };
    // SAFETY: the caller's promise, passed on.
    unsafe { run::<alltoall::StridedAlgorithm, _>(routine, group, nelems * elem_bytes, call) }
}

/// The shape of a strided all-to-all.
fn checked_shape(
    routine: Routine,
    (dst, sst): (isize, isize),
    nelems: usize,
    elem_bytes: usize,
) -> Shape {
    let stride = |name: &str, value: isize| {
        usize::try_from(value).ok().filter(|stride| *stride > 0).unwrap_or_else(|| {
            failure::misuse(
                routine,
                format_args!("{name} = {value}"),
                "expected a stride of at least 1",
            )
        })
    };
    Shape { dst: stride("dst", dst), sst: stride("sst", sst), nelems, elem_bytes }
}

/// What a strided all-to-all of `npes` PEs accesses of dest and of source.
fn spans(shape: Shape, npes: usize) -> [Span; 2] {
    let Shape { dst, sst, nelems, elem_bytes } = shape;
    [("dst", dst), ("sst", sst)].map(|(name, stride)| {
        let of = |n| Span::strided((name, stride as isize), n, elem_bytes);
        of(nelems).with_bytes(nelems.checked_mul(npes).and_then(|n| of(n).bytes))
    })
}

/// `n` elements combined over all members, to all of them.
///
/// # Safety
/// `source` is readable and `dest` writable for `n` elements; they are equal or do
/// not overlap, and no PE accesses them in conflict with the call.
pub unsafe fn reduce(
    routine: Routine,
    group: &impl Members,
    dest: *mut u8,
    source: *const u8,
    n: usize,
    kernel: Kernel,
) {
    let part = Span::elements("nreduce", n, kernel.bytes());
    check_data(routine, (dest, part), (source, part));
    let call = Reduce { dest, source, n, kernel };
    if let Some(devices) = on_devices(routine, group, dest, source) {
        // SAFETY: the caller's promise, passed on.
        return unsafe { devices.reduce(call) };
    }
    // SAFETY: the caller's promise, passed on.
    unsafe { run::<reduce::Algorithm, _>(routine, group, part.accessed, call) }
}

/// The sums of the sources of all members before this one, its own included if `inclusive`.
///
/// # Safety
/// As for [`reduce`].
pub unsafe fn scan(
    routine: Routine,
    group: &impl Members,
    dest: *mut u8,
    source: *const u8,
    n: usize,
    kernel: Kernel,
    inclusive: bool,
) {
    let part = Span::elements("nelems", n, kernel.bytes());
    check_data(routine, (dest, part), (source, part));
    let call = Scan { dest, source, n, kernel, inclusive };
    if let Some(devices) = on_devices(routine, group, dest, source) {
        // SAFETY: the caller's promise, passed on.
        return unsafe { devices.scan(call) };
    }
    // SAFETY: the caller's promise, passed on.
    unsafe { run::<scan::Algorithm, _>(routine, group, part.accessed, call) }
}
