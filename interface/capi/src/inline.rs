//! The data that routines compiled into a program (`shmem_inline.h`) read. Programs access it
//! through a pointer whose name contains the version of the layout. A change of the layout must
//! change the name, here, in the header and in `interface/src/main.rs`.
#![allow(unsafe_code)]

use oneshmem::internals::translate::{INLINE_TABLE, InlineTable};

/// `struct oneshmem_reach` of the header.
#[unsafe(no_mangle)]
static oneshmem_reach_2: &InlineTable = &INLINE_TABLE;
