//! Collective routines (specification, section 9.10): barrier, sync, broadcast, collect, fcollect,
//! all-to-all, reductions and scans, on [`teams`]. [`active_set`] has the deprecated forms on
//! active sets.
//!
//! The algorithms are functions of the crate `onenode-core` over a [`CollectiveGroup`](group::CollectiveGroup); [`select`]
//! chooses one for each call. A PE's contribution is a [`Span`](crate::span::Span), which [`run`]
//! checks before anything is written.

pub mod active_set;
pub(crate) mod agreement;
mod alltoallv;
pub mod arrays;
mod counterparts;
mod device;
pub(crate) mod far;
mod far_members;
mod far_set;
mod levels;
mod members;
mod psync;
mod psync_use;
mod run;
pub mod select;
mod subscription;
pub mod team_ending;
mod team_of_set;
pub mod team_split;
mod teams;
#[cfg(test)]
mod tests;
pub mod tuning;

use crate::pe::{self, Job};
pub use alltoallv::Alltoallv;
pub(crate) use members::TeamMembers;
pub(crate) use onenode_core::collectives::epoch_group::{EpochGroup, highest_step};
pub(crate) use onenode_core::collectives::group::Small;
pub use onenode_core::collectives::reduce;
pub use onenode_core::collectives::reduce::{Element, Kernel, ReduceOp, Sum};
pub use run::Alltoalls;
pub(crate) use run::{Collective, Exchange, Members};
pub use teams::{
    alltoall, alltoalls, alltoallv, barrier_all, broadcast, collect, fcollect, reduce, scan, sync,
    sync_all,
};
pub(crate) use teams::{near, on_team, total};

// The model checker has its own module under this name.
use onenode_core::collectives::group;
// Tests that are shared with the crate `onenode-core` use these names for its modules.
#[cfg(test)]
use onenode_core::collectives::{
    algorithm, alltoall, barrier, broadcast, collect, epoch_group, memory, message, range, scan,
    words,
};

/// Carries out what the common case does without. What others wait for has left when this returns.
#[cold]
#[inline(never)]
fn apart<T>(call: impl FnOnce() -> T) -> T {
    let result = call();
    pe::existing().and_then(Job::network).inspect(|network| network.send_waiting());
    result
}
