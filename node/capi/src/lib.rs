//! `libonenode`: every function of `node/include/onenode.h` as a call into the crate `onenode`. The
//! header has the contract; here are conversions and checks of arguments alone. A panic does not
//! cross into C: it ends the process, as all of this library's profiles have it.

mod about;
mod argument;
mod copy;
mod failure;
mod group;
mod lock;
mod mapping;
mod node;
mod region;
mod view;
