//! The Kitten lightweight kernel, as seen by a process of a job.
//!
//! Kitten's SMARTMAP gives every process of a job access to the memory of all others. Slot 0 of the
//! address space is the process itself. Each rank's memory also appears in a slot of its own, 512
//! GiB wide, at its original address plus a multiple of the slot size. Nothing has to be exported
//! or attached, and a peer's later mappings appear by themselves.
//!
//! * [`addressing`]: the arithmetic of addresses;
//! * [`place`]: the rank of this process and the number of ranks;
//! * [`kernel`]: whether this is Kitten at all.
//!
//! The crate is independent of OpenSHMEM.

pub mod addressing;
pub mod kernel;
pub mod place;
