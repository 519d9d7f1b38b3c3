//! `libshmem`: the C library. Every routine is one call into the core and contains no logic of its
//! own. `build.rs` generates the routines from `interface/routines.txt` (their prototypes) and
//! `calls.txt` (their calls).

// What they forbid stands in clippy.toml, with the reasons.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod constants;
mod elements;
mod extensions;
mod handles;
mod info;
mod inline;
mod long_double;
mod routines;
