//! All-to-all of blocks of different lengths, as Cray SHMEM has it: each member says for every other one where
//! in its source the other's block lies and how long it is, and where in its dest the other's block goes.
//!
//! As in the `direct` all-to-all, every member copies its block out of every source, its successor's first.
//! It looks up place and length in the other's tables before.

use super::arrays::{Arrays, Table};
use super::device::OnDevices;
use super::{Collective, Members, counterparts};
use crate::argument::memory::{In, Out};
use crate::failure;
use crate::span::Span;
use onenode_core::collectives::group::others_first;
use onenode_core::collectives::range::{Readable, Remote, Writable};
use oneshmem_job::error::Routine;

/// The steps of a member.
const READY: usize = 1;
const COPIED: usize = 2;

/// A call. All tables have an element for each member.
#[derive(Clone, Copy)]
pub struct Alltoallv<'m> {
    /// dest and source.
    pub arrays: Arrays<'m>,
    /// Where in dest blocks go, in units.
    pub t_offsets: In<'m, usize>,
    /// Gets the lengths of the blocks that have come, in units.
    pub t_sizes: Out<'m, usize>,
    /// Where in source blocks lie, in units.
    pub s_offsets: Table<'m>,
    /// How long they are, in units.
    pub s_sizes: Table<'m>,
    /// Bytes of a unit.
    pub unit: usize,
    /// How many units dest and source have, as far as is known.
    pub most: [usize; 2],
}

impl Alltoallv<'_> {
    /// How many bytes this member has for others.
    pub fn bytes(&self) -> usize {
        self.s_sizes.sum().saturating_mul(self.unit)
    }
}

impl Collective for Alltoallv<'_> {
    type Output = ();

    fn run(self, routine: Routine, group: &impl Members) {
        let Self { arrays, t_offsets, t_sizes, unit, most: [most_of_dest, most_of_source], .. } =
            self;
        let me = group.index();
        let [offsets, sizes] = [("s_offsets", self.s_offsets), ("s_sizes", self.s_sizes)]
            .map(|(name, table)| table.range(routine, name));
        // The byte of an array at which a block begins. Ends the job unless all of the block is there.
        let checked = |(name, at): (&'static str, usize), count, most, offset: usize, units| {
            let end = offset.checked_add(units);
            if end.is_some_and(|end| end > most) {
                failure::misuse(
                    routine,
                    format_args!("{count} = {units}"),
                    format_args!("from element {offset} of {name} on, {most} elements are too few"),
                );
            }
            let bytes = end.and_then(|end| end.checked_mul(unit));
            let span = Span::elements(count, units, unit).with_bytes(bytes);
            counterparts::check(routine, name, at, &span);
            offset * unit
        };
        let place_in_source = |offset, units| {
            checked(("source", arrays.source.addr()), "s_sizes", most_of_source, offset, units)
        };
        let place_in_dest = |offset, units| {
            checked(("dest", arrays.dest.addr()), "t_sizes", most_of_dest, offset, units)
        };
        for member in (0..group.size()).filter(|member| self.s_sizes.get(*member) > 0) {
            place_in_source(self.s_offsets.get(member), self.s_sizes.get(member));
        }
        let word = |table: Remote<Readable<'_>>| {
            let mut word = [0u64];
            group.copy(
                table.part(me * size_of::<u64>(), size_of::<u64>()),
                Writable::from(&mut word[..]),
            );
            word[0] as usize
        };
        let mut devices = None;
        let Ok(()) = group.steps(COPIED, |steps| {
            steps.announce(READY);
            for member in others_first(me, group.size()) {
                steps.await_member(READY, member)?;
                let units = word(group.source(sizes, member)?);
                t_sizes.set(member, units);
                if units == 0 {
                    continue;
                }
                let from = place_in_source(word(group.source(offsets, member)?), units);
                let to = place_in_dest(t_offsets.get(member), units);
                let (block, bytes) = (arrays.at(to, from), units * unit);
                match block.ranges(routine, &Span::object(bytes), &Span::object(bytes)) {
                    Ok((dest, source)) => group.copy(group.source(source, member)?, dest),
                    Err(device) => {
                        OnDevices { group, devices: device }.begin(block, member, bytes);
                        devices = Some(device);
                    }
                }
            }
            if let Some(devices) = devices {
                devices.quiet();
            }
            steps.finish(COPIED)
        });
    }
}
