//! The generated routines of the C interface.
//!
//! Each is exported as its profiling twin. The routine's own name is a weak alias in the same
//! object. Parameters have the names of the specification.
#![allow(unsafe_code, unused_unsafe, unused_variables, non_snake_case, clippy::too_many_arguments)]

use crate::elements::{ComplexD, ComplexF, LongDouble, part};
use crate::info;
use oneshmem::internals::argument::memory::{
    Block, Dest, In, Object, Out, PSyncArray, Source, Unused,
};
use oneshmem::internals::collectives::arrays::Arrays;
use oneshmem::internals::collectives::reduce::{And, Max, Min, Or, Prod, Sum, Xor};
use oneshmem::internals::collectives::team_split::{self, NewTeam};
use oneshmem::internals::collectives::{Alltoalls, active_set, team_ending};
use oneshmem::internals::context::{self, Default, Handle};
use oneshmem::internals::rma::Blocks;
use oneshmem::internals::signal::Update;
use oneshmem::internals::start::setup;
use oneshmem::internals::translate::{self, PeArg};
use oneshmem::internals::{amo, collectives, heap, lock, order, query, rma, signal, team, wait};
use oneshmem_job::error::Called::{Blocking, Nonblocking};
use std::arch::global_asm;
use std::ffi::{c_char, c_int};

include!(concat!(env!("OUT_DIR"), "/routines.rs"));
