//! The default backend: slots are in the job's sealed memfd. Works on stock Linux, in any
//! container, without privileges.
#![allow(unsafe_code)]

use super::{Backend, Backing, Slots};
use crate::atomics::{AtomicBool, Ordering};
use crate::error::Error;
use crate::layout::Layout;
use crate::pages::Pages;
use crate::segment::{self, DataSegment};
use crate::sys::limit::with_file_size;
use crate::sys::relocate::{self, Relocation};
use crate::sys::source::Source;
use crate::sys::{huge, map, persistent, suspend};
use std::fs::File;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// The backend with slots in the job's memory file.
#[derive(Debug, Default)]
pub struct Memfd {
    /// Whether the data segment is in the file, where it stays after the first lifetime.
    moved: AtomicBool,
}

fn no_file() -> Error {
    Error::NoWay(
        "the job was started without a file for them: the variables must be set where its \
         launcher starts"
            .into(),
    )
}

/// Maps zeroed memory with these pages over a range. The memory is part of a file.
///
/// # Safety
/// The caller has reserved the range, and nobody uses it yet.
pub unsafe fn lay(
    at: &Range<usize>,
    pages: Pages,
    (file, offset): (Source, u64),
) -> Result<(), Error> {
    if pages == Pages::Transparent {
        huge::transparent(true).map_err(Error::NoWay)?;
    }
    // SAFETY: the caller has reserved the range and guarantees that nobody uses it, so it may be
    // mapped over.
    unsafe {
        match pages {
            Pages::Explicit(size) => {
                map::huge_over(at.start, at.len(), size, Some((file.file()?, offset)))?;
            }
            _ => file.over(at.start, at.len(), offset)?,
        }
    }
    match pages {
        Pages::Transparent => map::advise_huge(at.start, at.len()),
        _ => Ok(()),
    }
}

/// Maps a peer's memory, which has these pages and is part of a file.
///
/// # Safety
/// The range belongs to the caller, and nobody uses it.
pub unsafe fn map_peers(
    at: &Range<usize>,
    pages: Pages,
    (file, offset): (Source, u64),
) -> Result<(), Error> {
    // SAFETY: the range is the caller's and nobody uses it, as is asked for.
    let mapped = unsafe { file.over(at.start, at.len(), offset) };
    keep_place(at, mapped)?;
    if pages == Pages::Transparent {
        // Where the owner has them, the peer can; if not, it maps small pieces.
        let _ = map::advise_huge(at.start, at.len());
    }
    // SAFETY: a peer's memory, which no forked child of this process needs.
    unsafe { map::mark_foreign(at.start, at.len()) };
    Ok(())
}

/// Maps a peer's partition, which is a file of its own.
///
/// # Safety
/// As for [`map_peers`].
pub unsafe fn map_peers_file(at: &Range<usize>, file: BorrowedFd) -> Result<(), Error> {
    // SAFETY: the range is the caller's and nobody uses it, as is asked for.
    let mapped = unsafe { persistent::file_over(at.start, at.len(), file) };
    keep_place(at, mapped)?;
    // SAFETY: a peer's memory, which no forked child of this process needs.
    unsafe { map::mark_foreign(at.start, at.len()) };
    Ok(())
}

/// Reserves a place again if it could not be mapped: the attempt may have left a hole.
fn keep_place(at: &Range<usize>, mapped: Result<(), Error>) -> Result<(), Error> {
    mapped.inspect_err(|_| {
        map::reserve_at(at.start, at.len());
    })
}

/// Has memory of this process and a stretch of a file, which is zeros, change places: address and
/// content stay. Only the pieces are copied.
///
/// # Safety
/// The pages are this process's own, or gaps between the pieces that are reserved; who else could
/// write to them is held meanwhile.
pub unsafe fn move_into(
    pages: &Range<usize>,
    pieces: &[relocate::Piece],
    (file, offset): (BorrowedFd, u64),
) -> Result<(), Error> {
    let mut copied = [relocate::Piece::default(); relocate::MOST_PIECES];
    if pieces.len() > copied.len() {
        let (found, most) = (pieces.len(), copied.len());
        return Err(Error::NoWay(format!(
            "the program's writable data lies in {found} pieces, and there can be {most} at most; \
             link it with the default layout"
        )));
    }
    copied[..pieces.len()].copy_from_slice(pieces);
    let gaps = pieces.windows(2).map(|two| two[0].end..two[1].start);
    let spared = segment::system_pages(gaps, pages.end);
    let pagemap = File::open("/proc/self/pagemap").ok();
    let move_into_file = Relocation {
        start: pages.start,
        end: pages.end,
        spared: [spared.start, spared.end],
        pieces: copied,
        page: map::page_size(),
        file: file.as_raw_fd(),
        offset,
        pagemap: pagemap.as_ref().map_or(-1, AsRawFd::as_raw_fd),
    };
    // SAFETY: the caller guarantees what `suspend::relocate` requires. The descriptors stay open.
    with_file_size(offset + pages.len() as u64, || unsafe { suspend::relocate(&move_into_file) })
}

/// The pieces of a data segment. Initialised data is in the program's file, whether touched or not.
pub fn pieces(data: &DataSegment) -> Vec<relocate::Piece> {
    let piece = |piece: &segment::Piece| {
        let (start, end) = (piece.pages.start, piece.pages.end);
        relocate::Piece { start, all_until: piece.file_end, end }
    };
    data.pieces.iter().map(piece).collect()
}

/// Maps the data segment of `rank` in that rank's mirror.
///
/// # Safety
/// The caller owns the mirror's range, and nobody uses it.
pub unsafe fn map_data(slots: &dyn Slots, rank: usize, layout: &Layout) -> Result<(), Error> {
    let start = layout.mirrored(rank, layout.data.start);
    let place = (slots.file()?, slots.data_offset(rank));
    // SAFETY: part of the mirror's range, which the caller owns and guarantees to be unused.
    unsafe { map_peers(&(start..start + layout.data.len()), Pages::Normal, place) }
}

/// Maps the heap of `rank` in that rank's mirror, with the pages that the PE has published.
///
/// # Safety
/// As for [`map_data`].
pub unsafe fn map_peers_heap(slots: &dyn Slots, rank: usize, layout: &Layout) -> Result<(), Error> {
    let start = layout.mirrored(rank, layout.heap.start);
    let pages = Pages::from_word(slots.record(rank).heap_pages.load(Ordering::Relaxed));
    let place = slots.heap_place(rank, pages)?.ok_or_else(no_file)?;
    // SAFETY: part of the mirror's range, which the caller owns and guarantees to be unused.
    unsafe { map_peers(&(start..start + layout.heap.len()), pages, place) }
}

/// Maps the partitions of `rank` in that rank's mirror.
///
/// # Safety
/// As for [`map_data`].
pub unsafe fn map_peers_partitions(
    slots: &dyn Slots,
    rank: usize,
    layout: &Layout,
) -> Result<(), Error> {
    for (index, own) in layout.partitions.iter().enumerate() {
        let start = layout.mirrored(rank, own.start);
        let at = start..start + own.len();
        let backing = slots.partition(rank, index, layout.partition_offset(index))?;
        // SAFETY: part of the mirror's range, which the caller owns and guarantees to be unused.
        unsafe {
            match backing {
                Backing::Memory(pages, place) => map_peers(&at, pages, place.ok_or_else(no_file)?)?,
                Backing::File(file) => map_peers_file(&at, file.as_fd())?,
            }
        }
    }
    Ok(())
}

// SAFETY: heap and partitions are mapped over their places in the layout, and mirrors over theirs in
// the window, from files that `Slots` answers for. The data segment is moved as `move_into` does.
unsafe impl Backend for Memfd {
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
        let place = slots.heap_place(rank, pages)?.ok_or_else(no_file)?;
        // SAFETY: the range was reserved for the heap, and nobody uses it yet.
        unsafe { lay(&layout.heap, pages, place) }
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
                Backing::Memory(pages, place) => lay(at, pages, place.ok_or_else(no_file)?),
                Backing::File(file) => persistent::file_over(at.start, at.len(), file.as_fd()),
            }
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
        let place = (slots.file()?.file()?, slots.data_offset(rank));
        // SAFETY: the pages are the program's own data segment and reserved gaps.
        unsafe { move_into(&data.pages, &pieces(data), place)? };
        self.moved.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn attach(
        &self,
        slots: &dyn Slots,
        rank: usize,
        layout: &Layout,
        same: bool,
    ) -> Result<(), Error> {
        // SAFETY: the ranges are in the window reserved for this mirror. Nobody uses it before
        // `translate` knows it.
        unsafe {
            if same {
                map_data(slots, rank, layout)?;
            }
            map_peers_heap(slots, rank, layout)?;
            map_peers_partitions(slots, rank, layout)
        }
    }

    fn withdraw(&self, slots: &dyn Slots, rank: usize, layout: &Layout) {
        // The mirrors stay mapped. The next lifetime maps over them.
        let pages = Pages::from_word(slots.record(rank).heap_pages.load(Ordering::Relaxed));
        if let Ok(Some((file, offset))) = slots.heap_place(rank, pages) {
            // SAFETY: this rank's own heap, which nobody uses any more.
            unsafe { file.punch(offset, &layout.heap) };
        }
        for (index, partition) in layout.partitions.iter().enumerate() {
            let backing = slots.partition(rank, index, layout.partition_offset(index));
            if let Ok(Backing::Memory(_, Some((file, offset)))) = backing {
                // SAFETY: this rank's own partition, which nobody uses any more.
                unsafe { file.punch(offset, partition) };
            }
        }
    }

    fn is_shared(&self) -> bool {
        true
    }
}
