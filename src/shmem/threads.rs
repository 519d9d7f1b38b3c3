//! More than one thread in a PE.
#![allow(unsafe_code)]

use super::{Shmem, ThreadLevel};

/// Leave for any thread to use the library: what [`Shmem::threads`] gives at the level
/// [`ThreadLevel::Multiple`]. Without it the compiler keeps [`Shmem`], teams, contexts
/// and parts of symmetric memory in the thread that initialised.
///
/// ```standalone_crate
/// use oneshmem::ThreadLevel::Multiple;
/// let shmem = oneshmem::init_thread(Multiple)?;
/// let hits = shmem.alloc::<u64>(1).unwrap();
/// let threads = shmem.threads().expect("the level is Multiple");
/// std::thread::scope(|scope| {
///     for _ in 0..3 {
///         scope.spawn(|| {
///             let shmem = threads.shmem();
///             let ctx = shmem.ctx_create(oneshmem::ContextOptions::PRIVATE).unwrap();
///             ctx.atomic_inc(hits.at(0), 0);
///         });
///     }
/// });
/// shmem.barrier_all();
/// assert_eq!(shmem.g(hits.at(0), 0), 3 * shmem.n_pes() as u64);
/// # shmem.free(hits);
/// # shmem.finalize();
/// # Ok::<(), oneshmem::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Threads<'a> {
    shmem: &'a Shmem,
}

// SAFETY: there is one only at the level `Multiple`, at which the core takes every
// call from any thread; what it refers to is immutable.
unsafe impl Send for Threads<'_> {}
// SAFETY: as above.
unsafe impl Sync for Threads<'_> {}

impl<'a> Threads<'a> {
    pub(super) fn new(shmem: &'a Shmem) -> Option<Self> {
        (shmem.query_thread() == ThreadLevel::Multiple).then_some(Self { shmem })
    }

    /// The PE, for the thread that asks. A team's collectives are still called by one
    /// thread of a PE at a time.
    pub fn shmem(self) -> &'a Shmem {
        self.shmem
    }
}
