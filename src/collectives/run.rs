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
use super::select::{self, Operation, choose, choose_far};
use crate::failure;
use crate::span::Span;
use onenode_core::collectives::algorithm::Algorithm;
use onenode_core::collectives::alltoall::{self, BlockLayout, StridedLayout};
use onenode_core::collectives::barrier;
use onenode_core::collectives::broadcast;
use onenode_core::collectives::collect;
use onenode_core::collectives::epoch_group::EpochGroup;
use onenode_core::collectives::group::{CollectiveGroup, Small};
use onenode_core::collectives::reduce::{self, Kernel};
use onenode_core::collectives::scan;
use oneshmem_job::error::Routine;
use std::cell::Cell;
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

/// A collective with its data, in a call of a routine. Any group carries it out: whether all its members are
/// on this node is decided where the call comes from.
pub trait Collective {
    /// The type of its result.
    type Output;

    /// Carries it out.
    fn run(self, routine: Routine, group: &impl Members) -> Self::Output;

    /// The operation, if it has algorithms, and how many bytes this member contributes.
    fn choice(&self) -> Option<(Operation, usize)> {
        None
    }

    /// The name of the algorithm with which it was carried out among so many members.
    fn algorithm(&self, members: usize, over_nodes: bool) -> Option<&'static str> {
        let (operation, bytes) = self.choice()?;
        select::shown(operation, members, bytes, over_nodes)
    }
}

/// Waits until all members have called this.
#[derive(Clone, Copy)]
pub struct Barrier;

impl Collective for Barrier {
    type Output = ();

    #[inline]
    fn run(self, routine: Routine, group: &impl Members) {
        run::<barrier::Algorithm, _>(routine, group, 0, ());
    }

    fn choice(&self) -> Option<(Operation, usize)> {
        Some((Operation::Barrier, 0))
    }
}

/// Passes a few words to all members, and theirs to a function, with their numbers. Returns this member's
/// number.
pub struct Exchange<'a, F>(pub &'a Small, pub F);

impl<F: FnMut(usize, &Small)> Collective for Exchange<'_, F> {
    type Output = usize;

    fn run(self, _: Routine, group: &impl Members) -> usize {
        let Self(mine, mut take) = self;
        let Ok(()) = group.exchange(mine, |member, theirs| {
            take(member, theirs);
            Ok(())
        });
        group.index()
    }
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
#[derive(Clone, Copy)]
pub struct Broadcast<'m> {
    pub arrays: Arrays<'m>,
    pub part: Span,
    pub root: c_int,
    pub root_too: bool,
}

impl Collective for Broadcast<'_> {
    type Output = ();

    fn run(self, routine: Routine, group: &impl Members) {
        let Self { arrays, part, root, root_too } = self;
        let root = checked_root(routine, root, group.size());
        if part.accessed > 0 {
            match arrays.ranges(routine, &part, &part) {
                Ok((dest, source)) => {
                    let call = broadcast::Broadcast { dest, source, root, root_too };
                    run::<broadcast::Algorithm, _>(routine, group, part.accessed, call);
                }
                Err(devices) => {
                    OnDevices { group, devices }.broadcast(arrays, part.accessed, root, root_too)
                }
            }
        }
    }

    fn choice(&self) -> Option<(Operation, usize)> {
        Some((Operation::Broadcast, self.part.accessed))
    }
}

/// Concatenates all sources, whose `part` may have a different size on each member.
#[derive(Clone, Copy)]
pub struct Collect<'m> {
    pub arrays: Arrays<'m>,
    pub part: Span,
    /// Gets the mean of what the members contribute, in bytes, which chooses the algorithm; not if all of it is so
    /// short that it travels with its length.
    pub mean: &'m Cell<Option<usize>>,
}

impl Collective for Collect<'_> {
    type Output = ();

    fn run(self, routine: Routine, group: &impl Members) {
        let Self { arrays, part, mean: known } = self;
        let (size, bytes) = (group.size(), part.accessed);
        if bytes > 0 {
            arrays.check(routine, &part, &part);
        }
        if let Some(devices) = arrays.devices(routine) {
            let devices = OnDevices { group, devices };
            let lengths = devices.lengths(bytes);
            let all = lengths.iter().sum();
            arrays.check(routine, &Span::object(all), &part);
            known.set(Some(all / size));
            return devices.collect(arrays, &lengths);
        }
        let Some(call) = arrays.varying(group, bytes) else { return };
        let mean = call.whole().parts.bytes(0, size) / size;
        known.set(Some(mean));
        run::<collect::Algorithm, _>(routine, group, mean, call);
    }

    fn choice(&self) -> Option<(Operation, usize)> {
        Some((Operation::Collect, self.part.accessed))
    }

    fn algorithm(&self, members: usize, over_nodes: bool) -> Option<&'static str> {
        match self.mean.get() {
            Some(mean) => select::shown(Operation::Collect, members, mean, over_nodes),
            None => Some("small"),
        }
    }
}

/// Concatenates all sources, a `part` of each.
#[derive(Clone, Copy)]
pub struct Fcollect<'m> {
    pub arrays: Arrays<'m>,
    pub part: Span,
}

impl Collective for Fcollect<'_> {
    type Output = ();

    fn run(self, routine: Routine, group: &impl Members) {
        let Self { arrays, part } = self;
        let bytes = part.accessed;
        match arrays.ranges(routine, &part.times(group.size()), &part) {
            Ok((dest, source)) => {
                let call = collect::Collect::equal(dest, source);
                run::<collect::EqualAlgorithm, _>(routine, group, bytes, call);
            }
            Err(devices) => {
                OnDevices { group, devices }.collect(arrays, &vec![bytes; group.size()])
            }
        }
    }

    fn choice(&self) -> Option<(Operation, usize)> {
        Some((Operation::Fcollect, self.part.accessed))
    }
}

/// Copies a `part` from each member to each member.
#[derive(Clone, Copy)]
pub struct Alltoall<'m> {
    pub arrays: Arrays<'m>,
    pub part: Span,
}

impl Collective for Alltoall<'_> {
    type Output = ();

    fn run(self, routine: Routine, group: &impl Members) {
        let Self { arrays, part } = self;
        let (bytes, all) = (part.accessed, part.times(group.size()));
        match arrays.ranges(routine, &all, &all) {
            Ok((dest, source)) => {
                let call = alltoall::Alltoall { dest, source, blocks: BlockLayout::Dense(bytes) };
                run::<alltoall::Algorithm, _>(routine, group, bytes, call);
            }
            Err(devices) => OnDevices { group, devices }.alltoall(arrays, bytes),
        }
    }

    fn choice(&self) -> Option<(Operation, usize)> {
        Some((Operation::Alltoall, self.part.accessed))
    }
}

/// Copies `nelems` elements of `elem_bytes` bytes from each member to each member, `strides`
/// elements apart in dest and in source.
#[derive(Clone, Copy)]
pub struct Alltoalls<'m> {
    /// Dest and source.
    pub arrays: Arrays<'m>,
    /// The stride in dest, in elements.
    pub dst: isize,
    /// The stride in source, in elements.
    pub sst: isize,
    /// Elements for each member.
    pub nelems: usize,
    /// Bytes of an element.
    pub elem_bytes: usize,
}

impl Collective for Alltoalls<'_> {
    type Output = ();

    fn run(self, routine: Routine, group: &impl Members) {
        let Self { arrays, dst, sst, nelems, elem_bytes } = self;
        let shape = checked_shape(routine, (dst, sst), nelems, elem_bytes);
        let [written, read] = spans(shape, group.size());
        match arrays.ranges(routine, &written, &read) {
            Ok((dest, source)) => {
                let call = alltoall::Alltoall { dest, source, blocks: BlockLayout::Strided(shape) };
                run::<alltoall::StridedAlgorithm, _>(routine, group, nelems * elem_bytes, call);
            }
            Err(devices) => OnDevices { group, devices }.alltoalls(arrays, shape),
        }
    }

    fn choice(&self) -> Option<(Operation, usize)> {
        Some((Operation::Alltoalls, self.nelems.saturating_mul(self.elem_bytes)))
    }
}

/// Checks the shape of a strided all-to-all.
fn checked_shape(
    routine: Routine,
    (dst, sst): (isize, isize),
    nelems: usize,
    elem_bytes: usize,
) -> StridedLayout {
    let stride = |name: &str, value: isize| {
        usize::try_from(value).ok().filter(|stride| *stride > 0).unwrap_or_else(|| {
            failure::misuse(
                routine,
                format_args!("{name} = {value}"),
                "expected a stride of at least 1",
            )
        })
    };
    StridedLayout { dst: stride("dst", dst), sst: stride("sst", sst), nelems, elem_bytes }
}

/// The spans of dest and of source that a strided all-to-all of `npes` PEs accesses.
fn spans(shape: StridedLayout, npes: usize) -> [Span; 2] {
    let StridedLayout { dst, sst, nelems, elem_bytes } = shape;
    [("dst", dst), ("sst", sst)].map(|(name, stride)| {
        let of = |n| Span::strided((name, stride as isize), None, n, elem_bytes);
        of(nelems).with_bytes(nelems.checked_mul(npes).and_then(|n| of(n).bytes))
    })
}

/// Combines `n` elements over all members; all get the result.
#[derive(Clone, Copy)]
pub struct Reduce<'m> {
    pub arrays: Arrays<'m>,
    pub n: usize,
    pub kernel: Kernel,
}

impl Collective for Reduce<'_> {
    type Output = ();

    fn run(self, routine: Routine, group: &impl Members) {
        let Self { arrays, n, kernel } = self;
        let part = Span::elements("nreduce", n, kernel.bytes());
        match arrays.ranges(routine, &part, &part) {
            Ok((dest, source)) => {
                let call = reduce::Reduce { dest, source, n, kernel };
                run::<reduce::Algorithm, _>(routine, group, part.accessed, call);
            }
            Err(devices) => OnDevices { group, devices }.reduce(arrays, n, kernel),
        }
    }

    fn choice(&self) -> Option<(Operation, usize)> {
        Some((Operation::Reduce, self.n.saturating_mul(self.kernel.bytes())))
    }
}

/// Sums the sources of all members before this one, and its own if `inclusive`.
#[derive(Clone, Copy)]
pub struct Scan<'m> {
    pub arrays: Arrays<'m>,
    pub n: usize,
    pub kernel: Kernel,
    pub inclusive: bool,
}

impl Collective for Scan<'_> {
    type Output = ();

    fn run(self, routine: Routine, group: &impl Members) {
        let Self { arrays, n, kernel, inclusive } = self;
        let part = Span::elements("nelems", n, kernel.bytes());
        match arrays.ranges(routine, &part, &part) {
            Ok((dest, source)) => {
                let call = scan::Scan { dest, source, n, kernel, inclusive };
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

    fn choice(&self) -> Option<(Operation, usize)> {
        Some((Operation::Scan, self.n.saturating_mul(self.kernel.bytes())))
    }
}
