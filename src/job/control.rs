//! The job's control area: what the PEs of a job and its launcher know of each
//! other. It is the start of the job's one memfd; the PEs' slots follow it at
//! offsets that need no exchange. Where there are no files, it is a static object of
//! PE 0, without the slots ([`Control::over`]).
//!
//! ```text
//!  0            4 KiB                    team area              SLOT_BASE
//!  | Header     | PeRecord x npes ...    | TeamWords[slot][pe]  |  slot 0 | slot 1 ...
//! ```
//!
//! All of it starts as zero pages, so zero is every field's "not yet". Only
//! atomics live here: a reference to one is sound whatever other processes do, and
//! nothing read from here is trusted unchecked.
#![allow(unsafe_code)]

use crate::atomics::{AtomicU32, AtomicU64, Ordering};
use crate::error::Error;
use crate::job::words::{TEAM_SLOTS, TeamWords};
use crate::memory::pages::Pages;
use crate::stats::{self, Snapshot};
use crate::sys::{fd, map, process};
use crate::translate::MAX_PES;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;

/// "oneshmem" in memory order.
const MAGIC: u64 = u64::from_le_bytes(*b"oneshmem");
/// Changes whenever the meaning of a byte here changes.
const LAYOUT: u32 = 5;

const HEADER_BYTES: usize = 4096;
const _: () = assert!(size_of::<TeamWords>() == 512 && size_of::<Header>() <= HEADER_BYTES);
/// The predefined teams, and some for the program.
const FEWEST_TEAM_SLOTS: usize = 8;
/// Where the PEs' statistics are, if there are any: far behind the control area.
const STATISTICS_BASE: u64 = 1 << 39;
/// Every PE's slot starts at `SLOT_BASE + pe * SLOT_STRIDE` of the file: so far
/// apart that no slot outgrows its place, so few that 4096 fit a file.
const SLOT_BASE: u64 = 1 << 40;
const SLOT_STRIDE: u64 = 1 << 42;
/// Within a slot's place in the file: data segment first, heap from here.
const HEAP_OFFSET: u64 = 1 << 41;
/// How far apart the PEs' heaps are in a file of huge pages.
const HUGE_STRIDE: u64 = 1 << 40;

/// What concerns the whole job.
#[repr(C, align(128))]
pub struct Header {
    magic: AtomicU64,
    layout: AtomicU32,
    npes: AtomicU32,
    /// The launcher's process, 0 if the job has none of ours.
    pub launcher: AtomicU32,
    /// Why the job ends early; 0 while it does not. See `job::abort`.
    pub abort: AtomicU64,
    /// 1 once a PE has said that the heap's pages are not what was asked for.
    pub complained: AtomicU32,
    /// 1 if the launcher wants the PEs to be counted.
    pub statistics: AtomicU32,
    /// Team slots in use, one bit each.
    pub teams: [AtomicU64; TEAM_SLOTS / 64],
}

/// What concerns one PE. Two cache-line pairs, so that neighbours do not disturb
/// each other.
#[repr(C, align(256))]
pub struct PeRecord {
    /// Where the PE is in its life: see [`PeRecord::stage`].
    stage: AtomicU32,
    /// Its process number, as it sees itself.
    pub pid: AtomicU32,
    /// Bytes of its data segment (whole pages).
    pub data_bytes: AtomicU64,
    /// Bytes of its symmetric heap (whole pages).
    pub heap_bytes: AtomicU64,
    /// Fingerprint of its executable's data layout; equal for equal programs.
    pub image: AtomicU64,
    /// Which backend exports its slot: the name's first eight bytes.
    pub backend: AtomicU64,
    /// What its symmetric heap is made of: [`Pages::word`](crate::memory::pages::Pages::word).
    pub heap_pages: AtomicU64,
    /// XPMEM's names for its data segment and its heap.
    pub data_segment: AtomicU64,
    /// See `data_segment`.
    pub heap_segment: AtomicU64,
    /// Where its symmetric heap starts, in its own address space.
    pub heap_address: AtomicU64,
    /// 1 if the PE called `start_pes`: leaving without finalize is in order.
    pub implicit_finalize: AtomicU32,
    /// The step of all PEs' team at which the session's last barrier begins for the PE, plus 1; 0
    /// until it comes there.
    pub last_step: AtomicU64,
    /// 1 once the launcher has seen the process end.
    pub gone: AtomicU32,
    /// What its choice of collective algorithms depends on, as one number; 0 before its
    /// first collective.
    pub choices: AtomicU64,
    /// Under `SHMEM_DEBUG`: an argument of the collective call the PE is in.
    pub argument: AtomicU64,
}

/// Where a PE is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Not initialised: the process may not even exist yet.
    Absent,
    /// Its slot is published; peers may attach.
    Ready,
    /// It has finalised; it may initialise again.
    Finalized,
}

impl PeRecord {
    /// The PE's stage. The word counts: odd while the PE is initialised.
    pub fn stage(&self) -> Stage {
        match self.stage.load(Ordering::Acquire) {
            0 => Stage::Absent,
            odd if odd % 2 == 1 => Stage::Ready,
            _ => Stage::Finalized,
        }
    }
    /// How many sessions the PE has begun (first init to last finalize is one).
    pub fn session(&self) -> u32 {
        self.stage.load(Ordering::Acquire).div_ceil(2)
    }
    /// The PE goes on to its next stage; what it wrote before is visible to whoever
    /// sees that.
    pub(crate) fn advance(&self) {
        self.stage.fetch_add(1, Ordering::Release);
    }
}

/// The control area, mapped.
pub struct Control {
    base: NonNull<u8>,
    npes: usize,
    team_slots: usize,
    home: Home,
    /// The file of huge pages for the PEs' heaps, if there is one.
    huge: Option<OwnedFd>,
}

/// What the control area is part of.
enum Home {
    /// The job's memory file.
    File(OwnedFd),
    /// Memory that somebody else keeps for the life of the process.
    Memory,
}

// SAFETY: the area is shared memory of atomics, mapped for the life of the value.
unsafe impl Send for Control {}
// SAFETY: as above; every field is reached as an atomic.
unsafe impl Sync for Control {}

impl Control {
    /// Creates the file of a job of `npes` PEs: a sealed, sparse memfd with the
    /// control area and room for every slot.
    pub fn create(npes: usize) -> Result<Self, Error> {
        if npes == 0 || npes > MAX_PES {
            return Err(Error::JobSize { npes, max: MAX_PES });
        }
        let file = fd::memfd(c"oneshmem")?;
        fd::resize_and_seal(file.as_fd(), SLOT_BASE + npes as u64 * SLOT_STRIDE)?;
        let control = Self::map(file, npes)?;
        let header = control.header();
        header.layout.store(LAYOUT, Ordering::Relaxed);
        header.npes.store(npes as u32, Ordering::Relaxed);
        header.magic.store(MAGIC, Ordering::Release);
        Ok(control)
    }

    /// Opens a job's file that this process inherited or received. Checks that it
    /// is one, sealed, and of this version.
    pub fn open(file: OwnedFd) -> Result<Self, Error> {
        let bad = |why: String| Error::ControlArea { why };
        if !fd::is_sealed(file.as_fd())? {
            return Err(bad("the descriptor is not a sealed memfd".into()));
        }
        let bytes = fd::size(file.as_fd())?;
        let npes = bytes.saturating_sub(SLOT_BASE) / SLOT_STRIDE;
        if npes == 0 {
            return Err(bad(format!("the file has {bytes} bytes")));
        }
        if npes > MAX_PES as u64 {
            return Err(Error::JobSize { npes: npes as usize, max: MAX_PES });
        }
        let control = Self::map(file, npes as usize)?;
        let header = control.header();
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
        if header.npes.load(Ordering::Relaxed) as u64 != npes {
            return Err(bad("its size does not match its number of PEs".into()));
        }
        Ok(control)
    }

    /// The job's heaps can lie in this new file of huge pages, too.
    pub fn create_huge(mut self, file: OwnedFd) -> Result<Self, Error> {
        fd::resize_and_seal(file.as_fd(), self.npes as u64 * HUGE_STRIDE)?;
        self.huge = Some(file);
        Ok(self)
    }

    /// The job's file of huge pages, which this process inherited or received.
    pub(crate) fn open_huge(mut self, file: OwnedFd) -> Result<Self, Error> {
        let enough = fd::size(file.as_fd())? >= self.npes as u64 * HUGE_STRIDE;
        if !enough || !fd::is_sealed(file.as_fd())? {
            let why = "the file of huge pages is not a sealed memfd of the job's size".into();
            return Err(Error::ControlArea { why });
        }
        self.huge = Some(file);
        Ok(self)
    }

    fn map(file: OwnedFd, npes: usize) -> Result<Self, Error> {
        let bytes = Self::bytes(npes, TEAM_SLOTS);
        let base = map::shared_anywhere(file.as_fd(), 0, bytes)?;
        Ok(Self { base, npes, team_slots: TEAM_SLOTS, home: Home::File(file), huge: None })
    }

    /// The control area of a job of `npes` PEs in the `bytes` bytes at `base`, with as
    /// many team slots as there is room for. Any PE may be the first to come.
    ///
    /// # Safety
    /// All PEs of the job name the same memory, which was zero when the first one did,
    /// is page-aligned, and stays for the life of the process.
    pub unsafe fn over(base: NonNull<u8>, bytes: usize, npes: usize) -> Result<Self, Error> {
        if npes == 0 || npes > MAX_PES {
            return Err(Error::JobSize { npes, max: MAX_PES });
        }
        let bad = |why: String| Error::ControlArea { why };
        let slots = bytes.saturating_sub(Self::bytes(npes, 0)) / (npes * size_of::<TeamWords>());
        if slots < FEWEST_TEAM_SLOTS {
            return Err(bad(format!("its {bytes} bytes are too few for {npes} PEs")));
        }
        let team_slots = slots.min(TEAM_SLOTS);
        let control = Self { base, npes, team_slots, home: Home::Memory, huge: None };
        let header = control.header();
        let (ours, ordering) = (npes as u32, Ordering::AcqRel);
        match header.npes.compare_exchange(0, ours, ordering, Ordering::Acquire) {
            Err(theirs) if theirs != ours => {
                Err(bad(format!("this PE expects {npes} PEs, another one {theirs}")))
            }
            _ => Ok(control),
        }
    }

    const fn bytes(npes: usize, team_slots: usize) -> usize {
        HEADER_BYTES + npes * size_of::<PeRecord>() + team_slots * npes * size_of::<TeamWords>()
    }

    /// Number of PEs of the job.
    pub fn npes(&self) -> usize {
        self.npes
    }
    /// How many teams can be alive at once.
    pub fn team_slots(&self) -> usize {
        self.team_slots
    }
    /// The job's file.
    ///
    /// # Panics
    /// If the job has none: [`over`](Self::over) made this.
    pub fn file(&self) -> BorrowedFd<'_> {
        match &self.home {
            Home::File(file) => file.as_fd(),
            Home::Memory => panic!("a job without a file was asked for it"),
        }
    }

    /// The job's file of huge pages, if there is one.
    pub fn huge_file(&self) -> Option<BorrowedFd<'_>> {
        self.huge.as_ref().map(AsFd::as_fd)
    }

    /// Where PE `pe`'s heap of these pages lies: file and offset; `None` if the job has no
    /// file of such pages.
    pub fn heap_place(&self, pe: usize, pages: Pages) -> Option<(BorrowedFd<'_>, u64)> {
        let Pages::Explicit(size) = pages else {
            return Some((self.file(), self.heap_offset(pe)));
        };
        let file = self.huge_file().filter(|file| fd::page_size(*file).ok() == Some(size))?;
        Some((file, pe as u64 * HUGE_STRIDE))
    }

    /// Gives a sign that PE `pe`, which is this process, is alive. The kernel takes the sign
    /// back when the process ends, however it ends. Where there is no file to lock, the
    /// process number in the PE's record has to do.
    pub(crate) fn show_life(&self, pe: usize) -> Result<(), Error> {
        self.pe(pe).pid.store(process::pid(), Ordering::Relaxed);
        match &self.home {
            Home::File(file) => fd::lock_byte(file.as_fd(), pe as u64),
            Home::Memory => Ok(()),
        }
    }

    /// The process that is PE `pe` and alive. `None`: there is none, or it is this
    /// process. `Some(0)`: one of another PID namespace.
    pub(crate) fn living(&self, pe: usize) -> Result<Option<i32>, Error> {
        match &self.home {
            Home::File(file) => fd::byte_holder(file.as_fd(), pe as u64),
            Home::Memory => {
                let pid = self.pe(pe).pid.load(Ordering::Relaxed);
                Ok((pid != 0 && pid != process::pid() && process::exists(pid as i32))
                    .then_some(pid as i32))
            }
        }
    }
    /// Maps PE `pe`'s row of statistics for good; `None` if the job has no file.
    pub(crate) fn statistics_row(&self, pe: usize) -> Result<Option<NonNull<u8>>, Error> {
        let Home::File(file) = &self.home else { return Ok(None) };
        let bytes = stats::row_bytes(self.npes).next_multiple_of(map::page_size());
        let offset = STATISTICS_BASE + (pe * bytes) as u64;
        map::shared_anywhere(file.as_fd(), offset, bytes).map(Some)
    }
    /// PE `pe`'s statistics as they stand; none if it was not counted.
    pub fn statistics(&self, pe: usize) -> Result<Snapshot, Error> {
        let Some(row) = self.statistics_row(pe)? else { return Ok(Snapshot::default()) };
        // SAFETY: a row's place, mapped here and unmapped when it is read.
        unsafe {
            let snapshot = Snapshot::read(row, self.npes);
            map::unmap(row.as_ptr(), stats::row_bytes(self.npes));
            Ok(snapshot)
        }
    }
    /// What concerns the whole job.
    pub fn header(&self) -> &Header {
        // SAFETY: the mapping starts with a Header, which is atomics only and
        // valid for any bytes; it lives as long as `self`.
        unsafe { self.base.cast().as_ref() }
    }
    /// PE `pe`'s record.
    pub fn pe(&self, pe: usize) -> &PeRecord {
        assert!(pe < self.npes);
        // SAFETY: in bounds by the assertion; atomics only.
        unsafe { self.base.add(HEADER_BYTES).cast::<PeRecord>().add(pe).as_ref() }
    }
    /// The words of team slot `slot`: one [`TeamWords`] for each PE of the job.
    pub fn team(&self, slot: usize) -> NonNull<TeamWords> {
        assert!(slot < self.team_slots);
        let teams = HEADER_BYTES + self.npes * size_of::<PeRecord>();
        // SAFETY: in bounds by the assertion, see `bytes`.
        unsafe { self.base.add(teams).cast::<TeamWords>().add(slot * self.npes) }
    }
    /// Where PE `pe`'s data segment lies in the file.
    pub fn data_offset(&self, pe: usize) -> u64 {
        SLOT_BASE + pe as u64 * SLOT_STRIDE
    }
    /// Where PE `pe`'s symmetric heap lies in the file.
    pub fn heap_offset(&self, pe: usize) -> u64 {
        self.data_offset(pe) + HEAP_OFFSET
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        if let Home::File(_) = self.home {
            // SAFETY: `base` is this value's own mapping; no reference outlives `self`.
            unsafe { map::unmap(self.base.as_ptr(), Self::bytes(self.npes, self.team_slots)) }
        }
    }
}
