//! Atomic operations.

use super::context::{Context, register};
use super::slice::{Key, Part};
use crate::amo::{self, Integer, Word};
use crate::collectives::Element;
use crate::translate::Numbering;
use oneshmem_job::error::Called::Blocking;

macro_rules! atomics {
    ($($(#[$doc:meta])* $name:ident = $call:ident ( $($argument:ident),* ) $(-> $result:ident)?: $bound:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// # Panics
        /// If `dest` has no elements.
        #[inline]
        #[track_caller]
        pub fn $name<T: Element + $bound>(
            &self, dest: impl Part<T> $(, $argument: T)*, pe: usize,
        ) $(-> $result)? {
            let name = &Blocking(stringify!($name));
            amo::$call(name, self.ctx, dest.part(Key).first(name) $(, $argument)*, register(pe))
        }
    )*};
}

/// Each works on the first element of `dest` on PE `pe`. All are atomic with respect to one
/// another, across all PEs and threads. Integers wrap around. [`nonblocking`](Context::nonblocking) has forms
/// that need not be complete when they return.
///
/// ```standalone_crate
/// # let shmem = oneshmem::init()?;
/// # let npes = shmem.n_pes() as i64;
/// let word = shmem.alloc::<i64>(1)?;
/// let before = shmem.atomic_fetch_add(word.at(0), 5, 0);
/// assert!(before < 5 * npes);
/// shmem.barrier_all();
/// assert_eq!(shmem.atomic_fetch(word.at(0), 0), 5 * npes);
///
/// // One PE wins.
/// shmem.barrier_all();
/// let me = shmem.my_pe() as i64;
/// let won = shmem.atomic_compare_swap(word.at(0), 5 * npes, -me - 1, 0) == 5 * npes;
/// shmem.barrier_all();
/// assert_eq!(won, shmem.atomic_fetch(word.at(0), 0) == -me - 1);
/// # shmem.free(word);
/// # shmem.finalize();
/// # Ok::<(), oneshmem::Error>(())
/// ```
impl<C: Numbering> Context<'_, C> {
    atomics! {
        /// Atomically loads the element.
        atomic_fetch = fetch() -> T: Word;
        /// Atomically stores the element.
        atomic_set = set(value): Word;
        /// Atomically stores `value`; returns the previous value.
        atomic_swap = swap(value) -> T: Word;
        /// Atomically stores `value` if the element equals `cond`; returns the previous value.
        atomic_compare_swap = compare_swap(cond, value) -> T: Integer;
        /// Atomically adds; returns the previous value.
        atomic_fetch_add = fetch_add(value) -> T: Integer;
        /// Atomically adds.
        atomic_add = add(value): Integer;
        /// Atomically adds 1; returns the previous value.
        atomic_fetch_inc = fetch_inc() -> T: Integer;
        /// Atomically adds 1.
        atomic_inc = inc(): Integer;
        /// Atomic bitwise and; returns the previous value.
        atomic_fetch_and = fetch_and(value) -> T: Integer;
        /// Atomic bitwise and.
        atomic_and = and(value): Integer;
        /// Atomic bitwise or; returns the previous value.
        atomic_fetch_or = fetch_or(value) -> T: Integer;
        /// Atomic bitwise or.
        atomic_or = or(value): Integer;
        /// Atomic bitwise exclusive or; returns the previous value.
        atomic_fetch_xor = fetch_xor(value) -> T: Integer;
        /// Atomic bitwise exclusive or.
        atomic_xor = xor(value): Integer;
    }
}
