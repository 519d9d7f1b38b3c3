//! What a PE does, and when, as it is recorded for `SHMEM_TRACE` and `oshrun --trace`: in a ring in the job's
//! memory file. [`report::timeline`](crate::report::timeline) writes what all PEs have recorded.

pub(crate) mod event;
pub(crate) mod recorder;
pub(crate) mod ring;
pub(crate) mod steps;
