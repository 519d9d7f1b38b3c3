//! Maps any range of a peer's regions by the peer's own addresses. Whole pieces are mapped and kept
//! for a while, so a later request for the same or a nearby range gets the same mapping.

use super::attached::Attached;
use super::peer::Reached;
use super::{Inner, Node};
use crate::Rank;
use crate::error::{Error, Whose};
use crate::header::Published;
use crate::places::{MappingKind, Place, Token};
use onenode_core::layout::HUGE;
use onenode_core::pages::Pages;
use onenode_core::sys::mutex;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// The unit of mappings: pieces start at multiples of this in the peer's address space and end at
/// the region's end at the latest.
const PIECE: usize = 2 << 20;
/// How many unused pieces are kept.
const IDLE: usize = 64;

/// A range of a peer's memory, mapped here as long as this value lives.
pub struct Mapping {
    /// The range in this process.
    range: Range<usize>,
    /// The piece that contains it. `None`: this process's own memory.
    piece: Option<Arc<Piece>>,
    node: Arc<Inner>,
}

/// The mapped pieces, in the order of their last use.
#[derive(Default)]
pub(super) struct Pieces(Mutex<Vec<Arc<Piece>>>);

struct Piece {
    rank: Rank,
    /// The header's mark: distinguishes processes that have had the same rank.
    mark: u64,
    region: Published,
    /// The range in the peer's address space.
    theirs: Range<usize>,
    /// Where its first byte is mapped here.
    here: usize,
    token: Token,
    _attached: Attached,
}

impl Piece {
    fn has(&self, (rank, mark): (Rank, u64), region: &Published, theirs: &Range<usize>) -> bool {
        let covers = self.theirs.start <= theirs.start && theirs.end <= self.theirs.end;
        (self.rank, self.mark) == (rank, mark) && self.region == *region && covers
    }
}

impl Node {
    /// Maps `theirs`, a range of one of the rank's regions by the rank's own addresses. Does not
    /// wait for the rank.
    ///
    /// # Errors
    /// [`Error::NotMapped`] if no region of the rank contains the whole range; [`Error::NoCard`],
    /// [`Error::Elsewhere`]; [`Error::Died`] or [`Error::Left`] if the rank ended or left before it
    /// was attached.
    pub fn map(&self, rank: Rank, theirs: Range<usize>) -> Result<Mapping, Error> {
        let node = &self.0;
        node.check()?;
        let bytes = theirs.end.saturating_sub(theirs.start);
        let lost = || Error::NotMapped { of: Whose::Rank(rank), start: theirs.start, bytes };
        let covers = |region: &Published| {
            region.start <= theirs.start && theirs.end <= region.start + region.bytes && bytes > 0
        };
        if node.is_own(rank) {
            let regions = mutex::lock(&node.regions);
            let mine = regions.all().any(|owned| covers(&owned.published));
            let mapping = || Mapping { range: theirs.clone(), piece: None, node: node.clone() };
            return mine.then(mapping).ok_or_else(lost);
        }
        let peer = node.reach(rank)?.ok_or(Error::NoCard { rank })?;
        let region = peer.header.regions().find(covers).ok_or_else(lost)?;
        let mut pieces = mutex::lock(&node.pieces.0);
        let piece =
            match pieces.iter().rposition(|piece| piece.has((rank, peer.mark()), &region, &theirs))
            {
                Some(index) => pieces.remove(index),
                None => Arc::new(node.piece((rank, &peer), &region, &theirs)?),
            };
        pieces.push(piece.clone());
        node.trim(&mut pieces);
        let start = theirs.start - piece.theirs.start + piece.here;
        Ok(Mapping { range: start..start + bytes, piece: Some(piece), node: node.clone() })
    }
}

impl Mapping {
    /// The range's addresses in this process.
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// Its first address.
    pub fn address(&self) -> usize {
        self.range.start
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        if self.node.is_child() {
            std::mem::forget((self.piece.clone(), self.node.clone()));
        } else if let Some(piece) = self.piece.take() {
            self.node.let_go(piece);
        }
    }
}

impl Inner {
    fn piece(
        &self,
        (rank, peer): (Rank, &Reached),
        region: &Published,
        theirs: &Range<usize>,
    ) -> Result<Piece, Error> {
        let mark = peer.mark();
        let unit = Pages::from_word(region.pages).size().max(HUGE);
        let start = (theirs.start / PIECE * PIECE).max(region.start);
        let end = theirs.end.next_multiple_of(PIECE).min(region.start + region.bytes);
        let mut attached = Attached::reserve((end - start).next_multiple_of(unit) + 3 * unit)?;
        let here = (attached.range().start + unit).next_multiple_of(unit) + start % unit;
        attached.map(self, (rank, peer), region, &(start..end), here)?;
        let token = self.places.add(&Place {
            here: here..here + (end - start),
            rank,
            kind: MappingKind::Region(region.key),
            there: start,
        });
        Ok(Piece {
            rank,
            region: *region,
            theirs: start..end,
            here,
            token,
            _attached: attached,
            mark,
        })
    }

    /// Unmaps the pieces that have been unused for the longest time, if more than [`IDLE`] are
    /// kept.
    fn trim(&self, pieces: &mut Vec<Arc<Piece>>) {
        let mut idle = pieces.iter().filter(|piece| Arc::strong_count(piece) == 1).count();
        pieces.retain(|piece| {
            let goes = idle > IDLE && Arc::strong_count(piece) == 1;
            idle -= usize::from(goes);
            if goes {
                self.places.remove(&piece.token);
            }
            !goes
        });
    }

    fn let_go(&self, piece: Arc<Piece>) {
        let mut pieces = mutex::lock(&self.pieces.0);
        if Arc::strong_count(&piece) == 1 {
            // The rank was detached meanwhile.
            self.places.remove(&piece.token);
        }
        drop(piece);
        self.trim(&mut pieces);
    }

    /// Drops the pieces of a rank that is being detached, so that no request finds them again.
    pub(super) fn forget_pieces(&self, rank: Rank) {
        mutex::lock(&self.pieces.0).retain(|piece| {
            if piece.rank == rank && Arc::strong_count(piece) == 1 {
                self.places.remove(&piece.token);
            }
            piece.rank != rank
        });
    }

    /// The number of bytes mapped in pieces.
    pub(super) fn in_pieces(&self) -> usize {
        mutex::lock(&self.pieces.0).iter().map(|piece| piece.theirs.len()).sum()
    }
}
