//! The default backend: slots live in the job's sealed memfd. Works on stock
//! Linux, in any container, without privilege.
#![allow(unsafe_code)]

use super::{Backend, Slots};
use crate::atomics::{AtomicBool, Ordering};
use crate::error::Error;
use crate::layout::Layout;
use crate::pages::Pages;
use crate::segment::{self, DataSegment};
use crate::sys::limit::with_file_size;
use crate::sys::relocate::{self, Relocation};
use crate::sys::{fd, hold, huge, map};
use std::fs::File;
use std::os::fd::AsRawFd;

/// Slots in the job's memory file.
#[derive(Debug, Default)]
pub struct Memfd {
    /// The data segment is in the file for good after the first lifetime.
    moved: AtomicBool,
}

fn no_file() -> Error {
    Error::NoWay(
        "the job was started without a file for them: the variables must be set where its \
         launcher starts"
            .into(),
    )
}

/// Maps the data segment of `rank` in its mirror.
///
/// # Safety
/// The mirror's place belongs to the caller, and nobody uses it.
pub unsafe fn map_data(slots: &dyn Slots, rank: usize, layout: &Layout) -> Result<(), Error> {
    let (at, bytes) = (layout.mirrored(rank, layout.data.start), layout.data.len());
    // SAFETY: the caller's promise.
    unsafe { map::shared_over(at, bytes, slots.file()?, slots.data_offset(rank))? };
    map::mark_foreign(at, bytes);
    Ok(())
}

/// Maps the heap of `rank` in its mirror, as the PE says that it is made.
///
/// # Safety
/// As for [`map_data`].
pub unsafe fn map_peers_heap(slots: &dyn Slots, rank: usize, layout: &Layout) -> Result<(), Error> {
    let (at, bytes) = (layout.mirrored(rank, layout.heap.start), layout.heap.len());
    let pages = Pages::from_word(slots.record(rank).heap_pages.load(Ordering::Relaxed));
    let (file, offset) = slots.heap_place(rank, pages)?.ok_or_else(no_file)?;
    // SAFETY: the caller's promise.
    unsafe { map::shared_over(at, bytes, file, offset)? };
    if pages == Pages::Transparent {
        // Where the owner has them, the peer can; if not, it maps small pieces.
        let _ = map::advise_huge(at, bytes);
    }
    map::mark_foreign(at, bytes);
    Ok(())
}

/// Has the data segment and its place in the file change places.
fn move_data(slots: &dyn Slots, rank: usize, data: &DataSegment) -> Result<(), Error> {
    let mut pieces = [relocate::Piece::default(); relocate::MOST_PIECES];
    if data.pieces.len() > pieces.len() {
        let (found, most) = (data.pieces.len(), pieces.len());
        return Err(Error::NoWay(format!(
            "the program's writable data lies in {found} pieces, and there can be {most} at most; \
             link it with the default layout"
        )));
    }
    for (to, piece) in pieces.iter_mut().zip(&data.pieces) {
        // Initialised data exists in the program's file, touched or not.
        let (start, end) = (piece.pages.start, piece.pages.end);
        *to = relocate::Piece { start, all_until: piece.file_end, end };
    }
    let pagemap = File::open("/proc/self/pagemap").ok();
    let offset = slots.data_offset(rank);
    let move_into_file = Relocation {
        start: data.pages.start,
        end: data.pages.end,
        pieces,
        page: map::page_size(),
        file: slots.file()?.as_raw_fd(),
        offset,
        pagemap: pagemap.as_ref().map_or(-1, AsRawFd::as_raw_fd),
    };
    // SAFETY: the pages are the program's own data segment and gaps that are reserved, the
    // descriptors stay open, and who else could write to the pages is held.
    with_file_size(offset + data.pages.len() as u64, || unsafe { hold::relocate(&move_into_file) })
}

impl Backend for Memfd {
    fn name(&self) -> &'static str {
        "memfd"
    }

    fn map_heap(
        &self,
        slots: &dyn Slots,
        rank: usize,
        layout: &Layout,
        pages: Pages,
    ) -> Result<(), Error> {
        if pages == Pages::Transparent {
            huge::transparent(true).map_err(Error::NoWay)?;
        }
        let (file, offset) = slots.heap_place(rank, pages)?.ok_or_else(no_file)?;
        let (at, bytes) = (layout.heap.start, layout.heap.len());
        // SAFETY: the heap's place was reserved for it, and nobody uses it yet.
        unsafe {
            match pages {
                Pages::Explicit(size) => map::huge_over(at, bytes, size, Some((file, offset))),
                _ => map::shared_over(at, bytes, file, offset),
            }
        }?;
        match pages {
            Pages::Transparent => map::advise_huge(at, bytes),
            _ => Ok(()),
        }
    }

    fn export(
        &self,
        slots: &dyn Slots,
        rank: usize,
        _: &Layout,
        data: &DataSegment,
    ) -> Result<(), Error> {
        if self.moved.load(Ordering::Relaxed) {
            return Ok(());
        }
        segment::keep_gaps(data)?;
        move_data(slots, rank, data)?;
        self.moved.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn attach(&self, slots: &dyn Slots, rank: usize, layout: &Layout) -> Result<(), Error> {
        // SAFETY: the places lie in the window reserved for this mirror, which nobody uses
        // before `translate` learns of it.
        unsafe { map_data(slots, rank, layout).and_then(|()| map_peers_heap(slots, rank, layout)) }
    }

    fn withdraw(&self, slots: &dyn Slots, rank: usize, layout: &Layout) {
        // The mirrors stay: the next lifetime maps over them.
        let pages = Pages::from_word(slots.record(rank).heap_pages.load(Ordering::Relaxed));
        if let Ok(Some((file, offset))) = slots.heap_place(rank, pages) {
            fd::punch(file, offset, layout.heap.len() as u64);
        }
    }

    fn is_shared(&self) -> bool {
        true
    }
}
