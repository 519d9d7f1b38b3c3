//! `libshmem`: the C library. Every routine is one call into the core and contains no logic of its
//! own. `build.rs` generates the routines from `interface/routines.txt` (their prototypes) and
//! `calls.txt` (their calls).

mod constants;
mod elements;
mod extensions;
mod handles;
mod info;
mod inline;
mod long_double;
mod routines;
