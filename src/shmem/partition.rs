//! Partitions: symmetric memory outside the heap.

use super::{DeviceArray, Element, Shmem, Symmetric};
use crate::call::job;
use crate::memory::heap::Usage;
use crate::pe::partitions;
use oneshmem_job::error::{Called::Blocking, Error, Result};
use oneshmem_job::partition::Kind;
use std::marker::PhantomData;

/// A partition: symmetric memory outside the heap, set up by `SHMEM_SYMMETRIC_PARTITION<number>`.
///
/// ```standalone_crate
/// # // SAFETY: the program has one thread.
/// # unsafe { std::env::set_var("SHMEM_SYMMETRIC_PARTITION1", "1M") };
/// let shmem = oneshmem::init()?;
/// let partition = shmem.partition(1).expect("SHMEM_SYMMETRIC_PARTITION1 asks for it");
/// let table = partition.alloc::<u64>(100)?;
/// shmem.put(table.at(7), &[42], shmem.my_pe());
/// assert_eq!(table.at(7).get(), 42);
/// assert_eq!(partition.usage().blocks, 1);
/// assert!(shmem.partition(2).is_none());
/// shmem.free(table);
/// # shmem.finalize();
/// # Ok::<(), oneshmem::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Partition<'a> {
    partition: &'a partitions::Partition,
    // Not `Send` or `Sync`: see `Threads` on sharing a PE.
    shmem: PhantomData<&'a Shmem>,
}

impl<'a> Partition<'a> {
    /// The partition's number.
    pub fn id(&self) -> usize {
        self.partition.spec().id
    }

    /// The kind of memory.
    pub fn kind(&self) -> Kind {
        self.partition.spec().kind
    }

    /// How full the partition is on this PE.
    pub fn usage(&self) -> Usage {
        self.partition.space().pool().usage()
    }

    /// Allocates `len` zeroed elements on every PE. Collective, as
    /// [`Shmem::alloc`](super::Shmem::alloc); freed by [`Shmem::free`](super::Shmem::free).
    ///
    /// # Errors
    /// [`Error::NoMemory`], on all PEs, if the partition has no room, or if it is on a device,
    /// whose memory the processor cannot reach.
    pub fn alloc<T: Element>(&self, len: usize) -> Result<Symmetric<'a, T>> {
        match self.partition.is_mapped() {
            true => Symmetric::alloc_in(&Blocking("Partition::alloc"), self.id(), len),
            false => Err(self.refusal::<T>(len, "on a device: alloc_device takes memory from it")),
        }
    }

    /// Allocates as [`alloc`](Self::alloc), on a device. Freed by [`Shmem::free_device`].
    ///
    /// # Errors
    /// [`Error::NoMemory`], on all PEs, if the partition has no room, or if the processor can reach
    /// its memory.
    pub fn alloc_device<T: Element>(&self, len: usize) -> Result<DeviceArray<'a, T>> {
        match self.partition.is_mapped() {
            false => DeviceArray::alloc_in(self.id(), len),
            true => Err(self.refusal::<T>(len, "not on a device: alloc takes memory from it")),
        }
    }

    /// The error for a partition of the wrong kind.
    fn refusal<T>(&self, len: usize, why: &str) -> Error {
        let place = format!("partition {}, which is {why}", self.id());
        Error::NoMemory { len, element_bytes: size_of::<T>(), place }
    }
}

impl std::fmt::Debug for Partition<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Partition({}: {})", self.id(), self.partition)
    }
}

impl Shmem {
    /// Partition `id`, if the environment asks for it.
    pub fn partition(&self, id: usize) -> Option<Partition<'_>> {
        let partition = job(&Blocking("partition")).partition(id)?;
        Some(Partition { partition, shmem: PhantomData })
    }
}
