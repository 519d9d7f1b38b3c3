//! Events of a PE with their times, as it records them for `SHMEM_TRACE` and `oshrun --trace`.
//! [`report::timeline`](crate::report::timeline) writes what all PEs have recorded.

pub(crate) mod recorder;
pub(crate) mod steps;
