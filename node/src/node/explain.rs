//! Explains a faulting address. Runs in the client's signal handler, so it allocates nothing and
//! takes no lock.

use super::Node;
use crate::Rank;
use crate::places::{MappedRange, MappingKind};
use onenode_core::text::whole_characters;
use std::fmt::{self, Write};

/// Nothing is ever mapped below this (`vm.mmap_min_addr`).
const NULL_PAGE: usize = 64 << 10;

/// Text in the caller's memory. Text that does not fit is cut.
struct TextBuffer<'t> {
    bytes: &'t mut [u8],
    used: usize,
}

impl Write for TextBuffer<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = &mut self.bytes[self.used..];
        let fits = whole_characters(text, room.len());
        room[..fits].copy_from_slice(&text.as_bytes()[..fits]);
        self.used += fits;
        Ok(())
    }
}

impl Node {
    /// Writes one sentence, without a newline, that explains a fault at `address` into `text`.
    /// Returns the number of bytes written; 0 if the address does not belong to this node. Safe in
    /// a signal handler.
    pub fn explain(&self, address: usize, text: &mut [u8]) -> usize {
        let mut line = TextBuffer { bytes: text, used: 0 };
        // A null pointer first: its translation may lie in the place of another rank.
        if let Some((rank, own)) = self.null(address) {
            let _ = write!(
                line,
                "fault at {address:#x}: a null pointer ({own:#x}) was translated for rank {rank}"
            );
            return line.used;
        }
        let Some(place) = self.0.places.find(address) else { return 0 };
        let MappedRange { here, rank, kind, there } = place;
        let offset = address - here.start;
        let _ = match kind {
            MappingKind::Region(key) => write!(
                line,
                "fault at {address:#x}: {:#x} of rank {rank}, in its region {:#x}, cannot be \
                 reached: the memory is gone, or there is none left to make it of",
                there.wrapping_add(offset),
                key.0
            ),
            MappingKind::View => write!(
                line,
                "fault at {address:#x}: {:#x} of this process was translated for rank {rank}, and \
                 is in no region of the view, or a copy ran over a region's end",
                there.wrapping_add(offset)
            ),
            MappingKind::Header => write!(
                line,
                "fault at {address:#x}: the header of rank {rank} cannot be reached: there is no \
                 memory left to make it of"
            ),
        };
        line.used
    }

    /// The rank for which a null pointer, or a number close to it, was translated to this address,
    /// and that number.
    fn null(&self, address: usize) -> Option<(Rank, usize)> {
        let views = self.0.places.all().filter(|place| place.kind == MappingKind::View);
        let mut numbers = views.map(|place| {
            (place.rank, address.wrapping_sub(place.here.start).wrapping_add(place.there))
        });
        numbers.find(|(_, own)| *own < NULL_PAGE)
    }
}
