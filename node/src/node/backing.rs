//! The backing of a region, a range of a file or a segment of XPMEM, which backend it is of, and the
//! placement of new memory.
#![allow(unsafe_code)]

use super::Inner;
use super::adopt::{self, Plan};
use crate::config::BackendChoice;
use crate::error::Error;
use crate::header::MemoryLocation;
use onenode_core::backend::{self, Backend, BackendResource, Move, Naming, Published};
use onenode_core::layout::{self, HUGE};
use onenode_core::pages::Pages;
use onenode_core::segment;
use onenode_core::sys::map::{self, OwnMapping, Reserved};
use onenode_core::sys::{fd, relocate};
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// The backend for a choice, and the reason.
pub(super) fn choose(choice: BackendChoice) -> Result<(Box<dyn Backend>, String), Error> {
    let name = match choice {
        BackendChoice::Auto => return Ok(backend::best()),
        BackendChoice::Memfd => "memfd",
        BackendChoice::Xpmem => "xpmem",
    };
    let why = |error| Error::NoWay(format!("backend {name} cannot work: {error}"));
    Ok((backend::open(name).map_err(why)?, "asked for".into()))
}

/// The backing of a region that is about to be created.
pub(super) struct Backing {
    pub place: MemoryLocation,
    pub file: Option<OwnedFd>,
    pub held: Option<BackendResource>,
}

impl Backing {
    fn file(place: MemoryLocation, file: Option<OwnedFd>) -> Self {
        Self { place, file, held: None }
    }

    /// Pages that were published in place, which the backend has given a number.
    pub fn in_place(published: Published) -> Self {
        let place = MemoryLocation::Segment(published.number);
        Self { place, file: None, held: published.held }
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
        match (self.backend.naming(), pages) {
            (Naming::File, Pages::Explicit(size)) => {
                let file = fd::huge_memfd(c"onenode", Some(size))?;
                fd::resize_and_seal(file.as_fd(), bytes as u64)?;
                self.backend.make(at, pages, Some((file.as_fd().into(), 0)))?;
                published_file(file, 0)
            }
            (Naming::File, _) => {
                let offset = room.take(start, bytes)?;
                self.backend.make(at, pages, Some((self.file()?.into(), offset)))?;
                Ok(Backing::file(MemoryLocation::Header(offset), None))
            }
            _ => {
                self.backend.make(at, pages, None)?;
                // SAFETY: the client gets addresses of memory that its peers write. Nothing moves.
                Ok(Backing::in_place(unsafe { self.backend.publish(at.range(), None)? }))
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
        if self.backend.naming() != Naming::File {
            adopt::check_mapped(pages)?;
            // SAFETY: the caller guarantees that peers may access the pages. Nothing moves.
            return Ok(Backing::in_place(unsafe { self.backend.publish(pages, None)? }));
        }
        match adopt::plan(pages, pieces)? {
            Plan::Publish(file, offset) => published_file(file, offset),
            Plan::Move(pieces) => {
                let offset = room.take(pages.start, pages.len())?;
                let moved = Move { pieces: &pieces, to: (self.file()?, offset) };
                // SAFETY: the caller guarantees that the pages may move and that peers may access them, and the
                // plan has checked that they are private.
                unsafe { self.backend.publish(pages, Some(moved))? };
                Ok(Backing::file(MemoryLocation::Header(offset), None))
            }
        }
    }
}

/// The backing of memory that is a range of a file.
pub(super) fn published_file(file: OwnedFd, offset: u64) -> Result<Backing, Error> {
    let (descriptor, inode) = (file.as_raw_fd(), fd::inode(file.as_fd())?);
    Ok(Backing::file(MemoryLocation::File { descriptor, inode, offset }, Some(file)))
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
