//! The current job, for the routines of the API.

use crate::failure;
use crate::pe::{JOB, Job, fork};
use crate::translate::TABLE;
use oneshmem_job::error::Routine;

/// The job, for a routine that may be called only between initialisation and finalisation.
pub fn job(routine: Routine) -> &'static Job {
    match JOB.get() {
        Some(job) if TABLE.ready() => job,
        Some(_) if fork::is_child() => failure::misuse(
            routine,
            "called in a child of fork",
            "only the process that called shmem_init is a PE",
        ),
        Some(_) => failure::misuse(
            routine,
            "called after shmem_finalize",
            "expected a call between shmem_init and shmem_finalize",
        ),
        None => failure::misuse(
            routine,
            "called before shmem_init",
            "expected a call between shmem_init and shmem_finalize",
        ),
    }
}

/// The job in the common case: operations are possible, statistics and checks are off, and all PEs
/// are on this node. In other cases call [`job`].
#[inline(always)]
pub fn at_once() -> Option<&'static Job> {
    JOB.get().filter(|_| TABLE.is_whole())
}
