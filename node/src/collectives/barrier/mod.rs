//! Barriers: nobody leaves before all have come. `direct` is the group's own.

pub mod dissemination;
pub mod tree;
