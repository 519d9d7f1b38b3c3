//! `--comm-matrix`: how many bytes each PE moved to and from each other, as a picture or a table.
//!
//! Each PE counts in the job's file of its node. On one machine the launcher reads these counts. In
//! a job over several nodes each node's launcher reads the rows of its PEs and sends them to the
//! hub, which has the matrix of the whole job.

pub mod file;
mod svg;

use oneshmem_job::codec;
use oneshmem_job::error::Error;
use oneshmem_job::jobfile::JobFile;
use oneshmem_job::jobfile::MAX_PES;
use oneshmem_job::jobfile::control::Control;
use oneshmem_job::stats::{Peer, Snapshot};
use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

/// The most bytes of a row in a frame: numbers take up to 10 bytes, those of cells up to 2.
pub const ROW_BYTES: usize = 3 + (2 + 2 * 10) * MAX_PES;

/// Which PEs each cell of a row stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// The PEs of each cell. All of them are on one node.
    pes: Vec<Range<usize>>,
    /// The cells of each node.
    nodes: Vec<Range<usize>>,
}

impl Grid {
    /// For nodes with these numbers of PEs: at most `most` cells, but at least one for each node.
    pub fn new(sizes: &[usize], most: usize) -> Self {
        let cells = |group: usize| sizes.iter().map(|pes| pes.div_ceil(group)).sum::<usize>();
        let largest = sizes.iter().copied().max().unwrap_or(1);
        let group = (1..largest).find(|group| cells(*group) <= most).unwrap_or(largest);
        let (mut grid, mut first) = (Self { pes: Vec::new(), nodes: Vec::new() }, 0);
        for pes in sizes {
            let (start, end) = (grid.pes.len(), first + pes);
            let cells = (first..end).step_by(group).map(|pe| pe..end.min(pe + group));
            grid.pes.extend(cells);
            grid.nodes.push(start..grid.pes.len());
            first = end;
        }
        grid
    }

    /// The cells of a node.
    pub fn of_node(&self, node: usize) -> Range<usize> {
        self.nodes[node].clone()
    }

    /// The number of cells in a row.
    fn cells(&self) -> usize {
        self.pes.len()
    }

    fn npes(&self) -> usize {
        self.pes.last().map_or(0, |pes| pes.end)
    }

    fn node_of(&self, cell: usize) -> usize {
        self.nodes.partition_point(|cells| cells.end <= cell)
    }

    /// Whether the PEs of two cells are on different nodes.
    fn is_far(&self, row: usize, column: usize) -> bool {
        self.node_of(row) != self.node_of(column)
    }

    /// The label of a cell's PEs.
    fn label(&self, cell: usize) -> String {
        let pes = &self.pes[cell];
        match pes.len() {
            1 => pes.start.to_string(),
            _ => format!("{} to {}", pes.start, pes.end - 1),
        }
    }
}

/// Operations of the PEs of one cell on the PEs of each cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Whether any of the PEs has statistics.
    counted: bool,
    cells: Vec<Peer>,
}

impl Row {
    /// Reads the counts of the PEs of a cell, which are on this node.
    pub fn read(job: &Arc<JobFile>, grid: &Grid, row: usize) -> Result<Self, Error> {
        let mut cells = vec![Peer::default(); grid.cells()];
        let mut counted = false;
        for pe in grid.pes[row].clone() {
            // All programs that the PE has run, in order.
            for generation in 0..job.programs(pe) {
                let peers = Snapshot::of(&Control::of(job.clone(), generation)?, pe)?.peers;
                counted |= !peers.is_empty();
                let cell = grid.pes.iter().zip(&mut cells);
                for (pes, cell) in cell.filter(|(pes, _)| pes.end <= peers.len()) {
                    *cell = total(peers[pes.clone()].iter().chain([&*cell]));
                }
            }
        }
        Ok(Self { counted, cells })
    }

    /// Encodes it for a frame.
    pub fn encode(&self) -> Vec<u8> {
        let cells = self.cells.iter().enumerate().filter(|(_, cell)| cell.calls > 0);
        let cells: Cells = cells.map(|(column, cell)| (column, cell.calls, cell.bytes)).collect();
        codec::encode(&(self.counted, cells))
    }

    /// Decodes a row of so many cells from a frame.
    fn decode(bytes: &[u8], cells: usize) -> Option<Self> {
        let (counted, found) = codec::decode::<(bool, Cells)>(bytes)?;
        let mut row = Self { counted, cells: vec![Peer::default(); cells] };
        for (column, calls, bytes) in found {
            *row.cells.get_mut(column)? = Peer { calls, bytes };
        }
        Some(row)
    }
}

/// The columns of a row that are not empty, with their calls and bytes.
type Cells = Vec<(usize, u64, u64)>;

/// The communication between PEs.
#[derive(Debug)]
pub struct Matrix {
    grid: Grid,
    /// Rows: the calling PEs. `None` for those whose counts are unknown.
    rows: Vec<Option<Row>>,
}

impl Matrix {
    /// Without rows.
    pub fn new(grid: Grid) -> Self {
        let rows = vec![None; grid.cells()];
        Self { grid, rows }
    }

    /// The matrix of a finished job on this machine.
    pub fn read(job: &Arc<JobFile>, most: usize) -> Result<Self, Error> {
        let mut matrix = Self::new(Grid::new(&[job.npes()], most));
        for (row, place) in matrix.rows.iter_mut().enumerate() {
            *place = Some(Row::read(job, &matrix.grid, row)?);
        }
        Ok(matrix)
    }

    /// Takes a row from a frame of a node. Returns whether it is one.
    #[must_use]
    pub fn take(&mut self, node: usize, row: usize, bytes: &[u8]) -> bool {
        let decoded = Row::decode(bytes, self.grid.cells());
        let is_due = self.grid.of_node(node).contains(&row) && self.rows[row].is_none();
        if is_due {
            self.rows[row] = decoded;
        }
        is_due && self.rows[row].is_some()
    }

    /// Whether any PE has statistics.
    fn is_counted(&self) -> bool {
        self.rows.iter().flatten().any(|row| row.counted)
    }

    /// The PEs whose counts are unknown, and their nodes.
    fn missing(&self) -> Vec<(usize, Range<usize>)> {
        let mut missing: Vec<(usize, Range<usize>)> = Vec::new();
        for (row, pes) in
            self.grid.pes.iter().enumerate().filter(|(row, _)| self.rows[*row].is_none())
        {
            let node = self.grid.node_of(row);
            match missing.last_mut() {
                Some((last, all)) if (*last, all.end) == (node, pes.start) => all.end = pes.end,
                _ => missing.push((node, pes.clone())),
            }
        }
        missing
    }

    /// The cells of a row, all of them zero if it is unknown.
    fn cells(&self, row: usize) -> impl Iterator<Item = (usize, &Peer)> {
        self.rows[row].iter().flat_map(|row| &row.cells).enumerate()
    }

    /// The sum of all cells for which `is_wanted` holds, by row and column.
    fn sum(&self, is_wanted: impl Fn(usize, usize) -> bool) -> Peer {
        let cells =
            (0..self.rows.len()).flat_map(|row| self.cells(row).map(move |cell| (row, cell)));
        total(
            cells.filter(|(row, (column, _))| is_wanted(*row, *column)).map(|(_, (_, cell))| cell),
        )
    }

    /// One line for each pair of PEs that have communicated, in the order of the PEs. In a job over
    /// several nodes, the last column is 1 if the PEs are on different nodes.
    fn csv(&self) -> String {
        let several = self.grid.nodes.len() > 1;
        let mut csv = String::from("caller,peer,calls,bytes");
        csv.push_str(if several { ",far\n" } else { "\n" });
        for caller in 0..self.rows.len() {
            for (peer, cell) in self.cells(caller).filter(|(_, cell)| cell.calls > 0) {
                // Writing to a string cannot fail.
                let _ = write!(csv, "{caller},{peer},{},{}", cell.calls, cell.bytes);
                if several {
                    let _ = write!(csv, ",{}", u8::from(self.grid.is_far(caller, peer)));
                }
                csv.push('\n');
            }
        }
        csv
    }
}

/// The sum of the calls and bytes of some cells.
fn total<'a>(cells: impl IntoIterator<Item = &'a Peer>) -> Peer {
    cells.into_iter().fold(Peer::default(), |sum, cell| Peer {
        calls: sum.calls + cell.calls,
        bytes: sum.bytes + cell.bytes,
    })
}

#[cfg(test)]
mod tests;
