//! The generated routines of the C interface.
//!
//! Each is exported as its profiling twin. The routine's own name is a weak alias in the same
//! object. Parameters have the names of the specification.
#![allow(unsafe_code, unused_unsafe, unused_variables, non_snake_case, clippy::too_many_arguments)]

use crate::elements::{ComplexD, ComplexF, LongDouble, part};
use crate::info;
use oneshmem::argument::memory::{Block, Dest, In, Object, Out, PSyncArray, Source, Unused};
use oneshmem::collectives::arrays::Arrays;
use oneshmem::collectives::reduce::{And, Max, Min, Or, Prod, Sum, Xor};
use oneshmem::collectives::team_split::{self, NewTeam};
use oneshmem::collectives::{Alltoalls, active_set, team_ending};
use oneshmem::context::{self, Default, Handle};
use oneshmem::error::Called::{Blocking, Nonblocking};
use oneshmem::rma::Blocks;
use oneshmem::signal::Update;
use oneshmem::start::setup;
use oneshmem::translate::{self, PeArg};
use oneshmem::{amo, collectives, heap, lock, order, query, rma, signal, team, wait};
use std::arch::global_asm;
use std::ffi::{c_char, c_int};

include!(concat!(env!("OUT_DIR"), "/routines.rs"));
