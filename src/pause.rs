//! How a PE waits: spin while that can pay, then give the CPU away, and keep
//! looking whether the job is still alive.
