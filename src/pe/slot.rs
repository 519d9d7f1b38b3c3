//! This PE's slot and its peers' mirrors, of which the heap, each partition and the data segment are
//! segments of the backend. A partition that is a file of its own is mapped alike over all backends.
#![allow(unsafe_code)]

use super::Job;
use crate::atomics::{AtomicU64, Ordering};
use onenode_core::Error;
use onenode_core::backend::{BackendResource, FilePlace, Move, Naming, Segment};
use onenode_core::pages::Pages;
use onenode_core::segment;
use onenode_core::sys::map::Reserved;
use onenode_core::sys::{mutex, persistent};
use std::ops::Range;
use std::os::fd::AsFd;

/// Resources of the backend. Fields drop in this order: attachments first.
#[derive(Default)]
pub(crate) struct Resources {
    attached: Vec<BackendResource>,
    published: Vec<BackendResource>,
    /// Whether the data segment has moved into a file, where it stays.
    moved: bool,
}

impl Job {
    /// The place of the heap or of a partition, which is to be mapped anew.
    fn own_place(&self, range: &Range<usize>) -> Reserved<'_> {
        // SAFETY: `make_heap`, `make_partition` and `withdraw_slot` alone ask for it: initialisation, before the first
        // block of a lifetime is allocated, and finalisation, after its last barrier.
        unsafe { self.layout.place(range) }
    }

    /// A place in the job's files, where the backend uses them.
    fn in_file<'j>(
        &'j self,
        place: impl FnOnce() -> Result<FilePlace<'j>, Error>,
    ) -> Result<Option<FilePlace<'j>>, Error> {
        self.choice.is_in_files().then(place).transpose()
    }

    fn heap_file(&self, pe: usize, pages: Pages) -> Result<Option<FilePlace<'_>>, Error> {
        self.in_file(|| self.control.heap_place(pe, pages))
    }

    fn partition_file(&self, pe: usize, index: usize) -> Result<Option<FilePlace<'_>>, Error> {
        let pages = self.partitions[index].spec().pages;
        let offset = self.layout.partition_offset(index) as u64;
        self.in_file(|| self.control.partition_place(pe, pages, offset))
    }

    /// Maps the heap, zeroed, with these pages. After a failure it can be called again with other pages.
    pub(crate) fn make_heap(&self, pages: Pages) -> Result<(), Error> {
        let place = self.own_place(self.layout.heap());
        self.choice.backend.make(&place, pages, self.heap_file(self.pe, pages)?)
    }

    /// Maps a partition, zeroed unless it is a file of its own.
    pub(crate) fn make_partition(&self, index: usize) -> Result<(), Error> {
        let (spec, backend) = (self.partitions[index].spec(), &self.choice.backend);
        let place = self.own_place(&self.layout.partitions()[index]);
        match spec.open_file(self.pe)? {
            None => backend.make(&place, spec.pages, self.partition_file(self.pe, index)?),
            Some(_) if backend.naming() == Naming::Address => {
                Err(Error::NoWay("on Kitten partitions are ordinary memory only".into()))
            }
            Some(file) => persistent::file_over(&place, file.as_fd()),
        }
    }

    /// Lets peers attach this PE's slot, whose heap and partitions are mapped already.
    pub(crate) fn publish_slot(&self) -> Result<(), Error> {
        let (data, record) = (&self.data, &self.control.pe(self.pe).slot);
        let mut resources = mutex::lock(&self.resources);
        let pieces = data.copied();
        let to = self.in_file(|| self.control.data_place(self.pe))?.filter(|_| !resources.moved);
        let moved = match to {
            Some((file, offset)) => {
                segment::keep_gaps(data)?;
                Some(Move { pieces: &pieces, to: (file.file()?, offset) })
            }
            None => None,
        };
        let mut publish = |range: &Range<usize>, moved: Option<Move>, number: &AtomicU64| {
            // SAFETY: the program's data segment with its gaps, or the area of heap and partitions, which programs
            // share with their peers, and which stay. This process's threads can be held while data move.
            let published = unsafe { self.choice.backend.publish(range, moved)? };
            number.store(published.number, Ordering::Relaxed);
            resources.published.extend(published.held);
            Ok::<_, Error>(())
        };
        publish(data.pages(), moved, &record.data_segment)?;
        // With the reserved memory between partitions, which also faults when peers access it.
        publish(&self.layout.area(), None, &record.heap_segment)?;
        resources.moved = true;
        Ok(())
    }

    /// Maps the slot of PE `pe`, whose heap and partitions are as large as this PE's, at its mirror in the
    /// window. The data segment is left out unless the PE runs the `same` executable: only then is it laid
    /// out as this PE's.
    pub(crate) fn attach_slot(&self, pe: usize, same: bool) -> Result<(), Error> {
        let (layout, record) = (&self.layout, &self.control.pe(pe).slot);
        // SAFETY: nobody uses the mirror before `translate` knows it, for the first time in this lifetime.
        let mirror = unsafe { layout.mirror_place(pe)? };
        let mut resources = mutex::lock(&self.resources);
        let word = |word: &AtomicU64| word.load(Ordering::Relaxed);
        let (data, heap, area) = (layout.data(), layout.heap(), layout.area());
        let mut attach = |range: &Range<usize>, pages, segment| {
            // SAFETY: mirrors are mapped here only, once in a lifetime; `withdraw_slot` detaches them before the next.
            let held = unsafe { self.choice.backend.attach(&mirror.of(range), pages, segment)? };
            resources.attached.extend(held);
            Ok::<_, Error>(())
        };
        // A range of the segment with this number, which starts at `start` here and so far from there in the peer.
        let naming = self.choice.backend.naming();
        let segment = |range: &Range<usize>, number, start, shift, file| match (file, naming) {
            (Some(place), _) => Segment::File(place),
            (None, Naming::Address) => Segment::Address(range.start.wrapping_add(shift)),
            (None, _) => Segment::Number(word(number), range.start - start),
        };
        if same {
            let file = self.in_file(|| self.control.data_place(pe))?;
            attach(data, Pages::Normal, segment(data, &record.data_segment, data.start, 0, file))?;
        }
        let shift = (word(&record.heap_address) as usize).wrapping_sub(heap.start);
        let part = |range, file| segment(range, &record.heap_segment, area.start, shift, file);
        attach(heap, record.pages(), part(heap, self.heap_file(pe, record.pages())?))?;
        for (index, range) in layout.partitions().iter().enumerate() {
            let spec = self.partitions[index].spec();
            match spec.open_file(pe)? {
                Some(file) => persistent::peers_file_over(&mirror.of(range), file.as_fd())?,
                None => {
                    let file = self.partition_file(pe, index)?;
                    attach(range, spec.pages, part(range, file))?;
                }
            }
        }
        Ok(())
    }

    /// Frees the memory of the heap and of the partitions that are not files, and detaches the mirrors.
    /// Nobody uses them any more. The data segment stays as it is. Mirrors of files stay mapped; the next
    /// lifetime maps over them.
    pub(crate) fn withdraw_slot(&self) {
        let mut resources = mutex::lock(&self.resources);
        resources.attached.clear();
        resources.published.clear();
        let backend = &self.choice.backend;
        let pages = self.control.pe(self.pe).slot.pages();
        if let Ok(file) = self.heap_file(self.pe, pages) {
            backend.free(&self.own_place(self.layout.heap()), file);
        }
        for (index, range) in self.layout.partitions().iter().enumerate() {
            if self.partitions[index].spec().file_of(self.pe).is_some() {
                continue;
            }
            if let Ok(file) = self.partition_file(self.pe, index) {
                backend.free(&self.own_place(range), file);
            }
        }
    }
}
