//! The Rust half of the routines that pass a `long double` by value: C takes the
//! value apart (`ckernels.c`), here it is an address.
#![allow(unsafe_code)]

use crate::elements::LongDouble;
use oneshmem::context::{Default, Handle};
use oneshmem::rma;
use oneshmem::translate::PeArg;

/// `shmem_longdouble_p`
#[unsafe(no_mangle)]
unsafe extern "C" fn oneshmem_longdouble_p(
    dest: *mut LongDouble,
    value: *const LongDouble,
    pe: PeArg,
) {
    // SAFETY: C passes the address of its argument; the rest is the user's promise.
    unsafe { rma::p(&"shmem_longdouble_p", Default, dest, value.read(), pe) }
}

/// `shmem_ctx_longdouble_p`
#[unsafe(no_mangle)]
unsafe extern "C" fn oneshmem_ctx_longdouble_p(
    ctx: usize,
    dest: *mut LongDouble,
    value: *const LongDouble,
    pe: PeArg,
) {
    // SAFETY: C passes the address of its argument; the rest is the user's promise.
    unsafe { rma::p(&"shmem_ctx_longdouble_p", Handle::new(ctx), dest, value.read(), pe) }
}

/// `shmem_longdouble_g`
#[unsafe(no_mangle)]
unsafe extern "C" fn oneshmem_longdouble_g(
    value: *mut LongDouble,
    source: *const LongDouble,
    pe: PeArg,
) {
    // SAFETY: C passes the address of its result; the rest is the user's promise.
    unsafe { value.write(rma::g(&"shmem_longdouble_g", Default, source, pe)) }
}

/// `shmem_ctx_longdouble_g`
#[unsafe(no_mangle)]
unsafe extern "C" fn oneshmem_ctx_longdouble_g(
    value: *mut LongDouble,
    ctx: usize,
    source: *const LongDouble,
    pe: PeArg,
) {
    // SAFETY: C passes the address of its result; the rest is the user's promise.
    unsafe { value.write(rma::g(&"shmem_ctx_longdouble_g", Handle::new(ctx), source, pe)) }
}
