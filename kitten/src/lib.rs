//! The Kitten lightweight kernel, as a process on it sees its job.
//!
//! Kitten's SMARTMAP gives every process of a job the memory of all others: slot 0 of
//! the address space is the process itself, and each rank's memory appears again in a
//! slot of its own, 512 GiB wide, at the address it has there plus a multiple of the
//! slot's size. Nothing has to be exported or attached, and what a peer maps later is
//! there by itself.
//!
//! * [`addressing`]: that arithmetic;
//! * [`place`]: which rank of how many this process is;
//! * [`kernel`]: whether this is Kitten at all.
//!
//! The crate knows nothing of OpenSHMEM.

pub mod addressing;
pub mod kernel;
pub mod place;
