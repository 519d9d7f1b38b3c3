//! The end of teams, and of the contexts made from them.

use super::{PREDEFINED, TEAMS, Team, get, slots};
use crate::collectives::{self, Group, agreement};
use crate::context;
use crate::env;
use crate::error::Routine;
use crate::failure;
use crate::job;

/// Forgets a team and its contexts in this process.
fn retire(team: &Team) {
    context::destroy_all_of(team.handle());
    team.retire();
}

/// `shmem_team_destroy`, called by all PEs of the team; contexts made from it go too.
pub fn destroy(routine: Routine, handle: usize) {
    let Some(team) = get(routine, handle) else { return };
    if team.slot < PREDEFINED {
        failure::misuse(
            routine,
            format_args!("team = {handle:#x}, a predefined team"),
            "expected a team made by a split",
        );
    }
    if env::debugging() {
        agreement::check(routine, team, &[agreement::NONE; 3]);
    }
    // When one PE is past this, all have done their last step in the slot; who still
    // waits here sees its words only grow, whoever uses them next.
    let Ok(()) = collectives::with_team!(routine, team, |group| group.sync());
    let leads = team.me() == 0;
    retire(team);
    if leads {
        slots::release(job::job(routine), team.slot);
    }
}

/// Destroys all teams, at finalisation: all PEs have stopped using them.
pub(crate) fn close() {
    for team in TEAMS.iter().filter(|team| team.size() > 0) {
        let leads = team.slot >= PREDEFINED && team.me() == 0;
        retire(team);
        if let (true, Some(job)) = (leads, job::existing()) {
            slots::release(job, team.slot);
        }
    }
}
