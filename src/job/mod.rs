//! Who am I, who are my peers, and is the job still alive?

pub mod abort;
pub mod control;
