//! Atomic operations.
#![allow(unsafe_code)]

use super::context::{Context, register};
use super::memory::SymmetricSlice;
use crate::amo::{self, Integer, Word};
use crate::collectives::Element;
use crate::translate::Numbering;

macro_rules! atomics {
    ($($(#[$doc:meta])* $name:ident = $call:ident ( $($argument:ident),* ) $(-> $result:ident)?: $bound:ident;)*) => {$(
        $(#[$doc])*
        #[inline]
        pub fn $name<T: Element + $bound>(
            &self, dest: SymmetricSlice<'_, T> $(, $argument: T)*, pe: usize,
        ) $(-> $result)? {
            let name = &stringify!($name);
            // SAFETY: a live, aligned element of a symmetric array, accessed atomically.
            unsafe { amo::$call(name, self.ctx, dest.first() $(, $argument)*, register(pe)) }
        }
    )*};
}

/// Each works on the first element of PE `pe`'s `dest`. All are atomic with respect
/// to one another, of all PEs and threads; integers wrap around. The nonblocking forms
/// of C have no counterparts: the result is what an atomic operation is for.
///
/// ```standalone_crate
/// # let shmem = oneshmem::init()?;
/// # let npes = shmem.n_pes() as i64;
/// let word = shmem.alloc::<i64>(1).unwrap();
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
        /// Atomically stores the element; returns what it was.
        atomic_swap = swap(value) -> T: Word;
        /// Atomically stores `value` if the element is `cond`; returns what it was.
        atomic_compare_swap = compare_swap(cond, value) -> T: Integer;
        /// Atomically adds; returns what the element was.
        atomic_fetch_add = fetch_add(value) -> T: Integer;
        /// Atomically adds.
        atomic_add = add(value): Integer;
        /// Atomically adds 1; returns what the element was.
        atomic_fetch_inc = fetch_inc() -> T: Integer;
        /// Atomically adds 1.
        atomic_inc = inc(): Integer;
        /// Atomic bitwise and; returns what the element was.
        atomic_fetch_and = fetch_and(value) -> T: Integer;
        /// Atomic bitwise and.
        atomic_and = and(value): Integer;
        /// Atomic bitwise or; returns what the element was.
        atomic_fetch_or = fetch_or(value) -> T: Integer;
        /// Atomic bitwise or.
        atomic_or = or(value): Integer;
        /// Atomic bitwise exclusive or; returns what the element was.
        atomic_fetch_xor = fetch_xor(value) -> T: Integer;
        /// Atomic bitwise exclusive or.
        atomic_xor = xor(value): Integer;
    }
}
