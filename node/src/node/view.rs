//! Regions that are translated together. Wherever a peer has them, their mappings here have the
//! same distances as this process's own regions, so one addition translates an address of this
//! process into that of any rank's mapping.
//!
//! ```text
//!  own:   |-[a]-----[b]--|     rank's own: [b] ... [a]     here, for the rank: |-[a']-----[b']--|
//!         ^origin                                                              ^base
//! ```
use super::attached::Attached;
use super::peer::MappedHeader;
use super::regions::unknown;
use super::{Inner, Node, deadline};
use crate::error::{Error, Scope};
use crate::header::Published;
use crate::places::{MappedRange, MappingKind, RangeId};
use crate::table::{Bounds, Entries, Entry};
use crate::{Key, Rank};
use onenode_core::Error::NoRoom;
use onenode_core::layout::HUGE;
use onenode_core::pages::Pages;
use onenode_core::sys::mutex;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The maximum distance from a view's first byte to its last.
const MOST: usize = 1 << 41;

/// Regions that are translated together. Closed when dropped.
pub struct View {
    core: Arc<Core>,
    node: Arc<Inner>,
}

pub(super) struct Core {
    /// In the order of their addresses.
    parts: Vec<ViewRegion>,
    pieces: Vec<Range<usize>>,
    table: Box<dyn Entries>,
    mirrors: Mutex<Mirrors>,
}

/// The attached ranks.
#[derive(Default)]
struct Mirrors {
    ranks: BTreeMap<Rank, Mirror>,
    /// The view is closed, and its table belongs to the client again.
    closed: bool,
}

/// One of a view's regions.
struct ViewRegion {
    key: Key,
    own: Range<usize>,
    image: u64,
}

/// A view's regions of one rank, mapped here.
struct Mirror {
    base: usize,
    /// Where the rank has the regions, in the order of the parts.
    starts: Vec<usize>,
    tokens: Vec<RangeId>,
    /// Detached before the reservation is freed.
    attached: Attached,
}

impl Node {
    /// Opens a view of these regions of this process. Through `table`, this process itself can be
    /// reached at once, and other ranks once they are attached.
    ///
    /// # Errors
    /// [`Error::Argument`] for a key that no region has, a region whose memory has been unmapped or
    /// replaced, or a table that another view has;
    /// [`Error::NoWay`] if the regions are further apart than 2 TiB: use two views then.
    pub fn view<T: Entries + 'static>(&self, keys: &[Key], table: T) -> Result<View, Error> {
        let node = &*self.0;
        node.check()?;
        if keys.is_empty() {
            return Err(Error::argument("keys", "none", "a region's key at least"));
        }
        let regions = mutex::lock(&node.regions);
        let mut parts = Vec::with_capacity(keys.len());
        for key in keys {
            let owned = regions.get(*key).ok_or_else(|| unknown(*key))?;
            node.check_mapped(owned)?;
            let (own, image) = (owned.region.range(), owned.published.image);
            parts.push(ViewRegion { key: *key, own, image });
        }
        parts.sort_by_key(|part| part.own.start);
        if let Some(two) = parts.windows(2).find(|two| two[0].own.end > two[1].own.start) {
            let value = format!("{:#x} and {:#x}", two[0].key.0, two[1].key.0);
            return Err(Error::argument(
                "keys",
                value,
                "regions that do not overlap: each key once",
            ));
        }
        let pieces: Vec<_> = parts.iter().map(|part| part.own.clone()).collect();
        let core = Core { parts, pieces, table: Box::new(table), mirrors: Mutex::default() };
        let bounds = core.bounds();
        if bounds.span > MOST {
            return Err(Error::NoWay(format!(
                "the regions lie {} bytes apart, and a view can have {MOST} at most: open two views",
                bounds.span
            )));
        }
        core.table.publish(&bounds)?;
        if let Some(rank) = node.rank {
            core.table.open(rank, &core.entry(bounds.origin, bounds.origin));
        }
        let core = Arc::new(core);
        let mut views = mutex::lock(&node.views);
        views.retain(|view| view.strong_count() > 0);
        views.push(Arc::downgrade(&core));
        Ok(View { core, node: self.0.clone() })
    }
}

impl View {
    /// The address at which `rank`'s copy of `own`, an address of this process in the view, is
    /// mapped here. It is exact, and available even if the table has no room for the rank. Attaches
    /// the rank if necessary; that waits until the rank has these regions, without a time limit
    /// ([`Node::attach`] has one).
    ///
    /// # Errors
    /// [`Error::NotMapped`] if the address is in none of the regions; otherwise as for
    /// [`Node::attach`].
    pub fn resolve(&self, own: usize, rank: Rank) -> Result<usize, Error> {
        self.node.check()?;
        self.check(own, 1)?;
        self.address(own, rank, deadline(Duration::MAX))
    }

    /// As [`resolve`](Self::resolve), for an address that was checked already, in the process that
    /// opened the node, and with a deadline.
    pub(super) fn address(
        &self,
        own: usize,
        rank: Rank,
        deadline: Option<Instant>,
    ) -> Result<usize, Error> {
        if self.node.is_own(rank) {
            return Ok(own);
        }
        let base = self.core.attach(&self.node, rank, deadline)?;
        Ok(own - self.core.origin() + base)
    }

    /// Fails unless all these bytes of this process are in one region.
    pub(super) fn check(&self, own: usize, bytes: usize) -> Result<(), Error> {
        let holds = |piece: &Range<usize>| piece.contains(&own) && bytes <= piece.end - own;
        if self.core.pieces.iter().any(holds) {
            return Ok(());
        }
        Err(Error::NotMapped { of: Scope::View, start: own, bytes })
    }

    /// The address in this process that corresponds to `theirs`, an address in the rank's own
    /// address space.
    ///
    /// # Errors
    /// [`Error::NotMapped`] if the rank has it in none of the regions; otherwise as for
    /// [`resolve`](Self::resolve).
    pub fn own(&self, theirs: usize, rank: Rank) -> Result<usize, Error> {
        self.node.check()?;
        if self.node.is_own(rank) {
            return self.resolve(theirs, rank);
        }
        self.core.attach(&self.node, rank, deadline(Duration::MAX))?;
        let lost = Error::NotMapped { of: Scope::Rank(rank), start: theirs, bytes: 1 };
        let mirrors = mutex::lock(&self.core.mirrors);
        let Some(mirror) = mirrors.ranks.get(&rank) else { return Err(lost) };
        let pairs = self.core.pieces.iter().zip(&mirror.starts);
        let found = pairs.map(|(own, start)| (own, theirs.wrapping_sub(*start)));
        let mut found = found.filter(|(own, offset)| *offset < own.len());
        found.next().map(|(own, offset)| own.start + offset).ok_or(lost)
    }

    /// Where the regions are.
    pub fn bounds(&self) -> Bounds<'_> {
        self.core.bounds()
    }
}

impl Drop for View {
    fn drop(&mut self) {
        if self.node.is_child() {
            std::mem::forget((self.core.clone(), self.node.clone()));
            return;
        }
        let own = Arc::as_ptr(&self.core);
        mutex::lock(&self.node.views).retain(|view| view.as_ptr() != own);
        let mut mirrors = mutex::lock(&self.core.mirrors);
        self.core.table.close();
        mirrors.closed = true;
        for mirror in std::mem::take(&mut mirrors.ranks).into_values() {
            mirror.tokens.into_iter().for_each(|token| self.node.places.remove(&token));
        }
    }
}

/// The outcome of an attempt to attach a rank.
enum AttachStep {
    Done(usize),
    /// The rank does not have all the regions yet.
    Missing,
}

impl Core {
    fn origin(&self) -> usize {
        self.pieces[0].start
    }

    fn bounds(&self) -> Bounds<'_> {
        let (origin, pieces) = (self.origin(), &self.pieces[..]);
        Bounds { origin, span: pieces[pieces.len() - 1].end - origin, pieces }
    }

    fn entry(&self, base: usize, start: usize) -> Entry {
        Entry { span: self.bounds().span, base, start }
    }

    pub fn has(&self, key: Key) -> bool {
        self.parts.iter().any(|part| part.key == key)
    }

    /// The number of regions.
    pub fn regions(&self) -> usize {
        self.parts.len()
    }

    /// The number of ranks whose regions are mapped, and the number of mapped bytes.
    pub fn mapped(&self) -> (usize, usize) {
        let bytes: usize = self.pieces.iter().map(ExactSizeIterator::len).sum();
        let ranks = mutex::lock(&self.mirrors).ranks.len();
        (ranks, ranks * bytes)
    }

    /// The base of a rank's mirror. Waits until the rank has the regions.
    pub fn attach(
        &self,
        node: &Inner,
        rank: Rank,
        deadline: Option<Instant>,
    ) -> Result<usize, Error> {
        if let Some(mirror) = mutex::lock(&self.mirrors).ranks.get(&rank) {
            return Ok(mirror.base);
        }
        let peer = node.await_header(rank, deadline)?;
        let mut pause = node.wait_for(rank, deadline);
        loop {
            match self.try_attach(node, rank, &peer)? {
                AttachStep::Done(base) => return Ok(base),
                AttachStep::Missing => pause.step()?,
            }
        }
    }

    fn try_attach(
        &self,
        node: &Inner,
        rank: Rank,
        peer: &MappedHeader,
    ) -> Result<AttachStep, Error> {
        let mut theirs = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let Some(region) = peer.region_of(part.key) else {
                return Ok(AttachStep::Missing);
            };
            part.check(rank, &region)?;
            theirs.push(region);
        }
        let mut mirrors = mutex::lock(&self.mirrors);
        if let Some(mirror) = mirrors.ranks.get(&rank) {
            return Ok(AttachStep::Done(mirror.base));
        }
        if mirrors.closed {
            // Closed by another thread while this one was attaching the rank in all views.
            return Ok(AttachStep::Done(0));
        }
        let mirror = self.map(node, (rank, peer), &theirs)?;
        let base = mirror.base;
        self.table.open(rank, &self.entry(base, mirror.starts[0]));
        mirrors.ranks.insert(rank, mirror);
        Ok(AttachStep::Done(base))
    }

    /// Maps the regions of a rank, which match this process's own.
    fn map(
        &self,
        node: &Inner,
        (rank, peer): (Rank, &MappedHeader),
        theirs: &[Published],
    ) -> Result<Mirror, Error> {
        let (origin, span) = (self.origin(), self.bounds().span);
        let pairs = || self.parts.iter().zip(theirs);
        let size = |region: &Published| Pages::from_word(region.pages).size();
        // Addresses have equal remainders at the rank and here: for the region with the largest
        // pages, if they differ.
        let unit = theirs.iter().map(size).max().unwrap_or(HUGE).max(HUGE);
        let Some((leader, region)) = pairs().max_by_key(|(_, region)| size(region)) else {
            return Err(Error::NoWay("the view has no regions".into()));
        };
        let remainder = region.start.wrapping_sub(leader.own.start).wrapping_add(origin) % unit;
        let mut attached = Attached::reserve(span.next_multiple_of(unit) + 3 * unit)
            .map_err(|why| NoRoom { peers: 1, bytes: span, why: Box::new(why) })?;
        let base = (attached.range().start + unit).next_multiple_of(unit) + remainder;
        let mut tokens = Tokens { node, tokens: Vec::new() };
        tokens.add(
            attached.range().clone(),
            rank,
            MappingKind::View,
            origin.wrapping_sub(base - attached.range().start),
        );
        for (part, region) in pairs() {
            let at = base + (part.own.start - origin);
            let unit = size(region);
            if at % unit != region.start % unit {
                return Err(Error::Unlike {
                    rank,
                    what: format!(
                        "its region {:#x} is at {:#x}, here at {:#x}: within a page of {unit} bytes \
                         that is another place, and the view has other regions, too",
                        part.key.0, region.start, part.own.start
                    ),
                });
            }
            let whole = region.start..region.start + region.bytes;
            attached.map(node, (rank, peer), region, &whole, at)?;
            tokens.add(at..at + region.bytes, rank, MappingKind::Region(part.key), region.start);
        }
        let starts = theirs.iter().map(|region| region.start).collect();
        Ok(Mirror { base, starts, tokens: tokens.keep(), attached })
    }

    pub fn detach(&self, node: &Inner, rank: Rank) {
        if let Some(mirror) = mutex::lock(&self.mirrors).ranks.remove(&rank) {
            self.table.shut(rank);
            mirror.tokens.into_iter().for_each(|token| node.places.remove(&token));
            drop(mirror.attached);
        }
    }
}

impl ViewRegion {
    /// Fails unless a rank's region of the same key matches this one.
    fn check(&self, rank: Rank, theirs: &Published) -> Result<(), Error> {
        let unlike = |what| Err(Error::Unlike { rank, what });
        let (key, bytes) = (self.key.0, self.own.len());
        if theirs.bytes != bytes {
            let other = theirs.bytes;
            return unlike(format!("its region {key:#x} has {other} bytes, here it has {bytes}"));
        }
        if theirs.image != self.image {
            let (other, own) = (theirs.image, self.image);
            return unlike(format!(
                "its region {key:#x} is the data of another program (layout {other:#x}, here {own:#x})"
            ));
        }
        Ok(())
    }
}

/// Places that are removed again on drop, unless they are kept.
struct Tokens<'n> {
    node: &'n Inner,
    tokens: Vec<RangeId>,
}

impl Tokens<'_> {
    fn add(&mut self, here: Range<usize>, rank: Rank, kind: MappingKind, there: usize) {
        self.tokens.push(self.node.places.add(&MappedRange { here, rank, kind, there }));
    }

    fn keep(mut self) -> Vec<RangeId> {
        std::mem::take(&mut self.tokens)
    }
}

impl Drop for Tokens<'_> {
    fn drop(&mut self) {
        self.tokens.drain(..).for_each(|token| self.node.places.remove(&token));
    }
}
