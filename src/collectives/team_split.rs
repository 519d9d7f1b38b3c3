//! Team splits. A split is one exchange over the parent:
//!
//! 1. The first PE of each new team acquires a slot and reads how far its words have counted.
//! 2. Every PE of the parent sends all others its arguments, whether it succeeded, and the slots it
//!    acquired.
//! 3. All reach the same verdict. If any PE failed, the slots are released.

mod refusal;

use crate::argument::{
    self,
    memory::{In, Out},
};
use crate::call::job;
use crate::collectives::{self, Exchange, Small, agreement, far, highest_step};
use crate::failure;
use crate::message;
use crate::pe::Job;
use crate::team::{Config, NUM_CONTEXTS, TEAM_INVALID, TEAMS, Team, Triplet, get, slots};
use oneshmem_job::env;
use oneshmem_job::error::Routine;
use refusal::Refusal;
use std::ffi::{c_int, c_long};

/// The arguments for a new team.
pub struct NewTeam<'m> {
    /// Its configuration, of which the mask tells what counts.
    pub config: Option<In<'m, Config>>,
    /// The mask.
    pub mask: c_long,
    /// Where its handle goes.
    pub team: Option<Out<'m, usize>>,
}

impl<'m> NewTeam<'m> {
    /// Where its handle goes, which is invalid until it exists. Ends the job if that is nowhere.
    fn handle(&mut self, routine: Routine, argument: &str) -> Out<'m, usize> {
        let handle = argument::required(routine, argument, self.team.take());
        handle.set(0, TEAM_INVALID);
        handle
    }
}

/// `shmem_team_split_strided`: creates a team of the parent's PEs `start + i * stride`, `i < size`, which
/// `arguments` are. Returns 0 on success and nonzero, on all PEs, on failure. PEs outside the new team get
/// `SHMEM_TEAM_INVALID` for it.
pub fn split_strided(
    routine: Routine,
    parent: usize,
    arguments: [c_int; 3],
    mut new: NewTeam<'_>,
) -> c_int {
    let new_team = new.handle(routine, "new_team");
    let Some(parent) = get(routine, parent) else { return -1 };
    let parts = requested(routine, new).and_then(|config| {
        let part = part_of(parent, arguments)?;
        Ok([part.map(|triplet| (triplet, config)), None])
    });
    match split(routine, parent, arguments, parts) {
        Some([handle, _]) => {
            new_team.set(0, handle);
            0
        }
        None => -1,
    }
}

/// `shmem_team_split_2d`: arranges the parent's PEs in rows of `xrange`, and creates an x team for
/// each row and a y team for each column. Returns as [`split_strided`] does.
pub fn split_2d(
    routine: Routine,
    parent: usize,
    xrange: c_int,
    mut x: NewTeam<'_>,
    mut y: NewTeam<'_>,
) -> c_int {
    let (xaxis_team, yaxis_team) =
        (x.handle(routine, "xaxis_team"), y.handle(routine, "yaxis_team"));
    let Some(parent) = get(routine, parent) else { return -1 };
    let (x_config, y_config) = (requested(routine, x), requested(routine, y));
    let parts = || {
        let axes = axes(parent.me(), parent.size(), xrange).ok_or(Refusal::Range(xrange))?;
        let part = |triplet, config| Ok(part_of(parent, triplet)?.map(|triplet| (triplet, config)));
        Ok([part(axes.0, x_config?)?, part(axes.1, y_config?)?])
    };
    match split(routine, parent, [xrange, 0, 0], parts()) {
        Some([x_handle, y_handle]) => {
            xaxis_team.set(0, x_handle);
            yaxis_team.set(0, y_handle);
            0
        }
        None => -1,
    }
}

/// Row and column of PE `me` of `size`, as triplets.
fn axes(me: usize, size: usize, xrange: c_int) -> Option<([c_int; 3], [c_int; 3])> {
    let xrange = usize::try_from(xrange).ok().filter(|x| *x > 0)?.min(size);
    let (x, y) = (me % xrange, me / xrange);
    let row = [y * xrange, 1, xrange.min(size - y * xrange)];
    let column = [x, xrange, (size - x).div_ceil(xrange)];
    Some((row.map(|v| v as c_int), column.map(|v| v as c_int)))
}

/// The requested configuration.
fn requested(
    routine: Routine,
    NewTeam { config, mask, .. }: NewTeam<'_>,
) -> Result<Config, Refusal> {
    if mask & !NUM_CONTEXTS != 0 {
        return Err(Refusal::Mask(mask));
    }
    if mask & NUM_CONTEXTS == 0 {
        return Ok(Config::default());
    }
    let Some(config) = config else {
        failure::misuse(
            routine,
            "config = NULL",
            "expected the address of a shmem_team_config_t, or a mask of 0",
        )
    };
    let config = config.get(0);
    match config.num_contexts {
        number @ ..0 => Err(Refusal::Contexts(number)),
        _ => Ok(config),
    }
}

/// This PE's part in a new team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Share {
    /// The team is invalid.
    Invalid,
    /// This PE is not a member.
    None,
    /// This PE is a member.
    Member(Triplet),
}

/// This PE's part in the PEs `start + i * stride`, `i < size`, of `parent`; `None` if it has none.
fn part_of(parent: &Team, triplet: [c_int; 3]) -> Result<Option<Triplet>, Refusal> {
    match share(parent.triplet(), triplet) {
        Share::Invalid => Err(Refusal::Triplet(triplet, parent.size())),
        Share::None => Ok(None),
        Share::Member(triplet) => Ok(Some(triplet)),
    }
}

fn share(parent: Triplet, triplet: [c_int; 3]) -> Share {
    let [start, stride, size] = triplet.map(i64::from);
    let last = start + (size - 1).max(0) * stride;
    let inside = |pe: i64| (0..parent.size as i64).contains(&pe);
    if size < 1 || !inside(start) || !inside(last) || (stride == 0 && size > 1) {
        return Share::Invalid;
    }
    let distance = parent.me as i64 - start;
    let index = match stride {
        0 => distance,
        _ if distance % stride == 0 => distance / stride,
        _ => return Share::None,
    };
    if !(0..size).contains(&index) {
        return Share::None;
    }
    Share::Member(Triplet {
        start: parent.start.wrapping_add((start as usize).wrapping_mul(parent.stride)),
        // A team of one PE has stride 1, whatever the argument.
        stride: if size == 1 { 1 } else { parent.stride.wrapping_mul(stride as usize) },
        size: size as usize,
        me: index as usize,
    })
}

/// A slot, and the step that its words have reached.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FreeSlot {
    pub(super) slot: usize,
    pub(super) step: u64,
}

impl FreeSlot {
    /// As two words of a message.
    pub(super) fn encode(place: Option<Self>) -> [u64; 2] {
        place.map_or([0, 0], |Self { slot, step }| [slot as u64 + 1, step])
    }

    /// From two such words.
    pub(super) fn decode([slot, step]: [u64; 2]) -> Option<Self> {
        Some(Self { slot: usize::try_from(slot.checked_sub(1)?).ok()?, step })
    }
}

/// The notice that each PE of the parent sends to the others.
struct Notice {
    arguments: [c_int; 3],
    ok: bool,
    places: [Option<FreeSlot>; 2],
}

impl Notice {
    fn encode(&self) -> Small {
        let mut words = Small::default();
        words[0] = u64::from(self.ok);
        for (word, argument) in words[1..4].iter_mut().zip(self.arguments) {
            *word = argument as u64;
        }
        for (pair, place) in words[4..8].chunks_mut(2).zip(self.places) {
            pair.copy_from_slice(&FreeSlot::encode(place));
        }
        words
    }

    fn decode(words: &Small) -> Self {
        let place = |at: usize| FreeSlot::decode([words[at], words[at + 1]]);
        Self {
            arguments: [1, 2, 3].map(|i| words[i] as c_int),
            ok: words[0] == 1,
            places: [place(4), place(6)],
        }
    }
}

/// Splits `parent` into the teams, at most two, in which this PE has `parts`. Returns their
/// handles, `SHMEM_TEAM_INVALID` where it has no part; or `None` if the split failed on any PE.
/// Under `SHMEM_DEBUG`, the first of these says why.
fn split(
    routine: Routine,
    parent: &'static Team,
    arguments: [c_int; 3],
    parts: Result<[Option<(Triplet, Config)>; 2], Refusal>,
) -> Option<[usize; 2]> {
    let job = job(routine);
    let (parts, refusal) = match parts {
        Ok(parts) => (parts, None),
        Err(refusal) => ([None; 2], Some(refusal)),
    };
    let leads = parts.map(|part| part.filter(|(triplet, _)| triplet.me == 0));
    let places = leads.map(|part| part.and_then(|(triplet, _)| find_place(job, triplet)));
    let lacks = leads.iter().zip(&places).any(|(lead, place)| lead.is_some() && place.is_none());
    let refusal = refusal.or(lacks.then_some(Refusal::NoSlot));
    let ok = refusal.is_none();

    // The members of the parent that lead this PE's new teams.
    let leaders = parts.map(|part| part.and_then(|(triplet, _)| parent.index_of(triplet.start)));
    let mut agreed = [None; 2];
    let mut first_refused = None;
    if env::debugging() {
        agreement::check(routine, parent, &[agreement::NONE; 3]);
    }
    let notice = Notice { arguments, ok, places }.encode();
    let compare = |member, theirs: &Small| {
        let theirs = Notice::decode(theirs);
        if theirs.arguments != arguments {
            differing(routine, member, theirs.arguments, parent.me(), arguments);
        }
        if !theirs.ok {
            first_refused = first_refused.or(Some(member));
        }
        for axis in 0..2 {
            if leaders[axis] == Some(member) {
                agreed[axis] = theirs.places[axis];
            }
        }
    };
    collectives::on_team(routine, parent, Exchange(&notice, compare));

    if let Some(first) = first_refused {
        if let Some(refusal) = refusal.filter(|_| env::debugging() && first == parent.me()) {
            message::say(format_args!("{routine} fails: {refusal}"));
            message::say_caller(None);
        }
        for place in places.into_iter().flatten() {
            slots::release(job, place.slot);
        }
        return None;
    }
    let mut handles = [TEAM_INVALID; 2];
    for ((handle, part), place) in handles.iter_mut().zip(parts).zip(agreed) {
        if let (Some((triplet, config)), Some(place)) = (part, place) {
            let team = TEAMS.get(place.slot)?;
            team.establish(job, triplet, config);
            team.epoch().set(place.step, team.words(triplet.me));
            *handle = team.handle();
        }
    }
    Some(handles)
}

/// Acquires a slot for a new team, with the highest step in its members' words.
pub(super) fn find_place(job: &'static Job, triplet: Triplet) -> Option<FreeSlot> {
    let slot = slots::acquire(job)?;
    let step = (0..triplet.size).map(|index| {
        let pe = triplet.start.wrapping_add(index.wrapping_mul(triplet.stride));
        if let Some(engine) = job.engine_to(pe) {
            return highest_step(&far::words_of(job, engine, slot, pe));
        }
        highest_step(job.control().words(slot, pe))
    });
    Some(FreeSlot { slot, step: step.max()? })
}

#[cold]
fn differing(
    routine: Routine,
    member: usize,
    theirs: [c_int; 3],
    me: usize,
    ours: [c_int; 3],
) -> ! {
    failure::misuse(
        routine,
        format_args!("arguments {ours:?} on PE {me} of the parent team"),
        format_args!("expected the same arguments on all its PEs; PE {member} has {theirs:?}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(parent_size: usize, triplet: [c_int; 3]) -> Option<Vec<usize>> {
        let mut found = Vec::new();
        for me in 0..parent_size {
            match share(Triplet { start: 0, stride: 1, size: parent_size, me }, triplet) {
                Share::Invalid => return None,
                Share::None => {}
                Share::Member(triplet) => found.push((triplet.me, me)),
            }
        }
        found.sort_unstable();
        Some(found.into_iter().map(|(_, pe)| pe).collect())
    }

    #[test]
    fn triplets_as_the_specification_has_them() {
        assert_eq!(members(8, [0, 1, 8]), Some((0..8).collect()));
        assert_eq!(members(8, [1, 3, 3]), Some(vec![1, 4, 7]));
        assert_eq!(members(8, [7, -1, 8]), Some((0..8).rev().collect()));
        assert_eq!(members(8, [6, -3, 3]), Some(vec![6, 3, 0]));
        assert_eq!(members(8, [5, 0, 1]), Some(vec![5]));
        assert_eq!(members(1, [0, -7, 1]), Some(vec![0]));
        for invalid in [
            [0, 1, 9],
            [1, 3, 4],
            [0, -1, 2],
            [8, 1, 1],
            [-1, 1, 1],
            [0, 1, 0],
            [0, 1, -1],
            [2, 0, 2],
            [0, c_int::MAX, c_int::MAX],
            [0, c_int::MIN, c_int::MAX],
        ] {
            assert_eq!(members(8, invalid), None, "{invalid:?}");
        }
    }

    #[test]
    fn sections_of_sections_name_world_pes() {
        // The parent is 9, 7, 5, 3; its members 3 and 1 are 3 and 7.
        let minus_two = 2usize.wrapping_neg();
        let parent = Triplet { start: 9, stride: minus_two, size: 4, me: 1 };
        let Share::Member(child) = share(parent, [3, -2, 2]) else { panic!("not a member") };
        assert_eq!((child.start, child.stride, child.me), (3, 4, 1));
    }

    #[test]
    fn every_pe_is_at_its_place_of_row_and_column() {
        for size in 1..20 {
            for xrange in 1..=size + 2 {
                for me in 0..size {
                    let (row, column) = axes(me, size, xrange as c_int).unwrap();
                    let width = xrange.min(size);
                    let place = |axis| match share(Triplet { start: 0, stride: 1, size, me }, axis)
                    {
                        Share::Member(triplet) => triplet.me,
                        other => panic!("{other:?}"),
                    };
                    assert_eq!(place(row), me % width);
                    assert_eq!(place(column), me / width);
                    assert_eq!(members(size, row).map(|m| m[0]), Some(me / width * width));
                }
            }
        }
        assert_eq!(axes(0, 4, 0), None);
        assert_eq!(axes(0, 4, -1), None);
    }
}
