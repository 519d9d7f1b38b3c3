//! One plot as SVG text: curves over sizes or numbers of PEs, with both axes logarithmic.

mod draw;
mod legend;

use crate::Unit;
use crate::stats::{self, Range};
use anyhow::anyhow;
use plotters::prelude::*;
use serde::Deserialize;

/// The contents of a plot.
#[derive(Debug)]
pub struct Plot {
    /// The title above it.
    pub title: String,
    /// The x axis.
    pub x: Axis,
    /// Unit of the y axis.
    pub unit: Unit,
    /// The curves.
    pub curves: Vec<Curve>,
}

/// The quantity on the x axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Axis {
    /// Message sizes.
    #[serde(rename = "bytes")]
    Bytes,
    /// Numbers of PEs.
    #[serde(rename = "PEs")]
    Pes,
}

/// One curve.
#[derive(Debug)]
pub struct Curve {
    /// Its name in the legend.
    pub label: String,
    /// Its colour.
    pub ink: Ink,
    /// Its points, in the order of x. If there are none, the legend says so.
    pub points: Vec<Mark>,
}

/// A point of a curve.
#[derive(Debug, Clone, Copy)]
pub struct Mark {
    /// The size or number of PEs.
    pub x: f64,
    /// The figure.
    pub y: f64,
    /// A bar from minimum to maximum.
    pub bar: Option<(f64, f64)>,
}

impl Mark {
    /// The median of some runs, with a bar over their range ([`Range::of_runs`]) if there are
    /// several.
    pub fn of_runs(x: f64, runs: &[f64]) -> Self {
        let Range { low, high } = Range::of_runs(runs);
        Self { x, y: stats::median(runs), bar: (runs.len() > 1).then_some((low, high)) }
    }
}

/// How a curve is drawn: as the n-th of those compared, or as the machine's limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// One of those compared, by index; its second curve is lighter.
    Nth(usize, Shade),
    /// The machine's limit.
    Raw,
}

/// Which of the two curves of one of those compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shade {
    /// The first.
    Full,
    /// The second.
    Light,
}

/// Colours that colour-blind readers can tell apart (Okabe and Ito).
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
/// Width and height of a plot.
const SIZE: (u32, u32) = (620, 400);

impl Ink {
    fn colour(self) -> RGBAColor {
        match self {
            // The ninth and those after it are lighter, so that no two of sixteen are alike.
            Self::Nth(n, Shade::Full) if n % (2 * COLOURS.len()) < COLOURS.len() => {
                COLOURS[n % COLOURS.len()].to_rgba()
            }
            Self::Nth(n, _) => COLOURS[n % COLOURS.len()].mix(0.5),
            Self::Raw => GREY.to_rgba(),
        }
    }

    fn width(self) -> u32 {
        if self == Self::Raw { 1 } else { 2 }
    }
}

impl Plot {
    /// Whether there is anything to see: one point is not a curve.
    pub fn is_worthwhile(&self) -> bool {
        self.curves.iter().any(|curve| curve.points.len() > 1)
    }

    /// Draws the plot.
    pub fn svg(&self) -> anyhow::Result<String> {
        panels(&[Some(self)], 1)
    }

    /// The range of all y values, bars included.
    fn y_range(&self) -> (f64, f64) {
        let marks = || self.curves.iter().flat_map(|curve| &curve.points);
        let ends = |mark: &Mark| {
            let (least, most) = mark.bar.unwrap_or((mark.y, mark.y));
            [mark.y, least, most]
        };
        let range = Range::of(&marks().flat_map(ends).collect::<Vec<_>>());
        (range.low / 1.3, range.high * 1.3)
    }
}

/// Draws several plots in `columns` columns; `None` leaves its place empty.
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

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn plot(points: &[(f64, f64)]) -> Plot {
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
        // Two curves of three points, each with a bar that has its own circle.
        assert_eq!(text.matches("<circle").count(), 12);
    }

    #[test]
    fn bars_are_whole() {
        let (low, high) = plot(&[(8.0, 100.0), (64.0, 200.0)]).y_range();
        assert!(low < 50.0 && high > 200_000.0, "{low} {high}");
    }

    #[test]
    fn panels_stand_beside_and_below_one_another() {
        let plot = plot(&[(8.0, 100.0), (64.0, 120.0)]);
        let text = panels(&[Some(&plot), None, Some(&plot)], 2).unwrap();
        assert!(text.starts_with("<svg width=\"1240\" height=\"800\""), "{}", &text[..80]);
        assert_eq!(text.matches("t &amp; u").count(), 2);
    }

    #[test]
    fn a_figure_of_nothing_is_refused() {
        let error = plot(&[(1.0, 0.0), (2.0, 5.0)]).svg().unwrap_err().to_string();
        assert!(error.contains("logarithmic"), "{error}");
    }

    #[test]
    fn bars_go_over_the_runs() {
        let mark = Mark::of_runs(8.0, &[3.0, 1.0, 2.0]);
        assert_eq!((mark.y, mark.bar), (2.0, Some((1.0, 3.0))));
        assert_eq!(Mark::of_runs(8.0, &[3.0]).bar, None);
    }

    #[test]
    fn a_point_is_no_curve() {
        assert!(!plot(&[(8.0, 1.0)]).is_worthwhile());
        assert!(plot(&[(8.0, 1.0), (16.0, 1.0)]).is_worthwhile());
    }
}
