//! What a backend needs to know about the job's slots: their places in the files, and what each
//! rank publishes about its own.
#![allow(unsafe_code)]

use crate::atomics::AtomicU64;
use crate::error::Error;
use crate::pages::Pages;
use crate::sys::source::Source;
use std::os::fd::OwnedFd;

/// What a rank publishes about its slot, in memory that all ranks share. In every field, zero means
/// "not yet".
#[repr(C)]
#[derive(Debug)]
pub struct SlotRecord {
    /// Bytes of its data segment (whole pages).
    pub data_bytes: AtomicU64,
    /// Bytes of its heap (whole pages).
    pub heap_bytes: AtomicU64,
    /// Fingerprint of its executable's data layout, equal for equal programs.
    pub image: AtomicU64,
    /// The backend that exports the slot: the first eight bytes of its name.
    pub backend: AtomicU64,
    /// The kind of pages of its heap: [`Pages::word`].
    pub heap_pages: AtomicU64,
    /// XPMEM's identifier of its data segment.
    pub data_segment: AtomicU64,
    /// XPMEM's identifier of its heap, including the partitions, which lie below the heap.
    pub heap_segment: AtomicU64,
    /// The start of its heap, in its own address space.
    pub heap_address: AtomicU64,
}

/// What a rank's partition consists of.
#[derive(Debug)]
pub enum Backing<'s> {
    /// Memory of these pages, with file and offset if memory lies in files and there is a file of
    /// such pages.
    Memory(Pages, Option<(Source<'s>, u64)>),
    /// A file of its own, from the file's start.
    File(OwnedFd),
}

/// The slots of a job.
///
/// # Safety
/// What is mapped of these files is accessed without a further look. So memory files cannot shrink,
/// and each rank's range in them is its own, as long as the rank's layout says.
pub unsafe trait Slots {
    /// The record of rank `rank`.
    fn record(&self, rank: usize) -> &SlotRecord;
    /// The file of the slots.
    ///
    /// # Errors
    /// If there is none, or if it can no longer be reached.
    fn file(&self) -> Result<Source<'_>, Error>;
    /// The offset of rank `rank`'s data segment in the file.
    fn data_offset(&self, rank: usize) -> u64;
    /// File and offset of rank `rank`'s heap of these pages; `None` if there is no file of such
    /// pages.
    fn heap_place(&self, rank: usize, pages: Pages) -> Result<Option<(Source<'_>, u64)>, Error>;
    /// What rank `rank`'s partition `index` consists of. It starts `offset` bytes after the first
    /// partition.
    ///
    /// # Errors
    /// If its file cannot be opened.
    fn partition(&self, rank: usize, index: usize, offset: usize) -> Result<Backing<'_>, Error>;
}
