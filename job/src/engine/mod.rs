//! How this process reaches PEs on other nodes: over UCX, by their node's agent.

mod admission;
pub mod agent;
mod exports;
mod polls;
pub mod probe;
mod served;
mod shared;
pub mod ucx;
