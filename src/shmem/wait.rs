//! Waiting for other PEs, and locks.

use super::Shmem;
use super::slice::{Key, Part, SymmetricSlice, same_len};
use crate::argument::memory::{In, Out};
use crate::collectives::Element;
use crate::lock;
use crate::wait::{self, Ivars, Waitable};
use oneshmem_job::error::{Called::Blocking, Routine};
use std::ffi::c_int;

/// How two values are compared (specification, section 9.11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Comparison {
    /// Equal.
    Eq = wait::CMP_EQ,
    /// Not equal.
    Ne = wait::CMP_NE,
    /// Greater.
    Gt = wait::CMP_GT,
    /// Greater or equal.
    Ge = wait::CMP_GE,
    /// Less.
    Lt = wait::CMP_LT,
    /// Less or equal.
    Le = wait::CMP_LE,
}

/// The values that elements are compared with.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a, T> {
    /// Compares all elements with this value.
    All(T),
    /// Compares element `i` with value `i`. There is one value per element.
    Each(&'a [T]),
}

/// The names of a routine with one value for all variables, and with a value for each.
macro_rules! names {
    ($routine:ident) => {
        [&Blocking(stringify!($routine)), &Blocking(concat!(stringify!($routine), "_vector"))]
    };
}

/// The arguments of a call on an array. Panics unless all arrays have the same length.
#[track_caller]
fn tested<'a, T: Element + Waitable>(
    [one, vector]: [Routine; 2],
    ivars: SymmetricSlice<'a, T>,
    status: Option<&'a [c_int]>,
    cmp: Comparison,
    values: Values<'a, T>,
) -> Ivars<'a, T> {
    let len = ("ivars", ivars.len());
    if let Some(status) = status {
        same_len(one, ("status", status.len()), len);
    }
    let (routine, values) = match values {
        Values::All(value) => (one, wait::Values::Same(value)),
        Values::Each(values) => {
            same_len(one, ("values", values.len()), len);
            (vector, wait::Values::Each(Some(values.into())))
        }
    };
    Ivars::new(routine, ivars.object(), status.map(In::from), cmp as i32, values)
}

/// Passes `indices` to `write` and returns the entries written. Panics unless there is room for
/// all.
#[track_caller]
fn found(
    routine: Routine,
    indices: &mut [usize],
    elements: usize,
    write: impl FnOnce(Option<Out<'_, usize>>) -> usize,
) -> &[usize] {
    assert!(
        indices.len() >= elements,
        "{routine}: indices has {} elements; expected {elements}, as many as ivars has",
        indices.len()
    );
    let count = write(Some((&mut indices[..elements]).into()));
    &indices[..count]
}

/// The index of an element; `None` if the core found none.
fn element(index: usize) -> Option<usize> {
    (index != usize::MAX).then_some(index)
}

/// See [`Shmem::test_all`].
#[track_caller]
pub(super) fn holds<T: Element + Waitable>(
    ivars: SymmetricSlice<'_, T>,
    status: Option<&[c_int]>,
    cmp: Comparison,
    values: Values<'_, T>,
) -> bool {
    wait::test_all(tested(names!(test_all), ivars, status, cmp, values)) != 0
}

/// Waits for, or tests, this PE's own elements, which other PEs or threads change by atomic
/// operations or signals. Operations on several elements skip element `i` if `status[i]` is not 0.
///
/// ```standalone_crate
/// use oneshmem::{Comparison::{Eq, Ge}, Values};
/// # let shmem = oneshmem::init()?;
/// let (me, npes) = (shmem.my_pe(), shmem.n_pes());
/// let flags = shmem.alloc::<i32>(npes)?;
/// for pe in 0..npes {
///     shmem.atomic_set(flags.at(me), me as i32 + 1, pe);
/// }
///
/// // One after the other, in the order they come.
/// let mut status = vec![0; npes];
/// while let Some(pe) = shmem.wait_until_any(flags.all(), Some(&status), Ge, Values::All(1)) {
///     assert_eq!(flags.at(pe).get(), pe as i32 + 1);
///     status[pe] = 1;
/// }
///
/// // All at once; each has a value of its own.
/// let expected: Vec<i32> = (1..=npes as i32).collect();
/// shmem.wait_until_all(flags.all(), None, Eq, Values::Each(&expected));
/// assert!(shmem.test_all(flags.all(), None, Eq, Values::Each(&expected)));
/// assert!(!shmem.test(flags.at(0), Eq, 7));
/// # shmem.barrier_all();
/// # shmem.free(flags);
/// # shmem.finalize();
/// # Ok::<(), oneshmem::Error>(())
/// ```
impl Shmem {
    /// Waits until the element satisfies the comparison.
    ///
    /// # Panics
    /// If `ivar` is empty.
    #[track_caller]
    pub fn wait_until<T: Element + Waitable>(&self, ivar: impl Part<T>, cmp: Comparison, value: T) {
        let name = &Blocking("wait_until");
        let ivar = ivar.part(Key);
        wait::wait_until(name, ivar.first(name), cmp as i32, value)
    }

    /// Waits until all elements satisfy the comparison.
    ///
    /// # Panics
    /// Unless `values` and `status`, if given, have an entry for each element.
    #[track_caller]
    pub fn wait_until_all<T: Element + Waitable>(
        &self,
        ivars: impl Part<T>,
        status: Option<&[c_int]>,
        cmp: Comparison,
        values: Values<'_, T>,
    ) {
        let ivars = ivars.part(Key);
        wait::wait_until_all(tested(names!(wait_until_all), ivars, status, cmp, values))
    }

    /// Waits until an element satisfies the comparison, and returns its index. Returns `None`
    /// immediately if all elements are skipped. If several satisfy it, repeated calls return each
    /// in turn.
    ///
    /// # Panics
    /// Unless `values` and `status`, if given, have an entry for each element.
    #[track_caller]
    pub fn wait_until_any<T: Element + Waitable>(
        &self,
        ivars: impl Part<T>,
        status: Option<&[c_int]>,
        cmp: Comparison,
        values: Values<'_, T>,
    ) -> Option<usize> {
        let ivars = ivars.part(Key);
        let ivars = tested(names!(wait_until_any), ivars, status, cmp, values);
        element(wait::wait_until_any(ivars))
    }

    /// Waits until at least one element satisfies the comparison. Returns the indices of all that
    /// do, stored at the start of `indices`, which has room for all. Returns no indices,
    /// immediately, if all elements are skipped.
    ///
    /// # Panics
    /// Unless `indices`, `values` and `status`, if given, have an entry for each element.
    #[track_caller]
    pub fn wait_until_some<'i, T: Element + Waitable>(
        &self,
        ivars: impl Part<T>,
        indices: &'i mut [usize],
        status: Option<&[c_int]>,
        cmp: Comparison,
        values: Values<'_, T>,
    ) -> &'i [usize] {
        let ivars = ivars.part(Key);
        let set = tested(names!(wait_until_some), ivars, status, cmp, values);
        let name = &Blocking("wait_until_some");
        found(name, indices, ivars.len(), |indices| wait::wait_until_some(set, indices))
    }

    /// Whether the element satisfies the comparison now.
    ///
    /// # Panics
    /// If `ivar` is empty.
    #[track_caller]
    pub fn test<T: Element + Waitable>(
        &self,
        ivar: impl Part<T>,
        cmp: Comparison,
        value: T,
    ) -> bool {
        let name = &Blocking("test");
        let ivar = ivar.part(Key);
        wait::test(name, ivar.first(name), cmp as i32, value) != 0
    }

    /// Whether all elements satisfy the comparison now.
    ///
    /// # Panics
    /// Unless `values` and `status`, if given, have an entry for each element.
    #[track_caller]
    pub fn test_all<T: Element + Waitable>(
        &self,
        ivars: impl Part<T>,
        status: Option<&[c_int]>,
        cmp: Comparison,
        values: Values<'_, T>,
    ) -> bool {
        let ivars = ivars.part(Key);
        holds(ivars, status, cmp, values)
    }

    /// The index of an element that satisfies the comparison now.
    ///
    /// # Panics
    /// Unless `values` and `status`, if given, have an entry for each element.
    #[track_caller]
    pub fn test_any<T: Element + Waitable>(
        &self,
        ivars: impl Part<T>,
        status: Option<&[c_int]>,
        cmp: Comparison,
        values: Values<'_, T>,
    ) -> Option<usize> {
        let ivars = ivars.part(Key);
        element(wait::test_any(tested(names!(test_any), ivars, status, cmp, values)))
    }

    /// The indices of the elements that satisfy the comparison now, stored at the start of
    /// `indices`, which has room for all.
    ///
    /// # Panics
    /// Unless `indices`, `values` and `status`, if given, have an entry for each element.
    #[track_caller]
    pub fn test_some<'i, T: Element + Waitable>(
        &self,
        ivars: impl Part<T>,
        indices: &'i mut [usize],
        status: Option<&[c_int]>,
        cmp: Comparison,
        values: Values<'_, T>,
    ) -> &'i [usize] {
        let ivars = ivars.part(Key);
        let set = tested(names!(test_some), ivars, status, cmp, values);
        let name = &Blocking("test_some");
        found(name, indices, ivars.len(), |indices| wait::test_some(set, indices))
    }
}

/// Locks. An element that is initially zero is one lock for the whole job. PEs acquire it in the
/// order of their requests.
///
/// ```standalone_crate
/// # let shmem = oneshmem::init()?;
/// let lock = shmem.alloc::<i64>(1)?;
/// let total = shmem.alloc::<u64>(1)?;
/// shmem.set_lock(lock.at(0));
/// let sum = shmem.g(total.at(0), 0);
/// shmem.p(total.at(0), sum + 1, 0);
/// shmem.clear_lock(lock.at(0));
/// shmem.barrier_all();
/// assert_eq!(shmem.g(total.at(0), 0), shmem.n_pes() as u64);
/// # shmem.free(total);
/// # shmem.free(lock);
/// # shmem.finalize();
/// # Ok::<(), oneshmem::Error>(())
/// ```
impl Shmem {
    /// Acquires the lock.
    ///
    /// # Panics
    /// If `lock` is empty.
    #[track_caller]
    pub fn set_lock(&self, lock: SymmetricSlice<'_, i64>) {
        let name = &Blocking("set_lock");
        lock::set(name, lock.first(name))
    }

    /// Tries to acquire the lock without waiting. Returns whether it did.
    ///
    /// # Panics
    /// If `lock` is empty.
    #[track_caller]
    pub fn test_lock(&self, lock: SymmetricSlice<'_, i64>) -> bool {
        let name = &Blocking("test_lock");
        lock::test(name, lock.first(name)) == 0
    }

    /// Releases the lock after all earlier puts are complete.
    ///
    /// # Panics
    /// If `lock` is empty.
    #[track_caller]
    pub fn clear_lock(&self, lock: SymmetricSlice<'_, i64>) {
        let name = &Blocking("clear_lock");
        lock::clear(name, lock.first(name))
    }
}
