//! The default backend: segments are ranges of sealed memory files. Works on stock Linux, in any
//! container, without privileges.
#![allow(unsafe_code)]

use super::{Backend, BackendResource, FilePlace, Move, Naming, Published, Segment, unlike};
use crate::error::Error;
use crate::pages::Pages;
use crate::segment;
use crate::sys::limit::with_file_size;
use crate::sys::map::Reserved;
use crate::sys::relocate::{self, MOST_PROTECTED, Protected, Relocation};
use crate::sys::{huge, map, maps, suspend};
use std::fs::File;
use std::ops::Range;
use std::os::fd::AsRawFd;

/// The backend with segments in memory files.
#[derive(Debug)]
pub(super) struct Memfd {
    name: &'static str,
}

impl Memfd {
    /// Its ordinary form.
    pub const NEUTRAL: Self = Self { name: "memfd" };
    /// With the mirrors at SMARTMAP's addresses, where the layout puts them.
    #[cfg(feature = "smartmap")]
    pub const ALIASES: Self = Self { name: "smartmap" };
}

/// Maps zeroed memory with these pages over a range. The memory is part of a file.
fn lay(at: &Reserved, pages: Pages, (file, offset): FilePlace) -> Result<(), Error> {
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
pub fn map_peers(at: &Reserved, pages: Pages, (file, offset): FilePlace) -> Result<(), Error> {
    file.over(at, offset).inspect_err(|_| at.keep())?;
    if pages == Pages::Transparent {
        // Where the owner has them, the peer can; if not, it maps small pieces.
        let _ = map::advise_huge(at.range());
    }
    at.mark_foreign();
    Ok(())
}

/// Has memory of this process and a stretch of a file, which is zeros, change places: address and
/// content stay. Only the pieces are copied.
///
/// # Safety
/// The pages are this process's own, or gaps between the pieces that are reserved; who else could
/// write to them is held meanwhile.
unsafe fn move_into(
    pages: &Range<usize>,
    Move { pieces, to: (file, offset) }: Move,
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

/// The parts of these pieces that the program has protected.
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

// SAFETY: memory is mapped over the given places, of files that cannot shrink, and stays. Memory that moves
// into a file keeps address and content.
unsafe impl Backend for Memfd {
    fn name(&self) -> &'static str {
        self.name
    }

    fn naming(&self) -> Naming {
        Naming::File
    }

    fn make(&self, at: &Reserved, pages: Pages, file: Option<FilePlace>) -> Result<(), Error> {
        let file = file.ok_or_else(|| Error::NoWay("there is no file for the memory".into()))?;
        lay(at, pages, file)
    }

    fn free(&self, at: &Reserved, file: Option<FilePlace>) {
        if let Some((file, offset)) = file {
            file.punch(offset, at);
        }
    }

    unsafe fn publish(
        &self,
        pages: &Range<usize>,
        moved: Option<Move>,
    ) -> Result<Published, Error> {
        if let Some(moved) = moved {
            // SAFETY: the caller guarantees that the pages may move, and that who could write is held.
            unsafe { move_into(pages, moved)? };
        }
        Ok(Published::default())
    }

    unsafe fn attach(
        &self,
        at: &Reserved,
        pages: Pages,
        segment: Segment,
    ) -> Result<Option<BackendResource>, Error> {
        match segment {
            Segment::File(place) => map_peers(at, pages, place).map(|()| None),
            other => Err(unlike(self.name, other)),
        }
    }
}
