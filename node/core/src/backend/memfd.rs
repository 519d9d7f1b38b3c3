//! The default backend: slots are in the job's sealed memfd. Works on stock Linux, in any
//! container, without privileges.
#![allow(unsafe_code)]

use super::{Backend, Backing, Slots};
use crate::atomics::{AtomicBool, Ordering};
use crate::error::Error;
use crate::layout::{Layout, MirrorPlace};
use crate::pages::Pages;
use crate::segment::{self, DataSegment};
use crate::sys::limit::with_file_size;
use crate::sys::map::Reserved;
use crate::sys::relocate::{self, MOST_PROTECTED, Protected, Relocation};
use crate::sys::source::Source;
use crate::sys::{huge, map, maps, persistent, suspend};
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
pub fn lay(at: &Reserved, pages: Pages, (file, offset): (Source, u64)) -> Result<(), Error> {
    if pages == Pages::Transparent {
        huge::transparent(true).map_err(Error::NoWay)?;
    }
    match pages {
        Pages::Explicit(size) => at.huge(size, Some((file.file()?, offset)))?,
        _ => file.over(at, offset)?,
    }
    match pages {
        Pages::Transparent => map::advise_huge(at.range()),
        _ => Ok(()),
    }
}

/// Maps a peer's memory, which has these pages and is part of a file.
pub fn map_peers(at: &Reserved, pages: Pages, (file, offset): (Source, u64)) -> Result<(), Error> {
    file.over(at, offset).inspect_err(|_| at.keep())?;
    if pages == Pages::Transparent {
        // Where the owner has them, the peer can; if not, it maps small pieces.
        let _ = map::advise_huge(at.range());
    }
    at.mark_foreign();
    Ok(())
}

/// Maps a peer's partition, which is a file of its own.
pub fn map_peers_file(at: &Reserved, file: BorrowedFd) -> Result<(), Error> {
    persistent::file_over(at, file).inspect_err(|_| at.keep())?;
    at.mark_foreign();
    Ok(())
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
    let protected = protected(pieces)?;
    let move_into_file = Relocation {
        start: pages.start,
        end: pages.end,
        spared: [spared.start, spared.end],
        pieces: copied,
        protected,
        page: map::page_size(),
        file: file.as_raw_fd(),
        offset,
        pagemap: pagemap.as_ref().map_or(-1, AsRawFd::as_raw_fd),
    };
    // SAFETY: the caller guarantees what `suspend::relocate` requires. The descriptors stay open.
    with_file_size(offset + pages.len() as u64, || unsafe { suspend::relocate(&move_into_file) })
}

/// What the program has protected in these pieces.
fn protected(pieces: &[relocate::Piece]) -> Result<[Protected; MOST_PROTECTED], Error> {
    let parts = pieces.iter().flat_map(|piece| maps::protected(&(piece.start..piece.end)));
    let found: Vec<_> = parts
        .map(|(Range { start, end }, protection)| Protected { start, end, protection })
        .collect();
    let mut protected = [Protected::default(); MOST_PROTECTED];
    let room = protected.get_mut(..found.len()).ok_or_else(|| {
        Error::NoWay(format!(
            "{} parts of the memory are protected in ways of their own (mprotect), and there can be \
             {MOST_PROTECTED} at most",
            found.len()
        ))
    })?;
    room.copy_from_slice(&found);
    Ok(protected)
}

/// The pieces of a data segment. Initialised data is in the program's file, whether touched or not.
pub fn pieces(data: &DataSegment) -> Vec<relocate::Piece> {
    let piece = |piece: &segment::Piece| {
        let (start, end) = (piece.pages.start, piece.pages.end);
        relocate::Piece { start, all_until: piece.file_end, end }
    };
    data.pieces.iter().map(piece).collect()
}

/// Maps the rank's data segment in its mirror.
pub(crate) fn map_data(slots: &dyn Slots, mirror: MirrorPlace) -> Result<(), Error> {
    let place = (slots.file()?, slots.data_offset(mirror.rank));
    map_peers(&mirror.of(&mirror.layout.data), Pages::Normal, place)
}

/// Maps the rank's heap in its mirror, with the pages that the PE has published.
pub(crate) fn map_peers_heap(slots: &dyn Slots, mirror: MirrorPlace) -> Result<(), Error> {
    let record = slots.record(mirror.rank);
    let pages = Pages::from_word(record.heap_pages.load(Ordering::Relaxed));
    let place = slots.heap_place(mirror.rank, pages)?.ok_or_else(no_file)?;
    map_peers(&mirror.of(&mirror.layout.heap), pages, place)
}

/// Maps the rank's partitions in its mirror.
pub(crate) fn map_peers_partitions(slots: &dyn Slots, mirror: MirrorPlace) -> Result<(), Error> {
    let MirrorPlace { layout, rank } = mirror;
    for (index, own) in layout.partitions.iter().enumerate() {
        let at = mirror.of(own);
        match slots.partition(rank, index, layout.partition_offset(index))? {
            Backing::Memory(pages, place) => map_peers(&at, pages, place.ok_or_else(no_file)?)?,
            Backing::File(file) => map_peers_file(&at, file.as_fd())?,
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
        lay(&layout.heap_place(), pages, place)
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
            Backing::Memory(pages, place) => lay(&at, pages, place.ok_or_else(no_file)?),
            Backing::File(file) => persistent::file_over(&at, file.as_fd()),
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
        // SAFETY: the layout has reserved a window with this mirror. Nobody uses it before `translate`
        // knows it.
        let mirror = unsafe { layout.mirror_place(rank) };
        if same {
            map_data(slots, mirror)?;
        }
        map_peers_heap(slots, mirror)?;
        map_peers_partitions(slots, mirror)
    }

    fn withdraw(&self, slots: &dyn Slots, rank: usize, layout: &Layout) {
        // The mirrors stay mapped. The next lifetime maps over them.
        let pages = Pages::from_word(slots.record(rank).heap_pages.load(Ordering::Relaxed));
        if let Ok(Some((file, offset))) = slots.heap_place(rank, pages) {
            file.punch(offset, &layout.heap_place());
        }
        for index in 0..layout.partitions.len() {
            let backing = slots.partition(rank, index, layout.partition_offset(index));
            if let Ok(Backing::Memory(_, Some((file, offset)))) = backing {
                file.punch(offset, &layout.partition_place(index));
            }
        }
    }

    fn is_shared(&self) -> bool {
        true
    }
}
