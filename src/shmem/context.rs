//! Contexts: streams of communication, and the sessions on them.
#![allow(unsafe_code)]

use super::flags::SessionOptions;
use crate::context::session;
use crate::order;
use crate::translate::{Numbering, PeArg};
use std::ffi::c_int;
use std::marker::PhantomData;

/// A stream of communication that is ordered and completed by itself
/// (specification, section 9.5). [`Shmem`](super::Shmem) is the default one,
/// [`TeamContext`](super::TeamContext) one that the program made. All puts, gets, atomics and
/// signals are its methods.
///
/// ```standalone_crate
/// # let shmem = oneshmem::init()?;
/// # let npes = shmem.n_pes();
/// let counter = shmem.alloc::<u64>(1).unwrap();
/// shmem.atomic_inc(counter.at(0), 0);             // on the default context
/// shmem.quiet();
///
/// use oneshmem::ContextOptions as Options;
/// let ctx = shmem.ctx_create(Options::PRIVATE | Options::NOSTORE).expect("a context");
/// ctx.atomic_inc(counter.at(0), 0);               // on one of its own
/// ctx.quiet();
/// drop(ctx);
/// shmem.barrier_all();
/// assert_eq!(shmem.atomic_fetch(counter.at(0), 0), 2 * npes as u64);
/// # shmem.free(counter);
/// # shmem.finalize();
/// # Ok::<(), oneshmem::Error>(())
/// ```
#[derive(Debug)]
pub struct Context<'a, C: Numbering> {
    pub(super) ctx: C,
    // The pointer: see `Threads` about who may share a PE.
    owner: PhantomData<(&'a (), *const ())>,
}

/// A PE number as the core takes it; one that no C `int` holds is no PE.
pub(super) fn register(pe: usize) -> PeArg {
    i32::try_from(pe).map_or(u32::MAX as usize, |pe| pe as usize)
}

impl<C: Numbering> Context<'_, C> {
    pub(super) fn new(ctx: C) -> Self {
        Self { ctx, owner: PhantomData }
    }

    /// Orders: what was put on this context before arrives before what is put after.
    #[inline]
    pub fn fence(&self) {
        order::ctx_fence(&"fence", self.ctx);
    }

    /// Completes: what was put on this context before is visible to all PEs.
    #[inline]
    pub fn quiet(&self) {
        order::ctx_quiet(&"quiet", self.ctx);
    }

    /// As [`quiet`](Self::quiet), for what was put to the PEs in `target_pes`.
    pub fn pe_quiet(&self, target_pes: &[usize]) {
        let pes: Vec<c_int> = target_pes.iter().map(|pe| register(*pe) as c_int).collect();
        // SAFETY: the vector is as long as said.
        unsafe { order::pe_quiet(&"pe_quiet", self.ctx, pes.as_ptr(), pes.len()) }
    }

    /// Announces a series of operations on this context, `total_ops` of them if that is
    /// known. Only a hint: results and order do not change.
    ///
    /// ```standalone_crate
    /// # let shmem = oneshmem::init()?;
    /// # let table = shmem.alloc::<u64>(100).unwrap();
    /// shmem.session_start(oneshmem::SessionOptions::BATCH, Some(100));
    /// for i in 0..100 {
    ///     shmem.p(table.at(i), i as u64, shmem.my_pe());
    /// }
    /// shmem.session_stop();
    /// # shmem.free(table);
    /// # shmem.finalize();
    /// # Ok::<(), oneshmem::Error>(())
    /// ```
    pub fn session_start(&self, options: SessionOptions, total_ops: Option<usize>) {
        let config = session::Config { total_ops: total_ops.unwrap_or(usize::MAX) };
        let mask = if total_ops.is_some() { session::TOTAL_OPS } else { 0 };
        let ctx = self.ctx.handle();
        // SAFETY: the configuration is a local.
        unsafe { session::start(&"session_start", ctx, options.bits(), &config, mask) }
    }

    /// Ends the series that [`session_start`](Self::session_start) announced.
    pub fn session_stop(&self) {
        session::stop(&"session_stop", self.ctx.handle());
    }
}
