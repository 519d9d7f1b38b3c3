//! What a PE does, and when, as it records it for `SHMEM_TRACE` and `oshrun --trace`.
//! [`report::timeline`](crate::report::timeline) writes what all PEs have recorded.

pub(crate) mod recorder;
pub(crate) mod steps;
