//! What routines compiled into a program (`shmem_inline.h`) look at. Programs reach it by a
//! pointer, whose name has the version of the layout; who changes the layout changes the
//! name, here, in the header and in `interface/src/main.rs`.
#![allow(unsafe_code)]

use oneshmem::translate::{INLINE_TABLE, InlineTable};

/// `struct oneshmem_reach` of the header.
#[unsafe(no_mangle)]
static oneshmem_reach_2: &InlineTable = &INLINE_TABLE;
