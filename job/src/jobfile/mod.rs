//! The job's file, which the launcher and all programs of a job share: a sealed, sparse memfd. It
//! has a head for the whole job and, for each *generation*, a control area and room for every PE's
//! slot.
//!
//! ```text
//!  0         4 KiB             nodes::PLACE    GENERATIONS                    + stride
//!  | Header  | Member x npes ... | table of nodes | generation 0: control, slots | generation 1 ...
//! ```
//!
//! A job on several nodes has such a file on each. PEs are numbered across all nodes, here as
//! everywhere, but the slots are only those of the PEs on this node, the *near* ones.
//!
//! A generation is one program of the job. `oshrun -n 4 sh -c './a; ./b'` has two: a PE's first
//! program is generation 0, its next one generation 1, and so on. Generations share only the head,
//! so one PE can be in the second program while another has not yet left the first.
//!
//! The whole file starts as zero pages, so zero means "not yet" in every field. It contains only
//! atomics: a reference to one is sound whatever other processes do. Nothing read from here is
//! trusted unchecked.
#![allow(unsafe_code)]

pub mod abort;
pub mod control;
pub mod life;
pub mod nodes;
mod places;
mod secret;
pub mod waiting;

use crate::atomics::{AtomicI32, AtomicU32, AtomicU64, Ordering};
use crate::error::Error;
use crate::remote::secret::Secret;
use nodes::{NodeOf, Nodes};
use onenode_core::area::{Shared, SharedArea};
use onenode_core::sys::kept::IdentifiedFile;
use onenode_core::sys::process;
use onenode_core::sys::source::{Source, Start};
use onenode_core::sys::{fd, map};
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::ptr::NonNull;

use places::{HUGE_STRIDE, SLOT_STRIDE};

/// The most PEs of a job: the library's table for translating addresses has an entry for each.
#[cfg(not(feature = "smartmap"))]
pub const MAX_PES: usize = 4096;
/// The most PEs of a job: each has a slot of the address space.
#[cfg(feature = "smartmap")]
pub const MAX_PES: usize = oneshmem_kitten::addressing::MAX_RANKS;

/// "oneshmem" in memory order.
const MAGIC: u64 = u64::from_le_bytes(*b"oneshmem");
/// Must change whenever the meaning of a byte here or in a control area changes.
pub const LAYOUT: u32 = 25;

const HEADER_BYTES: usize = 4096;
const _: () = assert!(size_of::<Header>() <= HEADER_BYTES);
/// Where generation 0 starts.
const GENERATIONS: u64 = 1 << 30;
const _: () = assert!(JobFile::bytes(MAX_PES) as u64 <= nodes::PLACE);
const _: () = assert!(nodes::PLACE + nodes::bytes(nodes::MOST) as u64 <= GENERATIONS);
/// The largest file that Linux supports.
const LARGEST: u64 = i64::MAX as u64;

/// The part that concerns the whole job.
#[repr(C, align(128))]
pub struct Header {
    magic: AtomicU64,
    layout: AtomicU32,
    npes: AtomicU32,
    /// The launcher's process, or 0 if the launcher is not ours.
    pub launcher: AtomicU32,
    /// The launcher's descriptors of the job's files, each plus 1; 0 for none.
    files: [AtomicI32; 2],
    /// Why the job ends early, or 0. See `abort`.
    pub abort: AtomicU64,
    /// 1 if the launcher wants statistics: for `--comm-matrix` or `--top`.
    pub statistics: AtomicU32,
    /// How many PEs have found the file by themselves, if the launcher did not pass it.
    pub joined: AtomicU32,
    /// The number of this node and the number of nodes: 0 and 1 if the job is on one node.
    node: AtomicU32,
    nodes: AtomicU32,
    /// The first PE of this node, and how many PEs it has.
    first: AtomicU32,
    near: AtomicU32,
    /// Bytes of a symmetric heap if the environment does not set them; 0 if each PE can compute
    /// them itself.
    pub default_heap: AtomicU64,
    /// A number that is another one for each job, unless the creator's addresses are not random.
    chance: AtomicU64,
    /// The last program, counted from 1, for which a PE has reported why it cannot start, times 2;
    /// minus 1 while a PE is about to report it.
    pub reported: AtomicU32,
    /// 1 if the PEs have ended without confirmation from the launcher that those on other nodes
    /// have finished, too.
    pub linger: AtomicU32,
    /// 1 once the secret is there.
    has_secret: AtomicU32,
    /// The key that the processes of a job on several nodes authenticate each other with.
    secret: [AtomicU64; Secret::BYTES / 8],
}

/// The part that concerns one PE, whichever program it runs.
#[repr(C, align(64))]
pub struct Member {
    /// How many of its programs have begun. Its current generation is this minus 1.
    pub programs: AtomicU32,
    /// 1 once the launcher has seen the process end.
    pub gone: AtomicU32,
    /// Its process ID, in its own PID namespace.
    pub pid: AtomicU32,
    /// Its descriptors of the job's files, each plus 1; 0 for none.
    files: [AtomicI32; 2],
    /// The PID namespace of `pid`: the namespace's inode number.
    pub namespace: AtomicU64,
    /// When the process started, in ticks since boot; 0 if `/proc` does not say.
    pub started: AtomicU64,
    /// The PE, plus 1, in whose memory this PE died of a bus error; 0 if it did not.
    pub blamed: AtomicU32,
}

/// The mapped head, and the job's files.
pub struct JobFile {
    area: SharedArea,
    npes: usize,
    /// The PEs of this node.
    near: Range<usize>,
    /// The nodes, if there are several.
    nodes: Option<Nodes>,
    home: Home,
    /// The file of huge pages for the PEs' heaps, if there is one.
    huge: Option<IdentifiedFile>,
}

/// Where the head is.
enum Home {
    /// In the job's memory file.
    File(IdentifiedFile),
    /// In memory that another part keeps for the life of the process; this many bytes of it follow
    /// the head.
    Memory(usize),
}

// SAFETY: nothing but atomics.
unsafe impl Shared for Header {}
// SAFETY: nothing but atomics.
unsafe impl Shared for Member {}

impl JobFile {
    /// Creates the file of a job with `npes` PEs, all on this node.
    pub fn create(npes: usize) -> Result<Self, Error> {
        Self::create_on_nodes(0, &[NodeOf { pes: npes, host: String::new() }])
    }

    /// Creates node `own`'s file of a job on these nodes.
    pub fn create_on_nodes(own: usize, nodes: &[NodeOf]) -> Result<Self, Error> {
        let npes = nodes.iter().map(|node| node.pes).sum();
        check_size(npes)?;
        let first = nodes[..own].iter().map(|node| node.pes).sum::<usize>();
        let file = fd::memfd(c"oneshmem")?;
        fd::resize_and_seal(file.as_fd(), LARGEST & !(map::page_size() as u64 - 1))?;
        let job = Self::map(file, npes)?;
        let header = job.header();
        header.layout.store(LAYOUT, Ordering::Relaxed);
        header.npes.store(npes as u32, Ordering::Relaxed);
        header.node.store(own as u32, Ordering::Relaxed);
        header.nodes.store(nodes.len() as u32, Ordering::Relaxed);
        header.first.store(first as u32, Ordering::Relaxed);
        header.near.store(nodes[own].pes as u32, Ordering::Relaxed);
        let chance = if process::has_random_addresses() { process::random()? } else { 0 };
        header.chance.store(chance, Ordering::Relaxed);
        let job = job.placed()?;
        if let Some(table) = &job.nodes {
            table.fill(nodes);
        }
        job.header().magic.store(MAGIC, Ordering::Release);
        Ok(job)
    }

    /// Reads from the header which part of the job this node is.
    fn placed(mut self) -> Result<Self, Error> {
        let header = self.header();
        let number = |word: &AtomicU32| word.load(Ordering::Relaxed) as usize;
        let (own, count) = (number(&header.node), number(&header.nodes));
        let near = number(&header.first)..number(&header.first) + number(&header.near);
        if near.is_empty()
            || near.end > self.npes
            || own >= count
            || count > self.npes.min(nodes::MOST)
        {
            let npes = self.npes;
            let why = format!("its head has PEs {near:?} of {npes}, on node {own} of {count}");
            return Err(Error::ControlArea { why });
        }
        if count > 1 {
            self.nodes = Some(Nodes::map(self.file()?, own, count, self.npes)?);
        }
        self.near = near;
        Ok(self)
    }

    /// Opens a job's file that this process inherited or received. Checks that it is one, that it
    /// is sealed, and that it has this version.
    pub fn open(file: OwnedFd) -> Result<Self, Error> {
        let bad = |why: String| Error::ControlArea { why };
        if !fd::is_sealed(file.as_fd())? {
            return Err(bad("the descriptor is not a sealed memfd".into()));
        }
        let bytes = fd::size(file.as_fd())?;
        if bytes < GENERATIONS {
            return Err(bad(format!("the file has {bytes} bytes")));
        }
        // Map the header first, for the number of PEs, which decides the size of the rest of the
        // head.
        let mut job = Self::map(file, 1)?;
        let header = job.header();
        if header.magic.load(Ordering::Acquire) != MAGIC {
            return Err(bad("it does not start with the magic number".into()));
        }
        let layout = header.layout.load(Ordering::Relaxed);
        if layout != LAYOUT {
            return Err(bad(format!(
                "its layout is version {layout}, this library's is {LAYOUT}: \
                 launcher and library are of different versions"
            )));
        }
        let npes = header.npes.load(Ordering::Relaxed) as usize;
        check_size(npes)?;
        let area = SharedArea::map(job.file()?, 0, Self::bytes(npes))?;
        (job.area, job.npes) = (area, npes);
        job.placed()
    }

    /// The head and the one generation of a job without a file, in the `bytes` bytes at `base`. Any
    /// PE may be the first to call this.
    ///
    /// # Safety
    /// All PEs of the job pass the same memory. It was zero at the first call, is page-aligned, and
    /// stays mapped for the life of the process.
    pub unsafe fn over(base: NonNull<u8>, bytes: usize, npes: usize) -> Result<Self, Error> {
        check_size(npes)?;
        let bad = |why: String| Err(Error::ControlArea { why });
        let Some(rest) = bytes.checked_sub(Self::bytes(npes)) else {
            return bad(format!("its {bytes} bytes are too few for {npes} PEs"));
        };
        // SAFETY: the caller guarantees that it stays mapped, and all PEs of the job call this.
        let area = unsafe { SharedArea::over(base, bytes) };
        let job =
            Self { area, npes, near: 0..npes, nodes: None, home: Home::Memory(rest), huge: None };
        let (ours, ordering) = (npes as u32, Ordering::AcqRel);
        match job.header().npes.compare_exchange(0, ours, ordering, Ordering::Acquire) {
            Err(theirs) if theirs != ours => {
                bad(format!("this PE expects {npes} PEs, another one {theirs}"))
            }
            _ => Ok(job),
        }
    }

    fn map(file: OwnedFd, npes: usize) -> Result<Self, Error> {
        let area = SharedArea::map(file.as_fd(), 0, Self::bytes(npes))?;
        let home = Home::File(IdentifiedFile::new(file)?);
        Ok(Self { area, npes, near: 0..npes, nodes: None, home, huge: None })
    }

    /// Adds this new file of huge pages, in which the job's heaps can lie.
    pub fn create_huge(mut self, file: OwnedFd) -> Result<Self, Error> {
        let each = self.near.len() as u64 * HUGE_STRIDE;
        fd::resize_and_seal(file.as_fd(), LARGEST / each * each)?;
        self.huge = Some(IdentifiedFile::new(file)?);
        Ok(self)
    }

    /// Adds the job's file of huge pages, which this process inherited or received.
    pub fn open_huge(mut self, file: OwnedFd) -> Result<Self, Error> {
        let enough = fd::size(file.as_fd())? >= self.near.len() as u64 * HUGE_STRIDE;
        if !enough || !fd::is_sealed(file.as_fd())? {
            let why = "the file of huge pages is not a sealed memfd of the job's size".into();
            return Err(Error::ControlArea { why });
        }
        self.huge = Some(IdentifiedFile::new(file)?);
        Ok(self)
    }

    /// A number that is the same for all PEs, those of other nodes included, and that nobody else foresees.
    pub fn chance(&self) -> u64 {
        match self.secret() {
            Some(secret) => {
                let proof = secret.proof("chance", &[]);
                proof.as_bytes().first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
            }
            None => self.header().chance.load(Ordering::Relaxed),
        }
    }

    /// Bytes of the head.
    const fn bytes(npes: usize) -> usize {
        (HEADER_BYTES + npes * size_of::<Member>()).next_multiple_of(4096)
    }

    /// Number of PEs of the job.
    pub fn npes(&self) -> usize {
        self.npes
    }
    /// The PEs of this node: all of them, if the job is on one.
    pub fn near(&self) -> Range<usize> {
        self.near.clone()
    }
    /// The nodes of the job; `None` if it is on one.
    pub fn nodes(&self) -> Option<&Nodes> {
        self.nodes.as_ref()
    }
    /// The part that concerns the whole job.
    pub fn header(&self) -> &Header {
        self.area.at(0)
    }
    /// The part that concerns PE `pe`, whichever program it runs.
    pub fn member(&self, pe: usize) -> &Member {
        assert!(pe < self.npes);
        self.area.at(HEADER_BYTES + pe * size_of::<Member>())
    }

    /// The job's file, even if the program has closed this process's descriptor of it.
    ///
    /// # Panics
    /// If the job has no file because [`over`](Self::over) made this value.
    pub fn file(&self) -> Result<BorrowedFd<'_>, onenode_core::Error> {
        match &self.home {
            Home::File(file) => file.get(self.elsewhere(0)),
            Home::Memory(_) => panic!("a job without a file was asked for it"),
        }
    }
    /// The source from which the job's file is mapped, even if no process has a descriptor of it any more.
    pub fn source(&self) -> Result<Source<'_>, onenode_core::Error> {
        self.file().map(Source::File).or_else(|error| match &self.home {
            // SAFETY: the head is mapped from the file's start while `self` is borrowed.
            Home::File(_) => Ok(Source::Start(unsafe { Start::new(self.area.base()) })),
            Home::Memory(_) => Err(error),
        })
    }
    /// Whether the job has a file.
    pub fn has_file(&self) -> bool {
        matches!(self.home, Home::File(_))
    }
    /// The job's file of huge pages, if there is one.
    pub fn huge_file(&self) -> Result<Option<BorrowedFd<'_>>, onenode_core::Error> {
        self.huge.as_ref().map(|file| file.get(self.elsewhere(1))).transpose()
    }

    /// This process's descriptors of the job's files, each plus 1.
    fn own_files(&self) -> [i32; 2] {
        let file = match &self.home {
            Home::File(file) => file.number() + 1,
            Home::Memory(_) => 0,
        };
        [file, self.huge.as_ref().map_or(0, |file| file.number() + 1)]
    }

    /// Where other processes have file number `which` of the job open.
    fn elsewhere(&self, which: usize) -> impl Iterator<Item = PathBuf> + '_ {
        let header = self.header();
        let members = self.near().map(|pe| self.member(pe)).map(|m| (&m.pid, &m.files));
        let places = std::iter::once((&header.launcher, &header.files)).chain(members);
        places.filter_map(move |(pid, files)| {
            let (pid, file) = (pid.load(Ordering::Relaxed), files[which].load(Ordering::Relaxed));
            (pid != 0 && pid != process::pid() && file > 0)
                .then(|| PathBuf::from(format!("/proc/{pid}/fd/{}", file - 1)))
        })
    }

    /// Registers this process as the job's launcher.
    pub fn sign_as_launcher(&self) {
        let header = self.header();
        header.launcher.store(process::pid(), Ordering::Release);
        for (place, file) in header.files.iter().zip(self.own_files()) {
            place.store(file, Ordering::Relaxed);
        }
    }

    /// Registers this process as PE `pe`.
    pub fn sign_as_member(&self, pe: usize) {
        let member = self.member(pe);
        for (place, file) in member.files.iter().zip(self.own_files()) {
            place.store(file, Ordering::Relaxed);
        }
        // A system without files has no `/proc` either.
        if self.has_file() {
            member.started.store(process::own_start(), Ordering::Relaxed);
            member.namespace.store(process::pid_namespace(), Ordering::Relaxed);
        }
        member.pid.store(process::pid(), Ordering::Release);
    }

    /// The process ID of PE `pe` in this process's PID namespace, once it has begun a program.
    pub fn pid(&self, pe: usize) -> Option<u32> {
        let member = self.member(pe);
        let pid = member.pid.load(Ordering::Acquire);
        let near = member.namespace.load(Ordering::Relaxed) == process::pid_namespace();
        (pid != 0 && near).then_some(pid)
    }

    /// The memory behind the head, for the one generation of a job without a file.
    pub(crate) fn memory(&self) -> Option<(NonNull<u8>, usize)> {
        match self.home {
            Home::File(_) => None,
            Home::Memory(rest) => Some((self.area.bytes_at(Self::bytes(self.npes), rest), rest)),
        }
    }
}

fn check_size(npes: usize) -> Result<(), Error> {
    match npes {
        1..=MAX_PES => Ok(()),
        _ => Err(Error::JobSize { npes, max: MAX_PES }),
    }
}

/// Where its fields are, for the page.
#[cfg(test)]
pub(crate) mod layout {
    use super::*;
    use crate::tests::{Fields, fields};

    pub const PLACES: [(u64, &str); 4] = [
        (0, "head"),
        (HEADER_BYTES as u64, "a `Member` for each PE"),
        (nodes::PLACE, "the nodes"),
        (GENERATIONS, "generation 0"),
    ];

    pub fn member() -> Fields {
        fields!("Member", Member { programs, gone, pid, files, namespace, started, blamed })
    }

    pub fn fields() -> Fields {
        fields!(
            "Header",
            Header {
                magic,
                layout,
                npes,
                launcher,
                files,
                abort,
                statistics,
                joined,
                node,
                nodes,
                first,
                near,
                default_heap,
                chance,
                reported,
                linger,
                has_secret,
                secret
            }
        )
    }
}
