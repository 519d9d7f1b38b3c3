//! More than one thread in a PE.
#![allow(unsafe_code)]

use super::context::Context;
use super::nonblocking::Nonblocking;
use super::team::Team;
use super::{DeviceArray, Shmem, Symmetric, SymmetricSlice, ThreadLevel};
use crate::translate::{Numbering, sealed};
use std::marker::PhantomData;
use std::ops::Deref;

/// Lets any thread use the library at [`ThreadLevel::Multiple`]; from [`Shmem::threads`]. Without
/// it, the compiler keeps [`Shmem`], teams, contexts and symmetric memory in the thread that
/// initialised the library, and [`init`](super::init) fails in any other.
///
/// ```standalone_crate
/// use oneshmem::ThreadLevel::Multiple;
/// let shmem = oneshmem::init_thread(Multiple)?;
/// let hits = shmem.alloc::<u64>(1)?;
/// let threads = shmem.threads().expect("the level is Multiple");
/// let shared = threads.share(&hits);
/// std::thread::scope(|scope| {
///     for _ in 0..3 {
///         scope.spawn(|| {
///             let shmem = threads.shmem();
///             let ctx = shmem.ctx_create(oneshmem::ContextOptions::PRIVATE).unwrap();
///             ctx.atomic_inc(shared.at(0), 0);
///         });
///     }
/// });
/// shmem.barrier_all();
/// assert_eq!(shmem.g(hits.at(0), 0), 3 * shmem.n_pes() as u64);
/// # shmem.free(hits);
/// # shmem.finalize();
/// # Ok::<(), oneshmem::Error>(())
/// ```
///
/// ```compile_fail,E0277
/// # let shmem = oneshmem::init()?;
/// let hits = shmem.alloc::<u64>(1)?;
/// std::thread::scope(|scope| {
///     scope.spawn(|| hits.at(0).set(1));      // No level lets it in.
/// });
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

    /// Lets other threads use an array. Threads then stand to each other as PEs do: what one reads
    /// while another writes it may be half changed, unless it is a number of up to 64 bits.
    pub fn share<A: Shareable>(self, array: &'a A) -> Shared<'a, A> {
        Shared(array)
    }
}

/// An array that any thread may use; from [`Threads::share`].
#[derive(Debug)]
pub struct Shared<'a, A>(&'a A);

impl<A> Clone for Shared<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<A> Copy for Shared<'_, A> {}

impl<A> Deref for Shared<'_, A> {
    type Target = A;

    fn deref(&self) -> &A {
        self.0
    }
}

// SAFETY: only `Threads::share` makes one, so any thread may call the library. An array is an address
// and a length that do not change. What it leads to is copied, as by other PEs, of types for which
// any bits are valid; the functions that make references of it are unsafe.
unsafe impl<A: Shareable> Send for Shared<'_, A> {}
// SAFETY: any thread may call the library, and several at a time; what is shared does not change.
unsafe impl<A: Shareable> Sync for Shared<'_, A> {}

/// Values that [`Threads::share`] can share: arrays of symmetric memory. There are no others.
pub trait Shareable: sealed::Sealed {}

impl<T: Send> Shareable for Symmetric<'_, T> {}
impl<T: Send> Shareable for DeviceArray<'_, T> {}

/// A bound that no type meets: the trait only makes the compiler's message say what
/// to do, where it would otherwise name a pointer inside.
#[diagnostic::on_unimplemented(
    message = "`{Self}` stays in the thread that initialised the library",
    label = "another thread uses it",
    note = "at `ThreadLevel::Multiple`, `Shmem::threads` returns a `Threads`, whose `share` lets other threads use \
            an array, and whose `shmem` is the PE in any thread"
)]
pub trait AnyThread {}

macro_rules! in_one_thread {
    ($([$($generics:tt)*] $type:ty;)*) => {$(
        // SAFETY: holds for no type, as nothing implements `AnyThread`.
        unsafe impl<$($generics)*> Send for $type where Self: AnyThread {}
        // SAFETY: holds for no type, as nothing implements `AnyThread`.
        unsafe impl<$($generics)*> Sync for $type where Self: AnyThread {}
    )*};
}

in_one_thread! {
    [T] Symmetric<'_, T>;
    [T] SymmetricSlice<'_, T>;
    [C: Numbering] Context<'_, C>;
    [C: Numbering] Nonblocking<'_, '_, C>;
    [] Team<'_>;
}

impl<T: Send> sealed::Sealed for Symmetric<'_, T> {}
impl<T: Send> sealed::Sealed for DeviceArray<'_, T> {}
