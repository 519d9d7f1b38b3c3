//! Messages between nodes over UCX, and the agents that carry them out. A PE as a sender of messages is in the
//! library.

pub mod admission;
pub mod agent;
pub mod exports;
mod polls;
pub mod probe;
mod served;
pub mod shared;
pub mod started;
pub mod ucx;
