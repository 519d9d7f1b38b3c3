//! SMARTMAP: on all ranks, every rank's slot is at `own address | (rank + 1) << 39`. On Kitten the
//! kernel provides that; on Linux the slots are mapped there.

mod kitten;
mod linux;

pub use kitten::Kitten;
pub use linux::Placed;
