//! The Rust half of the routines that pass a `long double` by value. `ckernels.c` passes the
//! value's address to Rust.
#![allow(unsafe_code)]

use crate::elements::LongDouble;
use oneshmem::internals::argument::memory::Object;
use oneshmem::internals::context::{Default, Handle};
use oneshmem::internals::rma;
use oneshmem::internals::translate::PeArg;
use oneshmem_job::error::Called::Blocking;

/// `shmem_longdouble_p`
#[unsafe(no_mangle)]
unsafe extern "C" fn oneshmem_longdouble_p(
    dest: *mut LongDouble,
    value: *const LongDouble,
    pe: PeArg,
) {
    // SAFETY: `ckernels.c` passes the address of its argument. The specification requires that
    // nobody accesses a symmetric `dest` in conflict with the call.
    unsafe { rma::p(&Blocking("shmem_longdouble_p"), Default, Object::one(dest), value.read(), pe) }
}

/// `shmem_ctx_longdouble_p`
#[unsafe(no_mangle)]
unsafe extern "C" fn oneshmem_ctx_longdouble_p(
    ctx: usize,
    dest: *mut LongDouble,
    value: *const LongDouble,
    pe: PeArg,
) {
    // SAFETY: `ckernels.c` passes the address of its argument. The specification requires that
    // nobody accesses a symmetric `dest` in conflict with the call.
    unsafe {
        rma::p(
            &Blocking("shmem_ctx_longdouble_p"),
            Handle::new(ctx),
            Object::one(dest),
            value.read(),
            pe,
        )
    }
}

/// `shmem_longdouble_g`
#[unsafe(no_mangle)]
unsafe extern "C" fn oneshmem_longdouble_g(
    value: *mut LongDouble,
    source: *const LongDouble,
    pe: PeArg,
) {
    // SAFETY: `ckernels.c` passes the address of its result. The specification requires that nobody
    // writes a symmetric `source` during the call.
    unsafe {
        value.write(rma::g(&Blocking("shmem_longdouble_g"), Default, Object::one(source), pe))
    }
}

/// `shmem_ctx_longdouble_g`
#[unsafe(no_mangle)]
unsafe extern "C" fn oneshmem_ctx_longdouble_g(
    value: *mut LongDouble,
    ctx: usize,
    source: *const LongDouble,
    pe: PeArg,
) {
    // SAFETY: `ckernels.c` passes the address of its result. The specification requires that nobody
    // writes a symmetric `source` during the call.
    unsafe {
        value.write(rma::g(
            &Blocking("shmem_ctx_longdouble_g"),
            Handle::new(ctx),
            Object::one(source),
            pe,
        ))
    }
}
