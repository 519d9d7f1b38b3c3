//! The C interface of OpenSHMEM 1.6 as one table, and what is made from it.
//!
//! `routines.txt` and `constants.txt` beside this crate's manifest are the source:
//! open them first. [`Interface`] is the parsed form, [`Interface::symbols`] expands it to
//! every function a C program can call, [`Interface::generics`] to every type-generic
//! name. The C headers ([`headers`]), the library's entry points (crate
//! `oneshmem-capi`) and the reference pages ([`man`]) are generated from those, and
//! a test compares them with the specification.

pub mod constants;
pub mod expand;
pub mod headers;
pub mod man;
mod parse;
mod table;

pub use constants::{Constant, ConstantGroup};
pub use expand::{Generic, Symbol};
pub use table::{
    Deprecated, Family, Interface, Over, Param, Prototype, Section, TypeName, TypeTable,
};

/// What the library has beyond the specification: declared in `templates/shmemx.h`,
/// defined in `capi/src/extensions.rs`.
pub const EXTENSIONS: [&str; 1] = ["shmemx_set_algorithm"];

/// The name under which the profiling interface knows the routine `name`.
pub fn twin(name: &str) -> String {
    format!("p{name}")
}
