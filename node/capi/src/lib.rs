//! `libonenode`: every function of `node/include/onenode.h` as a call into the crate `onenode`. The
//! header is the contract; this crate only converts and checks arguments. A panic never crosses
//! into C: all profiles of this library make it abort the process.

// What they forbid stands in node/clippy.toml, with the reasons.
#![cfg_attr(
    not(test),
    deny(clippy::disallowed_methods, clippy::print_stdout, clippy::print_stderr, clippy::exit)
)]

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
