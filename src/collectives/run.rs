//! The collectives over any group: checks the data of a call, chooses the algorithm and runs it.
//! Teams and active sets share this code; each checks its members itself.
//!
//! A PE's contribution is a [`Span`]. Empty collectives return earlier and never get here.

use super::arrays::Arrays;
use super::device::OnDevices;
use super::far::FarTeam;
use super::far_set::FarSet;
use super::members::{ActiveSet, TeamMembers};
use super::psync::PSync;
use super::select::{self, choose, choose_far};
use crate::error::Routine;
use crate::failure;
use crate::span::Span;
use onenode_core::collectives::algorithm::Algorithm;
use onenode_core::collectives::alltoall::{self, Alltoall, BlockLayout, Shape};
use onenode_core::collectives::barrier;
use onenode_core::collectives::broadcast::{self, Broadcast};
use onenode_core::collectives::collect::{self, Collect};
use onenode_core::collectives::epoch_group::EpochGroup;
use onenode_core::collectives::group::CollectiveGroup;
use onenode_core::collectives::reduce::{self, Kernel, Reduce};
use onenode_core::collectives::scan::{self, Scan};
use std::convert::Infallible;
use std::ffi::c_int;

/// A group whose collectives cannot fail, because all members end together.
pub trait Members: CollectiveGroup<Stop = Infallible> {
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

/// Chooses the algorithm for this many bytes per member, and runs it.
#[inline(always)]
fn run<A: Algorithm, G: Members>(routine: Routine, group: &G, bytes: usize, call: A::Call<'_>) {
    let algorithm: A = if G::OVER_NODES {
        choose_far(routine, group.size(), bytes)
    } else {
        choose(routine, group.size(), bytes)
    };
    let Ok(()) = algorithm.run(group, call, || select::CHOICES.degree());
}

/// Waits until all members have called this.
#[inline]
pub fn sync(routine: Routine, group: &impl Members) {
    run::<barrier::Algorithm, _>(routine, group, 0, ());
}

/// Checks the PE number of a root.
fn checked_root(routine: Routine, root: c_int, size: usize) -> usize {
    usize::try_from(root).ok().filter(|root| *root < size).unwrap_or_else(|| {
        failure::misuse(
            routine,
            format_args!("PE_root = {root}"),
            format_args!("expected a PE number from 0 to {}", size - 1),
        )
    })
}

/// Copies the `part` of member `root`'s source to the dest of every other member, and to the root's
/// own if `root_too`.
pub fn broadcast(
    routine: Routine,
    group: &impl Members,
    arrays: Arrays<'_>,
    part: Span,
    root: c_int,
    root_too: bool,
) {
    let root = checked_root(routine, root, group.size());
    if part.accessed > 0 {
        match arrays.ranges(routine, &part, &part) {
            Ok((dest, source)) => {
                let call = Broadcast { dest, source, root, root_too };
                run::<broadcast::Algorithm, _>(routine, group, part.accessed, call);
            }
            Err(devices) => {
                OnDevices { group, devices }.broadcast(arrays, part.accessed, root, root_too)
            }
        }
    }
}

/// Concatenates all sources, whose `part` may have a different size on each member.
pub fn collect(routine: Routine, group: &impl Members, arrays: Arrays<'_>, part: Span) {
    let (size, bytes) = (group.size(), part.accessed);
    if bytes > 0 {
        arrays.check(routine, &part, &part);
    }
    if let Some(devices) = arrays.devices(routine) {
        let devices = OnDevices { group, devices };
        let lengths = devices.lengths(bytes);
        arrays.check(routine, &Span::object(lengths.iter().sum()), &part);
        return devices.collect(arrays, &lengths);
    }
    let call = arrays.varying(group, bytes);
    let mean = call.whole().parts.bytes(0, size) / size;
    run::<collect::Algorithm, _>(routine, group, mean, call);
}

/// Concatenates all sources, a `part` of each.
pub fn fcollect(routine: Routine, group: &impl Members, arrays: Arrays<'_>, part: Span) {
    let bytes = part.accessed;
    match arrays.ranges(routine, &part.times(group.size()), &part) {
        Ok((dest, source)) => {
            let call = Collect::equal(dest, source);
            run::<collect::EqualAlgorithm, _>(routine, group, bytes, call);
        }
        Err(devices) => OnDevices { group, devices }.collect(arrays, &vec![bytes; group.size()]),
    }
}

/// Copies a `part` from each member to each member.
pub fn alltoall(routine: Routine, group: &impl Members, arrays: Arrays<'_>, part: Span) {
    let (bytes, all) = (part.accessed, part.times(group.size()));
    match arrays.ranges(routine, &all, &all) {
        Ok((dest, source)) => {
            let call = Alltoall { dest, source, blocks: BlockLayout::Dense(bytes) };
            run::<alltoall::Algorithm, _>(routine, group, bytes, call);
        }
        Err(devices) => OnDevices { group, devices }.alltoall(arrays, bytes),
    }
}

/// Copies `nelems` elements of `elem_bytes` bytes from each member to each member, `strides`
/// elements apart in dest and in source.
pub fn alltoalls(
    routine: Routine,
    group: &impl Members,
    arrays: Arrays<'_>,
    strides: (isize, isize),
    nelems: usize,
    elem_bytes: usize,
) {
    let shape = checked_shape(routine, strides, nelems, elem_bytes);
    let [written, read] = spans(shape, group.size());
    match arrays.ranges(routine, &written, &read) {
        Ok((dest, source)) => {
            let call = Alltoall { dest, source, blocks: BlockLayout::Strided(shape) };
            run::<alltoall::StridedAlgorithm, _>(routine, group, nelems * elem_bytes, call);
        }
        Err(devices) => OnDevices { group, devices }.alltoalls(arrays, shape),
    }
}

/// Checks the shape of a strided all-to-all.
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

/// The spans of dest and of source that a strided all-to-all of `npes` PEs accesses.
fn spans(shape: Shape, npes: usize) -> [Span; 2] {
    let Shape { dst, sst, nelems, elem_bytes } = shape;
    [("dst", dst), ("sst", sst)].map(|(name, stride)| {
        let of = |n| Span::strided((name, stride as isize), None, n, elem_bytes);
        of(nelems).with_bytes(nelems.checked_mul(npes).and_then(|n| of(n).bytes))
    })
}

/// Combines `n` elements over all members; all get the result.
pub fn reduce(
    routine: Routine,
    group: &impl Members,
    arrays: Arrays<'_>,
    n: usize,
    kernel: Kernel,
) {
    let part = Span::elements("nreduce", n, kernel.bytes());
    match arrays.ranges(routine, &part, &part) {
        Ok((dest, source)) => {
            let call = Reduce { dest, source, n, kernel };
            run::<reduce::Algorithm, _>(routine, group, part.accessed, call);
        }
        Err(devices) => OnDevices { group, devices }.reduce(arrays, n, kernel),
    }
}

/// Sums the sources of all members before this one, and its own if `inclusive`.
pub fn scan(
    routine: Routine,
    group: &impl Members,
    arrays: Arrays<'_>,
    n: usize,
    kernel: Kernel,
    inclusive: bool,
) {
    let part = Span::elements("nelems", n, kernel.bytes());
    match arrays.ranges(routine, &part, &part) {
        Ok((dest, source)) => {
            let call = Scan { dest, source, n, kernel, inclusive };
            run::<scan::Algorithm, _>(routine, group, part.accessed, call);
        }
        Err(devices) => {
            OnDevices { group, devices }.whole(
                arrays,
                n,
                kernel,
                group.index() + usize::from(inclusive),
            );
        }
    }
}
