//! Finds the team of a collective and checks that all its PEs make the same call: under `SHMEM_DEBUG`, and
//! always where Rust's arrays are allocated and freed.

use super::{Exchange, Small, apart, far, on_team, select};
use crate::call::{self, Call};
use crate::failure;
use crate::memory::guards;
use crate::stats;
use crate::team::{self, TEAM_WORLD, Team};
use onenode_core::collectives::sizes::SMALL_WORDS;
use onenode_core::packed;
use oneshmem_job::env;
use oneshmem_job::error::{Called, Routine};
use oneshmem_job::stats::Class;

/// The most arguments of a routine that must be the same on all PEs.
const ARGUMENTS: usize = 3;
const NAME_WORDS: usize = SMALL_WORDS - ARGUMENTS;

/// Arguments that must be the same on all PEs: the routine's names for them, and values.
pub(crate) type Agreed = [(&'static str, usize); ARGUMENTS];

/// No argument.
pub(crate) const NONE: (&str, usize) = ("", 0);

/// The team of a handle, for a collective to which this PE contributes this many bytes, and the call, for
/// as long as it lasts. Counts the call if statistics are on. Under `SHMEM_DEBUG`, ends the job unless all PEs make the same call
/// with the arguments `agreed`. The slow path of [`team::in_use`].
#[cold]
#[inline(never)]
pub(super) fn for_collective(
    routine: Routine,
    handle: usize,
    bytes: usize,
    agreed: &Agreed,
) -> (&'static Team, Call) {
    let call = call::begin(routine);
    let team = team::required(routine, handle);
    stats::count(routine, Class::Collective, bytes, None);
    far::complete(routine);
    if env::debugging() {
        check(routine, team, agreed);
        // All PEs have come here, and so has what they wrote before.
        failure::if_any(routine, guards::damage_in_turn());
    }
    (team, call)
}

/// For a collective that moves no data: under `SHMEM_DEBUG`, checks that it moves none on any PE.
#[inline]
pub(super) fn for_nothing(routine: Routine, handle: usize, agreed: Agreed) {
    if env::debugging() {
        if let Some(team) = team::get(routine, handle) {
            check(routine, team, &agreed);
        }
    }
}

/// Ends the job unless all PEs make the same call. Returns when all have made it. Collective, and not only under `SHMEM_DEBUG`: for
/// promises of the Rust interface that rest on it.
pub(crate) fn among_all(routine: Routine, agreed: &Agreed) {
    apart(|| {
        let _call = call::begin(routine);
        check(routine, team::required(routine, TEAM_WORLD), agreed);
    });
}

/// Ends the job unless all PEs of the team make the same call. The check is a collective of its
/// own, the same for all calls, so it does not hang where mismatched calls would.
#[cold]
pub(crate) fn check(routine: Routine, team: &'static Team, agreed: &Agreed) {
    select::table(); // Ends the job if another PE does without these checks.
    let mine = encode(routine, agreed);
    // Each member compares with all others: the root of a broadcast does not wait for the member
    // that finds a difference.
    let mut other = None;
    let compare = |member, theirs: &Small| {
        if *theirs != mine {
            other.get_or_insert((member, *theirs));
        }
    };
    let index = on_team(routine, team, Exchange(&mine, compare));
    let Some((member, theirs)) = other else { return };
    let (pe, name) = (team.member(member), name(&theirs));
    let rule = "all PEs of a team must make the same collective calls in the same order, with the \
                same arguments";
    if name != name_of(routine) {
        failure::misuse(
            routine,
            format_args!("PE {pe} calls {name} in its place"),
            format_args!("PE {} of the team is this one; {rule}", index),
        );
    }
    for ((argument, value), theirs) in agreed.iter().zip(&theirs[NAME_WORDS..]) {
        if *value as u64 != *theirs {
            failure::misuse(
                routine,
                format_args!("{argument} = {}", *value as isize),
                format_args!("PE {pe} calls it with {}; {rule}", *theirs as isize),
            );
        }
    }
}

fn encode(routine: &Called, agreed: &Agreed) -> Small {
    let mut words = Small::default();
    let name = packed::words(name_of(routine).as_bytes());
    words[..NAME_WORDS].iter_mut().zip(name).for_each(|(to, word)| *to = word);
    for (word, (_, value)) in words[NAME_WORDS..].iter_mut().zip(agreed) {
        *word = *value as u64;
    }
    words
}

/// A routine's name, cut to what fits into a message.
fn name_of(routine: &Called) -> &'static str {
    routine.name().get(..NAME_WORDS * 8).unwrap_or(routine.name())
}

fn name(words: &Small) -> String {
    packed::name(words[..NAME_WORDS].iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use oneshmem_job::error::Called::Blocking;

    #[test]
    fn names_survive_the_message() {
        for routine in ["shmem_barrier_all", "12345678", ""] {
            assert_eq!(name(&encode(&Blocking(routine), &[NONE; 3])), routine);
        }
        const LONG: &str = "a routine whose name is longer than any routine's name, and longer than \
                            what a message takes of it";
        let long = Blocking(LONG);
        assert_eq!(name(&encode(&long, &[NONE; 3])), name_of(&long));
    }
}
