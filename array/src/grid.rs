//! Two-dimensional arrays in blocks of rows.

use crate::error::Result;
use crate::layout::{Distribution, Layout};
use crate::storage::Storage;
use oneshmem::{Element, Shmem, SymmetricSlice};
use std::ops::Range;

/// A grid of `rows` by `columns` elements. Each PE has consecutive rows, and room for copies of the
/// rows above and below them: its *ghost rows*. [`exchange`](Self::exchange) brings these up to date.
///
/// ```standalone_crate
/// use oneshmem_array::DistGrid;
/// # let shmem = oneshmem::init()?;
/// let mut grid = DistGrid::<f64>::new(&shmem, 100, 50, 1)?;
/// grid.local(|mut tile| {
///     for row in tile.own() {
///         tile.row_mut(row).fill(row as f64);
///     }
/// });
/// grid.exchange();
/// grid.local(|tile| {
///     for row in tile.own().filter(|row| (1..99).contains(row)) {
///         let (above, below) = (tile.row(row - 1), tile.row(row + 1));
///         assert_eq!(above[7] + below[7], 2.0 * tile.row(row)[7]);
///     }
/// });
/// assert_eq!(grid.get(99, 49), 99.0);
/// # grid.free();
/// # shmem.finalize();
/// # Ok::<(), oneshmem_array::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "freed only by free"]
pub struct DistGrid<'a, T> {
    storage: Storage<'a, T>,
    /// Of the rows.
    layout: Layout,
    columns: usize,
    ghosts: usize,
}

impl<'a, T: Element> DistGrid<'a, T> {
    /// Creates a grid of zeros, with `ghosts` ghost rows above and below each PE's own. Collective: all PEs
    /// pass the same arguments.
    ///
    /// # Errors
    /// The symmetric heap has no room for it, or no team; or PEs have passed different arguments. All
    /// PEs get the error.
    pub fn new(shmem: &'a Shmem, rows: usize, columns: usize, ghosts: usize) -> Result<Self> {
        let layout = Layout::new(rows, shmem.n_pes(), Distribution::Block);
        let arguments = [
            ("rows", rows),
            ("columns", columns),
            ("ghosts", ghosts),
            ("the size of an element", size_of::<T>()),
        ];
        // What no machine has is refused like what this one does not have.
        let per_pe = ghosts.saturating_mul(2).saturating_add(layout.per_pe).saturating_mul(columns);
        let storage = Storage::new("DistGrid::new", shmem, &arguments, per_pe)?;
        Ok(Self { storage, layout, columns, ghosts })
    }

    /// The number of rows, on all PEs together.
    pub fn rows(&self) -> usize {
        self.layout.len
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The rows of PE `pe`.
    ///
    /// # Panics
    /// If there is no such PE.
    #[track_caller]
    pub fn rows_on(&self, pe: usize) -> Range<usize> {
        let npes = self.layout.npes;
        assert!(
            pe < npes,
            "DistGrid::rows_on: pe is {pe}; expected less than {npes}, the number of PEs"
        );
        self.layout.block(pe)
    }

    /// Reads an element. A number of up to 64 bits is read as it was written, anything else may be read half changed.
    ///
    /// # Panics
    /// If there is no such element.
    #[inline]
    #[track_caller]
    pub fn get(&self, row: usize, column: usize) -> T {
        let (element, pe) = self.find("get", row, column);
        self.storage.shmem().g(element, pe)
    }

    /// Writes an element. Ghost rows get it by the next [`exchange`](Self::exchange) after a barrier.
    ///
    /// # Panics
    /// If there is no such element.
    #[inline]
    #[track_caller]
    pub fn put(&self, row: usize, column: usize, value: T) {
        let (element, pe) = self.find("put", row, column);
        self.storage.shmem().p(element, value, pe);
    }

    /// Puts this PE's rows to the PEs that have them as ghost rows; these see them in the next phase. All PEs
    /// call it. It does not wait for them.
    pub fn exchange(&self) {
        let (me, own) = (self.storage.shmem().my_pe(), self.own());
        if own.is_empty() || self.columns == 0 {
            return;
        }
        // All PEs from the first one to the last one with a row have equally many, except the last.
        let reach = self.ghosts.div_ceil(self.layout.per_pe);
        let last = me.saturating_add(reach).min(self.layout.npes - 1);
        for pe in (me.saturating_sub(reach)..=last).filter(|pe| *pe != me) {
            let theirs = self.layout.block(pe);
            let around = around(&theirs, self.ghosts, self.rows());
            for ghosts in [around.start..theirs.start, theirs.end..around.end] {
                let rows = ghosts.start.max(own.start)..ghosts.end.min(own.end);
                if !theirs.is_empty() && !rows.is_empty() {
                    let (to, from) = (self.slice(&rows, &theirs), self.slice(&rows, &own));
                    self.storage.shmem().put_from(to, from, pe);
                }
            }
        }
    }

    /// A phase, as [`DistArray::local`](crate::DistArray::local): calls `work` with this PE's own rows and
    /// ghost rows.
    pub fn local<R>(&mut self, work: impl FnOnce(Tile<'_, T>) -> R) -> R {
        let (own, columns) = (self.own(), self.columns);
        let there = match own.is_empty() {
            true => own.clone(),
            false => around(&own, self.ghosts, self.rows()),
        };
        let cells = self.cells(&there, &own);
        self.storage.phase(cells, |cells| work(Tile { cells, own, there, columns }))
    }

    /// Frees the grid. Collective.
    pub fn free(self) {
        self.storage.free();
    }

    /// This PE's rows.
    fn own(&self) -> Range<usize> {
        self.layout.block(self.storage.shmem().my_pe())
    }

    /// Where `rows` lie in the memory of the PE that has the rows `own`.
    fn cells(&self, rows: &Range<usize>, own: &Range<usize>) -> Range<usize> {
        let cell = |row: usize| (row + self.ghosts - own.start) * self.columns;
        cell(rows.start)..cell(rows.end)
    }

    /// `rows` on the PE that has the rows `own`.
    fn slice(&self, rows: &Range<usize>, own: &Range<usize>) -> SymmetricSlice<'_, T> {
        self.storage.slice(self.cells(rows, own))
    }

    /// An element, and the PE that has it.
    #[inline(always)]
    #[track_caller]
    fn find(&self, routine: &str, row: usize, column: usize) -> (SymmetricSlice<'_, T>, usize) {
        if row >= self.layout.len || column >= self.columns {
            no_element(routine, row, column, self.layout.len, self.columns);
        }
        let (pe, offset) = self.layout.place(row);
        (self.storage.at((self.ghosts + offset) * self.columns + column), pe)
    }
}

/// The rows `own` and the ghost rows around them, of `rows`.
fn around(own: &Range<usize>, ghosts: usize, rows: usize) -> Range<usize> {
    own.start.saturating_sub(ghosts)..own.end.saturating_add(ghosts).min(rows)
}

#[cold]
#[inline(never)]
#[track_caller]
fn no_element(routine: &str, row: usize, column: usize, rows: usize, columns: usize) -> ! {
    panic!(
        "DistGrid::{routine}: row is {row} and column {column}; expected less than {rows} and {columns}"
    )
}

/// This PE's own rows and its ghost rows, in a phase. Rows have their numbers in the grid.
#[derive(Debug)]
pub struct Tile<'p, T> {
    /// Of the rows `there`.
    cells: &'p mut [T],
    own: Range<usize>,
    there: Range<usize>,
    columns: usize,
}

impl<T> Tile<'_, T> {
    /// This PE's own rows.
    pub fn own(&self) -> Range<usize> {
        self.own.clone()
    }

    /// A row: one of its own, or a ghost row.
    ///
    /// # Panics
    /// If it is neither.
    #[inline]
    #[track_caller]
    pub fn row(&self, row: usize) -> &[T] {
        let cells = self.cells("row", row, &self.there);
        &self.cells[cells]
    }

    /// A row of its own, to be changed.
    ///
    /// # Panics
    /// If it is not.
    #[inline]
    #[track_caller]
    pub fn row_mut(&mut self, row: usize) -> &mut [T] {
        let cells = self.cells("row_mut", row, &self.own);
        &mut self.cells[cells]
    }

    /// All rows of its own, one after the other.
    pub fn own_mut(&mut self) -> &mut [T] {
        let cell = |row: usize| (row - self.there.start) * self.columns;
        let (start, end) = (cell(self.own.start), cell(self.own.end));
        &mut self.cells[start..end]
    }

    /// Where a row lies that is one of `rows`.
    #[inline]
    #[track_caller]
    fn cells(&self, routine: &str, row: usize, rows: &Range<usize>) -> Range<usize> {
        assert!(rows.contains(&row), "Tile::{routine}: row is {row}; expected one of {rows:?}");
        let cell = (row - self.there.start) * self.columns;
        cell..cell + self.columns
    }
}
