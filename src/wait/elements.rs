//! An array of variables under test: which elements count, and the values that they are compared
//! with. The operands of a call have equal lengths, which is checked once, so an index that is
//! valid in one is valid in all.
use super::{Comparison, Waitable};
use crate::argument::{
    self,
    memory::{In, Object, Out, same_length},
};
use crate::operand::word::Variables;
use crate::pe::about::About;
use oneshmem_job::error::Routine;
use std::ffi::c_int;

/// The values that elements are compared with.
#[derive(Clone, Copy)]
pub enum Values<'m, T> {
    /// One value for all elements.
    Same(T),
    /// A value for each element.
    Each(Option<In<'m, T>>),
}

impl<T: Copy> Values<'_, T> {
    /// The value for element `i`. Panics if there is none.
    #[inline(always)]
    fn value(self, i: usize) -> T {
        match self {
            Self::Same(value) => value,
            Self::Each(values) => values.expect("values, which were required").get(i),
        }
    }

    /// Ends the job if there are no values. Panics unless there is one for each of the `nelems`
    /// elements.
    #[inline(always)]
    fn check(self, routine: Routine, nelems: usize) {
        if let Self::Each(values) = self {
            same_length(argument::required(routine, "cmp_values", values).len(), nelems);
        }
    }
}

/// An element of an array under test, identified by its number.
#[derive(Clone, Copy)]
pub(super) struct Element(usize);

impl Element {
    #[inline(always)]
    pub(super) fn number(self) -> usize {
        self.0
    }
}

/// The destination for element numbers, with room for those of all elements.
#[derive(Clone, Copy)]
pub(super) struct Indices<'m>(Option<Out<'m, usize>>);

impl<'m> Indices<'m> {
    /// Checks the argument of a call on `nelems` elements.
    #[inline]
    fn new(routine: Routine, indices: Option<Out<'m, usize>>, nelems: usize) -> Self {
        if nelems != 0 {
            same_length(argument::required(routine, "indices", indices).len(), nelems);
        }
        Self(indices)
    }
}

/// The checked arguments of an array routine.
#[derive(Clone, Copy)]
pub struct Ivars<'m, T> {
    routine: Routine,
    variables: Variables<'m, T>,
    /// `None` if all elements count.
    status: Option<In<'m, c_int>>,
    cmp: Comparison,
    values: Values<'m, T>,
}

impl<'m, T: Waitable> Ivars<'m, T> {
    /// Checks the arguments.
    #[inline]
    pub fn new(
        routine: Routine,
        ivars: Object<'m, T>,
        status: Option<In<'m, c_int>>,
        cmp: c_int,
        values: Values<'m, T>,
    ) -> Self {
        let cmp = Comparison::new(routine, cmp);
        if let Some(status) = status {
            same_length(status.len(), ivars.len());
        }
        let variables = Variables::new(routine, ivars);
        if !ivars.is_empty() {
            values.check(routine, ivars.len());
        }
        Self { routine, variables, status, cmp, values }
    }

    /// Checks the argument `indices` of the same call.
    #[inline]
    pub(super) fn indices<'i>(&self, indices: Option<Out<'i, usize>>) -> Indices<'i> {
        Indices::new(self.routine, indices, self.len())
    }

    /// Whether element `i` counts. A nonzero status masks it.
    #[inline(always)]
    fn counts(&self, i: usize) -> bool {
        self.status.is_none_or(|status| status.get(i) == 0)
    }

    /// Whether an element satisfies the comparison now.
    #[inline(always)]
    pub(super) fn satisfied(&self, Element(i): Element) -> bool {
        self.cmp.holds(self.variables.load(i), self.values.value(i))
    }

    /// The elements that count.
    #[inline(always)]
    pub(super) fn counting(&self) -> impl Iterator<Item = Element> {
        (0..self.len()).filter(|i| self.counts(*i)).map(Element)
    }

    /// The elements that count, from number `start` on, wrapping around.
    #[inline(always)]
    pub(super) fn counting_from(&self, start: usize) -> impl Iterator<Item = Element> {
        assert!(start <= self.len());
        (start..self.len()).chain(0..start).filter(|i| self.counts(*i)).map(Element)
    }

    /// Writes the numbers of the satisfied elements. Returns how many there are.
    #[inline(always)]
    pub(super) fn collect(&self, Indices(indices): Indices<'_>) -> usize {
        let satisfied = self.counting().filter(|element| self.satisfied(*element));
        satisfied.zip(0..).fold(0, |found, (element, at)| {
            indices.expect("indices, which were required").set(at, element.number());
            found + 1
        })
    }

    /// The object of a wait for an element, for reports.
    pub(super) fn about(&self, Element(i): Element) -> About {
        About::Variable(self.routine, self.variables.address(i))
    }

    /// The number of elements, including masked ones.
    pub(super) fn len(&self) -> usize {
        self.variables.len()
    }

    /// The array's address, which identifies it.
    pub(super) fn address(&self) -> usize {
        self.variables.start()
    }
}
