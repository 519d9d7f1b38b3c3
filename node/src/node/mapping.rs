//! Maps any range of a peer's regions by the peer's own addresses. Whole pieces are mapped and kept
//! for a while, so a later request for the same or a nearby range gets the same mapping.

use super::attached::Attached;
use super::peer::MappedHeader;
use super::{Inner, Node};
use crate::Rank;
use crate::error::{Error, Scope};
use crate::header::Published;
use crate::places::{MappedRange, MappingKind, RangeId};
use onenode_core::layout::HUGE;
use onenode_core::pages::Pages;
use onenode_core::sys::mutex;
use std::collections::{BTreeMap, VecDeque};
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

/// The mapped pieces.
#[derive(Default)]
pub(super) struct Pieces(Mutex<PieceCache>);

/// The pieces that requests find.
#[derive(Default)]
struct PieceCache {
    /// No piece of a region contains another one. So their ends are in the order of their starts, and of those
    /// that start before an address the last one reaches furthest.
    all: BTreeMap<PieceKey, Arc<Piece>>,
    /// The pieces that nobody uses any more, the longest unused first: at most [`IDLE`].
    idle: VecDeque<PieceKey>,
}

/// The rank whose region a piece is part of, and the piece's first address at that rank.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PieceKey {
    rank: Rank,
    /// The header's mark: distinguishes processes that have had the same rank.
    mark: u64,
    region: Published,
    start: usize,
}

struct Piece {
    name: PieceKey,
    /// The range in the peer's address space.
    theirs: Range<usize>,
    /// Where its first byte is mapped here.
    here: usize,
    token: RangeId,
    _attached: Attached,
}

impl PieceCache {
    /// The piece that has all of `theirs`, for use. `name` is that of a piece that starts there.
    fn covering(&mut self, name: &PieceKey, theirs: &Range<usize>) -> Option<Arc<Piece>> {
        let (found, piece) = self.all.range(..=*name).next_back()?;
        let same = PieceKey { start: name.start, ..*found } == *name;
        let piece = (same && theirs.end <= piece.theirs.end).then(|| piece.clone())?;
        // The last to come is often the first to go.
        if let Some(at) = self.idle.iter().rposition(|idle| *idle == piece.name) {
            self.idle.remove(at);
        }
        Some(piece)
    }

    /// Keeps a piece that no other contains, and no longer those that it contains. Returns those of them that
    /// nobody uses.
    fn add(&mut self, piece: &Arc<Piece>) -> Vec<Arc<Piece>> {
        let last = PieceKey { start: piece.theirs.end, ..piece.name };
        let later = self.all.range(piece.name..last);
        let inside = later.take_while(|(_, other)| other.theirs.end <= piece.theirs.end);
        let inside: Vec<PieceKey> = inside.map(|(name, _)| *name).collect();
        self.idle.retain(|idle| !inside.contains(idle));
        let gone = inside.iter().filter_map(|name| self.all.remove(name));
        let gone = gone.filter(|piece| Arc::strong_count(piece) == 1).collect();
        self.all.insert(piece.name, piece.clone());
        gone
    }

    /// Takes back a piece. Returns the one that goes, if one does.
    fn let_go(&mut self, piece: Arc<Piece>) -> Option<Arc<Piece>> {
        let is_kept = self.all.get(&piece.name).is_some_and(|kept| Arc::ptr_eq(kept, &piece));
        let others = Arc::strong_count(&piece) - 1 - usize::from(is_kept);
        if others > 0 {
            return None;
        }
        if !is_kept {
            return Some(piece);
        }
        self.idle.push_back(piece.name);
        if self.idle.len() <= IDLE {
            return None;
        }
        let oldest = self.idle.pop_front()?;
        self.all.remove(&oldest)
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
        let lost = || Error::NotMapped { of: Scope::Rank(rank), start: theirs.start, bytes };
        if bytes == 0 {
            return Err(lost());
        }
        if node.is_own(rank) {
            let region = mutex::lock(&node.regions).of(theirs.start);
            let mine = region.is_some_and(|region| theirs.end <= region.range().end);
            let mapping = || Mapping { range: theirs.clone(), piece: None, node: node.clone() };
            return mine.then(mapping).ok_or_else(lost);
        }
        let peer = node.reach(rank)?.ok_or(Error::NoCard { rank })?;
        let region = peer.region_at(&theirs).ok_or_else(lost)?;
        let name = PieceKey { rank, mark: peer.mark(), region, start: theirs.start };
        let mut kept = mutex::lock(&node.pieces.0);
        let piece = match kept.covering(&name, &theirs) {
            Some(piece) => piece,
            None => {
                let piece = Arc::new(node.piece((rank, &peer), &region, &theirs)?);
                kept.add(&piece).iter().for_each(|gone| node.places.remove(&gone.token));
                piece
            }
        };
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
        (rank, peer): (Rank, &MappedHeader),
        region: &Published,
        theirs: &Range<usize>,
    ) -> Result<Piece, Error> {
        let unit = Pages::from_word(region.pages).size().max(HUGE);
        let start = (theirs.start / PIECE * PIECE).max(region.start);
        let end = theirs.end.next_multiple_of(PIECE).min(region.start + region.bytes);
        let mut attached = Attached::reserve((end - start).next_multiple_of(unit) + 3 * unit)?;
        let here = (attached.range().start + unit).next_multiple_of(unit) + start % unit;
        attached.map(self, (rank, peer), region, &(start..end), here)?;
        let token = self.places.add(&MappedRange {
            here: here..here + (end - start),
            rank,
            kind: MappingKind::Region(region.key),
            there: start,
        });
        let name = PieceKey { rank, mark: peer.mark(), region: *region, start };
        Ok(Piece { name, theirs: start..end, here, token, _attached: attached })
    }

    fn let_go(&self, piece: Arc<Piece>) {
        if let Some(gone) = mutex::lock(&self.pieces.0).let_go(piece) {
            self.places.remove(&gone.token);
        }
    }

    /// Drops the pieces of a rank that is being detached, so that no request finds them again.
    pub(super) fn forget_pieces(&self, rank: Rank) {
        let mut kept = mutex::lock(&self.pieces.0);
        kept.idle.retain(|name| name.rank != rank);
        kept.all.retain(|name, piece| {
            if name.rank == rank && Arc::strong_count(piece) == 1 {
                self.places.remove(&piece.token);
            }
            name.rank != rank
        });
    }

    /// The number of bytes mapped in the pieces that requests find.
    pub(super) fn in_pieces(&self) -> usize {
        mutex::lock(&self.pieces.0).all.values().map(|piece| piece.theirs.len()).sum()
    }
}
