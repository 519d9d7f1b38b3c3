//! Memory of this process that peers can reach, identified by the client's key. It has five
//! sources.
#![allow(unsafe_code)]

use super::Node;
use super::adopt;
use super::backing::{Backing, published_file, reserve};
use super::regions::{Region, RegionProperties, unknown};
use crate::Key;
use crate::error::{Error, Scope};
use onenode_core::backend::Naming;
use onenode_core::layout::HUGE;
use onenode_core::pages::Pages;
use onenode_core::segment;
use onenode_core::sys::{fd, huge, map, mutex};
use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd};

/// A request for new memory.
#[derive(Clone, Copy, Debug)]
pub struct Alloc {
    /// Size in bytes, rounded up to whole pages.
    pub bytes: usize,
    /// The kind of pages.
    pub pages: Pages,
    /// Alignment of the start, a power of two; 0 for 2 MiB.
    pub align: usize,
    /// Preferred start, if there is room; 0 for near the program, so that one view can have both.
    pub hint: usize,
}

/// The largest size of a region in bytes.
const MOST: usize = 1 << 46;

impl Node {
    /// Allocates zeroed memory. Pages are created when first touched. For [`Key::ANY`] the node chooses
    /// the region's key, here as with all sources.
    ///
    /// # Errors
    /// [`Error::Argument`]; [`Error::NoWay`] if there is no room, or no pages of that kind.
    pub fn alloc(&self, key: Key, bytes: usize, how: Pages) -> Result<Region, Error> {
        self.alloc_as(key, &Alloc { bytes, pages: how, align: 0, hint: 0 })
    }

    /// As [`alloc`](Self::alloc), with all options.
    ///
    /// # Errors
    /// As for [`alloc`](Self::alloc).
    pub fn alloc_as(&self, key: Key, wanted: &Alloc) -> Result<Region, Error> {
        let node = &*self.0;
        node.check()?;
        check_pages(wanted.pages)?;
        let unit = wanted.pages.size();
        let bytes = wanted.bytes.checked_next_multiple_of(unit).filter(|b| (1..=MOST).contains(b));
        let Some(bytes) = bytes else {
            return Err(Error::argument("bytes", wanted.bytes, format!("1 to {MOST}")));
        };
        let align = if wanted.align == 0 { HUGE } else { wanted.align };
        if !align.is_power_of_two() || align > MOST {
            return Err(Error::argument("align", align, "a power of two, or 0"));
        }
        let mut regions = mutex::lock(&node.regions);
        let align = align.max(unit);
        let (at, reserved) = reserve(bytes, align, wanted.hint, regions.last)?;
        let (record, key) = regions.record(key, &at)?;
        let backing = node.back_new(&mut regions.room, &reserved.part(at.clone()), wanted.pages)?;
        regions.last = Some(reserved.range().start);
        let region = Region { key, start: at.start, bytes };
        let kind = RegionProperties { pages: wanted.pages, image: 0, reserved: Some(reserved) };
        // SAFETY: made for peers to access, and new: forked children know no use of it.
        Ok(unsafe { node.keep(&mut regions, record, region, kind, backing) })
    }

    /// Makes existing memory of this process reachable: private pages, or pages that another client
    /// has already made reachable. Address and content stay; advice and locks (madvise(2),
    /// mlock(2)) are lost. The end is rounded up to whole pages.
    ///
    /// # Safety
    /// No other process, device or pinned registration accesses the pages through their current
    /// mapping. Nobody unmaps or remaps them while the region is there. Peers may access them: here
    /// they are accessed by atomics, or by copies of raw pointers. Under
    /// [`Fork::Drops`](crate::Fork::Drops), forked children do not access them.
    ///
    /// # Errors
    /// [`Error::Argument`] if this process cannot share the range; [`Error::NoWay`] if a thread
    /// that could write meanwhile cannot be held.
    pub unsafe fn adopt(&self, key: Key, what: Range<usize>) -> Result<Region, Error> {
        let node = &*self.0;
        node.check()?;
        let pages = whole_pages(&what, map::page_size())?;
        if pages.start != what.start {
            return Err(Error::argument(
                "start",
                format_args!("{:#x}", what.start),
                "the start of a page",
            ));
        }
        let mut regions = mutex::lock(&node.regions);
        let (record, key) = regions.record(key, &pages)?;
        let region = Region { key, start: pages.start, bytes: pages.len() };
        // SAFETY: whole pages, checked above. The caller guarantees that nobody else accesses them through
        // their current mapping, that peers may access them, and that forked children do not.
        unsafe {
            let backing = node.back_existing(&mut regions.room, &pages, None)?;
            Ok(node.keep(&mut regions, record, region, RegionProperties::default(), backing))
        }
    }

    /// Makes the main program's `.data` and `.bss` reachable, as whole pages. Address and content
    /// stay.
    ///
    /// # Safety
    /// As for [`adopt`](Self::adopt).
    ///
    /// # Errors
    /// As for [`adopt`](Self::adopt).
    pub unsafe fn adopt_program(&self, key: Key) -> Result<Region, Error> {
        let node = &*self.0;
        node.check()?;
        let data = segment::find(map::page_size())?;
        segment::keep_gaps(&data)?;
        let mut regions = mutex::lock(&node.regions);
        let (record, key) = regions.record(key, data.pages())?;
        let pieces = data.copied();
        let region = Region { key, start: data.pages().start, bytes: data.pages().len() };
        let kind = RegionProperties { image: data.fingerprint(), ..RegionProperties::default() };
        // SAFETY: the program's data, whose gaps are reserved. The caller guarantees that it may move, that
        // peers may access it, and that forked children do not.
        unsafe {
            let backing = node.back_existing(&mut regions.room, data.pages(), Some(&pieces))?;
            Ok(node.keep(&mut regions, record, region, kind, backing))
        }
    }

    /// Makes any memory of this process reachable in place. XPMEM only.
    ///
    /// # Safety
    /// Nobody unmaps or remaps the memory while the region is there. Peers and forked children are as
    /// for [`adopt`](Self::adopt).
    ///
    /// # Errors
    /// [`Error::NoWay`] with another backend; [`Error::Argument`].
    pub unsafe fn export(&self, key: Key, what: Range<usize>) -> Result<Region, Error> {
        let node = &*self.0;
        node.check()?;
        let pages = whole_pages(&what, map::page_size())?;
        if node.backend.naming() == Naming::File {
            return Err(Error::NoWay(format!(
                "the backend {} cannot share memory that was made elsewhere ({}); adopt it, or use \
                 the backend xpmem",
                node.backend.name(),
                node.reason
            )));
        }
        let mut regions = mutex::lock(&node.regions);
        let (record, key) = regions.record(key, &what)?;
        let region = Region { key, start: what.start, bytes: what.len() };
        // SAFETY: the memory stays mapped, peers may access it, and forked children do not, as the
        // caller guarantees.
        unsafe {
            let backing = Backing::in_place(node.backend.publish(&pages, None)?);
            Ok(node.keep(&mut regions, record, region, RegionProperties::default(), backing))
        }
    }

    /// Makes shared memory reachable that the client has mapped from a memory file, sealed against
    /// shrinking (`F_SEAL_SHRINK`).
    ///
    /// # Safety
    /// As for [`export`](Self::export).
    ///
    /// # Errors
    /// [`Error::Argument`] if `what` is not a mapping of that file at that offset, or the file can
    /// shrink.
    pub unsafe fn file(
        &self,
        key: Key,
        what: Range<usize>,
        file: BorrowedFd<'_>,
        offset: u64,
    ) -> Result<Region, Error> {
        let node = &*self.0;
        node.check()?;
        let unit = fd::page_size(file)?;
        let pages = whole_pages(&what, unit)?;
        let into_page = (what.start - pages.start) as u64;
        let Some(offset) = offset.checked_sub(into_page) else {
            let expected = format!("at least {into_page}, as far as the memory is into its page");
            return Err(Error::argument("offset", offset, expected));
        };
        if !matches!(fd::is_sealed(file), Ok(true)) {
            let value = format!("descriptor {}, which can shrink", file.as_raw_fd());
            return Err(Error::argument("file", value, "a memfd with F_SEAL_SHRINK"));
        }
        adopt::check_file(&pages, fd::inode(file)?, offset)?;
        let mut regions = mutex::lock(&node.regions);
        let (record, key) = regions.record(key, &what)?;
        let pages = if unit == map::page_size() { Pages::Normal } else { Pages::Explicit(unit) };
        let backing = published_file(fd::duplicate(file)?, offset)?;
        let region = Region { key, start: what.start, bytes: what.len() };
        let kind = RegionProperties { pages, ..RegionProperties::default() };
        // SAFETY: the memory stays mapped, peers may access it, and forked children do not, as the
        // caller guarantees.
        Ok(unsafe { node.keep(&mut regions, record, region, kind, backing) })
    }

    /// The region of this node that has an address of this process.
    ///
    /// # Errors
    /// [`Error::NotMapped`] if none has.
    pub fn region_of(&self, own: usize) -> Result<Region, Error> {
        self.0.check()?;
        let found = mutex::lock(&self.0.regions).of(own);
        found.ok_or(Error::NotMapped { of: Scope::Node, start: own, bytes: 1 })
    }

    /// Withdraws a region. Unmaps new memory; any other memory stays, and may be unmapped from now on.
    /// With memory files, peers' mappings of it stay; with XPMEM, peers' accesses fault, so agree with
    /// them first.
    ///
    /// # Safety
    /// Nobody uses memory from [`alloc`](Self::alloc).
    ///
    /// # Errors
    /// [`Error::Argument`] if there is no such region, or a view contains it.
    pub unsafe fn unregion(&self, key: Key) -> Result<(), Error> {
        let node = &*self.0;
        node.check()?;
        let views = node.views();
        if views.iter().any(|view| view.has(key)) {
            let expected = "a region that no view has: close the view first";
            return Err(Error::argument("key", format_args!("{:#x}", key.0), expected));
        }
        let mut regions = mutex::lock(&node.regions);
        match regions.remove(key) {
            Some(owned) => {
                node.give_back(owned);
                Ok(())
            }
            None => Err(unknown(key)),
        }
    }
}

/// Fails if the system has no pages of this kind.
fn check_pages(pages: Pages) -> Result<(), Error> {
    let Pages::Explicit(size) = pages else { return Ok(()) };
    // Where `/sys` does not list them, the system itself refuses what it does not have.
    let sizes = huge::sizes();
    if size.is_power_of_two() && (sizes.is_empty() || sizes.contains(&size)) {
        return Ok(());
    }
    let expected = format!("0, 1, or the bytes of a huge page of this system, one of {sizes:?}");
    Err(Error::argument("pages", size, expected))
}

/// The pages that contain a range.
fn whole_pages(what: &Range<usize>, page: usize) -> Result<Range<usize>, Error> {
    let start = what.start / page * page;
    let end = what.end.checked_next_multiple_of(page);
    match end {
        Some(end) if what.start > 0 && what.start < what.end && end - start <= MOST => {
            Ok(start..end)
        }
        _ => Err(Error::argument(
            "range",
            format_args!("{:#x}..{:#x}", what.start, what.end),
            format!("1 to {MOST} bytes of memory"),
        )),
    }
}
