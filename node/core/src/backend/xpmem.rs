//! Slots in ordinary memory, mapped by the XPMEM module. The data segment is neither copied nor
//! remapped.
#![allow(unsafe_code)]

use super::{Backend, Backing, Slots, memfd};
use crate::atomics::{AtomicU64, Ordering};
use crate::error::Error;
use crate::layout::Layout;
use crate::pages::Pages;
use crate::segment::DataSegment;
use crate::sys::map::{self, OwnMapping, Reserved};
use crate::sys::mutex;
use crate::sys::{huge, persistent};
use std::ops::Range;
use std::os::fd::AsFd;
use std::sync::Mutex;
use xpmem_sys::{Attachment, Device, Permit, Segment, SegmentId};

/// The backend with slots that peers reach through XPMEM.
pub struct Xpmem {
    device: &'static Device,
    held: Mutex<Held>,
}

/// Resources of the current lifetime. Fields drop in this order: attachments first.
#[derive(Default)]
struct Held {
    attachments: Vec<Attachment>,
    segments: Vec<Segment>,
}

fn failed(error: xpmem_sys::Error) -> Error {
    Error::NoWay(error.to_string())
}

impl Xpmem {
    /// Opens the device and tests that it works.
    pub fn open() -> Result<Self, Error> {
        let device = Device::get().map_err(failed)?;
        self_test(device).map_err(|error| Error::NoWay(format!("self-test: {error}")))?;
        Ok(Self { device, held: Mutex::default() })
    }

    /// Makes whole pages of this process reachable until the segment is dropped.
    ///
    /// # Safety
    /// As for [`Segment::make`].
    pub unsafe fn make(&self, pages: &Range<usize>) -> Result<Segment, Error> {
        // SAFETY: the caller guarantees that the pages are accessed as memory that others write.
        unsafe { Segment::make(self.device, pages.clone()) }.map_err(failed)
    }

    /// Maps part of a peer's segment, starting at `offset`.
    ///
    /// # Safety
    /// The reservation is left to the attachment: nobody unmaps, remaps or protects any of it while the
    /// attachment lives.
    pub unsafe fn map_peers(
        &self,
        at: &Reserved,
        segment: u64,
        offset: usize,
    ) -> Result<Attachment, Error> {
        let permit = Permit::get(self.device, SegmentId(segment as i64)).map_err(failed)?;
        let at = at.range();
        // SAFETY: the caller guarantees that the reservation is left to the attachment.
        unsafe { permit.attach(at.start, at.len(), offset) }.map_err(failed)
    }
}

/// Maps zeroed private memory with these pages.
pub fn lay(at: &Reserved, pages: Pages) -> Result<(), Error> {
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

/// Exports a page, attaches it, and checks that writes on each side are visible on the other.
fn self_test(device: &'static Device) -> Result<(), Error> {
    const WORD: u64 = 0x5851_f42d_4c95_7f2d;
    let page = map::page_size();
    // Dropped in the reverse order: the attachment leaves its reservation mapped.
    let (exported, reserved) = (OwnMapping::private(page)?, OwnMapping::reserve(page)?);
    let [page, place] = [&exported, &reserved].map(|mapping| mapping.range().clone());
    // SAFETY: this function's own page, which it accesses by raw pointers only.
    let segment = unsafe { Segment::make(device, page.clone()) }.map_err(failed)?;
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

// SAFETY: heap and partitions are private memory over their places in the layout, and mirrors are
// attachments over theirs in the window; if the rank ends, accesses to these fault. The data segment
// stays where it is.
unsafe impl Backend for Xpmem {
    fn name(&self) -> &'static str {
        "xpmem"
    }

    fn map_heap(
        &self,
        _: &dyn Slots,
        _: usize,
        layout: &Layout,
        pages: Pages,
    ) -> Result<(), Error> {
        lay(&layout.heap_place(), pages)
    }

    fn map_partition(
        &self,
        slots: &dyn Slots,
        rank: usize,
        layout: &Layout,
        index: usize,
    ) -> Result<(), Error> {
        let at = layout.partition_place(index);
        match slots.partition(rank, index, layout.partition_offset(index))? {
            Backing::Memory(pages, _) => lay(&at, pages),
            Backing::File(file) => persistent::file_over(&at, file.as_fd()),
        }
    }

    fn export(
        &self,
        slots: &dyn Slots,
        rank: usize,
        layout: &Layout,
        data: &DataSegment,
    ) -> Result<(), Error> {
        let mut held = mutex::lock(&self.held);
        let record = slots.record(rank);
        let mut export = |range: &Range<usize>, id: &AtomicU64| {
            // SAFETY: the data segment and the area of the heap, which programs share with their
            // peers: see `Backend`.
            let segment = unsafe { self.make(range)? };
            id.store(segment.id().0 as u64, Ordering::Relaxed);
            held.segments.push(segment);
            Ok::<_, Error>(())
        };
        export(&data.pages, &record.data_segment)?;
        // The area includes the reserved memory between partitions, which also faults when peers
        // access it.
        export(&layout.area(), &record.heap_segment)
    }

    fn attach(
        &self,
        slots: &dyn Slots,
        rank: usize,
        layout: &Layout,
        same: bool,
    ) -> Result<(), Error> {
        let record = slots.record(rank);
        let mut held = mutex::lock(&self.held);
        // SAFETY: the layout has reserved a window with this mirror. Nobody uses it before `translate`
        // knows it.
        let mirror = unsafe { layout.mirror_place(rank) };
        let mut attach = |range: &Range<usize>, segment: &AtomicU64, offset: usize| {
            let segment = segment.load(Ordering::Relaxed);
            // SAFETY: the window is left to attachments. It is never unmapped, remapped or protected.
            let attachment = unsafe { self.map_peers(&mirror.of(range), segment, offset)? };
            held.attachments.push(attachment);
            Ok::<_, Error>(())
        };
        let in_segment = |range: &Range<usize>| range.start - layout.area().start;
        if same {
            attach(&layout.data, &record.data_segment, 0)?;
        }
        attach(&layout.heap, &record.heap_segment, in_segment(&layout.heap))?;
        for (index, own) in layout.partitions.iter().enumerate() {
            match slots.partition(rank, index, layout.partition_offset(index))? {
                Backing::Memory(..) => attach(own, &record.heap_segment, in_segment(own))?,
                Backing::File(file) => memfd::map_peers_file(&mirror.of(own), file.as_fd())?,
            }
        }
        Ok(())
    }

    fn withdraw(&self, slots: &dyn Slots, rank: usize, layout: &Layout) {
        let mut held = mutex::lock(&self.held);
        *held = Held::default();
        layout.heap_place().discard();
        for index in 0..layout.partitions.len() {
            let backing = slots.partition(rank, index, layout.partition_offset(index));
            if let Ok(Backing::Memory(..)) = backing {
                layout.partition_place(index).discard();
            }
        }
    }

    fn is_shared(&self) -> bool {
        false
    }
}
