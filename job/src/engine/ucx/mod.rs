//! UCX: workers, their messages, and what an agent does with those.

mod bindings;
pub mod direct;
pub mod memory;
pub mod message;
pub(super) mod probe;
pub mod raw;
pub mod request;
pub mod server;
pub mod worker;
