//! A generation's control area: what the PEs know of each other while they run one program of
//! the job. It is followed by the slots of the PEs on this node, at offsets that need no exchange.
//! Where there are no files, it lies in memory of PE 0, without the slots.
//!
//! ```text
//!  0            4 KiB                    team area              SLOT_BASE
//!  | Header     | PeRecord x npes ...    | ControlWords[slot][pe]  |  slot 0 | slot 1 ...
//! ```
//!
//! As in the job's head (`super`), zero is every field's "not yet", and only atomics
//! live here.
#![allow(unsafe_code)]

pub mod psyncs;
mod texts;

use super::{JobFile, SLOT_STRIDE};
use crate::atomics::{AtomicI32, AtomicU32, AtomicU64, Ordering};
use crate::error::Error;
use crate::jobfile::waiting::Waiting;
use crate::partition::order::Order;
use onenode_core::area::{Shared, SharedArea};
use onenode_core::backend::FilePlace;
use onenode_core::collectives::words::ControlWords;
use onenode_core::pages::Pages;
use onenode_core::sys::source::Source;
use onenode_core::sys::{fd, map};
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock};

const HEADER_BYTES: usize = 4096;
const _: () = assert!(size_of::<ControlWords>() == 2944 && size_of::<Header>() <= HEADER_BYTES);
/// Teams that can be alive at once in a job, world and shared included.
pub const TEAM_SLOTS: usize = 1024;
/// The predefined teams, and some for the program.
const FEWEST_TEAM_SLOTS: usize = 8;
/// Where the PEs' statistics are, if there are any: far behind the control area.
const STATISTICS_BASE: u64 = 1 << 39;
/// Bytes kept for the statistics of a PE, and with each peer.
pub(crate) const STATISTICS_BYTES: usize = 25 << 10;
pub(crate) const STATISTICS_BYTES_A_PEER: usize = 16;
/// Bytes kept behind them for the timeline of a PE.
pub(crate) const TIMELINE_BYTES: usize = 1824 << 10;
/// Within a slot's place in the file: data segment first, heap from here.
const HEAP_OFFSET: u64 = 1 << 41;
/// And partitions from here.
const PARTITIONS_OFFSET: u64 = HEAP_OFFSET + (1 << 40);

/// Offset of the descriptions of the PEs' partitions: a page of `WORDS` words for each PE ([`texts`]).
const TEXTS_BASE: u64 = 1 << 38;
const WORDS: usize = 2048;

/// Bytes for what each PE says of its partitions, in whole pages.
fn text_room() -> usize {
    (WORDS * size_of::<u64>()).next_multiple_of(map::page_size())
}

/// Words for all PEs of the generation.
#[repr(C, align(128))]
pub struct Header {
    /// 1 once a PE has said that the heap's pages are not what was asked for.
    pub complained: AtomicU32,
    /// 1 once a PE has said that the PEs take blocks of partitions in different orders.
    pub order_reported: AtomicU32,
    /// Team slots in use, one bit each.
    pub teams: [AtomicU64; TEAM_SLOTS / 64],
}

/// A PE's record of its slot. In every field, zero means "not yet".
#[repr(C)]
#[derive(Debug)]
pub struct SlotRecord {
    /// Bytes of its data segment (whole pages).
    pub data_bytes: AtomicU64,
    /// Bytes of its heap (whole pages).
    pub heap_bytes: AtomicU64,
    /// Fingerprint of its executable's data layout, equal for equal programs.
    pub image: AtomicU64,
    /// The backend that shares the slot: the first eight bytes of its name.
    pub backend: AtomicU64,
    /// The kind of pages of its heap: [`Pages::word`].
    pub heap_pages: AtomicU64,
    /// The number of its data segment, where the backend gives numbers.
    pub data_segment: AtomicU64,
    /// The number of its heap with the partitions, which lie below the heap.
    pub heap_segment: AtomicU64,
    /// The start of its heap, in its own address space.
    pub heap_address: AtomicU64,
}

impl SlotRecord {
    /// The pages of the heap.
    pub fn pages(&self) -> Pages {
        Pages::from_word(self.heap_pages.load(Ordering::Relaxed))
    }
}

/// Words of one PE. Two cache-line pairs, so that neighbours do not disturb
/// each other.
#[repr(C, align(256))]
pub struct PeRecord {
    /// Where the PE is in its life: see [`PeRecord::stage`].
    stage: AtomicU32,
    /// Its slot.
    pub slot: SlotRecord,
    /// The thread level of its current lifetime.
    pub thread_level: AtomicI32,
    /// 1 if the PE called `start_pes`: leaving without finalize is in order.
    pub implicit_finalize: AtomicU32,
    /// The step of all PEs' team at which the lifetime's last barrier begins for the PE, plus 1; 0
    /// until it comes there.
    pub last_step: AtomicU64,
    /// A hash of everything on which its choice of collective algorithms depends; 0 before its
    /// first collective.
    pub choices: AtomicU64,
    /// The hash of the choices for collectives of members on several nodes; 0 before the first of them.
    pub far_choices: AtomicU64,
    /// For a node's first PE: how many comparisons of thread levels other nodes have come to, and how
    /// many of them with `SHMEM_THREAD_MULTIPLE`: see `collectives::levels`.
    pub levels: AtomicU64,
    /// The number of the last comparison that the node's first PE has made, and its result.
    pub highest: AtomicU64,
    /// Under `SHMEM_DEBUG`: an argument of the collective call the PE is in.
    pub argument: AtomicU64,
    /// A number for its partitions, equal for equal ones; 0 if it has none.
    pub partitions: AtomicU64,
    /// Under `SHMEM_DEBUG`: how it takes blocks of partitions.
    pub order: Order,
    /// Its wait, if that has lasted for long.
    pub waiting: Waiting,
    /// Bytes of its symmetric heap in blocks.
    pub heap_used: AtomicU64,
    /// The CPU that it was on when it last looked, plus 1; 0 if it has not.
    pub cpu: AtomicU32,
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
    /// The PE's stage. The word is a counter: odd while the PE is initialised.
    pub fn stage(&self) -> Stage {
        match self.stage.load(Ordering::Acquire) {
            0 => Stage::Absent,
            odd if odd % 2 == 1 => Stage::Ready,
            _ => Stage::Finalized,
        }
    }
    /// How many lifetimes the PE has begun. One lasts from the first init to the last finalize.
    pub fn lifetime(&self) -> u32 {
        self.stage.load(Ordering::Acquire).div_ceil(2)
    }
    /// Moves the PE to its next stage. All earlier writes are visible to PEs that see this stage.
    pub fn advance(&self) {
        self.stage.fetch_add(1, Ordering::Release);
    }
}

/// The control area of one generation, mapped.
pub struct Control {
    job: Arc<JobFile>,
    generation: u32,
    area: SharedArea,
    team_slots: usize,
    psyncs: OnceLock<SharedArea>,
}

// SAFETY: nothing but atomics.
unsafe impl Shared for Header {}
// SAFETY: nothing but atomics.
unsafe impl Shared for PeRecord {}

impl Control {
    /// The control area of PE `pe`'s next program, which is this process. Releases the PE's memory
    /// of the previous program.
    pub fn begin(job: Arc<JobFile>, pe: usize) -> Result<Self, Error> {
        let generation = job.member(pe).programs.fetch_add(1, Ordering::AcqRel);
        if generation >= job.most_generations() {
            return Err(Error::ControlArea {
                why: format!(
                    "PE {pe} has run {generation} programs one after the other; expected at most {}",
                    job.most_generations()
                ),
            });
        }
        if let Some(before) = generation.checked_sub(1) {
            let before = Self::of(job.clone(), before)?;
            if before.pe(pe).stage() == Stage::Ready {
                return Err(Error::ControlArea {
                    why: format!(
                        "PE {pe} is initialised already: the program before this one ended, or \
                         was replaced (exec), without shmem_finalize"
                    ),
                });
            }
            before.forget_slot(pe)?;
        }
        Self::of(job, generation)
    }

    /// The control area of the last program that PE `pe` has begun; `None` if it has begun none.
    pub fn last(job: &Arc<JobFile>, pe: usize) -> Result<Option<Self>, Error> {
        let last = job.programs(pe).checked_sub(1);
        last.map(|generation| Self::of(job.clone(), generation)).transpose()
    }

    /// The control area of a generation.
    pub fn of(job: Arc<JobFile>, generation: u32) -> Result<Self, Error> {
        let npes = job.npes();
        let (area, team_slots) = match job.memory() {
            None => {
                let (offset, bytes) =
                    (job.generation_offset(generation), Self::bytes(npes, TEAM_SLOTS));
                (SharedArea::map(job.file()?, offset, bytes)?, TEAM_SLOTS)
            }
            Some((base, bytes)) => {
                let room = bytes.saturating_sub(Self::bytes(npes, 0));
                let slots = room / (npes * size_of::<ControlWords>());
                if slots < FEWEST_TEAM_SLOTS {
                    let why = format!("its {bytes} bytes are too few for {npes} PEs");
                    return Err(Error::ControlArea { why });
                }
                // SAFETY: memory of all PEs of the job, mapped for the life of the process.
                let area = unsafe { SharedArea::over(base, bytes) };
                (area, slots.min(TEAM_SLOTS))
            }
        };
        Ok(Self { job, generation, area, team_slots, psyncs: OnceLock::new() })
    }

    const fn bytes(npes: usize, team_slots: usize) -> usize {
        Self::subscribers_base(npes, team_slots) + team_slots * npes * size_of::<AtomicU64>()
    }

    const fn subscribers_base(npes: usize, team_slots: usize) -> usize {
        HEADER_BYTES + npes * size_of::<PeRecord>() + team_slots * npes * size_of::<ControlWords>()
    }

    /// The job's file, which all generations share.
    pub fn job(&self) -> &JobFile {
        &self.job
    }
    /// Which program of the job this is, from 0.
    pub fn generation(&self) -> u32 {
        self.generation
    }
    /// Number of PEs of the job.
    pub fn npes(&self) -> usize {
        self.job.npes()
    }
    /// The number of teams that can exist at once.
    pub fn team_slots(&self) -> usize {
        self.team_slots
    }
    /// Releases the memory of PE `pe`'s slot.
    fn forget_slot(&self, pe: usize) -> Result<(), Error> {
        fd::punch(self.job.file()?, self.data_offset(pe), SLOT_STRIDE);
        let slot = &self.pe(pe).slot;
        if let pages @ Pages::Explicit(_) = slot.pages() {
            let (file, offset) = self.heap_place(pe, pages)?;
            fd::punch(file.file()?, offset, slot.heap_bytes.load(Ordering::Relaxed));
        }
        if let (1.., Some(file)) =
            (self.pe(pe).partitions.load(Ordering::Relaxed), self.job.huge_file()?)
        {
            let (offset, bytes) = self.job.huge_partitions(self.generation, pe);
            fd::punch(file, offset, bytes);
        }
        Ok(())
    }

    /// The words with what PE `pe` says of its partitions.
    fn text_place(&self, pe: usize) -> Result<SharedArea, Error> {
        self.part(TEXTS_BASE + (pe * text_room()) as u64, text_room())
    }

    /// Maps a part of the generation's place in the file, of whole pages.
    fn part(&self, offset: u64, bytes: usize) -> Result<SharedArea, Error> {
        Ok(SharedArea::of(self.job.source()?, self.offset() + offset, bytes)?)
    }

    /// Maps the memory for PE `pe`'s statistics; `None` if the job has no file.
    pub fn statistics(&self, pe: usize) -> Result<Option<SharedArea>, Error> {
        if !self.job.has_file() {
            return Ok(None);
        }
        let offset = STATISTICS_BASE + self.statistics_offset(pe);
        self.part(offset, self.statistics_bytes()).map(Some)
    }
    /// Maps the memory for PE `pe`'s timeline; `None` if the job has no file.
    pub fn timeline(&self, pe: usize) -> Result<Option<SharedArea>, Error> {
        if !self.job.has_file() {
            return Ok(None);
        }
        let offset = STATISTICS_BASE + self.timeline_offset(pe);
        self.part(offset, TIMELINE_BYTES.next_multiple_of(map::page_size())).map(Some)
    }
    /// Bytes for each PE's statistics, in whole pages.
    pub fn statistics_bytes(&self) -> usize {
        let bytes = STATISTICS_BYTES + self.npes() * STATISTICS_BYTES_A_PEER;
        bytes.next_multiple_of(map::page_size())
    }
    /// Offset of PE `pe`'s timeline among the statistics of all PEs.
    pub fn timeline_offset(&self, pe: usize) -> u64 {
        self.statistics_offset(pe) + self.statistics_bytes() as u64
    }
    /// Bytes for each PE's statistics and timeline, in whole pages.
    fn statistics_room(&self) -> usize {
        self.statistics_bytes() + TIMELINE_BYTES.next_multiple_of(map::page_size())
    }
    /// Offset of PE `pe`'s statistics among those of all PEs.
    pub fn statistics_offset(&self, pe: usize) -> u64 {
        (pe * self.statistics_room()) as u64
    }
    /// Offset of all PEs' statistics in the file, and their size in bytes.
    pub(crate) fn all_statistics(&self) -> (u64, usize) {
        (self.offset() + STATISTICS_BASE, self.npes() * self.statistics_room())
    }
    /// The whole area, as it is mapped here.
    pub(crate) fn memory(&self) -> (NonNull<u8>, usize) {
        (*self.area.base(), Self::bytes(self.npes(), self.team_slots))
    }
    /// The whole area as words.
    pub fn all_words(&self) -> &[AtomicU64] {
        self.area.slice(0, self.memory().1 / size_of::<AtomicU64>())
    }
    /// The state that all PEs of the generation share.
    pub fn header(&self) -> &Header {
        self.area.at(0)
    }
    /// PE `pe`'s record.
    pub fn pe(&self, pe: usize) -> &PeRecord {
        assert!(pe < self.npes());
        self.area.at(HEADER_BYTES + pe * size_of::<PeRecord>())
    }
    /// The other PEs of a PE's node that are on its CPU, as their records say.
    pub fn neighbours(&self, pe: usize) -> impl Iterator<Item = usize> {
        let cpu_of = |pe: usize| self.pe(pe).cpu.load(Ordering::Relaxed);
        let cpu = cpu_of(pe);
        self.job.near().filter(move |other| *other != pe && cpu_of(*other) == cpu)
    }
    /// Offset in the area of PE `pe`'s words in a team slot.
    pub fn words_offset(&self, slot: usize, pe: usize) -> u64 {
        assert!(slot < self.team_slots && pe < self.npes());
        let teams = HEADER_BYTES + self.npes() * size_of::<PeRecord>();
        (teams + (slot * self.npes() + pe) * size_of::<ControlWords>()) as u64
    }
    /// Offset in the area of the word that says which nodes have subscribed to PE `pe`'s progress
    /// in the team of a slot. The word on PE `pe`'s own node counts.
    pub fn subscribers_offset(&self, slot: usize, pe: usize) -> u64 {
        assert!(slot < self.team_slots && pe < self.npes());
        let base = Self::subscribers_base(self.npes(), self.team_slots);
        (base + (slot * self.npes() + pe) * size_of::<AtomicU64>()) as u64
    }
    /// The word of subscribers of a PE of this node.
    pub fn subscribers(&self, slot: usize, pe: usize) -> &AtomicU64 {
        self.area.at(self.subscribers_offset(slot, pe) as usize)
    }
    /// Offset in the area of PE `pe`'s record.
    pub fn record_offset(&self, pe: usize) -> u64 {
        (HEADER_BYTES + pe * size_of::<PeRecord>()) as u64
    }
    /// PE `pe`'s words in team slot `slot`.
    pub fn words(&self, slot: usize, pe: usize) -> &ControlWords {
        self.area.at(self.words_offset(slot, pe) as usize)
    }
    /// The words of team slot `slot`: one [`ControlWords`] for each PE of the job.
    pub fn team(&self, slot: usize) -> NonNull<ControlWords> {
        let bytes = self.npes() * size_of::<ControlWords>();
        self.area.bytes_at(self.words_offset(slot, 0) as usize, bytes).cast()
    }
    fn offset(&self) -> u64 {
        self.job.generation_offset(self.generation)
    }
    /// Offset of PE `pe`'s data segment in the file, whose slots each have a range of their own.
    pub fn data_offset(&self, pe: usize) -> u64 {
        self.job.slot_offset(self.generation, pe)
    }
    /// Offset of PE `pe`'s symmetric heap in the file.
    pub fn heap_offset(&self, pe: usize) -> u64 {
        self.data_offset(pe) + HEAP_OFFSET
    }
    /// Where PE `pe`'s data segment is.
    pub fn data_place(&self, pe: usize) -> Result<FilePlace<'_>, onenode_core::Error> {
        Ok((self.job.source()?, self.data_offset(pe)))
    }
    /// Where PE `pe`'s heap of these pages is.
    ///
    /// # Errors
    /// If there is no file of such pages, or it can no longer be reached.
    pub fn heap_place(
        &self,
        pe: usize,
        pages: Pages,
    ) -> Result<FilePlace<'_>, onenode_core::Error> {
        match pages {
            Pages::Explicit(size) => {
                Ok((self.huge_file(size)?, self.job.huge_offset(self.generation, pe)))
            }
            _ => Ok((self.job.source()?, self.heap_offset(pe))),
        }
    }
    /// Where PE `pe`'s partition of these pages is, which begins `offset` bytes behind its first one.
    ///
    /// # Errors
    /// As for [`heap_place`](Self::heap_place).
    pub fn partition_place(
        &self,
        pe: usize,
        pages: Pages,
        offset: u64,
    ) -> Result<FilePlace<'_>, onenode_core::Error> {
        match pages {
            Pages::Explicit(size) => {
                let (start, _) = self.job.huge_partitions(self.generation, pe);
                Ok((self.huge_file(size)?, start + offset))
            }
            _ => Ok((self.job.source()?, self.data_offset(pe) + PARTITIONS_OFFSET + offset)),
        }
    }
    /// The file of huge pages of this size.
    fn huge_file(&self, size: usize) -> Result<Source<'_>, onenode_core::Error> {
        let file = self.job.huge_file()?.filter(|file| fd::page_size(*file).ok() == Some(size));
        file.map(Source::File).ok_or_else(|| {
            onenode_core::Error::NoWay(
                "the job was started without a file for them: the variables must be set where its \
                 launcher starts"
                    .into(),
            )
        })
    }
}

/// Where the parts of a generation and the fields of its structs are, for the page.
#[cfg(test)]
pub(crate) mod layout {
    use super::*;
    use crate::jobfile::places::SLOT_BASE;
    use crate::tests::{Fields, fields};

    pub const PLACES: [(u64, &str); 6] = [
        (0, "`ControlHeader`"),
        (HEADER_BYTES as u64, "a `PeRecord` for each PE"),
        (psyncs::BASE, "`pSync` arrays"),
        (TEXTS_BASE, "partitions"),
        (STATISTICS_BASE, "statistics and timelines"),
        (SLOT_BASE, "a slot for each PE of this node"),
    ];

    pub const SLOT: [(u64, &str); 4] = [
        (0, "data segment"),
        (HEAP_OFFSET, "heap"),
        (PARTITIONS_OFFSET, "partitions"),
        (SLOT_STRIDE, "the next slot"),
    ];

    pub fn header() -> Fields {
        fields!("ControlHeader", Header { complained, order_reported, teams })
    }

    pub fn record() -> Fields {
        fields!(
            "PeRecord",
            PeRecord {
                stage,
                slot,
                thread_level,
                implicit_finalize,
                last_step,
                choices,
                far_choices,
                levels,
                highest,
                argument,
                partitions,
                order,
                waiting,
                heap_used,
                cpu
            }
        )
    }
}
