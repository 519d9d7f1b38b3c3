//! The communication matrix as a picture.

use super::{Matrix, total};
use oneshmem_job::stats::Peer;
use oneshmem_tools::live::number;
use std::fmt::{self, Write};

/// Width and height of all cells together, in pixels.
const SIDE: usize = 640;
/// Room for the labels on the left and above.
const MARGIN: usize = 70;
/// Room for the totals on the right and below.
const SUMS: usize = 76;
/// Room for the legend.
const LEGEND: usize = 150;
/// The maximum number of PEs with a label or total in a row, so that they can be read.
const MOST_LABELS: usize = 32;

/// The colours from few bytes to most: one hue, increasingly dark.
type Hue = [(f64, f64, f64); 3];
const NEAR: Hue = [(222., 235., 247.), (107., 174., 214.), (8., 48., 107.)];
/// Between nodes.
const FAR: Hue = [(254., 230., 206.), (253., 141., 60.), (127., 39., 4.)];

/// A matrix to draw.
pub(super) struct Picture<'a> {
    pub matrix: &'a Matrix,
    /// The program, for the heading.
    pub program: &'a str,
}

impl Picture<'_> {
    pub(super) fn svg(&self) -> String {
        let Self { matrix, .. } = self;
        let cells = (0..matrix.rows.len()).flat_map(|row| matrix.cells(row));
        let scale = Scale::of(cells.map(|(_, cell)| cell.bytes));
        let mut svg = String::new();
        self.head(&mut svg);
        self.labels(&mut svg);
        self.rows(&mut svg, scale);
        self.borders(&mut svg);
        self.legend(&mut svg, scale);
        svg.push_str("</svg>\n");
        svg
    }

    fn is_over_nodes(&self) -> bool {
        self.matrix.grid.nodes.len() > 1
    }

    /// Width and height of a cell, in pixels.
    fn size(&self) -> f64 {
        SIDE as f64 / self.matrix.rows.len() as f64
    }

    // Writing to a string cannot fail, here and below.
    fn head(&self, svg: &mut String) {
        let grid = &self.matrix.grid;
        let (width, height) = (MARGIN + SIDE + SUMS + LEGEND, MARGIN + SIDE + SUMS);
        let all = self.matrix.sum(|_, _| true);
        let mut sums = format!(
            "{}, {} in {} calls in total",
            number(grid.npes()),
            Bytes(all.bytes),
            all.calls
        );
        if self.is_over_nodes() {
            let far = self.matrix.sum(|row, column| grid.is_far(row, column));
            let _ = write!(
                sums,
                ", {} in {} calls between the {} nodes",
                Bytes(far.bytes),
                far.calls,
                grid.nodes.len()
            );
        }
        let middle = MARGIN + SIDE / 2;
        let _ = write!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
             <text x=\"{MARGIN}\" y=\"18\" font-size=\"15\">{}: bytes moved by the PE of the row to and \
             from the PE of the column</text>\n\
             <text x=\"{MARGIN}\" y=\"34\" fill=\"#555\">{sums}</text>\n\
             <text x=\"{middle}\" y=\"50\" text-anchor=\"middle\">PE whose memory is accessed</text>\n\
             <text x=\"16\" y=\"{middle}\" text-anchor=\"middle\" transform=\"rotate(-90 16 {middle})\">\
             PE that calls</text>\n",
            escaped(self.program),
        );
    }

    /// The cells with a label.
    fn labelled(&self) -> impl Iterator<Item = usize> {
        let n = self.matrix.rows.len();
        (0..n).step_by(n.div_ceil(MOST_LABELS))
    }

    fn labels(&self, svg: &mut String) {
        let (matrix, size) = (self.matrix, self.size());
        for index in self.labelled() {
            let (at, label) =
                (MARGIN as f64 + (index as f64 + 0.5) * size, matrix.grid.label(index));
            let row = total(matrix.cells(index).map(|(_, cell)| cell));
            let column = matrix.sum(|_, column| column == index);
            let (right, below) = (MARGIN + SIDE + 16, MARGIN + SIDE + 8);
            let _ = write!(
                svg,
                "<text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{label}</text>\n\
                 <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>\n\
                 <text x=\"{right}\" y=\"{:.1}\">{}</text>\n\
                 <text x=\"{:.1}\" y=\"{below}\" text-anchor=\"end\" transform=\"rotate(-90 {:.1} \
                 {below})\">{}</text>\n",
                MARGIN - 8,
                MARGIN - 8,
                at + 4.0,
                at + 4.0,
                Bytes(row.bytes),
                at + 4.0,
                at + 4.0,
                Bytes(column.bytes)
            );
        }
    }

    fn rows(&self, svg: &mut String, scale: Scale) {
        let (matrix, size) = (self.matrix, self.size());
        let grid = &matrix.grid;
        let sum = |row| total(matrix.cells(row).map(|(_, cell)| cell));
        let of_rows = Scale::of((0..matrix.rows.len()).map(|row| sum(row).bytes));
        for row in 0..matrix.rows.len() {
            let y = MARGIN as f64 + row as f64 * size;
            let label = grid.label(row);
            if matrix.rows[row].is_none() {
                let _ = writeln!(
                    svg,
                    "<rect x=\"{MARGIN}\" y=\"{y:.2}\" width=\"{SIDE}\" height=\"{size:.2}\" \
                     fill=\"#ddd\"><title>PE {label}: unknown</title></rect>"
                );
                continue;
            }
            // The total of the row, as a strip beside it.
            let Peer { calls, bytes } = sum(row);
            let _ = writeln!(
                svg,
                "<rect x=\"{}\" y=\"{y:.2}\" width=\"8\" height=\"{size:.2}\" fill=\"{}\"><title>PE \
                 {label} to all: {} in {calls} calls</title></rect>",
                MARGIN + SIDE + 4,
                of_rows.colour(&NEAR, bytes),
                Bytes(bytes),
            );
            for (column, cell) in matrix.cells(row).filter(|(_, cell)| cell.calls > 0) {
                let (hue, place) = match grid.is_far(row, column) {
                    true => (&FAR, ", on another node"),
                    false => (&NEAR, ""),
                };
                let _ = writeln!(
                    svg,
                    "<rect x=\"{:.2}\" y=\"{y:.2}\" width=\"{size:.2}\" height=\"{size:.2}\" \
                     fill=\"{}\"><title>PE {label} to PE {}{place}: {} bytes in {} calls</title></rect>",
                    MARGIN as f64 + column as f64 * size,
                    scale.colour(hue, cell.bytes),
                    grid.label(column),
                    cell.bytes,
                    cell.calls
                );
            }
        }
    }

    /// A frame around all cells, a grid that leads from the labels to the cells, and lines between nodes.
    fn borders(&self, svg: &mut String) {
        let before = |cell: usize| {
            let (at, end) = (MARGIN as f64 + cell as f64 * self.size(), MARGIN + SIDE);
            format!("M{MARGIN} {at:.2}H{end}M{at:.2} {MARGIN}V{end}")
        };
        let grid: String = self.labelled().skip(1).map(before).collect();
        let nodes: String =
            self.matrix.grid.nodes[1..].iter().map(|cells| before(cells.start)).collect();
        let _ = writeln!(
            svg,
            "<path id=\"grid\" d=\"{grid}\" stroke=\"#888\" stroke-width=\"0.3\"/>\n\
             <path id=\"nodes\" d=\"{nodes}\" stroke=\"#888\"/>"
        );
        let _ = writeln!(
            svg,
            "<rect x=\"{MARGIN}\" y=\"{MARGIN}\" width=\"{SIDE}\" height=\"{SIDE}\" fill=\"none\" \
             stroke=\"#888\"/>"
        );
    }

    /// The legend of colours: the most and the fewest bytes, and powers of 32 between them.
    fn legend(&self, svg: &mut String, scale: Scale) {
        let x = MARGIN + SIDE + SUMS + 20;
        let Scale { least, most } = scale;
        let mut steps = vec![most];
        // Round numbers: 1 KiB, 32 KiB, 1 MiB and so on.
        let mut step = most.checked_ilog2().map_or(0, |digits| 1u64 << (digits / 5 * 5));
        while step > least {
            if step < most {
                steps.push(step);
            }
            step /= 32;
        }
        if least < most {
            steps.push(least);
        }
        let mut rows = steps.len();
        let hues = if self.is_over_nodes() { &[&NEAR, &FAR][..] } else { &[&NEAR] };
        let text = x + 2 + 24 * hues.len();
        let _ = writeln!(
            svg,
            "<text x=\"{x}\" y=\"{}\" fill=\"#555\">bytes, logarithmic</text>",
            MARGIN - 8
        );
        for (index, bytes) in steps.iter().enumerate() {
            let y = MARGIN + index * 24;
            for (place, hue) in hues.iter().enumerate() {
                let _ = writeln!(
                    svg,
                    "<rect x=\"{}\" y=\"{y}\" width=\"18\" height=\"18\" fill=\"{}\"/>",
                    x + 24 * place,
                    scale.colour(hue, *bytes)
                );
            }
            let _ = writeln!(svg, "<text x=\"{text}\" y=\"{}\">{}</text>", y + 13, Bytes(*bytes));
        }
        let mut notes = vec!["white: no call"];
        if self.is_over_nodes() {
            notes.extend(["blue: on the node", "orange: to another"]);
        }
        if self.matrix.rows.iter().any(Option::is_none) {
            notes.push("grey: unknown");
        }
        for note in notes {
            let y = MARGIN + rows * 24 + 14;
            let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\" fill=\"#555\">{note}</text>");
            rows += 1;
        }
    }
}

/// A number of bytes in at most four digits.
pub(super) struct Bytes(pub u64);

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

/// Escapes text for XML.
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

/// From the fewest bytes to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Scale {
    least: u64,
    most: u64,
}

impl Scale {
    /// The scale for these numbers of bytes, of which zeros do not count.
    fn of(bytes: impl Iterator<Item = u64>) -> Self {
        let (least, most) = bytes
            .filter(|bytes| *bytes > 0)
            .fold((u64::MAX, 0), |(least, most), bytes| (bytes.min(least), bytes.max(most)));
        Self { least: least.min(most), most }
    }

    /// The colour for this many bytes: logarithmic, so that it shows how many times more there are.
    fn colour(self, hue: &Hue, bytes: u64) -> String {
        let [bytes, least, most] = [bytes, self.least, self.most].map(|it| (it.max(1) as f64).ln());
        let share = if most > least { ((bytes - least) / (most - least)).max(0.0) } else { 1.0 };
        let place = share * (hue.len() - 1) as f64;
        let low = (place as usize).min(hue.len() - 2);
        let (a, b, t) = (hue[low], hue[low + 1], place - low as f64);
        let mix = |a: f64, b: f64| (a + (b - a) * t).round() as u8;
        format!("#{:02x}{:02x}{:02x}", mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_bytes_are_darker() {
        let scale = Scale::of([0, 1000, 500, 2000].into_iter());
        assert_eq!(scale, Scale { least: 500, most: 2000 });
        let light = |bytes| u8::from_str_radix(&scale.colour(&NEAR, bytes)[1..3], 16).unwrap();
        assert!(light(0) == light(500) && light(500) > light(1000) && light(1000) > light(2000));
        assert_eq!(scale.colour(&NEAR, 500), "#deebf7");
        assert_eq!(scale.colour(&NEAR, 2000), "#08306b");
        assert_eq!(scale.colour(&FAR, 2000), "#7f2704");
        // All the same: as dark as can be. None: it does not matter.
        assert_eq!(Scale::of([8, 0, 8].into_iter()).colour(&NEAR, 8), "#08306b");
        assert_eq!(Scale::of([0].into_iter()), Scale { least: 0, most: 0 });
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
}
