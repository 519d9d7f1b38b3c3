//! Signals: puts of data followed by an update of a signal word.

use super::Shmem;
use super::context::{Context, register};
use super::slice::{Key, Part, SymmetricSlice, same_len};
use super::wait::Comparison;
use crate::collectives::Element;
use crate::signal;
use crate::translate::Numbering;
use oneshmem_job::error::{Called::Blocking, Routine};

/// How a signal updates its signal object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Sets it to this value.
    Set(u64),
    /// Adds this value to it.
    Add(u64),
}

impl Signal {
    /// Puts data and then this signal.
    #[inline]
    #[track_caller]
    pub(super) fn send<T: Element, C: Numbering>(
        self,
        routine: Routine,
        ctx: C,
        dest: impl Part<T>,
        source: &[T],
        sig_addr: impl Part<u64>,
        pe: usize,
    ) {
        let (dest, sig_addr) = (dest.part(Key), sig_addr.part(Key));
        same_len(routine, ("source", source.len()), ("dest", dest.len()));
        dest.assert_disjoint(routine, sig_addr);
        let (signal, sig_op) = match self {
            Self::Set(value) => (value, signal::SIGNAL_SET),
            Self::Add(value) => (value, signal::SIGNAL_ADD),
        };
        let (to, from) = (dest.object(), source.into());
        let update = signal::Update { sig_addr: sig_addr.first(routine), signal, sig_op };
        signal::put_signal(routine, ctx, to, from, update, register(pe));
    }
}

/// Signals. A PE that sees the signal also sees the data sent with it.
///
/// ```standalone_crate
/// use oneshmem::{Comparison, Signal};
/// # let shmem = oneshmem::init()?;
/// let (me, npes) = (shmem.my_pe(), shmem.n_pes());
/// let inbox = shmem.alloc::<f32>(2)?;
/// let arrived = shmem.alloc::<u64>(1)?;
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
    /// Copies `source` to `dest` on PE `pe`, then updates the signal there. A PE that sees the
    /// signal also sees the data.
    ///
    /// # Panics
    /// If `dest` and `source` have different lengths, or if `sig_addr` is empty or part of `dest`.
    #[inline]
    #[track_caller]
    pub fn put_signal<T: Element>(
        &self,
        dest: impl Part<T>,
        source: &[T],
        sig_addr: impl Part<u64>,
        what: Signal,
        pe: usize,
    ) {
        what.send(&Blocking("put_signal"), self.ctx, dest, source, sig_addr, pe);
    }

    /// Sets the signal on PE `pe`.
    ///
    /// # Panics
    /// If `sig_addr` is empty.
    #[inline]
    #[track_caller]
    pub fn signal_set(&self, sig_addr: impl Part<u64>, value: u64, pe: usize) {
        let name = &Blocking("signal_set");
        let sig_addr = sig_addr.part(Key);
        signal::set(name, self.ctx, sig_addr.first(name), value, register(pe))
    }

    /// Adds to the signal on PE `pe`.
    ///
    /// # Panics
    /// If `sig_addr` is empty.
    #[inline]
    #[track_caller]
    pub fn signal_add(&self, sig_addr: impl Part<u64>, value: u64, pe: usize) {
        let name = &Blocking("signal_add");
        let sig_addr = sig_addr.part(Key);
        signal::add(name, self.ctx, sig_addr.first(name), value, register(pe))
    }
}

/// Signals sent to this PE: see [`Context::put_signal`].
impl Shmem {
    /// The value of this PE's own signal.
    ///
    /// # Panics
    /// If `sig_addr` is empty.
    #[track_caller]
    pub fn signal_fetch(&self, sig_addr: SymmetricSlice<'_, u64>) -> u64 {
        let name = &Blocking("signal_fetch");
        signal::fetch(name, sig_addr.first(name))
    }

    /// Waits until this PE's own signal satisfies the comparison, and returns the value that does.
    ///
    /// # Panics
    /// If `sig_addr` is empty.
    #[track_caller]
    pub fn signal_wait_until(&self, sig_addr: impl Part<u64>, cmp: Comparison, value: u64) -> u64 {
        let name = &Blocking("signal_wait_until");
        let sig_addr = sig_addr.part(Key);
        signal::wait_until(name, sig_addr.first(name), cmp as i32, value)
    }
}
