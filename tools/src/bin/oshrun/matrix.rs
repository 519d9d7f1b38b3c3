//! `--comm-matrix`: which PE moved how many bytes to and from which, as a picture or as a table.

use oneshmem::error::Error;
use oneshmem::job::control::Control;
use oneshmem::job::file::JobFile;
use oneshmem::stats::{Peer, Snapshot};
use std::fmt::{self, Write};
use std::sync::Arc;

/// Most cells in a row; beyond, each stands for several PEs.
const MOST_CELLS: usize = 256;
/// Width and height of all cells together, in pixels.
const SIDE: usize = 640;
/// Room for the labels on the left and above.
const MARGIN: usize = 70;
/// Colours from few bytes to most: one hue, ever darker.
const COLOURS: [(f64, f64, f64); 3] = [(222., 235., 247.), (107., 174., 214.), (8., 48., 107.)];

/// The PEs' communication, PE by PE; cells stand for `group` PEs each.
struct Matrix {
    /// The program, for the heading.
    program: String,
    npes: usize,
    group: usize,
    /// Rows: who called.
    cells: Vec<Vec<Peer>>,
}

impl Matrix {
    /// `None` if no PE was counted.
    fn read(job: &Arc<JobFile>, program: &str, most: usize) -> Result<Option<Self>, Error> {
        let npes = job.npes();
        let group = npes.div_ceil(most);
        let mut cells = vec![vec![Peer::default(); npes.div_ceil(group)]; npes.div_ceil(group)];
        let mut counted = false;
        for pe in 0..npes {
            // All programs that the PE has run, one after the other.
            for generation in 0..job.programs(pe) {
                let peers = Snapshot::of(&Control::of(job.clone(), generation)?, pe)?.peers;
                counted |= !peers.is_empty();
                for (peer, count) in peers.into_iter().enumerate() {
                    let cell = &mut cells[pe / group][peer / group];
                    cell.calls += count.calls;
                    cell.bytes += count.bytes;
                }
            }
        }
        Ok(counted.then_some(Self { program: program.into(), npes, group, cells }))
    }

    /// How the PEs of cell `index` are called.
    fn label(&self, index: usize) -> String {
        let (first, end) = (index * self.group, (index + 1) * self.group);
        match self.group {
            1 => first.to_string(),
            _ => format!("{first} to {}", end.min(self.npes) - 1),
        }
    }

    /// All bytes and calls of some cells.
    fn total<'a>(cells: impl IntoIterator<Item = &'a Peer>) -> Peer {
        cells.into_iter().fold(Peer::default(), |sum, cell| Peer {
            calls: sum.calls + cell.calls,
            bytes: sum.bytes + cell.bytes,
        })
    }

    /// One line for each pair of PEs that have communicated, in the order of the PEs.
    fn csv(&self) -> String {
        let mut csv = String::from("caller,peer,calls,bytes\n");
        for (caller, cells) in self.cells.iter().enumerate() {
            for (peer, cell) in cells.iter().enumerate().filter(|(_, cell)| cell.calls > 0) {
                let _ = writeln!(csv, "{caller},{peer},{},{}", cell.calls, cell.bytes);
            }
        }
        csv
    }

    fn svg(&self) -> String {
        let n = self.cells.len();
        let size = SIDE as f64 / n as f64;
        let most = self.cells.iter().flatten().map(|cell| cell.bytes).max().unwrap_or(0);
        let rows = self.cells.iter().map(|cells| Self::total(cells).bytes);
        let most_of_row = rows.max().unwrap_or(0);
        let all = Self::total(self.cells.iter().flatten());
        let mut svg = String::new();
        let (width, height) = (MARGIN + SIDE + 170, MARGIN + SIDE + 30);
        // Writing to a string cannot fail.
        let _ = write!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
             <text x=\"{MARGIN}\" y=\"18\" font-size=\"15\">{}: bytes moved by the PE of the row, to and \
             from the PE of the column</text>\n\
             <text x=\"{MARGIN}\" y=\"34\" fill=\"#555\">{} PEs, {} in {} calls</text>\n\
             <text x=\"{}\" y=\"50\" text-anchor=\"middle\">whose memory</text>\n\
             <text x=\"16\" y=\"{}\" text-anchor=\"middle\" transform=\"rotate(-90 16 {})\">who \
             calls</text>\n",
            escaped(&self.program),
            self.npes,
            Bytes(all.bytes),
            all.calls,
            MARGIN + SIDE / 2,
            MARGIN + SIDE / 2,
            MARGIN + SIDE / 2
        );
        // As many labels as can be read.
        let every = n.div_ceil(32);
        for index in (0..n).step_by(every) {
            let (at, label) = (MARGIN as f64 + (index as f64 + 0.5) * size, self.label(index));
            let _ = write!(
                svg,
                "<text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{label}</text>\n\
                 <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>\n",
                MARGIN - 8,
                MARGIN - 8,
                at + 4.0
            );
        }
        for (row, cells) in self.cells.iter().enumerate() {
            let sum = Self::total(cells);
            let y = MARGIN as f64 + row as f64 * size;
            // The sum of the row, as a strip beside it.
            let _ = writeln!(
                svg,
                "<rect x=\"{}\" y=\"{y:.2}\" width=\"8\" height=\"{size:.2}\" fill=\"{}\"><title>PE {} \
                 to all: {} in {} calls</title></rect>",
                MARGIN + SIDE + 4,
                colour(sum.bytes, most_of_row),
                self.label(row),
                Bytes(sum.bytes),
                sum.calls
            );
            for (column, cell) in cells.iter().enumerate().filter(|(_, cell)| cell.calls > 0) {
                let _ = writeln!(
                    svg,
                    "<rect x=\"{:.2}\" y=\"{:.2}\" width=\"{size:.2}\" height=\"{size:.2}\" \
                     fill=\"{}\"><title>PE {} to PE {}: {} bytes in {} calls</title></rect>",
                    MARGIN as f64 + column as f64 * size,
                    y,
                    colour(cell.bytes, most),
                    self.label(row),
                    self.label(column),
                    cell.bytes,
                    cell.calls
                );
            }
        }
        let _ = writeln!(
            svg,
            "<rect x=\"{MARGIN}\" y=\"{MARGIN}\" width=\"{SIDE}\" height=\"{SIDE}\" fill=\"none\" \
             stroke=\"#888\"/>"
        );
        legend(&mut svg, most);
        svg.push_str("</svg>\n");
        svg
    }
}

/// A number of bytes in at most four digits.
struct Bytes(u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut value, mut unit) = (self.0 as f64, 0);
        let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
        while value >= 1000.0 && unit + 1 < units.len() {
            (value, unit) = (value / 1024.0, unit + 1);
        }
        let digits = usize::from(unit > 0 && value < 100.0 && value.fract() != 0.0);
        write!(f, "{value:.digits$} {}", units[unit])
    }
}

/// Text that may have characters with a meaning in XML.
fn escaped(text: &str) -> String {
    let visible = text.chars().filter(|c| !c.is_control());
    let escape = |c| match c {
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".into(),
        '&' => "&amp;".into(),
        '"' => "&quot;".into(),
        c => c.to_string(),
    };
    visible.map(escape).collect()
}

/// The colours and what they mean, by powers of 32.
fn legend(svg: &mut String, most: u64) {
    let x = MARGIN + SIDE + 24;
    let mut steps = vec![most];
    // Round numbers of the units: 1 KiB, 32 KiB, 1 MiB and so on.
    let mut step = most.checked_ilog2().map_or(0, |digits| 1u64 << (digits / 5 * 5));
    while step > 0 {
        if step < most {
            steps.push(step);
        }
        step /= 32;
    }
    for (index, bytes) in steps.iter().enumerate() {
        let y = MARGIN + index * 24;
        let _ = write!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"18\" height=\"18\" fill=\"{}\"/>\n\
             <text x=\"{}\" y=\"{}\">{}</text>\n",
            colour(*bytes, most),
            x + 26,
            y + 13,
            Bytes(*bytes)
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{x}\" y=\"{}\" fill=\"#555\">white: no call</text>",
        MARGIN + steps.len() * 24 + 14
    );
}

/// The colour of so many bytes, logarithmic up to `most`.
fn colour(bytes: u64, most: u64) -> String {
    let share = if most > 1 { (bytes.max(1) as f64).ln() / (most as f64).ln() } else { 1.0 };
    let place = share * (COLOURS.len() - 1) as f64;
    let low = (place as usize).min(COLOURS.len() - 2);
    let (a, b, t) = (COLOURS[low], COLOURS[low + 1], place - low as f64);
    let mix = |a: f64, b: f64| (a + (b - a) * t).round() as u8;
    format!("#{:02x}{:02x}{:02x}", mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
}

/// The picture of a job of this program that has ended; `None` if no PE was counted.
pub fn picture(job: &Arc<JobFile>, program: &str) -> Result<Option<String>, Error> {
    Ok(Matrix::read(job, program, MOST_CELLS)?.map(|matrix| matrix.svg()))
}

/// The same as comma-separated values, for each pair of PEs.
pub fn csv(job: &Arc<JobFile>) -> Result<Option<String>, Error> {
    Ok(Matrix::read(job, "", usize::MAX)?.map(|matrix| matrix.csv()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_bytes_are_darker() {
        let light = |bytes| u8::from_str_radix(&colour(bytes, 1000)[1..3], 16).unwrap();
        assert!(light(0) >= light(1) && light(1) > light(10));
        assert!(light(10) > light(100) && light(100) > light(1000));
        assert_eq!(colour(1000, 1000), "#08306b");
    }

    #[test]
    fn bytes_are_short() {
        for (bytes, text) in [(0, "0 B"), (999, "999 B"), (1024, "1 KiB"), (1536, "1.5 KiB")] {
            assert_eq!(Bytes(bytes).to_string(), text);
        }
        assert_eq!(
            [32 << 10, 5 << 30, 999 << 20].map(|it| Bytes(it).to_string()),
            ["32 KiB", "5 GiB", "999 MiB"]
        );
    }

    #[test]
    fn cells_stand_for_pes_or_groups_of_them() {
        let cell = |bytes| Peer { calls: 1, bytes };
        let cells = vec![vec![Peer::default(), cell(7)], vec![cell(9), cell(1)]];
        let matrix = Matrix { program: "a<b".into(), npes: 2, group: 1, cells: cells.clone() };
        let svg = matrix.svg();
        // Three cells, and two sums.
        assert_eq!(svg.matches("<title>").count(), 5);
        assert!(svg.contains(">a&lt;b: bytes moved") && svg.contains("2 PEs, 17 B in 3 calls"));
        assert!(svg.contains("PE 1 to all: 10 B in 2 calls"));
        assert_eq!(matrix.csv(), "caller,peer,calls,bytes\n0,1,1,7\n1,0,1,9\n1,1,1,1\n");
        assert!(svg.contains("PE 0 to PE 1: 7 bytes in 1 calls"));
        let svg = Matrix { npes: 300, group: 200, cells, ..matrix }.svg();
        assert!(svg.contains("PE 0 to 199 to PE 200 to 299: 7 bytes in 1 calls"));
    }
}
