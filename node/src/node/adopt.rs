//! How memory that is there becomes reachable: moved into a file, or where it lies in a file
//! already, by that file. The system's table of mappings knows which, so that any two clients
//! in a process agree.

use crate::error::Error;
use crate::sys::{fd, maps, relocate};
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};

/// What is to be done.
pub(super) enum Plan {
    /// The memory is this stretch of a file.
    Publish(OwnedFd, u64),
    /// It has to be moved; these pieces are copied.
    Move(Vec<relocate::Piece>),
}

/// How `pages` become reachable. `pieces` are what of them has to be copied, if they are
/// private: `None`: what exists.
pub(super) fn plan(
    pages: &Range<usize>,
    pieces: Option<&[relocate::Piece]>,
) -> Result<Plan, Error> {
    let mapped = check_mapped(pages)?;
    let refused = |why| refused(pages, why);
    // A gap of the data segment is reserved, and cannot be written.
    let locked = |mapping: &&maps::Mapping| !mapping.writable && pieces.is_none();
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
        // Of a node that is closed, so nobody shares it any more.
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

/// What is mapped at `pages`, which must be mapped without a gap.
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

/// What the system calls the files that nodes make.
const OWN: &str = "/memfd:onenode";

/// The pieces of mappings of which only pages that exist have to be copied: what comes from a file
/// exists, touched or not.
fn existing(mapped: &[maps::Mapping]) -> Vec<relocate::Piece> {
    let mut pieces: Vec<relocate::Piece> = Vec::new();
    for mapping in mapped {
        let Range { start, end } = mapping.range;
        let all_until = if mapping.file.1 == 0 { start } else { end };
        match pieces.last_mut() {
            // As one: what is copied in vain costs time only.
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

/// An error unless `pages` are a mapping of the file with that inode, from that offset on.
pub(super) fn check_file(pages: &Range<usize>, inode: u64, offset: u64) -> Result<(), Error> {
    let mut at = pages.start;
    for mapping in maps::within(pages)? {
        let there = offset + (mapping.range.start - pages.start) as u64;
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
