//! What routines compiled into a program (`shmem_inline.h`) look at: the translation's own
//! table. Programs reach it by a pointer, whose name has the version of the layout; who
//! changes the layout changes the name, here, in the header and in `interface/src/main.rs`.
#![allow(unsafe_code)]

use oneshmem::translate::{TABLE, Table};

/// `struct oneshmem_table` of the header.
#[cfg(not(feature = "smartmap"))]
#[unsafe(no_mangle)]
static oneshmem_table_1: &Table = &TABLE;

/// `struct oneshmem_bits` of the header.
#[cfg(feature = "smartmap")]
#[unsafe(no_mangle)]
static oneshmem_bits_1: &Table = &TABLE;
