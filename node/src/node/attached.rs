//! Mappings of a peer's memory within a reservation.
#![allow(unsafe_code)]

use super::peer::{self, MappedHeader, OpenHeader};
use super::{Inner, Node};
use crate::Rank;
use crate::card::Address;
use crate::error::Error;
use crate::header::{MemoryLocation, Published};
use onenode_core::backend::{BackendResource, Naming, Segment};
use onenode_core::pages::Pages;
use onenode_core::sys::fd;
use onenode_core::sys::map::OwnMapping;
use std::ops::Range;
use std::os::fd::AsFd;

impl Node {
    /// Unmaps a rank's memory and forgets its card.
    ///
    /// # Safety
    /// No thread uses the rank's memory or the client's part of its header.
    ///
    /// # Errors
    /// [`Error::Argument`] for this process's own rank; [`Error::NoCard`].
    pub unsafe fn detach(&self, rank: Rank) -> Result<(), Error> {
        self.0.check()?;
        self.0.detach(rank)
    }
}

/// Mappings of a peer's memory, with the reservation that they are in, which ends last. Whoever drops
/// them guarantees that nobody uses them.
pub(super) struct Attached {
    segments: Vec<BackendResource>,
    reserved: OwnMapping,
}

impl Attached {
    /// Reserves address space for mappings.
    pub fn reserve(bytes: usize) -> Result<Self, onenode_core::Error> {
        Ok(Self { segments: Vec::new(), reserved: OwnMapping::reserve(bytes)? })
    }

    pub fn range(&self) -> &Range<usize> {
        self.reserved.range()
    }

    /// Maps `part` of a peer's region, given in the peer's addresses, so that its first byte is at
    /// `here`. Both addresses have the same remainder modulo the region's page size.
    pub fn map(
        &mut self,
        node: &Inner,
        (rank, peer): (Rank, &MappedHeader),
        region: &Published,
        part: &Range<usize>,
        here: usize,
    ) -> Result<(), Error> {
        let unlike = |what: &str| Err(Error::Unlike { rank, what: what.into() });
        let pages = Pages::from_word(region.pages);
        let down = |address: usize| address / pages.size() * pages.size();
        let whole = down(part.start)..part.end.next_multiple_of(pages.size());
        let start = here - (part.start - whole.start);
        let at = self.reserved.part(start..start + whole.len());
        let skip = whole.start - down(region.start);
        // How much the file must hold. The last page may be incomplete.
        let end = |offset: u64| offset.checked_add((part.end - down(region.start)) as u64);
        let file;
        let segment = match region.place {
            MemoryLocation::Header(offset) => {
                if !end(offset).is_some_and(|end| peer.has(offset, end - offset)) {
                    return unlike("its region's memory is not in its file");
                }
                file = peer.file(node)?;
                Segment::File((file.as_fd().into(), offset + skip as u64))
            }
            MemoryLocation::File { descriptor, inode, offset } => {
                let address = Address { descriptor, inode, ..peer.address };
                file = match peer::open(rank, &address) {
                    Err(Error::Left { .. }) => {
                        return unlike("its region's file is no longer open");
                    }
                    file => OpenHeader::Own(file?),
                };
                let size = fd::size(file.as_fd())?;
                if end(offset).is_none_or(|end| end > size) {
                    return unlike("its region's memory is not in its file");
                }
                Segment::File((file.as_fd().into(), offset + skip as u64))
            }
            MemoryLocation::Segment(_) if node.backend.naming() == Naming::File => {
                return unlike("its region is one of xpmem");
            }
            MemoryLocation::Segment(number) => Segment::Number(number, skip),
        };
        // SAFETY: nothing else is done with this part of the reservation, which is dropped after what is
        // attached there.
        let attached = unsafe { node.backend.attach(&at, pages, segment)? };
        self.segments.extend(attached);
        Ok(())
    }
}
