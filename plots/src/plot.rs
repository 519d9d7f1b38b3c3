//! One plot: curves over sizes, numbers of PEs or offsets, mostly with both axes logarithmic, as
//! SVG text.

use anyhow::anyhow;
use plotters::coord::Shift;
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::Unit;
use crate::figures;

/// What a plot shows.
#[derive(Debug)]
pub struct Plot {
    /// Above it.
    pub title: String,
    /// Along the x axis.
    pub x: Axis,
    /// Unit of the y axis.
    pub unit: Unit,
    /// The curves.
    pub curves: Vec<Curve>,
}

/// What the x axis counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// Message sizes.
    Bytes,
    /// Numbers of PEs.
    Pes,
    /// Offsets in bytes; the only axis that is not logarithmic.
    Offset,
}

impl Axis {
    /// Where a figure lies along it.
    fn place(self, x: f64) -> f64 {
        match self {
            Self::Bytes | Self::Pes => x.log2(),
            Self::Offset => x,
        }
    }

    /// From tick to tick, of so much that is shown.
    fn step(self, range: f64) -> usize {
        let least = (range / 9.0).ceil().max(1.0) as usize;
        match self {
            Self::Bytes | Self::Pes => least,
            Self::Offset => least.next_power_of_two(),
        }
    }
}

/// One curve.
#[derive(Debug)]
pub struct Curve {
    /// In the legend.
    pub label: String,
    /// Its colour.
    pub ink: Ink,
    /// Its points, in the order of x.
    pub points: Vec<Mark>,
}

/// A point of a curve.
#[derive(Debug, Clone, Copy)]
pub struct Mark {
    /// Size, number of PEs or offset.
    pub x: f64,
    /// Figure.
    pub y: f64,
    /// Bar from minimum to maximum.
    pub bar: Option<(f64, f64)>,
}

/// How a curve is drawn: the n-th of those compared, or the machine itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// One of those compared, by its place; a second curve of it is lighter.
    Nth(usize, Shade),
    /// The limit.
    Raw,
}

/// Which of the curves of one of those compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shade {
    /// The first.
    Full,
    /// The second.
    Light,
}

/// Colours that those who see few colours can tell apart (Okabe and Ito).
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
    RGBColor(222, 208, 40),
];
const GREY: RGBColor = RGBColor(110, 110, 110);
const SIZE: (u32, u32) = (620, 400);
/// The legend's first line below the title, the height of a line, and the width of a letter in it,
/// about.
const LEGEND: i32 = 46;
const ROW: i32 = 20;
const LETTER: i32 = 7;

/// An axis over logarithms, with ticks where we want them.
struct Ticked {
    from: f64,
    to: f64,
    ticks: Vec<f64>,
}

impl Ranged for Ticked {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (first, last): (i32, i32)) -> i32 {
        first
            + (f64::from(last - first) * (value - self.from) / (self.to - self.from)).round() as i32
    }
    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.clone()
    }
    fn range(&self) -> std::ops::Range<f64> {
        self.from..self.to
    }
}

impl Ink {
    fn colour(self) -> RGBAColor {
        match self {
            Self::Nth(n, Shade::Full) => COLOURS[n % COLOURS.len()].to_rgba(),
            Self::Nth(n, Shade::Light) => COLOURS[n % COLOURS.len()].mix(0.5),
            Self::Raw => GREY.to_rgba(),
        }
    }

    fn width(self) -> u32 {
        if self == Self::Raw { 1 } else { 2 }
    }
}

impl Plot {
    /// Whether there is anything to see: one point is no curve.
    pub fn is_worthwhile(&self) -> bool {
        self.curves.iter().any(|curve| curve.points.len() > 1)
    }

    /// Draws it.
    pub fn svg(&self) -> anyhow::Result<String> {
        panels(&[Some(self)], 1)
    }

    /// All y values; bars too, but not to more than ten times beyond the curves, since the longest
    /// interruption would squeeze everything else.
    fn y_range(&self) -> (f64, f64) {
        let marks = || self.curves.iter().flat_map(|curve| &curve.points);
        let low = marks().map(|mark| mark.y).fold(f64::INFINITY, f64::min);
        let high = marks().map(|mark| mark.y).fold(0.0, f64::max);
        let bars = || marks().filter_map(|mark| mark.bar);
        let lowest = bars().map(|bar| bar.0).fold(low, f64::min).max(low / 10.0);
        let highest = bars().map(|bar| bar.1).fold(high, f64::max).min(high * 10.0);
        (lowest / 1.3, highest * 1.3)
    }

    fn draw<'a>(
        &self,
        area: &DrawingArea<SVGBackend<'a>, Shift>,
    ) -> Result<(), Box<dyn std::error::Error + 'a>> {
        let (low, high) = self.y_range();
        if !(low > 0.0 && high.is_finite()) {
            return Err("a logarithmic axis has no place for its figures".into());
        }
        let xs = || self.curves.iter().flat_map(|curve| curve.points.iter().map(|mark| mark.x));
        let (left, right) = (xs().fold(f64::INFINITY, f64::min), xs().fold(0.0, f64::max));
        let (left, right) = (self.x.place(left), self.x.place(right));
        let decades = |from: f64, to: f64| {
            (from.log10().floor() as i32..=to.log10().ceil() as i32).map(f64::from)
        };
        // Ticks are put by hand: at powers of two along x, of ten along y, with the other digits
        // as light lines, and where there are few decades, with some of these.
        let digits: &[f64] = match (high / low).log10() {
            few if few < 0.4 => &[1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
            few if few < 1.0 => &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0],
            few if few < 2.0 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        let inside = |y: &f64| *y >= low.log10() && *y <= high.log10();
        let ticks = |digits: &[f64]| -> Vec<f64> {
            decades(low, high)
                .flat_map(|d| digits.iter().map(move |x| d + x.log10()))
                .filter(inside)
                .collect()
        };
        let fine: Vec<f64> = (1..10).map(f64::from).collect();
        let step = self.x.step(right - left);
        let x_ticks: Vec<f64> =
            (left.ceil() as i32..=right.floor() as i32).step_by(step).map(f64::from).collect();
        let margin = ((right - left) * 0.03).max(0.1);

        area.fill(&WHITE)?;
        let (head, body) = area.split_vertically(LEGEND + self.legend().len() as i32 * ROW - 8);
        self.draw_head(&head)?;
        let mut chart = ChartBuilder::on(&body)
            .margin(12)
            .x_label_area_size(44)
            .y_label_area_size(90)
            .build_cartesian_2d(
                Ticked { from: left - margin, to: right + margin, ticks: x_ticks },
                Ticked { from: low.log10(), to: high.log10(), ticks: ticks(digits) },
            )?;
        let fine = ticks(&fine);
        let faint = BLACK.mix(0.07);
        chart.draw_series(
            fine.iter()
                .map(|&y| PathElement::new([(left - margin, y), (right + margin, y)], faint)),
        )?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(BLACK.mix(0.18))
            .axis_style(BLACK.mix(0.6))
            .label_style(("sans-serif", 13))
            .x_desc(match self.x {
                Axis::Bytes => "message size in bytes",
                Axis::Pes => "PEs",
                Axis::Offset => "destination minus source in bytes, modulo 4096",
            })
            .x_label_formatter(&|x| match self.x {
                Axis::Bytes => figures::size(x.exp2().round() as u64),
                Axis::Pes => x.exp2().round().to_string(),
                Axis::Offset => x.to_string(),
            })
            .y_desc(self.unit.quantity())
            .y_label_formatter(&|y| figures::tick(10f64.powf(*y), self.unit))
            .draw()?;
        if self.unit == Unit::Times && inside(&0.0) {
            let one = [(left - margin, 0.0), (right + margin, 0.0)];
            chart.draw_series([PathElement::new(one, GREY.stroke_width(2))])?;
        }
        for (index, curve) in self.curves.iter().enumerate() {
            let colour = curve.ink.colour();
            // Bars of different curves stand beside, not upon one another.
            let aside =
                (index as f64 - (self.curves.len() as f64 - 1.0) / 2.0) * (right - left) * 0.006;
            let place = |mark: &Mark| (self.x.place(mark.x) + aside, mark.y.log10());
            let path: Vec<(f64, f64)> = curve.points.iter().map(place).collect();
            chart.draw_series(LineSeries::new(
                path.iter().copied(),
                colour.stroke_width(curve.ink.width()),
            ))?;
            chart.draw_series(path.iter().map(|&at| Circle::new(at, 3, colour.filled())))?;
            chart.draw_series(curve.points.iter().filter_map(|mark| {
                let (least, most) = mark.bar?;
                let (x, y) = place(mark);
                let clip = |v: f64| v.clamp(low, high).log10();
                Some(ErrorBar::new_vertical(
                    x,
                    clip(least),
                    y,
                    clip(most),
                    colour.stroke_width(1),
                    7,
                ))
            }))?;
        }
        Ok(())
    }

    /// The title, and below it what is what: above the curves, where it hides none.
    fn draw_head<'a>(
        &self,
        area: &DrawingArea<SVGBackend<'a>, Shift>,
    ) -> Result<(), Box<dyn std::error::Error + 'a>> {
        let (width, _) = area.dim_in_pixel();
        let centred =
            ("sans-serif", 17).into_text_style(area).pos(Pos::new(HPos::Center, VPos::Top));
        area.draw_text(&self.title, &centred, (width as i32 / 2, 10))?;
        let style =
            ("sans-serif", 13).into_text_style(area).pos(Pos::new(HPos::Left, VPos::Center));
        for (row, curves) in self.legend().into_iter().enumerate() {
            let y = LEGEND + row as i32 * ROW;
            let mut x = (width as i32 - curves.iter().map(|curve| room(curve)).sum::<i32>()) / 2;
            for curve in curves {
                let stroke = curve.ink.colour().stroke_width(curve.ink.width() + 1);
                area.draw(&PathElement::new([(x, y), (x + 18, y)], stroke))?;
                area.draw_text(&curve.label, &style, (x + 23, y))?;
                x += room(curve);
            }
        }
        Ok(())
    }

    /// The curves in as many rows as their names need.
    fn legend(&self) -> Vec<Vec<&Curve>> {
        let mut rows: Vec<Vec<&Curve>> = Vec::new();
        let mut left = 0;
        for curve in &self.curves {
            if room(curve) > left {
                rows.push(Vec::new());
                left = SIZE.0 as i32;
            }
            left -= room(curve);
            rows.last_mut().expect("a row was begun above").push(curve);
        }
        rows
    }
}

/// Draws several, so many beside one another; none leaves its place empty.
pub fn panels(plots: &[Option<&Plot>], columns: usize) -> anyhow::Result<String> {
    let rows = plots.len().div_ceil(columns);
    let (width, height) = (SIZE.0 * columns as u32, SIZE.1 * rows as u32);
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (width, height)).into_drawing_area();
        area.fill(&WHITE).map_err(|error| anyhow!("cannot draw: {error}"))?;
        for (plot, panel) in plots.iter().zip(area.split_evenly((rows, columns))) {
            let Some(plot) = plot else { continue };
            plot.draw(&panel).map_err(|error| anyhow!("cannot draw {}: {error}", plot.title))?;
        }
        area.present().map_err(|error| anyhow!("cannot draw: {error}"))?;
    }
    Ok(text)
}

/// What a curve's entry in the legend takes.
fn room(curve: &Curve) -> i32 {
    38 + curve.label.chars().count() as i32 * LETTER
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(points: &[(f64, f64)]) -> Plot {
        let mark = |&(x, y): &(f64, f64)| Mark { x, y, bar: Some((y / 2.0, y * 1000.0)) };
        let curve =
            |ink| Curve { label: "a <b>".into(), ink, points: points.iter().map(mark).collect() };
        Plot {
            title: "t & u".into(),
            x: Axis::Bytes,
            unit: Unit::Nanoseconds,
            curves: vec![curve(Ink::Raw), curve(Ink::Nth(0, Shade::Full))],
        }
    }

    #[test]
    fn svg_with_everything_escaped() {
        let plot = plot(&[(8.0, 100.0), (64.0, 120.0), (4096.0, 1000.0)]);
        let text = plot.svg().unwrap();
        assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"));
        assert!(text.contains("t &amp; u") && text.contains("a &lt;b&gt;"));
        // Two curves of three points, each with a bar that has a circle of its own.
        assert_eq!(text.matches("<circle").count(), 12);
    }

    #[test]
    fn long_bars_do_not_squeeze_the_curves() {
        let (low, high) = plot(&[(8.0, 100.0), (64.0, 200.0)]).y_range();
        assert!(low < 50.0 && high < 10_000.0, "{low} {high}");
    }

    #[test]
    fn long_legends_take_several_rows() {
        let mut plot = plot(&[(8.0, 1.0), (16.0, 1.0)]);
        assert_eq!(plot.legend().len(), 1);
        for curve in &mut plot.curves {
            curve.label = "a name that takes more than half of the width".into();
        }
        assert_eq!(plot.legend().iter().map(Vec::len).collect::<Vec<_>>(), [1, 1]);
    }

    #[test]
    fn panels_stand_beside_and_below_one_another() {
        let plot = plot(&[(8.0, 100.0), (64.0, 120.0)]);
        let text = panels(&[Some(&plot), None, Some(&plot)], 2).unwrap();
        assert!(text.starts_with("<svg width=\"1240\" height=\"800\""), "{}", &text[..80]);
        assert_eq!(text.matches("t &amp; u").count(), 2);
    }

    #[test]
    fn offsets_are_not_logarithmic() {
        let plot = Plot { x: Axis::Offset, ..plot(&[(0.0, 100.0), (16.0, 50.0), (4095.0, 100.0)]) };
        let text = plot.svg().unwrap();
        assert!(text.contains("destination minus source") && !text.contains("NaN"));
        for tick in ["512", "3584"] {
            assert!(text.contains(&format!("\n{tick}\n")), "{tick}");
        }
    }

    #[test]
    fn a_figure_of_nothing_is_refused() {
        let error = plot(&[(1.0, 0.0), (2.0, 5.0)]).svg().unwrap_err().to_string();
        assert!(error.contains("logarithmic"), "{error}");
    }

    #[test]
    fn a_point_is_no_curve() {
        assert!(!plot(&[(8.0, 1.0)]).is_worthwhile());
        assert!(plot(&[(8.0, 1.0), (16.0, 1.0)]).is_worthwhile());
    }
}
