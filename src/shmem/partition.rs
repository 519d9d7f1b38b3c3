//! Partitions: symmetric memory beside the heap.

use super::{DeviceArray, Element, Shmem, Symmetric};
use crate::job::{job, partitions};
use crate::memory::heap::Usage;
use crate::memory::partition::Kind;

/// A partition: symmetric memory beside the heap, made by `SHMEM_SYMMETRIC_PARTITION<number>`.
///
/// ```standalone_crate
/// # // SAFETY: the program has one thread.
/// # unsafe { std::env::set_var("SHMEM_SYMMETRIC_PARTITION1", "1M") };
/// let shmem = oneshmem::init()?;
/// let partition = shmem.partition(1).expect("SHMEM_SYMMETRIC_PARTITION1 asks for it");
/// let table = partition.alloc::<u64>(100).expect("it has room");
/// shmem.put(table.at(7), &[42], 0);
/// assert_eq!(table.at(7).get(), 42);
/// assert_eq!(partition.usage().blocks, 1);
/// assert!(shmem.partition(2).is_none());
/// shmem.free(table);
/// # shmem.finalize();
/// # Ok::<(), oneshmem::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Partition<'s>(&'s partitions::Partition);

impl Partition<'_> {
    /// Its number.
    pub fn id(&self) -> usize {
        self.0.spec().id
    }

    /// What its memory is.
    pub fn kind(&self) -> Kind {
        self.0.spec().kind
    }

    /// How full it is on this PE.
    pub fn usage(&self) -> Usage {
        self.0.space().pool().usage()
    }

    /// Allocates `len` elements on every PE, all zero; collective, as
    /// [`Shmem::alloc`](super::Shmem::alloc), and freed by [`Shmem::free`](super::Shmem::free).
    /// `None`, on all PEs, if there is no room, or if it is on a device, whose memory the processor
    /// does not reach.
    pub fn alloc<T: Element>(&self, len: usize) -> Option<Symmetric<T>> {
        if !self.0.is_mapped() {
            return None;
        }
        Symmetric::alloc_in(self.id(), len)
    }

    /// The same on a device, freed by [`Shmem::free_device`]. `None`, on all PEs, if there is no
    /// room, or if it is memory that the processor reaches.
    pub fn alloc_device<T: Element>(&self, len: usize) -> Option<DeviceArray<T>> {
        if self.0.is_mapped() {
            return None;
        }
        DeviceArray::alloc_in(self.id(), len)
    }
}

impl std::fmt::Debug for Partition<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Partition({}: {})", self.id(), self.0)
    }
}

impl Shmem {
    /// Partition number `id`, if the environment asks for one.
    pub fn partition(&self, id: usize) -> Option<Partition<'_>> {
        job(&"partition").partition(id).map(Partition)
    }
}
