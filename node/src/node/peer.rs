//! Peers: finds the header for a card, maps it, and checks whether its owner is alive.

use super::Inner;
use crate::card::{Address, Card, CardContent};
use crate::config::State;
use crate::error::Error;
use crate::header::{Header, MOST_REGIONS, Published};
use crate::places::{MappedRange, MappingKind, RangeId};
use crate::{Key, Rank};
use onenode_core::packed;
use onenode_core::sys::life::{self, Holder};
use onenode_core::sys::mutex;
use onenode_core::sys::peer::{self, Unreachable};
use onenode_core::sys::{fd, kept::IdentifiedFile, limit, maps, process};
use std::collections::BTreeMap;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// All known peers.
#[derive(Default)]
pub(super) struct Peers {
    known: BTreeMap<Rank, Arc<Peer>>,
    /// The rank for the next peer that is given without one.
    next: Rank,
}

/// A peer.
pub(super) struct Peer {
    rank: Rank,
    /// The content of its card. `None`: no card was given, but all ranks have one file.
    said: Option<CardContent>,
    found: Mutex<Found>,
}

impl Peer {
    /// Whether a card is this peer's.
    fn is_of(&self, said: &CardContent) -> bool {
        self.said.as_ref() == Some(said)
    }
}

/// A peer as this process has found it.
#[derive(Clone)]
enum Found {
    /// Not tried yet.
    Unknown,
    /// Its header, mapped here.
    Header(Arc<MappedHeader>),
    /// Its memory cannot be reached, for this reason.
    Elsewhere(&'static str),
}

/// A peer's header, mapped.
pub(super) struct MappedHeader {
    pub header: Header,
    rank: Rank,
    file: Source,
    /// The header's offset in the file.
    offset: u64,
    /// The first byte of the file after the peer's part.
    end: u64,
    /// The process, and where its header is.
    pub address: Address,
    token: Mutex<Option<RangeId>>,
    seen: Mutex<RegionIndex>,
}

/// How the file of a peer's header is reached.
enum Source {
    /// It is the file that all ranks have.
    Common,
    /// It is open, so that all of it can be mapped even when the peer has died.
    IdentifiedFile(IdentifiedFile),
    /// It is opened through the peer each time: its descriptor would be in the upper half of those that this
    /// process may have.
    Peer,
}

/// The file of a peer's header, open.
pub(super) enum OpenHeader<'r> {
    Borrowed(BorrowedFd<'r>),
    Own(OwnedFd),
}

impl AsFd for OpenHeader<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Borrowed(file) => *file,
            Self::Own(file) => file.as_fd(),
        }
    }
}

/// Where this process has found the peer's regions. The peer may have changed them since, so each is read again
/// in the header, and looked for if it is not there.
#[derive(Default)]
struct RegionIndex {
    /// The records of regions, by their first addresses.
    records: BTreeMap<usize, u32>,
    /// The record after the one found last. Regions are often looked for in the order in which they were made.
    next: u32,
}

impl MappedHeader {
    /// The file of the header.
    pub fn file<'r>(&'r self, node: &'r Inner) -> Result<OpenHeader<'r>, Error> {
        let Address { pid, descriptor, .. } = self.address;
        let peers = || std::iter::once(PathBuf::from(format!("/proc/{pid}/fd/{descriptor}")));
        Ok(match &self.file {
            Source::Common => OpenHeader::Borrowed(node.file()?),
            Source::IdentifiedFile(file) => OpenHeader::Borrowed(file.get(peers())?),
            Source::Peer => OpenHeader::Own(open(self.rank, &self.address)?),
        })
    }

    /// The region that has all of these addresses of the peer.
    pub fn region_at(&self, theirs: &Range<usize>) -> Option<Published> {
        let covers = |region: &Published| {
            region.start <= theirs.start && theirs.end <= region.start + region.bytes
        };
        let mut seen = mutex::lock(&self.seen);
        if let Some((&start, &record)) = seen.records.range(..=theirs.start).next_back() {
            if let Some(region) = self.header.region(record).filter(covers) {
                return Some(region);
            }
            seen.records.remove(&start);
        }
        self.look(&mut seen, covers)
    }

    /// The region with this key.
    pub fn region_of(&self, key: Key) -> Option<Published> {
        self.look(&mut mutex::lock(&self.seen), |region| region.key == key)
    }

    fn look(&self, seen: &mut RegionIndex, fits: impl Fn(&Published) -> bool) -> Option<Published> {
        let (record, region) = self.header.regions(seen.next).find(|(_, region)| fits(region))?;
        seen.next = record + 1;
        if seen.records.len() >= MOST_REGIONS as usize {
            // Mostly of regions that are no more.
            seen.records.clear();
        }
        seen.records.insert(region.start, record);
        Some(region)
    }

    /// The mark that distinguishes this header from earlier ones at the same place.
    pub fn mark(&self) -> u64 {
        self.address.mark
    }

    /// Whether a range of the file belongs to the peer.
    pub fn has(&self, offset: u64, bytes: u64) -> bool {
        let end = offset.checked_add(bytes);
        offset >= self.offset && end.is_some_and(|end| end <= self.end)
    }

    /// Who holds its sign of life.
    fn holder(&self, node: &Inner) -> Result<Holder, Error> {
        Ok(life::holder(self.file(node)?.as_fd(), self.offset)?)
    }

    /// The state of its owner.
    pub fn life(&self, node: &Inner) -> State {
        let Address { pid, started, inode, .. } = self.address;
        let lives = match self.holder(node) {
            Ok(holder) => holder != Holder::Nobody,
            // One of the two programs has closed the descriptor. Another program would not have it mapped.
            Err(_) => process::is_running(pid, started) && maps::has_file(pid, inode),
        };
        // Checked last: the header may have been closed meanwhile, or replaced by another node's.
        let left = self.header.is_closed() || self.header.owner().mark != self.mark();
        match (left, lives) {
            (true, _) => State::Left,
            (false, true) => State::Attached,
            (false, false) => State::Dead,
        }
    }
}

impl Inner {
    pub(super) fn know(&self, rank: Option<Rank>, card: &Card) -> Result<Rank, Error> {
        let said = card.read()?;
        let mut peers = mutex::lock(&self.peers);
        let same = |peer: &Arc<Peer>| peer.is_of(&said);
        let rank = match rank {
            Some(rank) => rank,
            None => {
                if let Some(known) = peers.known.values().find(|peer| same(peer)) {
                    return Ok(known.rank);
                }
                while peers.known.contains_key(&peers.next) || self.is_own(peers.next) {
                    peers.next += 1;
                }
                peers.next
            }
        };
        if self.is_own(rank) {
            if said.address.mark == self.address.mark {
                return Ok(rank);
            }
            return Err(Error::argument("card", "another process's", "this rank's own"));
        }
        if let Some(peer) = peers.known.get(&rank) {
            if same(peer) {
                return Ok(rank);
            }
            if let Found::Header(_) = *mutex::lock(&peer.found) {
                return Err(Error::argument(
                    "card",
                    format_args!("another one than before for rank {rank}"),
                    "that the rank is detached first",
                ));
            }
        }
        let common = self.stride.map(|_| self.address.inode);
        let found = match said.apart(&self.surroundings, common) {
            Some(why) => Found::Elsewhere(why),
            None => Found::Unknown,
        };
        let found = Mutex::new(found);
        peers.known.insert(rank, Arc::new(Peer { rank, said: Some(said), found }));
        self.settle(peers.known.len() + 1);
        Ok(rank)
    }

    pub(super) fn rank_of(&self, card: &Card) -> Result<Rank, Error> {
        let said = card.read()?;
        if said.address.mark == self.address.mark {
            return self.rank.ok_or(Error::Stranger);
        }
        let peers = mutex::lock(&self.peers);
        let of = |peer: &&Arc<Peer>| peer.is_of(&said);
        peers.known.values().find(of).map(|peer| peer.rank).ok_or(Error::Stranger)
    }

    fn peer(&self, rank: Rank) -> Result<Arc<Peer>, Error> {
        let mut peers = mutex::lock(&self.peers);
        if let Some(peer) = peers.known.get(&rank) {
            return Ok(peer.clone());
        }
        if self.common_place(rank).is_none() {
            return Err(Error::NoCard { rank });
        }
        let peer = Arc::new(Peer { rank, said: None, found: Mutex::new(Found::Unknown) });
        peers.known.insert(rank, peer.clone());
        Ok(peer)
    }

    /// Start and end of a rank's header in the file that all ranks have.
    fn common_place(&self, rank: Rank) -> Option<(u64, u64)> {
        let (stride, own) = (self.stride?, self.rank?);
        let first = self.address.offset - u64::from(own) * stride;
        let start = stride.checked_mul(u64::from(rank))?.checked_add(first)?;
        let end = start.checked_add(stride)?;
        (end <= fd::size(self.file().ok()?).ok()?).then_some((start, end))
    }

    /// The header of a rank; `None` if it is not made yet.
    pub(super) fn reach(&self, rank: Rank) -> Result<Option<Arc<MappedHeader>>, Error> {
        let peer = self.peer(rank)?;
        let mut found = mutex::lock(&peer.found);
        match &*found {
            Found::Header(reached) => return Ok(Some(reached.clone())),
            Found::Elsewhere(why) => return Err(Error::Elsewhere { rank, why }),
            Found::Unknown => {}
        }
        match self.find(&peer) {
            Ok(None) => Ok(None),
            Ok(Some(reached)) => {
                let here = reached.header.range();
                let place = MappedRange { here, rank, kind: MappingKind::Header, there: 0 };
                *mutex::lock(&reached.token) = Some(self.places.add(&place));
                let reached = Arc::new(reached);
                *found = Found::Header(reached.clone());
                Ok(Some(reached))
            }
            Err(Error::Elsewhere { rank, why }) => {
                *found = Found::Elsewhere(why);
                Err(Error::Elsewhere { rank, why })
            }
            Err(error) => Err(error),
        }
    }

    fn find(&self, peer: &Peer) -> Result<Option<MappedHeader>, Error> {
        let rank = peer.rank;
        let (file, offset, end) = match &peer.said {
            Some(said) if !said.address.common => {
                let file = open(rank, &said.address)?;
                let (offset, end) = (said.address.offset, fd::size(file.as_fd())?);
                (Some(file), offset, end)
            }
            _ => match self.common_place(rank) {
                Some((offset, end)) => (None, offset, end),
                None => return Err(Error::NoCard { rank }),
            },
        };
        let unlike = |what| Err(Error::Unlike { rank, what });
        let header = match &file {
            Some(file) => Header::find(file.as_fd(), offset, end.saturating_sub(offset))?,
            None => Header::find(self.file()?, offset, end - offset)?,
        };
        let header = match header {
            Some(header) => header,
            None if file.is_none() => return Ok(None),
            // A process that has made a card has a header.
            None => return unlike("there is nothing where its card says".into()),
        };
        if peer.said.is_none()
            && (header.is_closed() || life::holder(self.file()?, offset)? == Holder::Nobody)
        {
            // It belongs to an earlier process of that rank.
            return Ok(None);
        }
        let owner = header.owner();
        if peer.said.is_some_and(|said| said.address.mark != owner.mark) {
            // The card is from an earlier node at the same place.
            return Err(Error::Left { rank });
        }
        if let (Some(theirs), Some(_)) = (owner.rank.filter(|theirs| *theirs != rank), self.rank) {
            return unlike(format!("its card is that of rank {theirs}"));
        }
        if owner.backend != packed::word(self.backend.name().as_bytes()) {
            let (theirs, ours) = (packed::name([owner.backend]), self.backend.name());
            return unlike(format!("its backend is {theirs}, here it is {ours}"));
        }
        let address = match peer.said {
            Some(said) => said.address,
            None => Address {
                pid: owner.pid,
                started: owner.started,
                mark: owner.mark,
                offset,
                ..self.address
            },
        };
        let file = match file {
            None => Source::Common,
            Some(file) if file.as_raw_fd() as u64 >= limit::open_files() / 2 => Source::Peer,
            Some(file) => Source::IdentifiedFile(IdentifiedFile::new(file)?),
        };
        Ok(Some(MappedHeader {
            header,
            rank,
            file,
            offset,
            end,
            address,
            token: Mutex::default(),
            seen: Mutex::default(),
        }))
    }

    /// Waits for the header of a rank.
    pub(super) fn await_header(
        &self,
        rank: Rank,
        deadline: Option<Instant>,
    ) -> Result<Arc<MappedHeader>, Error> {
        let mut pause = self.wait_for(rank, deadline);
        loop {
            if let Some(reached) = self.reach(rank)? {
                return Ok(reached);
            }
            pause.step()?;
        }
    }

    pub(super) fn state(&self, rank: Rank) -> State {
        if self.is_own(rank) {
            return State::Attached;
        }
        let Some(peer) = mutex::lock(&self.peers).known.get(&rank).cloned() else {
            return State::Unknown;
        };
        let found = mutex::lock(&peer.found).clone();
        match found {
            Found::Unknown => State::Here,
            Found::Elsewhere(_) => State::Elsewhere,
            Found::Header(reached) => reached.life(self),
        }
    }

    pub(super) fn forget(&self, rank: Rank) -> Result<(), Error> {
        let peer = mutex::lock(&self.peers).known.remove(&rank).ok_or(Error::NoCard { rank })?;
        if let Found::Header(reached) = &*mutex::lock(&peer.found) {
            if let Some(token) = mutex::lock(&reached.token).take() {
                self.places.remove(&token);
            }
        }
        Ok(())
    }

    /// The number of known ranks, and of those whose header is mapped.
    pub(super) fn known(&self) -> (usize, usize) {
        let peers = mutex::lock(&self.peers);
        let is_mapped = |peer: &&Arc<Peer>| matches!(*mutex::lock(&peer.found), Found::Header(_));
        (peers.known.len(), peers.known.values().filter(is_mapped).count())
    }
}

/// Opens a file of a peer. The file must be sealed.
pub(super) fn open(rank: Rank, address: &Address) -> Result<OwnedFd, Error> {
    let Address { pid, started, descriptor, inode, .. } = *address;
    match peer::open(pid, descriptor, inode) {
        Ok(file) => Ok(file),
        Err(Unreachable::Refused) => {
            Err(Error::Elsewhere { rank, why: "the system does not let its files be opened" })
        }
        Err(Unreachable::Gone) if process::is_running(pid, started) => Err(Error::Left { rank }),
        Err(Unreachable::Gone) => Err(Error::Died { rank }),
        Err(Unreachable::Unsealed) => Err(Error::Unlike {
            rank,
            what: "its memory is a file that can shrink, or another user's".into(),
        }),
        Err(Unreachable::System(error)) => Err(error.into()),
    }
}
