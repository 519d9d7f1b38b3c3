//! An array of variables under test: which count, and what each is compared to.
#![allow(unsafe_code)]

use super::{Comparison, Waitable};
use crate::argument;
use crate::error::Routine;
use crate::job::about::About;
use crate::operand;
use std::ffi::c_int;

/// What the elements are compared to.
pub trait Values<T>: Copy {
    /// The value for element `i`.
    ///
    /// # Safety
    /// There is an element `i`.
    unsafe fn value(self, i: usize) -> T;
    /// Ends the job if there is none.
    fn check(self, routine: Routine);
}

/// One value for all.
#[derive(Clone, Copy)]
pub struct Same<T>(pub T);

impl<T: Copy> Values<T> for Same<T> {
    #[inline(always)]
    unsafe fn value(self, _: usize) -> T {
        self.0
    }
    #[inline(always)]
    fn check(self, _: Routine) {}
}

/// An array of values, one an element.
#[derive(Clone, Copy)]
pub struct Each<T>(pub *const T);

impl<T: Copy> Values<T> for Each<T> {
    #[inline(always)]
    unsafe fn value(self, i: usize) -> T {
        // SAFETY: as long as the variables, by the contract of the routines.
        unsafe { self.0.add(i).read() }
    }
    #[inline(always)]
    fn check(self, routine: Routine) {
        argument::not_null(routine, "cmp_values", self.0);
    }
}

/// An element of an array under test, by its number.
#[derive(Clone, Copy)]
pub(super) struct Element(usize);

impl Element {
    #[inline(always)]
    pub(super) fn number(self) -> usize {
        self.0
    }
}

/// Where the numbers of elements go: room for those of all.
#[derive(Clone, Copy)]
pub(super) struct Indices(*mut usize);

impl Indices {
    /// Checks the argument.
    ///
    /// # Safety
    /// There is room for `nelems`, as there are elements in the array of the same call.
    #[inline]
    pub(super) unsafe fn new(routine: Routine, indices: *mut usize, nelems: usize) -> Self {
        if nelems != 0 {
            argument::not_null(routine, "indices", indices);
        }
        Self(indices)
    }
}

/// The arguments of an array routine, checked.
#[derive(Clone, Copy)]
pub(super) struct Ivars<T, V> {
    ivars: *const T,
    nelems: usize,
    status: *const c_int,
    cmp: Comparison,
    values: V,
    /// The routine, if the variables are on a device.
    device: Option<Routine>,
}

impl<T: Waitable, V: Values<T>> Ivars<T, V> {
    /// Checks the arguments.
    ///
    /// # Safety
    /// `ivars` are `nelems` variables that others access only atomically and with
    /// this width; `status`, unless null, and a vector of values are as long.
    #[inline]
    pub(super) unsafe fn new(
        routine: Routine,
        ivars: *mut T,
        nelems: usize,
        status: *const c_int,
        cmp: c_int,
        values: V,
    ) -> Self {
        let cmp = Comparison::new(routine, cmp);
        let mut here = true;
        if nelems != 0 {
            let last = ivars.wrapping_add(nelems - 1);
            here = operand::check_local::<T>(routine, "ivars", ivars as usize);
            operand::check_local::<T>(routine, "the last of ivars", last as usize);
            values.check(routine);
        }
        Self { ivars, nelems, status, cmp, values, device: (!here).then_some(routine) }
    }

    /// Whether element `i` counts: nonzero status masks it.
    #[inline(always)]
    fn counts(&self, i: usize) -> bool {
        // SAFETY: the callers have `i < nelems`, and a status array is as long by `new`'s contract.
        self.status.is_null() || unsafe { self.status.add(i).read() } == 0
    }

    /// Whether an element satisfies the comparison now.
    #[inline(always)]
    pub(super) fn satisfied(&self, Element(i): Element) -> bool {
        // SAFETY: one of the elements, of which the contract of `new` says that they are there.
        unsafe {
            let ivar = self.ivars.add(i);
            let seen = match self.device {
                None => T::load(ivar),
                Some(routine) => operand::load_from_device(routine, ivar.addr()),
            };
            self.cmp.holds(seen, self.values.value(i))
        }
    }

    /// The elements that count.
    #[inline(always)]
    pub(super) fn counting(&self) -> impl Iterator<Item = Element> {
        (0..self.nelems).filter(|i| self.counts(*i)).map(Element)
    }

    /// The elements that count, from number `start` on and around.
    #[inline(always)]
    pub(super) fn counting_from(&self, start: usize) -> impl Iterator<Item = Element> {
        assert!(start <= self.nelems);
        (start..self.nelems).chain(0..start).filter(|i| self.counts(*i)).map(Element)
    }

    /// Writes the satisfied elements' numbers; returns how many.
    #[inline(always)]
    pub(super) fn collect(&self, indices: Indices) -> usize {
        let mut found = 0;
        for element in self.counting().filter(|element| self.satisfied(*element)) {
            // SAFETY: at most as many were found as there are elements, for which there is room.
            unsafe { indices.0.add(found).write(element.number()) };
            found += 1;
        }
        found
    }

    /// What a wait for an element is about.
    pub(super) fn about(&self, routine: Routine, Element(i): Element) -> About {
        About::Variable(routine, self.ivars.wrapping_add(i).addr())
    }

    /// Number of elements, masked ones included.
    pub(super) fn len(&self) -> usize {
        self.nelems
    }

    /// Which array this is, to tell one from another.
    pub(super) fn address(&self) -> usize {
        self.ivars as usize
    }
}
