//! The hot path's table: for each rank, the extent of its reachable memory and where this is
//! mapped. It is in the client's memory, in the layout of the C header's `onenode_table`.
//!
//! ```text
//!  own regions of the view            where a rank's are mapped here
//!  |-[a]-..hole..-[b]-|               |-[a']-..hole..-[b']-|
//!  ^origin                            ^base[rank]
//!  <---- span[rank] -->
//! ```
//!
//! Rank `rank`'s counterpart of an own address is at `address - origin + base[rank]` if the offset
//! `address - origin` is below `span[rank]`, which is 0 for every rank that is not attached. So one
//! comparison tells whether loads and stores can reach the memory, and one addition gives the
//! address.
#![allow(unsafe_code)]

use crate::Rank;
use crate::error::Error;
use onenode_core::atomics::{AtomicUsize, Ordering};
use std::ops::{Deref, Range};
use std::ptr::NonNull;

/// Where a view's regions are in this process.
#[derive(Clone, Copy, Debug)]
pub struct Bounds<'v> {
    /// First address.
    pub origin: usize,
    /// Bytes from `origin` to the end of the last region.
    pub span: usize,
    /// The regions, in address order.
    pub pieces: &'v [Range<usize>],
}

/// Where a view's regions of one rank are mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// [`Bounds::span`].
    pub span: usize,
    /// The local address that corresponds to [`Bounds::origin`].
    pub base: usize,
    /// Start of the view's first region in the rank's own address space.
    pub start: usize,
}

/// A client's table for its hot path, which a view updates.
pub trait Entries: Send + Sync {
    /// Called when a view is opened; no rank is attached.
    ///
    /// # Errors
    /// If the table already has a view.
    fn publish(&self, bounds: &Bounds<'_>) -> Result<(), Error>;
    /// Called when a rank is attached. The table need not have room for it.
    fn open(&self, rank: Rank, entry: &Entry);
    /// Called when a rank is detached.
    fn shut(&self, rank: Rank);
    /// Called when the view is closed.
    fn close(&self);
}

/// A reference to a table, or an [`Arc`](std::sync::Arc) of one.
impl<P: Deref<Target: Entries> + Send + Sync> Entries for P {
    fn publish(&self, bounds: &Bounds<'_>) -> Result<(), Error> {
        (**self).publish(bounds)
    }
    fn open(&self, rank: Rank, entry: &Entry) {
        (**self).open(rank, entry);
    }
    fn shut(&self, rank: Rank) {
        (**self).shut(rank);
    }
    fn close(&self) {
        (**self).close();
    }
}

/// The words of a table.
#[derive(Clone, Copy)]
struct Words<'t> {
    origin: &'t AtomicUsize,
    spans: &'t [AtomicUsize],
    bases: &'t [AtomicUsize],
    starts: &'t [AtomicUsize],
}

impl Words<'_> {
    #[inline(always)]
    fn at(self, own: usize, rank: usize) -> Option<usize> {
        let offset = own.wrapping_sub(self.origin.load(Ordering::Relaxed));
        // Acquire: the base is stored before the span, by whichever thread.
        let span = self.spans.get(rank)?.load(Ordering::Acquire);
        if offset < span {
            Some(offset.wrapping_add(self.bases[rank].load(Ordering::Relaxed)))
        } else {
            None
        }
    }

    fn publish(self, bounds: &Bounds<'_>) -> Result<(), Error> {
        let free =
            self.origin.compare_exchange(0, bounds.origin, Ordering::Relaxed, Ordering::Relaxed);
        match free {
            Ok(_) => Ok(()),
            Err(origin) => Err(Error::argument(
                "table",
                format_args!("one with origin {origin:#x}"),
                "one that no view has: zeroed, or its view closed",
            )),
        }
    }

    fn open(self, rank: Rank, entry: &Entry) {
        let rank = rank as usize;
        if rank < self.spans.len() {
            self.bases[rank].store(entry.base, Ordering::Relaxed);
            self.starts[rank].store(entry.start, Ordering::Relaxed);
            // Release: whoever reads the span uses the other words and the mapping.
            self.spans[rank].store(entry.span, Ordering::Release);
        }
    }

    fn shut(self, rank: Rank) {
        for words in [self.spans, self.bases, self.starts] {
            if let Some(word) = words.get(rank as usize) {
                word.store(0, Ordering::Relaxed);
            }
        }
    }

    fn close(self) {
        for words in [self.spans, self.bases, self.starts] {
            words.iter().for_each(|word| word.store(0, Ordering::Relaxed));
        }
        self.origin.store(0, Ordering::Relaxed);
    }
}

macro_rules! entries {
    ($table:ty $(, $size:ident)?) => {
        impl$(<const $size: usize>)? Entries for $table {
            fn publish(&self, bounds: &Bounds<'_>) -> Result<(), Error> {
                self.words().publish(bounds)
            }
            fn open(&self, rank: Rank, entry: &Entry) {
                self.words().open(rank, entry);
            }
            fn shut(&self, rank: Rank) {
                self.words().shut(rank);
            }
            fn close(&self) {
                self.words().close();
            }
        }

        impl$(<const $size: usize>)? $table {
            /// Where the counterpart of the own address `own` is mapped for `rank`. `None` if the
            /// address is not in the view, or the rank is not attached.
            #[inline(always)]
            pub fn at(&self, own: usize, rank: usize) -> Option<usize> {
                self.words().at(own, rank)
            }
        }
    };
}

/// A table for ranks below `RANKS`, for use in a static.
#[repr(C)]
#[derive(Debug)]
pub struct Table<const RANKS: usize> {
    origin: AtomicUsize,
    capacity: usize,
    spans: [AtomicUsize; RANKS],
    bases: [AtomicUsize; RANKS],
    starts: [AtomicUsize; RANKS],
}

impl<const RANKS: usize> Table<RANKS> {
    /// A table without a view.
    #[allow(clippy::new_without_default)] // It is large: not to be made by chance.
    pub const fn new() -> Self {
        Self {
            origin: AtomicUsize::new(0),
            capacity: RANKS,
            spans: [const { AtomicUsize::new(0) }; RANKS],
            bases: [const { AtomicUsize::new(0) }; RANKS],
            starts: [const { AtomicUsize::new(0) }; RANKS],
        }
    }

    #[inline(always)]
    fn words(&self) -> Words<'_> {
        Words { origin: &self.origin, spans: &self.spans, bases: &self.bases, starts: &self.starts }
    }
}

entries!(Table<RANKS>, RANKS);

/// A table whose size is known only at run time.
#[derive(Debug)]
pub struct HeapTable(Box<[AtomicUsize]>);

impl HeapTable {
    /// A table for ranks below `ranks`.
    pub fn new(ranks: usize) -> Self {
        let words: Box<[AtomicUsize]> =
            (0..HEAD + 3 * ranks).map(|_| AtomicUsize::new(0)).collect();
        words[1].store(ranks, Ordering::Relaxed);
        Self(words)
    }

    #[inline(always)]
    fn words(&self) -> Words<'_> {
        split(&self.0, (self.0.len() - HEAD) / 3)
    }
}

entries!(HeapTable);

/// Words before the entries: the origin and the capacity.
const HEAD: usize = 2;

#[inline(always)]
fn split(words: &[AtomicUsize], ranks: usize) -> Words<'_> {
    let (head, slots) = words.split_at(HEAD);
    let (spans, rest) = slots.split_at(ranks);
    let (bases, starts) = rest.split_at(ranks);
    Words { origin: &head[0], spans, bases, starts }
}

/// A table in memory that Rust does not own: an `onenode_table` of the C header.
#[derive(Clone, Copy, Debug)]
pub struct RawTable {
    /// Used while the value is there, no longer.
    words: &'static [AtomicUsize],
}

impl RawTable {
    /// The table at `at`: two words, the second of which is the number of ranks with room in the
    /// table, then three words per rank. All words except the second are 0, or are as a closed view
    /// left them.
    ///
    /// # Safety
    /// The words are there, aligned, until the value and the view that uses it are gone. Nobody
    /// else writes to them.
    pub unsafe fn new(at: NonNull<usize>) -> Self {
        // SAFETY: the caller guarantees that the words are there, aligned, as many as the second says, until this
        // value is gone. An atomic has its number's size and alignment.
        let words = unsafe {
            let capacity = at.add(1).read();
            NonNull::slice_from_raw_parts(at.cast(), HEAD + 3 * capacity).as_ref()
        };
        Self { words }
    }

    #[inline(always)]
    fn words(&self) -> Words<'_> {
        split(self.words, (self.words.len() - HEAD) / 3)
    }
}

entries!(RawTable);

#[cfg(test)]
mod tests {
    use super::*;

    fn check(table: &dyn Entries, at: impl Fn(usize, usize) -> Option<usize>) {
        let bounds =
            Bounds { origin: 0x1000, span: 0x800, pieces: std::slice::from_ref(&(0x1000..0x1800)) };
        assert_eq!(at(0x1000, 0), None, "no view");
        table.publish(&bounds).expect("published");
        let error = table.publish(&bounds).expect_err("it has a view").to_string();
        assert!(error.contains("table") && error.contains("0x1000"), "{error}");
        assert_eq!(at(0x1000, 2), None, "not attached");
        table.open(2, &Entry { span: 0x800, base: 0x70_0000, start: 0x5000 });
        table.open(77, &Entry { span: 0x800, base: 0x70_0000, start: 0x5000 });
        assert_eq!(at(0x1000, 2), Some(0x70_0000));
        assert_eq!(at(0x17ff, 2), Some(0x70_07ff));
        for (own, rank) in [(0xfff, 2), (0x1800, 2), (0, 2), (0x1000, 1), (0x1000, 3), (0x1000, 77)]
        {
            assert_eq!(at(own, rank), None, "{own:#x} of rank {rank}");
        }
        table.shut(77);
        table.shut(2);
        assert_eq!(at(0x1000, 2), None, "shut");
        table.close();
        table.publish(&bounds).expect("published again");
    }

    #[test]
    fn one_comparison_tells_the_address_the_rank_and_the_state() {
        let table = Table::<3>::new();
        check(&table, |own, rank| table.at(own, rank));
        let table = HeapTable::new(3);
        check(&table, |own, rank| table.at(own, rank));
        let mut words = [0usize, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        // SAFETY: the words outlive the table, and nobody else writes to them.
        let table = unsafe { RawTable::new(NonNull::from(&mut words).cast()) };
        check(&table, |own, rank| table.at(own, rank));
    }

    #[test]
    fn all_tables_have_the_layout_of_the_header() {
        let (table, heap) = (Table::<2>::new(), HeapTable::new(2));
        let tables: [&dyn Entries; 2] = [&table, &heap];
        for table in tables {
            let bounds =
                Bounds { origin: 0x1000, span: 9, pieces: std::slice::from_ref(&(0x1000..0x1009)) };
            table.publish(&bounds).expect("published");
            table.open(1, &Entry { span: 9, base: 10, start: 11 });
        }
        let number = |word: &AtomicUsize| word.load(Ordering::Relaxed);
        let words: Vec<usize> = heap.0.iter().map(number).collect();
        assert_eq!(words, [0x1000, 2, 0, 9, 0, 10, 0, 11]);
        let Table { origin, capacity, spans, bases, starts } = &table;
        let slots = [spans, bases, starts].map(|words| words.each_ref().map(number));
        assert_eq!((number(origin), *capacity, slots), (0x1000, 2, [[0, 9], [0, 10], [0, 11]]));
        let [first, second] = [(&raw const *origin).addr(), (&raw const *capacity).addr()];
        let [third, fifth, seventh] = [spans, bases, starts].map(|words| words.as_ptr().addr());
        let places =
            [first, second, third, fifth, seventh].map(|at| at - (&raw const table).addr());
        assert_eq!(places, [0, 1, 2, 4, 6].map(|words| words * size_of::<usize>()));
        assert_eq!(size_of::<Table<2>>(), size_of::<[usize; 8]>());
    }
}
