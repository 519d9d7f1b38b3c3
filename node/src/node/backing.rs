//! The backing of a region, a range of a file or a segment of XPMEM, and the placement of new
//! memory.
#![allow(unsafe_code)]

use super::Inner;
use super::adopt::{self, Plan};
use super::backend::Backend;
use crate::error::Error;
use crate::header::Place;
use onenode_core::backend::memfd;
use onenode_core::backend::xpmem;
use onenode_core::layout::{self, HUGE};
use onenode_core::pages::Pages;
use onenode_core::segment;
use onenode_core::sys::map::{self, OwnMapping, Reserved};
use onenode_core::sys::{fd, relocate};
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use xpmem_sys::Segment;

/// The backing of a region that is about to be created.
pub(super) struct Backing {
    pub place: Place,
    pub file: Option<OwnedFd>,
    pub segment: Option<Segment>,
}

impl Backing {
    fn file(place: Place, file: Option<OwnedFd>) -> Self {
        Self { place, file, segment: None }
    }
}

/// The part of the header's file that is free for regions.
pub(super) struct Room {
    pub next: u64,
    pub end: u64,
}

impl Room {
    /// Allocates a range of the file for memory at `start`. Both start at the same offset within a
    /// huge page.
    fn take(&mut self, start: usize, bytes: usize) -> Result<u64, Error> {
        let offset = self.next.next_multiple_of(HUGE as u64) + (start % HUGE) as u64;
        match offset.checked_add(bytes as u64).filter(|last| *last <= self.end) {
            Some(last) => {
                self.next = last;
                Ok(offset)
            }
            None => Err(Error::NoWay(format!(
                "the file has no room for {bytes} bytes more behind {:#x}",
                self.next
            ))),
        }
    }
}

impl Inner {
    /// Maps new memory over a reservation.
    pub(super) fn back_new(
        &self,
        room: &mut Room,
        at: &Reserved,
        pages: Pages,
    ) -> Result<Backing, Error> {
        let (start, bytes) = (at.range().start, at.range().len());
        match (&self.backend, pages) {
            (Backend::Xpmem(_), _) => {
                xpmem::lay(at, pages)?;
                // SAFETY: the client gets addresses of memory that its peers write.
                unsafe { self.segment(at.range()) }
            }
            (Backend::Memfd, Pages::Explicit(size)) => {
                let file = fd::huge_memfd(c"onenode", Some(size))?;
                fd::resize_and_seal(file.as_fd(), bytes as u64)?;
                memfd::lay(at, pages, (file.as_fd().into(), 0))?;
                published_file(file, 0)
            }
            (Backend::Memfd, _) => {
                let offset = room.take(start, bytes)?;
                memfd::lay(at, pages, (self.file()?.into(), offset))?;
                Ok(Backing::file(Place::Header(offset), None))
            }
        }
    }

    /// Backs existing memory. `pieces` are the parts to copy if the memory has to move into the
    /// file. `None` copies all pages that exist.
    ///
    /// # Safety
    /// As for [`Node::adopt`].
    pub(super) unsafe fn back_existing(
        &self,
        room: &mut Room,
        pages: &Range<usize>,
        pieces: Option<&[relocate::Piece]>,
    ) -> Result<Backing, Error> {
        let Backend::Memfd = self.backend else {
            adopt::check_mapped(pages)?;
            // SAFETY: the caller guarantees that peers may access the pages.
            return unsafe { self.segment(pages) };
        };
        match adopt::plan(pages, pieces)? {
            Plan::Publish(file, offset) => published_file(file, offset),
            Plan::Move(pieces) => {
                let offset = room.take(pages.start, pages.len())?;
                // SAFETY: the caller guarantees that the pages may move, and the plan has checked
                // that they are private.
                unsafe { memfd::move_into(pages, &pieces, (self.file()?, offset))? };
                Ok(Backing::file(Place::Header(offset), None))
            }
        }
    }

    /// Shares whole pages in place through XPMEM.
    ///
    /// # Safety
    /// As for [`Segment::make`](xpmem_sys::Segment::make), while the node is open.
    pub(super) unsafe fn segment(&self, pages: &Range<usize>) -> Result<Backing, Error> {
        let Backend::Xpmem(xpmem) = &self.backend else { unreachable!("asked of another backend") };
        // SAFETY: the caller guarantees that the pages are accessed as memory that others write.
        let segment = unsafe { xpmem.make(pages)? };
        let place = Place::Segment(segment.id().0 as u64);
        Ok(Backing { place, file: None, segment: Some(segment) })
    }
}

/// The backing of memory that is a range of a file.
pub(super) fn published_file(file: OwnedFd, offset: u64) -> Result<Backing, Error> {
    let (descriptor, inode) = (file.as_raw_fd(), fd::inode(file.as_fd())?);
    Ok(Backing::file(Place::File { descriptor, inode, offset }, Some(file)))
}

/// Reserves `bytes` at a multiple of `align`, with at least one page on either side: a copy that
/// overruns an end must fault. Returns these addresses, and all that is reserved.
pub(super) fn reserve(
    bytes: usize,
    align: usize,
    hint: usize,
    last: Option<usize>,
) -> Result<(Range<usize>, OwnMapping), Error> {
    let page = map::page_size();
    if hint != 0 && hint % align == 0 && hint > page {
        let (start, length) = (hint - page, bytes + 2 * page);
        if let Some(reserved) = OwnMapping::reserve_at(start, length) {
            return Ok((hint..hint + bytes, reserved));
        }
    }
    let length = bytes.next_multiple_of(HUGE) + HUGE + align;
    let below = last.and_then(|last| last.checked_sub(length)).map(|at| at / HUGE * HUGE);
    let program = segment::find(page).ok();
    let places = program.iter().flat_map(|program| layout::heap_places(program, length));
    let reserved = below
        .into_iter()
        .chain(places)
        .find_map(|at| OwnMapping::reserve_at(at, length))
        .map_or_else(|| OwnMapping::reserve(length), Ok)?;
    let at = (reserved.range().start + page).next_multiple_of(align);
    Ok((at..at + bytes, reserved))
}
