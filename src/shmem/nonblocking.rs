//! Nonblocking operations, whose buffers are borrowed until they are complete.

use super::context::{Context, register};
use super::signal::Signal;
use super::slice::{Key, Part, same_len};
use crate::amo::{self, Integer, Word};
use crate::collectives::Element;
use crate::rma;
use crate::translate::Numbering;
use oneshmem_job::error::Called::Nonblocking as Called;
use std::marker::PhantomData;
use std::slice::from_mut;

/// Operations that need not be complete when they return: those of one [`Context::nonblocking`]. What they read
/// and write is borrowed until then, as by the threads of [`std::thread::scope`].
#[derive(Debug)]
pub struct Nonblocking<'scope, 'env: 'scope, C: Numbering> {
    ctx: C,
    /// Invariant: neither a longer nor a shorter scope will do.
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<(&'env mut &'env (), *const ())>,
}

/// Completes operations, also if the program panics.
struct Quiet<'a, 'b, C: Numbering>(&'a Context<'b, C>);

impl<C: Numbering> Drop for Quiet<'_, '_, C> {
    fn drop(&mut self) {
        self.0.quiet();
    }
}

impl<C: Numbering> Context<'_, C> {
    /// Calls `operations` with a value that starts nonblocking ones, and completes these with a
    /// [`quiet`](Self::quiet). Over several nodes the operations overlap, with one another and with what else
    /// `operations` does. On one node each is complete when it returns, at the cost of the blocking one.
    ///
    /// ```standalone_crate
    /// # let shmem = oneshmem::init()?;
    /// let (me, npes) = (shmem.my_pe(), shmem.n_pes());
    /// let squares = shmem.alloc::<u64>(1)?;
    /// squares.at(0).set((me * me) as u64);
    /// let tickets = shmem.alloc::<u64>(1)?;
    /// shmem.barrier_all();
    ///
    /// let mut all = vec![0; npes];
    /// let mut ticket = 0;
    /// shmem.nonblocking(|nbi| {
    ///     for (pe, square) in all.iter_mut().enumerate() {
    ///         nbi.get(std::slice::from_mut(square), squares.all(), pe);
    ///     }
    ///     nbi.atomic_fetch_inc(&mut ticket, tickets.at(0), 0);
    ///     // All of them are under way.
    /// });
    /// assert_eq!(all, (0..npes as u64).map(|pe| pe * pe).collect::<Vec<_>>());
    /// assert!(ticket < npes as u64);
    /// # shmem.barrier_all();
    /// # shmem.free(tickets);
    /// # shmem.free(squares);
    /// # shmem.finalize();
    /// # Ok::<(), oneshmem::Error>(())
    /// ```
    ///
    /// Nothing can be read too early:
    ///
    /// ```compile_fail,E0502
    /// # let shmem = oneshmem::init().unwrap();
    /// # let array = shmem.alloc::<u64>(1).unwrap();
    /// let mut value = [0];
    /// shmem.nonblocking(|nbi| {
    ///     nbi.get(&mut value, array.all(), 0);
    ///     println!("{value:?}");
    /// });
    /// ```
    pub fn nonblocking<'env, R>(
        &'env self,
        operations: impl for<'scope> FnOnce(&'scope Nonblocking<'scope, 'env, C>) -> R,
    ) -> R {
        let nbi = Nonblocking { ctx: self.ctx, scope: PhantomData, env: PhantomData };
        let _quiet = Quiet(self);
        operations(&nbi)
    }
}

macro_rules! fetches {
    ($($(#[$doc:meta])* $name:ident = $call:ident ( $($argument:ident),* ): $bound:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// # Panics
        /// If `dest` has no elements.
        #[track_caller]
        pub fn $name<T: Element + $bound>(
            &'scope self, fetch: &'scope mut T, dest: impl Part<T> $(, $argument: T)*, pe: usize,
        ) {
            let name = &Called(stringify!($name));
            let fetch = from_mut(fetch).into();
            amo::$call(name, self.ctx, fetch, dest.part(Key).first(name) $(, $argument)*, register(pe));
        }
    )*};
}

/// The values that atomic operations return are in `fetch` when the scope ends.
impl<'scope, C: Numbering> Nonblocking<'scope, '_, C> {
    /// Starts to copy `source` to `dest` on PE `pe`.
    ///
    /// # Panics
    /// If the lengths differ.
    #[track_caller]
    pub fn put<T: Element>(&'scope self, dest: impl Part<T>, source: &'scope [T], pe: usize) {
        let name = &Called("put");
        let dest = dest.part(Key);
        same_len(name, ("source", source.len()), ("dest", dest.len()));
        rma::put(name, self.ctx, dest.object(), source.into(), register(pe));
    }

    /// Starts to copy PE `pe`'s `source` to `dest`.
    ///
    /// # Panics
    /// If the lengths differ.
    #[track_caller]
    pub fn get<T: Element>(&'scope self, dest: &'scope mut [T], source: impl Part<T>, pe: usize) {
        let name = &Called("get");
        let source = source.part(Key);
        same_len(name, ("source", source.len()), ("dest", dest.len()));
        rma::get(name, self.ctx, dest.into(), source.object(), register(pe));
    }

    /// Starts to copy `source` to `dest` on PE `pe`, and to update the signal there. A PE that sees the signal
    /// also sees the data.
    ///
    /// # Panics
    /// If `dest` and `source` have different lengths, or if `sig_addr` is empty or part of `dest`.
    #[track_caller]
    pub fn put_signal<T: Element>(
        &'scope self,
        dest: impl Part<T>,
        source: &'scope [T],
        sig_addr: impl Part<u64>,
        what: Signal,
        pe: usize,
    ) {
        what.send(&Called("put_signal"), self.ctx, dest, source, sig_addr, pe);
    }

    fetches! {
        /// Atomically loads the element.
        atomic_fetch = fetch_nbi(): Word;
        /// Atomically stores `value`; fetches the previous value.
        atomic_swap = swap_nbi(value): Word;
        /// Atomically stores `value` if the element equals `cond`; fetches the previous value.
        atomic_compare_swap = compare_swap_nbi(cond, value): Integer;
        /// Atomically adds; fetches the previous value.
        atomic_fetch_add = fetch_add_nbi(value): Integer;
        /// Atomically adds 1; fetches the previous value.
        atomic_fetch_inc = fetch_inc_nbi(): Integer;
        /// Atomic bitwise and; fetches the previous value.
        atomic_fetch_and = fetch_and_nbi(value): Integer;
        /// Atomic bitwise or; fetches the previous value.
        atomic_fetch_or = fetch_or_nbi(value): Integer;
        /// Atomic bitwise exclusive or; fetches the previous value.
        atomic_fetch_xor = fetch_xor_nbi(value): Integer;
    }
}
