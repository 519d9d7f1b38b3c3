//! Arrays of elements.

use crate::error::Result;
use crate::layout::{Distribution, Layout};
use crate::storage::Storage;
use oneshmem::{Element, Integer, Shmem, SymmetricSlice, Word};
use std::ops::{Deref, DerefMut};
use std::slice::from_mut;

/// An array whose elements are spread over all PEs. Any PE uses any element by its index, and its own elements as
/// a slice in a phase: see [`local`](Self::local). The array borrows from the [`Shmem`], as symmetric memory does,
/// and like that it is freed by [`free`](Self::free), not by being dropped.
///
/// A PE's puts and adds are complete, for all PEs, after the next [`Shmem::barrier_all`] or at the begin of the
/// next phase.
///
/// ```standalone_crate
/// use oneshmem_array::{DistArray, Distribution};
/// # let shmem = oneshmem::init()?;
/// let mut squares = DistArray::<u64>::new(&shmem, 100, Distribution::Cyclic)?;
/// squares.local(|mut own| {
///     for (index, square) in own.indexed_mut() {
///         *square = (index * index) as u64;
///     }
/// });
/// assert_eq!(squares.get(99), 99 * 99);
/// # squares.free();
/// # shmem.finalize();
/// # Ok::<(), oneshmem_array::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "freed only by free"]
pub struct DistArray<'a, T> {
    storage: Storage<'a, T>,
    layout: Layout,
}

macro_rules! atomics {
    ($($(#[$doc:meta])* $name:ident = $call:ident ( $($argument:ident),* ) $(-> $result:ident)?: $bound:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// # Panics
        /// If there is no such element.
        #[inline]
        #[track_caller]
        pub fn $name(&self, index: usize $(, $argument: T)*) $(-> $result)? where T: $bound {
            let (element, pe) = self.find(stringify!($name), index);
            self.storage.shmem().$call(element $(, $argument)*, pe)
        }
    )*};
}

/// Of each of the pairs `$updates`, an index and a value, `$call`.
macro_rules! many {
    ($($(#[$doc:meta])* $name:ident = $call:ident: $bound:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// # Panics
        /// If there is no such element. The updates before that one have been made.
        #[inline]
        #[track_caller]
        pub fn $name(&self, updates: impl IntoIterator<Item = (usize, T)>) where T: $bound {
            let shmem = self.storage.shmem();
            let each = |element: SymmetricSlice<'_, T>, value, pe| shmem.$call(element, value, pe);
            // A loop for each distribution: they find places in different ways.
            match self.layout.distribution {
                Distribution::Block => self.each(stringify!($name), Distribution::Block, updates, each),
                Distribution::Cyclic => self.each(stringify!($name), Distribution::Cyclic, updates, each),
            }
        }
    )*};
}

impl<'a, T: Element> DistArray<'a, T> {
    /// Creates an array of `len` zeroed elements. Collective: all PEs pass the same arguments.
    ///
    /// # Errors
    /// The symmetric heap has no room for it, or no team; or PEs have passed different arguments. All
    /// PEs get the error.
    pub fn new(shmem: &'a Shmem, len: usize, distribution: Distribution) -> Result<Self> {
        let layout = Layout::new(len, shmem.n_pes(), distribution);
        let arguments = [
            ("len", len),
            ("distribution (0: Block, 1: Cyclic)", distribution as usize),
            ("the size of an element", size_of::<T>()),
        ];
        let storage = Storage::new("DistArray::new", shmem, &arguments, layout.per_pe)?;
        Ok(Self { storage, layout })
    }

    /// The number of elements, on all PEs together.
    pub fn len(&self) -> usize {
        self.layout.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.layout.len == 0
    }

    /// How the elements are spread.
    pub fn distribution(&self) -> Distribution {
        self.layout.distribution
    }

    /// How many elements PE `pe` has.
    ///
    /// # Panics
    /// If there is no such PE.
    #[track_caller]
    pub fn len_on(&self, pe: usize) -> usize {
        self.check_pe("len_on", pe);
        self.layout.len_on(pe)
    }

    /// The PE that has element `index`.
    ///
    /// # Panics
    /// If there is no such element.
    #[inline]
    #[track_caller]
    pub fn owner_of(&self, index: usize) -> usize {
        self.check("owner_of", index);
        self.layout.place(index).0
    }

    /// The index of element `offset` of those that PE `pe` has.
    ///
    /// # Panics
    /// If there is no such PE, or it has no such element.
    #[track_caller]
    pub fn index_of(&self, pe: usize, offset: usize) -> usize {
        self.check_pe("index_of", pe);
        let len = self.layout.len_on(pe);
        assert!(
            offset < len,
            "DistArray::index_of: offset is {offset}; expected less than {len}, the elements of PE {pe}"
        );
        let (first, step) = self.layout.progression(pe);
        first + offset * step
    }

    /// Reads an element. A number of up to 64 bits is read as it was written, anything else may be read half changed.
    ///
    /// # Panics
    /// If there is no such element.
    #[inline]
    #[track_caller]
    pub fn get(&self, index: usize) -> T {
        let (element, pe) = self.find("get", index);
        self.storage.shmem().g(element, pe)
    }

    /// Writes an element.
    ///
    /// # Panics
    /// If there is no such element.
    #[inline]
    #[track_caller]
    pub fn put(&self, index: usize, value: T) {
        let (element, pe) = self.find("put", index);
        self.storage.shmem().p(element, value, pe);
    }

    atomics! {
        /// Atomically writes an element; returns the previous value.
        swap = atomic_swap(value) -> T: Word;
        /// Atomically writes an element if it equals `cond`; returns the previous value.
        compare_swap = atomic_compare_swap(cond, value) -> T: Integer;
        /// Atomically adds to an element; returns the previous value.
        fetch_add = atomic_fetch_add(value) -> T: Integer;
        /// Atomically adds to an element. Integers wrap around.
        add = atomic_add(value): Integer;
        /// Atomic bitwise exclusive or.
        xor = atomic_xor(value): Integer;
    }

    many! {
        /// [`put`](Self::put)s a value at each index.
        put_many = p: Copy;
        /// [`add`](Self::add)s a value at each index. On one node this is an atomic instruction for each; to other
        /// nodes they travel in batches.
        add_many = atomic_add: Integer;
        /// As [`add_many`](Self::add_many), with [`xor`](Self::xor).
        xor_many = atomic_xor: Integer;
    }

    /// Reads the elements at `indices` into `values`. Over several nodes the reads overlap.
    ///
    /// ```standalone_crate
    /// # use oneshmem_array::{DistArray, Distribution};
    /// # let shmem = oneshmem::init()?;
    /// let array = DistArray::<i32>::new(&shmem, 10, Distribution::Block)?;
    /// if shmem.my_pe() == 0 {
    ///     array.put_many((0..10).map(|i| (i, i as i32)));
    /// }
    /// shmem.barrier_all();
    /// let mut values = [0; 3];
    /// array.get_many(&[9, 0, 5], &mut values);
    /// assert_eq!(values, [9, 0, 5]);
    /// # array.free();
    /// # shmem.finalize();
    /// # Ok::<(), oneshmem_array::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such element, or the lengths differ.
    #[track_caller]
    pub fn get_many(&self, indices: &[usize], values: &mut [T]) {
        assert!(
            indices.len() == values.len(),
            "DistArray::get_many: values has {} elements; expected {}, one for each of indices",
            values.len(),
            indices.len()
        );
        indices.iter().for_each(|index| self.check("get_many", *index));
        self.storage.shmem().nonblocking(|nbi| {
            for (index, value) in indices.iter().zip(values) {
                let (element, pe) = self.find("get_many", *index);
                nbi.get(from_mut(value), element, pe);
            }
        });
    }

    /// A phase, in which each PE has its own elements as a slice: calls `work` with them. Collective: all PEs
    /// call it. It begins when all PEs have come and all they put before is complete, and ends when `work`
    /// has returned on all of them. So nobody uses an element meanwhile but its owner, which the compiler sees to:
    ///
    /// ```compile_fail,E0502
    /// # use oneshmem_array::{DistArray, Distribution};
    /// # let shmem = oneshmem::init().unwrap();
    /// let mut array = DistArray::<u64>::new(&shmem, 100, Distribution::Block).unwrap();
    /// array.local(|mut own| own[0] = array.get(99));
    /// ```
    ///
    /// ```compile_fail
    /// # use oneshmem_array::{DistArray, Distribution};
    /// # let shmem = oneshmem::init().unwrap();
    /// let mut array = DistArray::<u64>::new(&shmem, 100, Distribution::Block).unwrap();
    /// let own = array.local(|own| own);          // It does not outlive the phase.
    /// ```
    ///
    /// `work` may use other arrays. It gets a slice, which threads can share:
    ///
    /// ```standalone_crate
    /// use rayon::prelude::*;
    /// # use oneshmem_array::{DistArray, Distribution};
    /// # let shmem = oneshmem::init()?;
    /// let mut array = DistArray::<u64>::new(&shmem, 1000, Distribution::Block)?;
    /// array.local(|mut own| own.par_iter_mut().for_each(|element| *element += 1));
    /// let own: u64 = array.local(|own| own.par_iter().sum());
    /// assert_eq!(own as usize, array.len_on(shmem.my_pe()));
    /// # array.free();
    /// # shmem.finalize();
    /// # Ok::<(), oneshmem_array::Error>(())
    /// ```
    pub fn local<R>(&mut self, work: impl FnOnce(Local<'_, T>) -> R) -> R {
        let me = self.storage.shmem().my_pe();
        let (first, step) = self.layout.progression(me);
        let own = 0..self.layout.len_on(me);
        self.storage.phase(own, |elements| work(Local { elements, first, step }))
    }

    /// Frees the array. Collective.
    pub fn free(self) {
        self.storage.free();
    }

    /// Element `index`, and the PE that has it.
    #[inline(always)]
    #[track_caller]
    fn find(&self, routine: &str, index: usize) -> (SymmetricSlice<'_, T>, usize) {
        self.check(routine, index);
        let (pe, offset) = self.layout.place(index);
        (self.storage.at(offset), pe)
    }

    /// Calls `update` with the element, the value and the PE of each of `updates`.
    #[inline(always)]
    #[track_caller]
    fn each(
        &self,
        routine: &str,
        distribution: Distribution,
        updates: impl IntoIterator<Item = (usize, T)>,
        update: impl Fn(SymmetricSlice<'_, T>, T, usize),
    ) {
        for (index, value) in updates {
            self.check(routine, index);
            let (pe, offset) = self.layout.place_as(distribution, index);
            update(self.storage.at(offset), value, pe);
        }
    }

    /// Panics unless there is such an element.
    #[inline(always)]
    #[track_caller]
    fn check(&self, routine: &str, index: usize) {
        if index >= self.layout.len {
            out_of_range(routine, "index", index, self.layout.len, "elements");
        }
    }

    /// Panics unless there is such a PE.
    #[track_caller]
    fn check_pe(&self, routine: &str, pe: usize) {
        if pe >= self.layout.npes {
            out_of_range(routine, "pe", pe, self.layout.npes, "PEs");
        }
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn out_of_range(routine: &str, argument: &str, value: usize, limit: usize, what: &str) -> ! {
    panic!(
        "DistArray::{routine}: {argument} is {value}; expected less than {limit}, the number of {what}"
    )
}

/// This PE's own elements, in a phase: a slice whose elements have an index in the array.
#[derive(Debug)]
pub struct Local<'p, T> {
    elements: &'p mut [T],
    first: usize,
    step: usize,
}

impl<'p, T> Local<'p, T> {
    /// The index in the array of element `offset` of the slice. Of one beyond its end, what it would be in a longer
    /// array.
    pub fn index_of(&self, offset: usize) -> usize {
        self.first + offset * self.step
    }

    /// The elements, each with its index in the array.
    pub fn indexed(&self) -> impl Iterator<Item = (usize, &T)> {
        self.indices().zip(self.elements.iter())
    }

    /// The elements, each with its index in the array, to be changed.
    pub fn indexed_mut(&mut self) -> impl Iterator<Item = (usize, &mut T)> {
        self.indices().zip(self.elements.iter_mut())
    }

    /// The slice, for as long as the phase lasts.
    pub fn into_slice(self) -> &'p mut [T] {
        self.elements
    }

    fn indices(&self) -> impl Iterator<Item = usize> + use<T> {
        (self.first..).step_by(self.step)
    }
}

impl<T> Deref for Local<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.elements
    }
}

impl<T> DerefMut for Local<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.elements
    }
}
