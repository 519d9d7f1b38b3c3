//! Arrays in the memory of devices.
#![allow(unsafe_code)]

use super::context::register;
use super::memory::same_len;
use super::{Element, Shmem};
use crate::context::Default as DefaultContext;
use crate::job::setup;
use crate::memory::symmetric;
use crate::partition;
use crate::rma;
use std::ops::Range;

/// An array in a partition on a device: `len` elements of `T` on every PE. The processor does not
/// reach them, so there is no way to load or store one here: elements are copied in and out, by the
/// device's driver. Freed by [`Shmem::free_device`], never by being dropped.
///
/// ```standalone_crate
/// let shmem = oneshmem::init()?;
/// // With SHMEM_SYMMETRIC_PARTITION1=64M:KIND=CUDA in the environment, on a machine with a device:
/// if let Some(array) = shmem.partition(1).and_then(|partition| partition.alloc_device::<u64>(100)) {
///     let right = (shmem.my_pe() + 1) % shmem.n_pes();
///     array.put(7..9, &[42, 43], right);
///     shmem.barrier_all();
///     let mut values = [0; 2];
///     array.read(7..9, &mut values);
///     assert_eq!(values, [42, 43]);
///     // What a kernel gets.
///     let address = array.device_ptr();
///     assert!(!address.is_null());
///     shmem.free_device(array);
/// }
/// # shmem.finalize();
/// # Ok::<(), oneshmem::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "freed only by Shmem::free_device"]
pub struct DeviceArray<T> {
    start: *mut T,
    len: usize,
}

// SAFETY: an address, whose memory is reached by copies of the driver only, of types that any bits
// are a value of; threads of this PE are no worse than other PEs.
unsafe impl<T: Send> Send for DeviceArray<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for DeviceArray<T> {}

impl<T: Element> DeviceArray<T> {
    /// `len` elements in partition `id`, which is on a device.
    pub(super) fn alloc_in(id: usize, len: usize) -> Option<Self> {
        if len == 0 || size_of::<T>() == 0 {
            return Some(Self { start: std::ptr::dangling_mut(), len: 0 });
        }
        let start = partition::calloc(&"alloc_device", len, size_of::<T>(), id as i32).cast::<T>();
        (!start.is_null()).then_some(Self { start, len })
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Where this PE's elements are, for the device: the processor must not use the address.
    pub fn device_ptr(&self) -> *mut T {
        self.start
    }

    /// Copies this PE's elements in `range` to `values`. Panics unless they are there, and as many.
    pub fn read(&self, range: Range<usize>, values: &mut [T]) {
        self.get(range, values, setup::my_pe(&"read") as usize);
    }

    /// Copies `values` to this PE's elements in `range`. Panics unless they are there, and as many.
    pub fn write(&self, range: Range<usize>, values: &[T]) {
        self.put(range, values, setup::my_pe(&"write") as usize);
    }

    /// As [`read`](Self::read), of the elements of PE `pe`.
    pub fn get(&self, range: Range<usize>, values: &mut [T], pe: usize) {
        let (from, n) = (self.part(range), values.len());
        same_len(from.1, n);
        // SAFETY: both are as long as said; any bits are a `T`.
        unsafe { rma::get(&"get", DefaultContext, values.as_mut_ptr(), from.0, n, register(pe)) }
    }

    /// As [`write`](Self::write), to the elements of PE `pe`.
    pub fn put(&self, range: Range<usize>, values: &[T], pe: usize) {
        let (to, n) = (self.part(range), values.len());
        same_len(to.1, n);
        // SAFETY: both are as long as said.
        unsafe { rma::put(&"put", DefaultContext, to.0, values.as_ptr(), n, register(pe)) }
    }

    /// Copies this PE's elements of `source` in `from` to the elements in `range` on PE `pe`,
    /// within the device or from one to the other. Panics unless they are there and as many, and if
    /// `source` is this array, `pe` this PE, and the two overlap.
    pub fn put_from(&self, range: Range<usize>, source: &Self, from: Range<usize>, pe: usize) {
        let (to, (from, n)) = (self.part(range), source.part(from));
        same_len(to.1, n);
        let apart = (to.0.addr()).abs_diff(from.addr()) >= n * size_of::<T>();
        assert!(apart || pe != setup::my_pe(&"put_from") as usize, "the two ranges overlap");
        // SAFETY: both are as long as said, and not the same memory.
        unsafe { rma::put(&"put_from", DefaultContext, to.0, from, n, register(pe)) }
    }

    /// The address of some elements, and how many they are.
    fn part(&self, range: Range<usize>) -> (*mut T, usize) {
        let Range { start, end } = range;
        assert!(start <= end && end <= self.len, "{start}..{end} of {} elements", self.len);
        (self.start.wrapping_add(start), end - start)
    }
}

impl Shmem {
    /// Frees what [`Partition::alloc_device`](super::Partition::alloc_device) gave, on every PE.
    pub fn free_device<T: Element>(&self, array: DeviceArray<T>) {
        let is_block = array.len > 0;
        symmetric::free(
            &"free_device",
            if is_block { array.start.cast() } else { std::ptr::null_mut() },
        );
    }
}
