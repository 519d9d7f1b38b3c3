//! The memory of a node's PEs as its agent has mapped it, and how what a message is about is found in
//! it. Messages name memory by PE, lifetime and offset; nothing else is ever loaded or stored.
#![allow(unsafe_code)]

use super::exports::{self, EXPORT_BYTES, Export, Sizes};
use super::shared::SharedBytes;
use crate::atomics::{AtomicU64, Ordering};
use crate::error::Error;
use crate::jobfile::JobFile;
use crate::jobfile::control::{Control, Stage};
use crate::jobfile::nodes::Nodes;
use crate::partition::Spec;
use crate::remote::{Far, Segment};
use onenode_core::backend::{FilePlace, memfd};
use onenode_core::sys::map::OwnMapping;
use onenode_core::sys::persistent;
use std::ops::Range;
use std::os::fd::AsFd;
use std::ptr::NonNull;
use std::sync::Arc;

/// Programs that a PE has begun, and lifetimes in the current one.
type Life = (u32, u32);

/// The memory that an agent has mapped.
pub struct ServedMemory {
    near: Range<usize>,
    pes: Vec<Pe>,
    /// The control areas of the programs that PEs have begun, the current one and earlier ones.
    areas: Vec<Area>,
}

/// A PE as it was exported.
#[derive(Default)]
struct Pe {
    life: Life,
    /// For those who ask; `None` if nothing is exported yet.
    export: Option<[u8; EXPORT_BYTES]>,
    pieces: Vec<Piece>,
    mapped: Arc<Vec<OwnMapping>>,
    /// Whether the launcher has seen the process end.
    ended: bool,
}

/// Memory that others may access, by atomics and raw copies only. Those of a PE stay mapped until the
/// [`update`](ServedMemory::update) that replaces them, all others for the life of the process.
#[derive(Clone, Copy)]
struct Piece {
    /// Where it begins in a [`Far`].
    offset: u64,
    base: NonNull<u8>,
    bytes: usize,
}

/// The mapped memory of one program of the job.
struct Area {
    generation: u32,
    pieces: [Piece; 2],
    /// The first piece, mapped.
    control: Control,
}

impl Piece {
    /// `bytes` bytes from `offset` on; `None` if some of them are outside the piece.
    fn find(&self, offset: u64, bytes: usize) -> Option<SharedBytes<'_>> {
        let skipped = usize::try_from(offset.checked_sub(self.offset)?).ok()?;
        let is_within = self.bytes.checked_sub(skipped)? >= bytes;
        let start = self.base.as_ptr().wrapping_add(skipped);
        // SAFETY: in the piece, by the checks, which stays as long as it is borrowed of what is served.
        is_within.then(|| unsafe { SharedBytes::new(start, bytes) })
    }
}

impl ServedMemory {
    /// Nothing is mapped of these PEs yet.
    pub fn none(near: Range<usize>) -> Self {
        let pes = std::iter::repeat_with(Pe::default).take(near.len()).collect();
        Self { near, pes, areas: Vec::new() }
    }

    /// `bytes` bytes of a PE in one of its lifetimes, as they are mapped here. `None` if not all of them are
    /// exported.
    pub fn find(&self, at: Far, life: Life, bytes: usize) -> Option<SharedBytes<'_>> {
        let pe = self.pes.get(at.pe.checked_sub(self.near.start)?)?;
        let pieces = match Segment::of(at.offset).0 {
            Segment::Control | Segment::Statistics => {
                let generation = life.0.checked_sub(1)?;
                &self.areas.iter().find(|area| area.generation == generation)?.pieces[..]
            }
            _ if pe.life == life => &pe.pieces,
            _ => return None,
        };
        pieces.iter().find_map(|piece| piece.find(at.offset, bytes))
    }

    /// Keeps what [`find`](Self::find) finds of a PE mapped for longer than until the next update.
    pub fn keep(&self, pe: usize) -> Option<Arc<Vec<OwnMapping>>> {
        self.pes.get(pe.checked_sub(self.near.start)?).map(|pe| pe.mapped.clone())
    }

    /// The encoded export of a PE: zeros if nothing is exported yet; `None` if it is on another node.
    pub fn export(&self, pe: usize) -> Option<[u8; EXPORT_BYTES]> {
        let pe = self.pes.get(pe.checked_sub(self.near.start)?)?;
        let mut export = pe.export.unwrap_or([0; EXPORT_BYTES]);
        if pe.ended {
            exports::mark_ended(&mut export);
        }
        Some(export)
    }

    /// Exports the PEs that have begun a lifetime since the last call. A PE that asks for one that
    /// is not exported yet wakes the agent by asking, and asks again.
    ///
    /// # Errors
    /// If memory cannot be mapped.
    pub fn update(&mut self, job: &Arc<JobFile>) -> Result<(), Error> {
        for pe in self.near.clone() {
            let index = pe - self.near.start;
            let ended = job.member(pe).gone.load(Ordering::Acquire) != 0;
            self.pes[index].ended = ended;
            let programs = job.programs(pe);
            if programs == 0 {
                continue;
            }
            let area = self.area(job, programs - 1)?;
            let record = self.areas[area].control.pe(pe);
            let life = (programs, record.lifetime());
            if record.stage() == Stage::Ready && self.pes[index].life != life {
                // Answers to PEs of the last lifetime have been sent: they have left it since.
                self.pes[index] = Pe::default();
                let exported = Pe::of(&self.areas[area], job.nodes(), pe, life)?;
                self.pes[index] = Pe { ended, ..exported };
            }
        }
        Ok(())
    }

    /// The index of the control area of a generation; maps it first if necessary.
    fn area(&mut self, job: &Arc<JobFile>, generation: u32) -> Result<usize, Error> {
        let known = |area: &Area| area.generation == generation;
        if let Some(index) = self.areas.iter().position(known) {
            return Ok(index);
        }
        let control = Control::of(job.clone(), generation)?;
        let (base, bytes) = control.memory();
        let (offset, room) = control.all_statistics();
        // For the life of the process, as the control area.
        let statistics = job.source()?.anywhere(offset, room)?;
        let pieces = [
            Piece { offset: Segment::Control.start(), base, bytes },
            Piece { offset: Segment::Statistics.start(), base: statistics, bytes: room },
        ];
        self.areas.push(Area { generation, pieces, control });
        Ok(self.areas.len() - 1)
    }
}

impl Pe {
    fn of(area: &Area, nodes: Option<&Nodes>, pe: usize, life: Life) -> Result<Self, Error> {
        let control = &area.control;
        let record = &control.pe(pe).slot;
        let word = |word: &AtomicU64| word.load(Ordering::Relaxed);
        let heap = control.heap_place(pe, record.pages());
        let heap = heap.map_err(|why| Error::Engine(format!("the heap of PE {pe}: {why}")))?;
        let map =
            |(file, offset): FilePlace, bytes: &AtomicU64| file.own(offset, word(bytes) as usize);
        let mut mapped =
            vec![map(control.data_place(pe)?, &record.data_bytes)?, map(heap, &record.heap_bytes)?];
        let mut pieces = Vec::new();
        for (segment, mapping) in [Segment::Data, Segment::Heap].iter().zip(&mapped) {
            let (base, bytes) = (address(mapping.range().start)?, mapping.range().len());
            pieces.push(Piece { offset: segment.start(), base, bytes });
        }
        let mut sizes: Sizes = [0; Segment::COUNT];
        for piece in pieces.iter().chain(&area.pieces) {
            sizes[Segment::of(piece.offset).0 as usize] = piece.bytes as u64;
        }
        if let Some((room, partitions)) = Self::partitions(control, pe)? {
            let ends = partitions.iter().map(|piece| piece.offset + piece.bytes as u64);
            let end = ends.max().unwrap_or(Segment::Partitions.start());
            sizes[Segment::Partitions as usize] = end - Segment::Partitions.start();
            mapped.push(room);
            pieces.extend(partitions);
        }
        let export = Export {
            life,
            image: word(&record.image),
            backend: word(&record.backend),
            partitions_number: word(&control.pe(pe).partitions),
            sizes,
            worker: nodes.map(Nodes::worker).unwrap_or_default(),
        };
        let export = export
            .encode()
            .ok_or_else(|| Error::Engine("an address of UCX is longer than expected".into()))?;
        Ok(Self { life, export: Some(export), pieces, mapped: Arc::new(mapped), ended: false })
    }

    /// Maps a PE's partitions at their distances.
    fn partitions(control: &Control, pe: usize) -> Result<Option<(OwnMapping, Vec<Piece>)>, Error> {
        let partitions = control.mapped_partitions(pe)?;
        let end = |(spec, offset): &(Spec, usize)| offset + spec.whole_pages();
        let Some(bytes) = partitions.iter().map(end).max() else { return Ok(None) };
        let alignment = partitions.iter().map(|(spec, _)| spec.pages.size()).fold(1, usize::max);
        let room = bytes + alignment;
        let reserved = OwnMapping::reserve(room)?;
        let first = reserved.range().start.next_multiple_of(alignment);
        let mut pieces = Vec::new();
        for (spec, offset) in &partitions {
            let at = first + offset..first + offset + spec.whole_pages();
            let place = reserved.part(at.clone());
            let mapped = spec.open_file(pe).and_then(|file| match file {
                Some(file) => persistent::peers_file_over(&place, file.as_fd()),
                None => {
                    let from = control.partition_place(pe, spec.pages, *offset as u64)?;
                    memfd::map_peers(&place, spec.pages, from)
                }
            });
            mapped.map_err(|why| Error::Engine(format!("{} of PE {pe}: {why}", spec.shown())))?;
            let offset = Segment::Partitions.start() + *offset as u64;
            pieces.push(Piece { offset, base: address(at.start)?, bytes: at.len() });
        }
        Ok(Some((reserved, pieces)))
    }
}

fn address(at: usize) -> Result<NonNull<u8>, Error> {
    NonNull::new(at as *mut u8).ok_or_else(|| Error::Engine("memory at address 0".into()))
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// PE 4 of a node, whose heap is this memory.
    pub fn heap_of(words: &[AtomicU64], life: Life) -> ServedMemory {
        let mut served = ServedMemory::none(4..6);
        let base = NonNull::from(words).cast();
        let heap = Piece { offset: Segment::Heap.start(), base, bytes: size_of_val(words) };
        served.pes[0] = Pe { life, pieces: vec![heap], ..Pe::default() };
        served
    }

    #[test]
    fn only_what_is_exported_is_found() {
        let words = [0, 0, 0].map(AtomicU64::new);
        let mut served = heap_of(&words, (1, 2));
        let gap = Piece { offset: Segment::Partitions.start() + 64, ..served.pes[0].pieces[0] };
        served.pes[0].pieces.push(gap);
        let find = |pe, offset, life, bytes| {
            let start = words.as_ptr() as usize;
            served.find(Far { pe, offset }, life, bytes).map(|at| at.start().addr() - start)
        };
        let (heap, partitions) = (Segment::Heap.start(), Segment::Partitions.start());
        for (offset, bytes, expected) in [
            (heap, 24, Some(0)),
            (heap + 5, 19, Some(5)),
            (heap + 24, 0, Some(24)),
            (heap, 25, None),
            (heap + 25, 0, None),
            (heap + 23, usize::MAX, None),
            (heap - 1, 1, None),
            (0, 1, None),
            (partitions + 64, 24, Some(0)),
            (partitions + 63, 1, None),
            (partitions, 0, None),
            (Segment::Control.start(), 8, None),
            (Segment::Statistics.start(), 8, None),
            (u64::MAX, 1, None),
        ] {
            assert_eq!(find(4, offset, (1, 2), bytes), expected, "{bytes} at {offset:#x}");
        }
        for (pe, life) in [(3, (1, 2)), (5, (1, 2)), (6, (1, 2)), (4, (1, 1)), (4, (0, 0))] {
            assert_eq!(find(pe, heap, life, 8), None, "PE {pe} in {life:?}");
        }
        assert_eq!(find(4, Segment::Control.start(), (0, 0), 8), None);
        assert!(served.export(3).is_none() && served.export(6).is_none());
        assert_eq!(served.export(5), Some([0; EXPORT_BYTES]));
    }
}
