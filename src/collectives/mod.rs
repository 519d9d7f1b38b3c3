//! Collectives.

use crate::atomics::Ordering;
use crate::error::Routine;
use crate::job::job;
use crate::pause::Pause;

/// `shmem_barrier_all`.
pub fn barrier_all(routine: Routine) {
    let job = job(routine);
    let words = &job.control().team(0, 0).words;
    let epoch = words[1].word.load(Ordering::Acquire);
    if words[0].word.fetch_add(1, Ordering::AcqRel) + 1 == (epoch + 1) * job.npes() as u64 {
        words[1].word.store(epoch + 1, Ordering::Release);
    } else {
        let mut pause = Pause::new();
        while words[1].word.load(Ordering::Acquire) == epoch {
            pause.step();
        }
    }
}
