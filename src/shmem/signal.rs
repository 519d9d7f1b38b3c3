//! Signals: data, then a word that says it is there.
#![allow(unsafe_code)]

use super::Shmem;
use super::context::{Context, register};
use super::memory::{SymmetricSlice, same_len};
use super::wait::Comparison;
use crate::collectives::Element;
use crate::signal;
use crate::translate::Numbering;

/// What a signal does to its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Sets it to this value.
    Set(u64),
    /// Adds this value to it.
    Add(u64),
}

/// Signals: who sees the signal sees the data that came with it.
///
/// ```standalone_crate
/// use oneshmem::{Comparison, Signal};
/// # let shmem = oneshmem::init()?;
/// let (me, npes) = (shmem.my_pe(), shmem.n_pes());
/// let inbox = shmem.alloc::<f32>(2).unwrap();
/// let arrived = shmem.alloc::<u64>(1).unwrap();
///
/// let right = (me + 1) % npes;
/// shmem.put_signal(inbox.all(), &[0.5, me as f32], arrived.at(0), Signal::Add(1), right);
/// assert_eq!(shmem.signal_wait_until(arrived.at(0), Comparison::Ge, 1), 1);
/// assert_eq!(inbox.at(1).get(), ((me + npes - 1) % npes) as f32);
/// # shmem.free(arrived);
/// # shmem.free(inbox);
/// # shmem.finalize();
/// # Ok::<(), oneshmem::Error>(())
/// ```
impl<C: Numbering> Context<'_, C> {
    /// Copies `source` to `dest` on PE `pe`, then signals there: who sees the signal
    /// sees the data. Panics unless dest and source are equally long.
    #[inline]
    pub fn put_signal<T: Element>(
        &self,
        dest: SymmetricSlice<'_, T>,
        source: &[T],
        sig_addr: SymmetricSlice<'_, u64>,
        what: Signal,
        pe: usize,
    ) {
        same_len(dest.len(), source.len());
        dest.assert_disjoint(sig_addr);
        let (value, operator) = match what {
            Signal::Set(value) => (value, signal::SIGNAL_SET),
            Signal::Add(value) => (value, signal::SIGNAL_ADD),
        };
        let (to, from, n) = (dest.pointer(), source.as_ptr(), source.len());
        let (name, sig_addr, pe) = (&"put_signal", sig_addr.first(), register(pe));
        // SAFETY: as for `put`; the signal is one live element.
        unsafe { signal::put_signal(name, self.ctx, to, from, n, sig_addr, value, operator, pe) }
    }

    /// Sets the signal on PE `pe`.
    #[inline]
    pub fn signal_set(&self, sig_addr: SymmetricSlice<'_, u64>, value: u64, pe: usize) {
        // SAFETY: a live element of a symmetric array, accessed atomically.
        unsafe { signal::set(&"signal_set", self.ctx, sig_addr.first(), value, register(pe)) }
    }

    /// Adds to the signal on PE `pe`.
    #[inline]
    pub fn signal_add(&self, sig_addr: SymmetricSlice<'_, u64>, value: u64, pe: usize) {
        // SAFETY: as for `signal_set`.
        unsafe { signal::add(&"signal_add", self.ctx, sig_addr.first(), value, register(pe)) }
    }
}

/// Signals that come here: see [`Context::put_signal`].
impl Shmem {
    /// The value of this PE's own signal.
    pub fn signal_fetch(&self, sig_addr: SymmetricSlice<'_, u64>) -> u64 {
        // SAFETY: as for `Context::signal_set`.
        unsafe { signal::fetch(&"signal_fetch", sig_addr.first()) }
    }

    /// Waits until this PE's own signal satisfies the comparison; returns the value that
    /// did.
    pub fn signal_wait_until(
        &self,
        sig_addr: SymmetricSlice<'_, u64>,
        cmp: Comparison,
        value: u64,
    ) -> u64 {
        // SAFETY: as for `Context::signal_set`.
        unsafe { signal::wait_until(&"signal_wait_until", sig_addr.first(), cmp as i32, value) }
    }
}
