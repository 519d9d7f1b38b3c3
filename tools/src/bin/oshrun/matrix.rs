//! `--comm-matrix`: which PE moved how many bytes to and from which, as a picture.

use oneshmem::error::Error;
use oneshmem::job::control::Control;
use oneshmem::job::file::JobFile;
use oneshmem::stats::{Peer, Snapshot};
use std::fmt::Write;
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
    npes: usize,
    group: usize,
    /// Rows: who called.
    cells: Vec<Vec<Peer>>,
}

impl Matrix {
    /// `None` if no PE was counted.
    fn read(job: &Arc<JobFile>) -> Result<Option<Self>, Error> {
        let npes = job.npes();
        let group = npes.div_ceil(MOST_CELLS);
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
        Ok(counted.then_some(Self { npes, group, cells }))
    }

    /// How the PEs of cell `index` are called.
    fn label(&self, index: usize) -> String {
        let (first, end) = (index * self.group, (index + 1) * self.group);
        match self.group {
            1 => first.to_string(),
            _ => format!("{first} to {}", end.min(self.npes) - 1),
        }
    }

    fn svg(&self) -> String {
        let n = self.cells.len();
        let size = SIDE as f64 / n as f64;
        let most = self.cells.iter().flatten().map(|cell| cell.bytes).max().unwrap_or(0);
        let mut svg = String::new();
        let (width, height) = (MARGIN + SIDE + 170, MARGIN + SIDE + 30);
        // Writing to a string cannot fail.
        let _ = write!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
             <text x=\"{MARGIN}\" y=\"20\" font-size=\"15\">Bytes moved by the PE of the row, to and \
             from the PE of the column</text>\n\
             <text x=\"{}\" y=\"42\" text-anchor=\"middle\">whose memory</text>\n\
             <text x=\"16\" y=\"{}\" text-anchor=\"middle\" transform=\"rotate(-90 16 {})\">who \
             calls</text>\n",
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
            for (column, cell) in cells.iter().enumerate().filter(|(_, cell)| cell.calls > 0) {
                let _ = writeln!(
                    svg,
                    "<rect x=\"{:.2}\" y=\"{:.2}\" width=\"{size:.2}\" height=\"{size:.2}\" \
                     fill=\"{}\"><title>PE {} to PE {}: {} bytes in {} calls</title></rect>",
                    MARGIN as f64 + column as f64 * size,
                    MARGIN as f64 + row as f64 * size,
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

/// The colours and what they mean, by powers of ten.
fn legend(svg: &mut String, most: u64) {
    let x = MARGIN + SIDE + 24;
    let mut steps = vec![most];
    let mut step = most.checked_ilog10().map_or(0, |digits| 10u64.pow(digits));
    while step > 0 {
        if step < most {
            steps.push(step);
        }
        step /= 10;
    }
    for (index, bytes) in steps.iter().enumerate() {
        let y = MARGIN + index * 24;
        let _ = write!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"18\" height=\"18\" fill=\"{}\"/>\n\
             <text x=\"{}\" y=\"{}\">{bytes} B</text>\n",
            colour(*bytes, most),
            x + 26,
            y + 13
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

/// The picture of a job that has ended; `None` if no PE was counted.
pub fn picture(job: &Arc<JobFile>) -> Result<Option<String>, Error> {
    Ok(Matrix::read(job)?.map(|matrix| matrix.svg()))
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
    fn cells_stand_for_pes_or_groups_of_them() {
        let cell = |bytes| Peer { calls: 1, bytes };
        let cells = vec![vec![Peer::default(), cell(7)], vec![cell(9), cell(1)]];
        let svg = Matrix { npes: 2, group: 1, cells: cells.clone() }.svg();
        assert_eq!(svg.matches("<title>").count(), 3);
        assert!(svg.contains("PE 0 to PE 1: 7 bytes in 1 calls"));
        let svg = Matrix { npes: 300, group: 200, cells }.svg();
        assert!(svg.contains("PE 0 to 199 to PE 200 to 299: 7 bytes in 1 calls"));
    }
}
