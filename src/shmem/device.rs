//! Arrays in the memory of devices.

use super::slice::{Key, Part, same_len};
use super::{Element, Shmem, Symmetric, SymmetricSlice};
use crate::context::Default as DefaultContext;
use crate::query;
use crate::rma;
use oneshmem_job::error::{Called::Blocking, Result};
use std::ops::RangeBounds;

/// An array in a partition on a device: `len` elements of `T` on every PE. The processor cannot load
/// or store them: the device's driver copies elements in and out. Freed by [`Shmem::free_device`],
/// never by being dropped.
///
/// ```standalone_crate
/// use oneshmem::Sum;
/// let shmem = oneshmem::init()?;
/// // With SHMEM_SYMMETRIC_PARTITION1=64M:KIND=CUDA in the environment, on a machine with a device:
/// if let Some(partition) = shmem.partition(1) {
///     let array = partition.alloc_device::<u64>(100)?;
///     let right = (shmem.my_pe() + 1) % shmem.n_pes();
///     shmem.put(array.slice(7..9), &[42, 43], right);
///     shmem.atomic_add(array.at(9), 1, 0);
///     shmem.barrier_all();
///     let mut values = [0; 2];
///     array.slice(7..9).read(&mut values);
///     assert_eq!(values, [42, 43]);
///     let sums = partition.alloc_device::<u64>(100)?;
///     shmem.world().reduce::<_, Sum>(sums.all(), array.all());
///     // What a kernel gets.
///     let address = sums.device_ptr();
///     assert!(!address.is_null());
///     shmem.free_device(sums);
///     shmem.free_device(array);
/// }
/// # shmem.finalize();
/// # Ok::<(), oneshmem::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "freed only by Shmem::free_device"]
pub struct DeviceArray<'a, T>(Symmetric<'a, T>);

impl<T: Element> DeviceArray<'_, T> {
    /// `len` elements in partition `id`, which is on a device.
    pub(super) fn alloc_in(id: usize, len: usize) -> Result<Self> {
        Symmetric::alloc_in(&Blocking("Partition::alloc_device"), id, len).map(Self)
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of it.
    pub fn all(&self) -> DeviceSlice<'_, T> {
        DeviceSlice(self.0.all())
    }

    /// The elements in `range`.
    ///
    /// # Panics
    /// If the range ends before it starts, or after the last element.
    #[track_caller]
    pub fn slice(&self, range: impl RangeBounds<usize>) -> DeviceSlice<'_, T> {
        DeviceSlice(self.0.slice(range))
    }

    /// Element `index`.
    ///
    /// # Panics
    /// If there is none.
    #[track_caller]
    pub fn at(&self, index: usize) -> DeviceSlice<'_, T> {
        DeviceSlice(self.0.at(index))
    }

    /// Where this PE's elements are, for the device: the processor must not use the address.
    pub fn device_ptr(&self) -> *mut T {
        self.0.all().pointer()
    }
}

/// Some elements of a [`DeviceArray`]: what operations and collectives take, as they take parts of
/// other symmetric arrays. Both can meet in one call.
#[derive(Debug)]
pub struct DeviceSlice<'a, T>(SymmetricSlice<'a, T>);

impl<T> Clone for DeviceSlice<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for DeviceSlice<'_, T> {}

impl<T> Part<T> for DeviceSlice<'_, T> {
    fn part(&self, _: Key) -> SymmetricSlice<'_, T> {
        self.0
    }
}

impl<T: Element> DeviceSlice<'_, T> {
    /// Number of elements.
    pub fn len(self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The elements in `range` of these.
    ///
    /// # Panics
    /// If the range ends before it starts, or after the last element.
    #[track_caller]
    pub fn slice(self, range: impl RangeBounds<usize>) -> Self {
        Self(self.0.slice(range))
    }

    /// Copies this PE's elements to `values`.
    ///
    /// # Panics
    /// Unless there are as many.
    #[track_caller]
    pub fn read(self, values: &mut [T]) {
        let name = &Blocking("DeviceSlice::read");
        same_len(name, ("values", values.len()), ("the slice", self.len()));
        rma::get(name, DefaultContext, values.into(), self.0.object(), query::my_pe(name) as _);
    }

    /// Copies `values` to this PE's elements.
    ///
    /// # Panics
    /// Unless there are as many.
    #[track_caller]
    pub fn write(self, values: &[T]) {
        let name = &Blocking("DeviceSlice::write");
        same_len(name, ("values", values.len()), ("the slice", self.len()));
        rma::put(name, DefaultContext, self.0.object(), values.into(), query::my_pe(name) as _);
    }
}

impl Shmem {
    /// Frees an array from [`Partition::alloc_device`](super::Partition::alloc_device), on every
    /// PE.
    pub fn free_device<T: Element>(&self, array: DeviceArray<'_, T>) {
        array.0.free(&Blocking("free_device"));
    }
}
