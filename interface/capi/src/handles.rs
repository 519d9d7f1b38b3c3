//! The handles of the C headers as symbols, for languages that cannot evaluate C's macros. A handle is
//! a number, and as wide as a pointer.
#![allow(unsafe_code, missing_docs)]

include!(concat!(env!("OUT_DIR"), "/handles.rs"));
