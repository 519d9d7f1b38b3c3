//! How far the clocks of the hosts are apart.
//!
//! All PEs tell each other the time, several times. No message is received before it is sent: if a PE sends at
//! `s` and PE 0 has received at `r`, each by its own clock, the PE's clock is ahead of PE 0's by at least
//! `s - r`. A message of PE 0 to the PE gives an upper bound in the same way. The middle of the narrowest bounds
//! is wrong by at most half of a round trip.

use crate::collectives::{self, Exchange, Small};
use crate::pe::Job;
use crate::sys::clock;
use crate::team::{self, TEAM_WORLD};
use crate::timeline::recorder::Recorder;
use oneshmem_job::error::Called;
use oneshmem_job::timeline::clocks::Clocks;
use oneshmem_job::timeline::ring::Head;

/// How many times they tell each other.
const ROUNDS: usize = 16;

/// Compares the clocks of all PEs. A collective call.
pub fn compare(job: &Job, recorder: &Recorder) -> Clocks {
    let routine = &Called::Blocking("shmem_finalize");
    let team = team::required(routine, TEAM_WORLD);
    let mut least = vec![i64::MIN; job.npes()];
    let mut most = i64::MAX;
    for _ in 0..ROUNDS {
        let mut mine = Small::default();
        mine[0] = clock::nanoseconds();
        let mut theirs = vec![0; job.npes()];
        collectives::on_team(
            routine,
            team,
            Exchange(&mine, |pe, told: &Small| theirs[pe] = told[0]),
        );
        let received = clock::nanoseconds();
        let ahead = |of: u64, other: u64| of.wrapping_sub(other) as i64;
        for (least, sent) in least.iter_mut().zip(&theirs) {
            *least = (*least).max(ahead(*sent, received));
        }
        most = most.min(ahead(received, theirs[0]));
    }
    recorder.set(Head::Latest, most as u64);
    Clocks { least }
}
