//! Destroys teams, and the contexts created from them.

use super::team_of_set;
use crate::call;
use crate::collectives::{self, Collective, Members, agreement};
use crate::context;
use crate::failure;
use crate::pe;
use crate::team::{PREDEFINED, TEAMS, Team, get, slots};
use oneshmem_job::env;
use oneshmem_job::error::Routine;

/// Waits until all members of a team that ends have made their last steps in its slot.
struct LastSteps;

impl Collective for LastSteps {
    type Output = ();

    fn run(self, _: Routine, group: &impl Members) {
        let Ok(()) = group.sync();
    }
}

/// Removes a team and its contexts from this process.
fn retire(team: &Team) {
    context::destroy_all_of(team.handle());
    team.retire();
}

/// `shmem_team_destroy`, called by all PEs of the team. Also destroys contexts created from it.
pub fn destroy(routine: Routine, handle: usize) {
    let Some(team) = get(routine, handle) else { return };
    if team.slot() < PREDEFINED {
        failure::misuse(
            routine,
            format_args!("team = {handle:#x}, a predefined team"),
            "expected a team made by a split",
        );
    }
    if env::debugging() {
        agreement::check(routine, team, &[agreement::NONE; 3]);
    }
    // When one PE has passed this, all have made their last step in the slot. A PE that still waits
    // here only sees the slot's words grow, whichever team uses them next.
    collectives::on_team(routine, team, LastSteps);
    let leads = team.me() == 0;
    retire(team);
    if leads {
        slots::release(call::job(routine), team.slot());
    }
}

/// Destroys all teams, at finalisation, when all PEs have stopped using them.
pub(crate) fn close() {
    team_of_set::forget();
    for team in TEAMS.iter().filter(|team| team.size() > 0) {
        let leads = team.slot() >= PREDEFINED && team.me() == 0;
        retire(team);
        if let (true, Some(job)) = (leads, pe::existing()) {
            slots::release(job, team.slot());
        }
    }
}
