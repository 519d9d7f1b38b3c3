//! Slots in ordinary memory, mapped by the XPMEM module. The data segment is neither copied nor
//! remapped.
#![allow(unsafe_code)]

use super::{Backend, Backing, Slots, memfd};
use crate::atomics::{AtomicU64, Ordering};
use crate::error::Error;
use crate::layout::Layout;
use crate::pages::Pages;
use crate::segment::DataSegment;
use crate::sys::mutex;
use crate::sys::{huge, map, persistent};
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
        // SAFETY: as is asked for.
        unsafe { Segment::make(self.device, pages.clone()) }.map_err(failed)
    }

    /// Maps part of a peer's segment, starting at `offset`.
    ///
    /// # Safety
    /// `at` is within a reservation that the caller owns and leaves to the attachment. Nobody
    /// unmaps, remaps or protects any of it while the attachment lives.
    pub unsafe fn map_peers(
        &self,
        at: &Range<usize>,
        segment: u64,
        offset: usize,
    ) -> Result<Attachment, Error> {
        let permit = Permit::get(self.device, SegmentId(segment as i64)).map_err(failed)?;
        // SAFETY: the caller guarantees that the range is in a reservation that is left to the
        // attachment.
        unsafe { permit.attach(at.start, at.len(), offset) }.map_err(failed)
    }
}

/// Maps zeroed private memory with these pages.
///
/// # Safety
/// The caller has reserved the range, and nobody uses it yet.
pub unsafe fn lay(at: &Range<usize>, pages: Pages) -> Result<(), Error> {
    if pages == Pages::Transparent {
        huge::transparent(false).map_err(Error::NoWay)?;
    }
    // SAFETY: the caller has reserved the range and guarantees that nobody uses it, so it may be
    // mapped over.
    unsafe {
        match pages {
            Pages::Explicit(size) => map::huge_over(at.start, at.len(), size, None)?,
            _ => map::private_zeros_over(at.start, at.len())?,
        }
    }
    match pages {
        Pages::Transparent => map::advise_huge(at.start, at.len()),
        _ => Ok(()),
    }
}

/// Exports a page, attaches it, and checks that writes on each side are visible on the other.
fn self_test(device: &'static Device) -> Result<(), Error> {
    const WORD: u64 = 0x5851_f42d_4c95_7f2d;
    let page = map::page_size();
    let exported = map::private_anywhere(page)?;
    let place = map::reserve(page)?;
    let outcome = (|| {
        // SAFETY: this function's own page, which it accesses by raw pointers only.
        let segment = unsafe { Segment::make(device, exported..exported + page) };
        let segment = segment.map_err(failed)?;
        let permit = Permit::get(device, segment.id()).map_err(failed)?;
        // SAFETY: this function owns the reservation. Both addresses are aligned, and mapped while
        // the attachment lives.
        unsafe {
            let _attachment = permit.attach(place, page, 0).map_err(failed)?;
            (exported as *mut u64).write_volatile(WORD);
            let seen = (place as *const u64).read_volatile();
            (place as *mut u64).write_volatile(!WORD);
            let back = (exported as *const u64).read_volatile();
            if (seen, back) != (WORD, !WORD) {
                return Err(Error::NoWay("memory is not shared through an attachment".into()));
            }
        }
        Ok(())
    })();
    // SAFETY: this function owns both ranges. The attachment is gone and has left its reservation
    // mapped.
    unsafe {
        map::unmap(exported as *mut u8, page);
        map::unmap(place as *mut u8, page);
    }
    outcome
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
        // SAFETY: the range was reserved for the heap, and nobody uses it yet.
        unsafe { lay(&layout.heap, pages) }
    }

    fn map_partition(
        &self,
        slots: &dyn Slots,
        rank: usize,
        layout: &Layout,
        index: usize,
    ) -> Result<(), Error> {
        let at = &layout.partitions[index];
        let backing = slots.partition(rank, index, layout.partition_offset(index))?;
        // SAFETY: the range was reserved for the partition, and nobody uses it yet.
        unsafe {
            match backing {
                Backing::Memory(pages, _) => lay(at, pages),
                Backing::File(file) => persistent::file_over(at.start, at.len(), file.as_fd()),
            }
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
        let mut attach = |range: &Range<usize>, segment: &AtomicU64, offset: usize| {
            let at = layout.mirrored(rank, range.start);
            let segment = segment.load(Ordering::Relaxed);
            // SAFETY: the range is in the window reserved for this mirror. The window is never
            // unmapped, remapped or protected.
            let attachment = unsafe { self.map_peers(&(at..at + range.len()), segment, offset)? };
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
                Backing::File(file) => {
                    let at = layout.mirrored(rank, own.start);
                    // SAFETY: as above.
                    unsafe { memfd::map_peers_file(&(at..at + own.len()), file.as_fd())? };
                }
            }
        }
        Ok(())
    }

    fn withdraw(&self, slots: &dyn Slots, rank: usize, layout: &Layout) {
        let mut held = mutex::lock(&self.held);
        *held = Held::default();
        // SAFETY: nobody uses the heap any more.
        unsafe { map::discard(layout.heap.start, layout.heap.len()) };
        for (index, partition) in layout.partitions.iter().enumerate() {
            let backing = slots.partition(rank, index, layout.partition_offset(index));
            if let Ok(Backing::Memory(..)) = backing {
                // SAFETY: nobody uses the partition any more.
                unsafe { map::discard(partition.start, partition.len()) };
            }
        }
    }

    fn is_shared(&self) -> bool {
        false
    }
}
