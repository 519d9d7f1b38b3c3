//! Contexts: streams of communication, and the sessions on them.

use super::flags::SessionOptions;
use crate::context::session;
use crate::order;
use crate::translate::{Numbering, PeArg};
use oneshmem_job::error::Called::Blocking;
use std::ffi::c_int;
use std::marker::PhantomData;

/// A stream of communication that is ordered and completed independently of others (specification,
/// section 9.5). [`Shmem`](super::Shmem) is the default one; programs create others as
/// [`TeamContext`](super::TeamContext)s. Its methods are all puts, gets, atomics and signals.
///
/// ```standalone_crate
/// # let shmem = oneshmem::init()?;
/// # let npes = shmem.n_pes();
/// let counter = shmem.alloc::<u64>(1)?;
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
    // Not `Send` or `Sync`: see `Threads` on sharing a PE.
    owner: PhantomData<(&'a (), *const ())>,
}

/// A PE number in the core's type. A number that does not fit a C `int` is not a valid PE.
pub(super) fn register(pe: usize) -> PeArg {
    i32::try_from(pe).map_or(u32::MAX as usize, |pe| pe as usize)
}

impl<C: Numbering> Context<'_, C> {
    pub(super) const fn new(ctx: C) -> Self {
        Self { ctx, owner: PhantomData }
    }

    /// Orders puts: those on this context before the fence arrive before those after it.
    #[inline]
    pub fn fence(&self) {
        order::ctx_fence(&Blocking("fence"), self.ctx);
    }

    /// Completes puts: all puts so far on this context are visible to all PEs.
    #[inline]
    pub fn quiet(&self) {
        order::ctx_quiet(&Blocking("quiet"), self.ctx);
    }

    /// As [`quiet`](Self::quiet), for puts to the PEs in `target_pes`.
    pub fn pe_quiet(&self, target_pes: &[usize]) {
        let pes: Vec<c_int> = target_pes.iter().map(|pe| register(*pe) as c_int).collect();
        order::pe_quiet(&Blocking("pe_quiet"), self.ctx, Some(pes[..].into()), pes.len());
    }

    /// Announces a series of operations on this context, `total_ops` of them if known. A hint only:
    /// results and order do not change.
    ///
    /// ```standalone_crate
    /// # let shmem = oneshmem::init()?;
    /// # let table = shmem.alloc::<u64>(100)?;
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
        let config = Some((&config).into());
        session::start(&Blocking("session_start"), ctx, options.bits(), config, mask);
    }

    /// Ends the series that [`session_start`](Self::session_start) announced.
    pub fn session_stop(&self) {
        session::stop(&Blocking("session_stop"), self.ctx.handle());
    }
}
