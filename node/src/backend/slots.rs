//! What a backend has to know of the job's slots: where in which file they lie, and what each rank
//! says of its own.

use crate::atomics::AtomicU64;
use crate::error::Error;
use crate::pages::Pages;
use std::os::fd::{BorrowedFd, OwnedFd};

/// What a rank says of its slot, in memory that all ranks share. Zero is every field's "not yet".
#[repr(C)]
#[derive(Debug)]
pub struct SlotRecord {
    /// Bytes of its data segment (whole pages).
    pub data_bytes: AtomicU64,
    /// Bytes of its heap (whole pages).
    pub heap_bytes: AtomicU64,
    /// Fingerprint of its executable's data layout; equal for equal programs.
    pub image: AtomicU64,
    /// Which backend exports the slot: the name's first eight bytes.
    pub backend: AtomicU64,
    /// What its heap is made of: [`Pages::word`].
    pub heap_pages: AtomicU64,
    /// XPMEM's names for its data segment and its heap.
    pub data_segment: AtomicU64,
    /// See `data_segment`; the partitions, which are below the heap, are part of it.
    pub heap_segment: AtomicU64,
    /// Where its heap starts, in its own address space.
    pub heap_address: AtomicU64,
}

/// What a rank's partition is made of.
#[derive(Debug)]
pub enum Backing<'s> {
    /// Memory of these pages. Where memory lies in files: the file and the offset, unless there is
    /// no file of such pages.
    Memory(Pages, Option<(BorrowedFd<'s>, u64)>),
    /// A file of its own, from its start.
    File(OwnedFd),
}

/// The slots of a job.
pub trait Slots {
    /// What rank `rank` says of its slot.
    fn record(&self, rank: usize) -> &SlotRecord;
    /// The file of the slots.
    ///
    /// # Errors
    /// If there is none, or if it cannot be reached any more.
    fn file(&self) -> Result<BorrowedFd<'_>, Error>;
    /// Where rank `rank`'s data segment lies in the file.
    fn data_offset(&self, rank: usize) -> u64;
    /// Where rank `rank`'s heap of these pages lies: file and offset; `None` if there is no file of
    /// such pages.
    fn heap_place(&self, rank: usize, pages: Pages)
    -> Result<Option<(BorrowedFd<'_>, u64)>, Error>;
    /// What rank `rank`'s partition `index` is made of, which starts `offset` bytes behind the
    /// first one.
    ///
    /// # Errors
    /// If its file cannot be opened.
    fn partition(&self, rank: usize, index: usize, offset: usize) -> Result<Backing<'_>, Error>;
}
