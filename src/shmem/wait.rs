//! Waiting for other PEs, and locks.
#![allow(unsafe_code)]

use super::Shmem;
use super::memory::SymmetricSlice;
use crate::collectives::Element;
use crate::lock;
use crate::wait::{self, Waitable};
use std::ffi::c_int;

/// How a value is compared with another (specification, section 9.10).
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

/// What elements are compared to.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a, T> {
    /// All elements are compared to this.
    All(T),
    /// Element `i` is compared to value `i`. There are as many as elements.
    Each(&'a [T]),
}

/// The arguments of the operations on several elements, checked.
struct Set<'a, T> {
    ivars: *mut T,
    nelems: usize,
    status: *const c_int,
    values: Values<'a, T>,
}

impl<'a, T: Element> Set<'a, T> {
    /// Panics unless there is a status and a value for each element.
    fn new(ivars: SymmetricSlice<'_, T>, status: Option<&[c_int]>, values: Values<'a, T>) -> Self {
        let nelems = ivars.len();
        if let Some(status) = status {
            assert_eq!(status.len(), nelems, "as many elements of status as of ivars");
        }
        if let Values::Each(values) = values {
            assert_eq!(values.len(), nelems, "as many values as elements of ivars");
        }
        let status = status.map_or(std::ptr::null(), <[c_int]>::as_ptr);
        Self { ivars: ivars.pointer(), nelems, status, values }
    }
}

/// Calls the core's routine for one value or its vector form.
macro_rules! call {
    ($set:expr, $cmp:expr, $routine:ident $(, $indices:expr)?) => {{
        let (Set { ivars, nelems, status, values }, cmp) = ($set, $cmp as i32);
        // SAFETY: live, aligned elements of a symmetric array; all else is as long.
        unsafe {
            match values {
                Values::All(value) => {
                    let (name, values) = (&stringify!($routine), wait::Same(value));
                    wait::$routine(name, ivars, nelems, $($indices,)? status, cmp, values)
                }
                Values::Each(values) => {
                    let name = &concat!(stringify!($routine), "_vector");
                    let values = wait::Each(values.as_ptr());
                    wait::$routine(name, ivars, nelems, $($indices,)? status, cmp, values)
                }
            }
        }
    }};
}

/// The first of `indices` that were written. Panics unless there was room for all.
fn found(
    indices: &mut [usize],
    elements: usize,
    write: impl FnOnce(*mut usize) -> usize,
) -> &[usize] {
    assert!(indices.len() >= elements, "room for {} indices of {elements}", indices.len());
    let count = write(indices.as_mut_ptr());
    &indices[..count]
}

/// An element, `None` for none.
fn element(index: usize) -> Option<usize> {
    (index != usize::MAX).then_some(index)
}

/// See [`Shmem::test_all`].
pub(super) fn holds<T: Element + Waitable>(
    ivars: SymmetricSlice<'_, T>,
    status: Option<&[c_int]>,
    cmp: Comparison,
    values: Values<'_, T>,
) -> bool {
    call!(Set::new(ivars, status, values), cmp, test_all) != 0
}

/// Waiting for, and testing, this PE's own elements, which other PEs or threads change by
/// atomic operations or signals. Those on several elements leave out element `i` if
/// `status[i]` is not 0, and panic unless there is a status, if any, and a value for
/// each element.
///
/// ```standalone_crate
/// use oneshmem::{Comparison::{Eq, Ge}, Values};
/// # let shmem = oneshmem::init()?;
/// let (me, npes) = (shmem.my_pe(), shmem.n_pes());
/// let flags = shmem.alloc::<i32>(npes).unwrap();
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
    pub fn wait_until<T: Element + Waitable>(
        &self,
        ivar: SymmetricSlice<'_, T>,
        cmp: Comparison,
        value: T,
    ) {
        // SAFETY: a live, aligned element of a symmetric array.
        unsafe { wait::wait_until(&"wait_until", ivar.first(), cmp as i32, value) }
    }

    /// Waits until all elements satisfy the comparison.
    pub fn wait_until_all<T: Element + Waitable>(
        &self,
        ivars: SymmetricSlice<'_, T>,
        status: Option<&[c_int]>,
        cmp: Comparison,
        values: Values<'_, T>,
    ) {
        call!(Set::new(ivars, status, values), cmp, wait_until_all)
    }

    /// Waits until an element satisfies the comparison: its index. `None`, at once, if
    /// all are left out. Each of several comes up in turn.
    pub fn wait_until_any<T: Element + Waitable>(
        &self,
        ivars: SymmetricSlice<'_, T>,
        status: Option<&[c_int]>,
        cmp: Comparison,
        values: Values<'_, T>,
    ) -> Option<usize> {
        let set = Set::new(ivars, status, values);
        element(call!(set, cmp, wait_until_any))
    }

    /// Waits until at least one element satisfies the comparison: the indices of all that
    /// do, at the start of `indices`, which has room for all. None, at once, if all
    /// are left out.
    pub fn wait_until_some<'i, T: Element + Waitable>(
        &self,
        ivars: SymmetricSlice<'_, T>,
        indices: &'i mut [usize],
        status: Option<&[c_int]>,
        cmp: Comparison,
        values: Values<'_, T>,
    ) -> &'i [usize] {
        let set = Set::new(ivars, status, values);
        found(indices, ivars.len(), |indices| call!(set, cmp, wait_until_some, indices))
    }

    /// Whether the element satisfies the comparison now.
    pub fn test<T: Element + Waitable>(
        &self,
        ivar: SymmetricSlice<'_, T>,
        cmp: Comparison,
        value: T,
    ) -> bool {
        // SAFETY: as for `wait_until`.
        unsafe { wait::test(&"test", ivar.first(), cmp as i32, value) != 0 }
    }

    /// Whether all elements satisfy the comparison now.
    pub fn test_all<T: Element + Waitable>(
        &self,
        ivars: SymmetricSlice<'_, T>,
        status: Option<&[c_int]>,
        cmp: Comparison,
        values: Values<'_, T>,
    ) -> bool {
        holds(ivars, status, cmp, values)
    }

    /// An element that satisfies the comparison now, by its index.
    pub fn test_any<T: Element + Waitable>(
        &self,
        ivars: SymmetricSlice<'_, T>,
        status: Option<&[c_int]>,
        cmp: Comparison,
        values: Values<'_, T>,
    ) -> Option<usize> {
        element(call!(Set::new(ivars, status, values), cmp, test_any))
    }

    /// The elements that satisfy the comparison now: their indices, at the start of
    /// `indices`, which has room for all.
    pub fn test_some<'i, T: Element + Waitable>(
        &self,
        ivars: SymmetricSlice<'_, T>,
        indices: &'i mut [usize],
        status: Option<&[c_int]>,
        cmp: Comparison,
        values: Values<'_, T>,
    ) -> &'i [usize] {
        let set = Set::new(ivars, status, values);
        found(indices, ivars.len(), |indices| call!(set, cmp, test_some, indices))
    }
}

/// Locks: an element, zero at first, that is one lock for the whole job. First come,
/// first served.
///
/// ```standalone_crate
/// # let shmem = oneshmem::init()?;
/// let lock = shmem.alloc::<i64>(1).unwrap();
/// let total = shmem.alloc::<u64>(1).unwrap();
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
    pub fn set_lock(&self, lock: SymmetricSlice<'_, i64>) {
        // SAFETY: a live element of a symmetric array.
        unsafe { lock::set(&"set_lock", lock.first()) }
    }

    /// Acquires the lock if it is free, without waiting. True if it was.
    pub fn test_lock(&self, lock: SymmetricSlice<'_, i64>) -> bool {
        // SAFETY: as for `set_lock`.
        unsafe { lock::test(&"test_lock", lock.first()) == 0 }
    }

    /// Releases the lock, after what was put before is complete.
    pub fn clear_lock(&self, lock: SymmetricSlice<'_, i64>) {
        // SAFETY: as for `set_lock`.
        unsafe { lock::clear(&"clear_lock", lock.first()) }
    }
}
