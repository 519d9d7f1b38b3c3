//! Makes existing memory reachable: moves it into a file, unless it lies in one already. The
//! system's table of mappings shows that, so any two clients in a process agree.

use crate::error::Error;
use onenode_core::sys::{fd, maps, relocate};
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};

/// How to make memory reachable.
pub(super) enum Plan {
    /// Publish it: it is this range of a file.
    Publish(OwnedFd, u64),
    /// Move it, copying these pieces.
    Move(Vec<relocate::Piece>),
}

/// Decides how to make `pages` reachable. If they are private, `pieces` are the parts to copy;
/// `None`: all pages that exist.
pub(super) fn plan(
    pages: &Range<usize>,
    pieces: Option<&[relocate::Piece]>,
) -> Result<Plan, Error> {
    let mapped = check_mapped(pages)?;
    let refused = |why| refused(pages, why);
    // A gap of the data segment is reserved and cannot be written, which is fine.
    let locked = |mapping: &&maps::Mapping| !mapping.is_writable() && pieces.is_none();
    if let Some(mapping) = mapped.iter().find(locked) {
        return Err(refused(format!("of which {:#x}.. cannot be written", mapping.range.start)));
    }
    if !mapped.iter().any(|mapping| mapping.shared) {
        return Ok(Plan::Move(pieces.map_or_else(|| existing(&mapped), <[_]>::to_vec)));
    }
    let first = &mapped[0];
    let one_file = mapped.iter().all(|mapping| {
        let there = first.offset + (mapping.range.start - pages.start) as u64;
        mapping.shared && mapping.file == first.file && mapping.offset == there
    });
    if !one_file {
        return Err(refused("parts of which are shared, in more than one way".into()));
    }
    match maps::descriptor(first) {
        Some(file) if matches!(fd::is_sealed(file.as_fd()), Ok(true)) => {
            Ok(Plan::Publish(file, first.offset))
        }
        Some(_) => {
            Err(refused(format!("which is shared by {}, a file that can shrink", first.name)))
        }
        // It belonged to a node that is closed now, so nobody shares it any more.
        None if first.name.starts_with(OWN) => {
            let all = relocate::Piece { start: pages.start, all_until: pages.end, end: pages.end };
            Ok(Plan::Move(vec![all]))
        }
        None => Err(refused(format!(
            "which is shared by {}, of which no descriptor is open",
            first.name
        ))),
    }
}

fn refused(pages: &Range<usize>, why: String) -> Error {
    let value = format!("{:#x}..{:#x}, {why}", pages.start, pages.end);
    Error::argument("range", value, "memory that is private to this process")
}

/// The mappings of `pages`, which must be mapped without a gap.
pub(super) fn check_mapped(pages: &Range<usize>) -> Result<Vec<maps::Mapping>, Error> {
    let mapped = maps::within(pages)?;
    let mut at = pages.start;
    for mapping in &mapped {
        if mapping.range.start == at {
            at = mapping.range.end;
        }
    }
    if at == pages.end {
        return Ok(mapped);
    }
    Err(refused(pages, format!("of which nothing is mapped at {at:#x}")))
}

/// The start of the system's names for the files that nodes make.
const OWN: &str = "/memfd:onenode";

/// Splits mappings into pieces, marking where only pages that exist need to be copied. Pages of a
/// file exist whether touched or not.
fn existing(mapped: &[maps::Mapping]) -> Vec<relocate::Piece> {
    let mut pieces: Vec<relocate::Piece> = Vec::new();
    for mapping in mapped {
        let Range { start, end } = mapping.range;
        let all_until = if mapping.file.1 == 0 { start } else { end };
        match pieces.last_mut() {
            // Merged into one piece: copying too much only costs time.
            Some(last) if last.all_until == last.end || mapping.file.1 == 0 => {
                last.end = end;
                last.all_until = if mapping.file.1 == 0 { last.all_until } else { end };
            }
            _ => pieces.push(relocate::Piece { start, all_until, end }),
        }
    }
    if pieces.len() > relocate::MOST_PIECES {
        let (start, end) = (pieces[0].start, pieces[pieces.len() - 1].end);
        return vec![relocate::Piece { start, all_until: end, end }];
    }
    pieces
}

/// Fails unless `pages` are a mapping of the file with that inode, from that offset on.
pub(super) fn check_file(pages: &Range<usize>, inode: u64, offset: u64) -> Result<(), Error> {
    let mut at = pages.start;
    for mapping in maps::within(pages)? {
        let there = offset.wrapping_add((mapping.range.start - pages.start) as u64);
        let fits = mapping.shared && mapping.file.1 == inode && mapping.offset == there;
        if mapping.range.start != at || !fits {
            break;
        }
        at = mapping.range.end;
    }
    if at == pages.end {
        return Ok(());
    }
    Err(Error::argument(
        "range",
        format_args!("{:#x}..{:#x}", pages.start, pages.end),
        format!(
            "memory that is mapped shared from the file, at {offset}, all of it (it is up to {at:#x})"
        ),
    ))
}
