//! Segments of ordinary memory, mapped by the XPMEM module. Nothing is copied or remapped when it is
//! published.
#![allow(unsafe_code)]

use super::{Backend, BackendResource, FilePlace, Move, Naming, Published, Segment, memfd, unlike};
use crate::error::Error;
use crate::pages::Pages;
use crate::sys::huge;
use crate::sys::map::{self, OwnMapping, Reserved};
use std::ops::Range;
use xpmem_sys::{Device, Permit, SegmentId};

/// The backend with segments that peers reach through XPMEM.
pub(super) struct Xpmem(&'static Device);

fn failed(error: xpmem_sys::Error) -> Error {
    Error::NoWay(error.to_string())
}

impl Xpmem {
    /// Opens the device and tests that it works.
    pub fn open() -> Result<Self, Error> {
        let device = Device::get().map_err(failed)?;
        self_test(device).map_err(|error| Error::NoWay(format!("self-test: {error}")))?;
        Ok(Self(device))
    }
}

/// Exports a page, attaches it, and checks that writes on each side are visible on the other.
fn self_test(device: &'static Device) -> Result<(), Error> {
    const WORD: u64 = 0x5851_f42d_4c95_7f2d;
    let page = map::page_size();
    // Dropped in the reverse order: the attachment leaves its reservation mapped.
    let (exported, reserved) = (OwnMapping::private(page)?, OwnMapping::reserve(page)?);
    let [page, place] = [&exported, &reserved].map(|mapping| mapping.range().clone());
    // SAFETY: this function's own page, which it accesses by raw pointers only.
    let segment = unsafe { xpmem_sys::Segment::make(device, page.clone()) }.map_err(failed)?;
    let permit = Permit::get(device, segment.id()).map_err(failed)?;
    let (page, there) = (page.start as *mut u64, place.start as *mut u64);
    // SAFETY: this function owns the reservation. Both addresses are aligned, and mapped while the
    // attachment lives.
    unsafe {
        let _attachment = permit.attach(place.start, place.len(), 0).map_err(failed)?;
        page.write_volatile(WORD);
        let seen = there.read_volatile();
        there.write_volatile(!WORD);
        match (seen, page.read_volatile()) == (WORD, !WORD) {
            true => Ok(()),
            false => Err(Error::NoWay("memory is not shared through an attachment".into())),
        }
    }
}

// SAFETY: memory is private memory over the given places, and a peer's is an attachment there, which stays
// until it is dropped; if the peer ends, accesses to it fault. What is published stays where it is.
unsafe impl Backend for Xpmem {
    fn name(&self) -> &'static str {
        "xpmem"
    }

    fn naming(&self) -> Naming {
        Naming::Number
    }

    fn make(&self, at: &Reserved, pages: Pages, _: Option<FilePlace>) -> Result<(), Error> {
        if pages == Pages::Transparent {
            huge::transparent(false).map_err(Error::NoWay)?;
        }
        match pages {
            Pages::Explicit(size) => at.huge(size, None)?,
            _ => at.zeros()?,
        }
        match pages {
            Pages::Transparent => map::advise_huge(at.range()),
            _ => Ok(()),
        }
    }

    fn free(&self, at: &Reserved, _: Option<FilePlace>) {
        at.discard();
    }

    unsafe fn publish(&self, pages: &Range<usize>, _: Option<Move>) -> Result<Published, Error> {
        // SAFETY: the caller guarantees that the pages are accessed as memory that others write.
        let segment = unsafe { xpmem_sys::Segment::make(self.0, pages.clone()) }.map_err(failed)?;
        Ok(Published { number: segment.id().0 as u64, held: Some(Box::new(segment)) })
    }

    unsafe fn attach(
        &self,
        at: &Reserved,
        pages: Pages,
        segment: Segment,
    ) -> Result<Option<BackendResource>, Error> {
        let (number, offset) = match segment {
            Segment::Number(number, offset) => (number, offset),
            Segment::File(place) => return memfd::map_peers(at, pages, place).map(|()| None),
            other @ Segment::Address(_) => return Err(unlike("xpmem", other)),
        };
        let permit = Permit::get(self.0, SegmentId(number as i64)).map_err(failed)?;
        let at = at.range();
        // SAFETY: the caller guarantees that the place is left to the attachment.
        let attached = unsafe { permit.attach(at.start, at.len(), offset) }.map_err(failed)?;
        Ok(Some(Box::new(attached)))
    }
}
