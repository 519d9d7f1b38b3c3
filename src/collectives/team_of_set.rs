//! Teams that stand for active sets over several nodes. A team's control words have copies on the other nodes,
//! so that nobody polls across the network; the program's `pSync` arrays, which the members share, have no room
//! for copies. So the first call on a set makes a team of its members, which further calls use.
//!
//! All members decide alike. The first call on a set is the first one for each member, and they agree by the
//! `pSync` array. If one has `SHMEM_THREAD_MULTIPLE`, two calls on the set may be in progress at once, with an array
//! each: then there is no team, and that is so for this array, in whichever order the calls are made.

use super::team_split::{FreeSlot, find_place};
use crate::collectives::{Collective, Members};
use crate::pe::Job;
use crate::pe::threads::{THREAD_MULTIPLE, level};
use crate::team::{Config, TEAMS, Team, Triplet, slots};
use onenode_core::sys::mutex;
use oneshmem_job::error::Routine;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

/// The first PE, the distance and the number of PEs of an active set.
type Set = [usize; 3];

/// The active sets that this PE has been in.
struct Sets {
    /// The slots of their teams.
    teams: BTreeMap<Set, usize>,
    /// Sets that have no team, with the address of the array.
    without: BTreeSet<(Set, usize)>,
}

static SETS: Mutex<Sets> = Mutex::new(Sets { teams: BTreeMap::new(), without: BTreeSet::new() });

/// The team of an active set over several nodes, if it has one. `agree` carries out a collective on the set, over
/// its array at this address.
pub(crate) fn of_set(
    job: &'static Job,
    set: Triplet,
    psync: usize,
    agree: impl FnOnce(Agreement) -> Option<FreeSlot>,
) -> Option<&'static Team> {
    let key = [set.start, set.stride, set.size];
    {
        let sets = mutex::lock(&SETS);
        if let Some(slot) = sets.teams.get(&key) {
            return TEAMS.get(*slot);
        }
        if sets.without.contains(&(key, psync)) {
            return None;
        }
    }
    let multiple = level() == THREAD_MULTIPLE;
    let own = if set.me == 0 && !multiple {
        find_place(job, set).and_then(|it| spare(job, it))
    } else {
        None
    };
    let agreed = agree(Agreement { multiple, place: own });
    let team = agreed.and_then(|place| Some((place, TEAMS.get(place.slot)?)));
    let mut sets = mutex::lock(&SETS);
    let Some((place, team)) = team else {
        sets.without.insert((key, psync));
        drop(sets);
        own.inspect(|place| slots::release(job, place.slot));
        return None;
    };
    team.establish(job, set, Config::default());
    team.epoch().set(place.step, team.words(set.me));
    sets.teams.insert(key, place.slot);
    Some(team)
}

/// Half of the slots are left to the program.
fn spare(job: &Job, place: FreeSlot) -> Option<FreeSlot> {
    if place.slot < job.control().team_slots() / 2 {
        return Some(place);
    }
    slots::release(job, place.slot);
    None
}

/// Forgets all sets, at finalisation.
pub(super) fn forget() {
    let mut sets = mutex::lock(&SETS);
    sets.teams.clear();
    sets.without.clear();
}

/// A member's notice to the others: whether several of its threads make calls, and, if it is the first member,
/// where the team's control words are.
pub(crate) struct Agreement {
    multiple: bool,
    place: Option<FreeSlot>,
}

impl Collective for Agreement {
    /// The place of the team, if there is to be one.
    type Output = Option<FreeSlot>;

    fn run(self, _: Routine, group: &impl Members) -> Option<FreeSlot> {
        let [slot, step] = FreeSlot::encode(self.place);
        let mine = [u64::from(self.multiple), slot, step];
        let (mut place, mut multiple) = (None, false);
        let Ok(()) = group.exchange_words(&mine, 0..mine.len(), |member, theirs| {
            multiple |= theirs[0] != 0;
            if member == 0 {
                place = FreeSlot::decode([theirs[1], theirs[2]]);
            }
            Ok(())
        });
        place.filter(|_| !multiple)
    }
}
