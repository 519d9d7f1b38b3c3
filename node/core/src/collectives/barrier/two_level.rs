//! Members report to the head of their node; the heads run a [dissemination](super::dissemination)
//! barrier and then release the others. Among `n` nodes, `n ceil(log2 n)` announcements cross
//! nodes, however many members each node has.

use crate::collectives::group::{CollectiveGroup, Outcome};
use crate::collectives::levels::Levels;

const ARRIVED: usize = 1;

/// Waits until all members have called it.
pub fn sync<G: CollectiveGroup>(group: &G) -> Outcome<G> {
    let levels = Levels::new(group);
    let released = ARRIVED + levels.steps() + 1;
    group.steps(released, |steps| {
        if levels.is_head() {
            steps.await_each(ARRIVED, levels.others())?;
            super::dissemination::sync(&levels.heads(steps, ARRIVED))?;
            steps.announce_near(released);
            Ok(())
        } else {
            steps.announce(ARRIVED);
            steps.await_member(released, levels.head())
        }
    })
}
