//! This process among its peers, for one client. Several nodes can be open at a time; they share
//! nothing.
//!
//! Two ranks, here in one process. Usually there are two processes, which exchange their cards:
//!
//! ```
//! use onenode::{BackendChoice, Config, HeapTable, Key, Node, Pages};
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! let open = |rank| {
//!     Node::open(Config { rank: Some(rank), backend: BackendChoice::Memfd, ..Config::default() })
//! };
//! let (a, b) = (open(0)?, open(1)?);
//! a.know(Some(1), &b.card()?)?;
//! b.know(Some(0), &a.card()?)?;
//!
//! // Memory of one kind, wherever each of the two has it.
//! const HEAP: Key = Key(1);
//! let own = a.alloc(HEAP, 1 << 20, Pages::Normal)?;
//! let theirs = b.alloc(HEAP, 1 << 20, Pages::Normal)?;
//!
//! // An own address and a rank become the address of the rank's counterpart.
//! let table = Arc::new(HeapTable::new(2));
//! let view = a.view(&[HEAP], table.clone())?;
//! assert_eq!(table.at(own.start, 1), None, "not attached yet");
//! let there = view.resolve(own.start + 8, 1)?;
//! assert_eq!(table.at(own.start + 8, 1), Some(there), "from now on without a call");
//!
//! // SAFETY: memory of two regions that are there.
//! unsafe {
//!     (there as *mut u64).write_volatile(7);
//!     assert_eq!(((theirs.start + 8) as *const u64).read_volatile(), 7);
//! }
//! a.attach(1, Duration::from_secs(1))?;
//! # Ok::<(), onenode::Error>(())
//! ```

mod adopt;
mod attached;
mod backing;
mod describe;
mod explain;
mod group;
mod mapping;
mod meet;
mod peer;
mod region;
mod regions;
mod view;
mod wait;

use crate::Rank;
use crate::card::{Address, Card, Surroundings};
use crate::config::{Config, Crowd, Fork, JobFile, Progress, State};
use crate::error::Error;
use crate::header::{Header, HeaderSizes, MEMORY, MOST_EXTRA, MOST_REGIONS, Owner};
use crate::places::Places;
use backing::Room;
use group::Groups;
use mapping::Pieces;
use onenode_core::backend::Backend;
use onenode_core::packed;
use onenode_core::pause::WaitPolicy;
use onenode_core::sys::life::{self, Sign};
use onenode_core::sys::mutex;
use onenode_core::sys::origin::Origin;
use onenode_core::sys::{cgroup::Cpus, fd, kept::IdentifiedFile, map, process};
use peer::Peers;
use regions::Regions;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

pub use group::{Collective, ElementType, Group, Operation, Reduction};
pub use mapping::Mapping;
pub use region::Alloc;
pub use regions::Region;
pub use view::View;

/// Regions of a node by default.
const REGIONS: u32 = 64;
/// The largest file that Linux supports.
const LARGEST: u64 = i64::MAX as u64;

/// This process among its peers, for one client. Dropping it closes the node: peers see that it has
/// left, and their memory is unmapped with the last view. Adopted memory keeps its address and
/// content. With XPMEM, peers lose access, so call a barrier first.
pub struct Node(Arc<Inner>);

/// The state that a node and its views share.
pub(crate) struct Inner {
    origin: Origin,
    rank: Option<Rank>,
    fork: Fork,
    progress: Option<Box<Progress>>,
    crowd: Crowd,
    policy: WaitPolicy,
    cpus: Cpus,
    backend: Box<dyn Backend>,
    /// Why this backend was chosen.
    reason: String,
    surroundings: Surroundings,
    address: Address,
    /// Bytes from one header to the next, if all ranks share the file.
    stride: Option<u64>,
    peers: Mutex<Peers>,
    views: Mutex<Vec<Weak<view::Core>>>,
    places: Places,
    regions: Mutex<Regions>,
    pieces: Pieces,
    groups: Mutex<Groups>,
    header: Header,
    /// Shows peers whether this process lives.
    _sign: Sign,
    file: IdentifiedFile,
}

impl Node {
    /// Makes this process reachable. Does not wait.
    ///
    /// # Errors
    /// [`Error::Argument`] for invalid settings; [`Error::NoWay`] if the requested backend does not
    /// work here; [`Error::Memory`] if another process has the rank, or a system call fails.
    pub fn open(config: Config) -> Result<Self, Error> {
        let shape = shape(&config)?;
        let (backend, reason) = backing::choose(config.backend)?;
        let (file, offset, stride) = file(config.file, config.rank, &shape)?;
        let sign = life::sign(file.as_fd(), offset, "locking this rank's sign of life")?;
        let end = match stride {
            Some(stride) => offset + stride,
            None => fd::size(file.as_fd())?,
        };
        if stride.is_some() {
            // Removes the data of an earlier process with this rank.
            fd::punch(file.as_fd(), offset, end - offset);
        }
        let origin = Origin::here();
        let (pid, started, mark) = (origin.pid(), process::own_start(), process::random()?);
        let owner = Owner {
            mark,
            pid,
            started,
            rank: config.rank,
            backend: packed::word(backend.name().as_bytes()),
        };
        let header = Header::make(file.as_fd(), offset, shape, &owner)?;
        if config.fork == Fork::Drops {
            header.withhold();
        }
        let inode = fd::inode(file.as_fd())?;
        let file = IdentifiedFile::new(file)?;
        let (descriptor, common) = (file.number(), stride.is_some());
        let node = Arc::new(Inner {
            origin,
            rank: config.rank,
            fork: config.fork,
            progress: config.progress,
            crowd: config.crowd,
            policy: WaitPolicy::new(),
            cpus: Cpus::of_job(),
            backend,
            reason,
            surroundings: Surroundings::own(),
            address: Address { pid, started, descriptor, inode, offset, common, mark },
            stride,
            peers: Mutex::default(),
            views: Mutex::default(),
            places: Places::default(),
            regions: Mutex::new(Regions::new(Room { next: offset + MEMORY, end }, shape.regions)),
            pieces: Pieces::default(),
            groups: Mutex::default(),
            header,
            _sign: sign,
            file,
        });
        node.settle(1);
        Ok(Self(node))
    }

    /// The card to pass to peers. It stays valid when regions are added.
    ///
    /// # Errors
    /// [`Error::Argument`] in a forked child: the card would lead to its parent.
    pub fn card(&self) -> Result<Card, Error> {
        self.0.check()?;
        // The descriptor may have changed.
        let address = Address { descriptor: self.0.file.number(), ..self.0.address };
        Ok(Card::new(&self.0.surroundings, &address))
    }

    /// This process's own rank, if it has one.
    pub fn rank(&self) -> Option<Rank> {
        self.0.rank
    }

    /// Takes a peer's card as that of `rank`, or of the next free number. Makes no system call.
    /// Returns the rank.
    ///
    /// # Errors
    /// [`Error::Argument`] if the card is invalid, or differs from the earlier card of an attached
    /// rank; [`Error::Version`].
    pub fn know(&self, rank: Option<Rank>, card: &Card) -> Result<Rank, Error> {
        self.0.check()?;
        self.0.know(rank, card)
    }

    /// The rank whose card this is; for this process's own card its own rank. Makes no system call,
    /// and takes no new card.
    ///
    /// # Errors
    /// [`Error::Stranger`] if it is the card of no known rank; [`Error::Argument`],
    /// [`Error::Version`] as for [`know`](Self::know).
    pub fn rank_of(&self, card: &Card) -> Result<Rank, Error> {
        self.0.check()?;
        self.0.rank_of(card)
    }

    /// The state of a rank. Makes two system calls if the rank is attached, some more if its file is not kept open.
    ///
    /// # Errors
    /// [`Error::Argument`] in a forked child, which has no peers.
    pub fn state(&self, rank: Rank) -> Result<State, Error> {
        self.0.check()?;
        Ok(self.0.state(rank))
    }

    /// Attaches a rank now: its header, and its regions in all open views. Waits until the rank has
    /// these regions.
    ///
    /// # Errors
    /// [`Error::NoCard`], [`Error::Elsewhere`]: not reachable; [`Error::Unlike`]: the rank has
    /// different regions; [`Error::Died`], [`Error::Left`], [`Error::Time`], or an error of the
    /// progress function: the wait ended.
    pub fn attach(&self, rank: Rank, limit: Duration) -> Result<(), Error> {
        self.0.check()?;
        self.0.attach(rank, deadline(limit))
    }

    /// Attaches these ranks now, as [`attach`](Self::attach) does, within one limit for all of them.
    /// Leaves out those that loads and stores cannot reach, and returns the number of the others; this
    /// process's own rank is one of these.
    ///
    /// # Errors
    /// As for [`attach`](Self::attach), but for [`Error::Elsewhere`]. Ranks that were attached before
    /// the one that failed stay attached.
    pub fn attach_many(
        &self,
        ranks: impl IntoIterator<Item = Rank>,
        limit: Duration,
    ) -> Result<usize, Error> {
        self.0.check()?;
        let deadline = deadline(limit);
        ranks.into_iter().try_fold(0, |near, rank| match self.0.attach(rank, deadline) {
            Ok(()) => Ok(near + 1),
            Err(Error::Elsewhere { .. }) => Ok(near),
            Err(error) => Err(error),
        })
    }

    /// The client's part of a rank's header, which has that rank's [`Config::extra`] bytes.
    ///
    /// # Errors
    /// [`Error::NoCard`] and [`Error::Elsewhere`] if the rank cannot be attached, or not yet.
    pub fn extra(&self, rank: Rank) -> Result<NonNull<u8>, Error> {
        self.0.check()?;
        if self.0.is_own(rank) {
            return Ok(self.0.header.extra());
        }
        let reached = self.0.reach(rank)?.ok_or(Error::NoCard { rank })?;
        Ok(reached.header.extra())
    }

    /// Closes the node, as dropping it does.
    pub fn close(self) {}
}

impl Drop for Node {
    fn drop(&mut self) {
        if self.0.is_child() {
            // Everything belongs to the parent. This process must not undo its mappings.
            std::mem::forget(self.0.clone());
        } else {
            self.0.header.close();
        }
    }
}

impl Inner {
    /// Whether this is a forked child of the process that opened the node.
    #[inline]
    fn is_child(&self) -> bool {
        !self.origin.is_here()
    }

    /// An error in a forked child.
    #[inline]
    fn check(&self) -> Result<(), Error> {
        if self.is_child() { self.refuse() } else { Ok(()) }
    }

    #[cold]
    fn refuse(&self) -> Result<(), Error> {
        Err(Error::argument(
            "node",
            format_args!("one that process {} has opened", self.origin.pid()),
            format!("one of this process, {}, which is a forked child", process::pid()),
        ))
    }

    fn is_own(&self, rank: Rank) -> bool {
        self.rank == Some(rank)
    }

    /// The file of this process's header.
    fn file(&self) -> Result<BorrowedFd<'_>, Error> {
        Ok(self.file.get(std::iter::empty())?)
    }

    fn attach(&self, rank: Rank, deadline: Option<Instant>) -> Result<(), Error> {
        if self.is_own(rank) {
            return Ok(());
        }
        self.await_header(rank, deadline)?;
        self.views().iter().try_for_each(|view| view.attach(self, rank, deadline).map(drop))
    }

    fn detach(&self, rank: Rank) -> Result<(), Error> {
        if self.is_own(rank) {
            return Err(Error::argument("rank", rank, "another one than this process's own"));
        }
        self.views().iter().for_each(|view| view.detach(self, rank));
        self.forget_pieces(rank);
        self.forget(rank)
    }

    /// The open views.
    fn views(&self) -> Vec<Arc<view::Core>> {
        mutex::lock(&self.views).iter().filter_map(Weak::upgrade).collect()
    }
}

/// The time at which a limit ends; `None` for never.
fn deadline(limit: Duration) -> Option<Instant> {
    Instant::now().checked_add(limit)
}

fn shape(config: &Config) -> Result<HeaderSizes, Error> {
    let regions = if config.regions == 0 { REGIONS } else { config.regions };
    if regions > MOST_REGIONS {
        return Err(Error::argument("regions", regions, format!("at most {MOST_REGIONS}")));
    }
    if config.extra > MOST_EXTRA {
        return Err(Error::argument("extra", config.extra, format!("at most {MOST_EXTRA} bytes")));
    }
    Ok(HeaderSizes { regions, extra: config.extra })
}

/// The file of this process's header, the offset of the header in it, and, if all ranks share the file,
/// the distance between headers.
fn file(
    given: Option<JobFile>,
    rank: Option<Rank>,
    shape: &HeaderSizes,
) -> Result<(OwnedFd, u64, Option<u64>), Error> {
    let page = map::page_size() as u64;
    let Some(JobFile { file, offset, stride }) = given else {
        let file = fd::memfd(c"onenode")?;
        fd::resize_and_seal(file.as_fd(), LARGEST & !(page - 1))?;
        return Ok((file, 0, None));
    };
    let Some(rank) = rank else {
        return Err(Error::argument(
            "rank",
            "none",
            "a rank, which says what part of the file is whose",
        ));
    };
    if offset % page != 0 {
        return Err(Error::argument("file.offset", offset, "a multiple of the page size"));
    }
    let least = MEMORY.max(shape.bytes() as u64);
    if stride % page != 0 || stride < least {
        return Err(Error::argument(
            "file.stride",
            stride,
            format!("whole pages, {least} bytes or more"),
        ));
    }
    if !matches!(fd::is_sealed(file.as_fd()), Ok(true)) {
        return Err(Error::argument(
            "file",
            "a file that can shrink",
            "a memfd with F_SEAL_SHRINK",
        ));
    }
    let size = fd::size(file.as_fd())?;
    let start = stride.checked_mul(u64::from(rank)).and_then(|at| at.checked_add(offset));
    match start.filter(|at| at.checked_add(stride).is_some_and(|end| end <= size)) {
        Some(start) => Ok((file, start, Some(stride))),
        None => Err(Error::argument(
            "file",
            format_args!("one of {size} bytes"),
            format!("room for rank {rank} at {offset} + {rank} * {stride}"),
        )),
    }
}
