//! More than one thread in a PE.

use super::{Shmem, ThreadLevel};
use std::marker::PhantomData;

/// Lets any thread use the library at [`ThreadLevel::Multiple`]; from [`Shmem::threads`]. Without
/// it, the compiler keeps [`Shmem`], teams, contexts and parts of symmetric memory in the thread
/// that initialised the library.
///
/// ```standalone_crate
/// use oneshmem::ThreadLevel::Multiple;
/// let shmem = oneshmem::init_thread(Multiple)?;
/// let hits = shmem.alloc::<u64>(1)?;
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
    // Holds no `Shmem`, so that it can be sent to any thread. At this level any thread may have
    // one.
    shmem: PhantomData<&'a ()>,
}

impl<'a> Threads<'a> {
    pub(super) fn new(shmem: &'a Shmem) -> Option<Self> {
        (shmem.query_thread() == ThreadLevel::Multiple).then_some(Self { shmem: PhantomData })
    }

    /// The PE, for the calling thread. Only one thread of a PE at a time may call a team's
    /// collectives.
    pub fn shmem(self) -> &'a Shmem {
        const PE: &Shmem = &Shmem::new();
        PE
    }
}
