//! The title and the legend of a plot.

use super::{Curve, Plot, SIZE};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// The legend: distance of its first line from the title, height of a line, width of a letter in a
/// wide font (DejaVu Sans has 0.6 of its height on average), and margin on either side.
const LEGEND: i32 = 46;
const ROW: i32 = 20;
const LETTER: i32 = 8;
const EDGE: i32 = 12;

impl Plot {
    /// The height of title and legend in pixels.
    pub(super) fn head_height(&self) -> i32 {
        LEGEND + self.legend().len() as i32 * ROW - 8
    }

    /// The title and the legend, above the curves so that they hide none.
    pub(super) fn draw_head<'a>(
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
                if !curve.points.is_empty() {
                    let stroke = curve.ink.colour().stroke_width(curve.ink.width() + 1);
                    area.draw(&PathElement::new([(x, y), (x + 18, y)], stroke))?;
                }
                area.draw_text(&label(curve), &style, (x + 23, y))?;
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
                left = SIZE.0 as i32 - 2 * EDGE;
            }
            left -= room(curve);
            rows.last_mut().expect("a row was begun above").push(curve);
        }
        rows
    }
}

/// The text of a curve in the legend.
fn label(curve: &Curve) -> String {
    match curve.points[..] {
        [] => format!("{} (no figures)", curve.label),
        _ => curve.label.clone(),
    }
}

/// The width of a curve's entry in the legend.
fn room(curve: &Curve) -> i32 {
    38 + label(curve).chars().count() as i32 * LETTER
}

#[cfg(test)]
mod tests {
    use super::super::tests::plot;
    use super::super::{Ink, Mark, Shade};
    use super::*;

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
    fn curves_without_figures_are_named() {
        let mut plot = plot(&[(8.0, 1.0), (16.0, 1.0)]);
        assert!(!plot.svg().unwrap().contains("no figures"));
        plot.curves[1].points.clear();
        assert!(plot.svg().unwrap().contains("a &lt;b&gt; (no figures)"));
    }

    #[test]
    fn legends_are_not_clipped() {
        for letters in 1..60 {
            let mut plot = plot(&[(8.0, 1.0), (16.0, 1.0)]);
            let curve = |n| Curve {
                label: "m".repeat(letters),
                ink: Ink::Nth(n, Shade::Full),
                points: vec![
                    Mark { x: 8.0, y: 1.0, bar: None },
                    Mark { x: 9.0, y: 1.0, bar: None },
                ],
            };
            plot.curves = (0..9).map(curve).collect();
            let text = plot.svg().unwrap();
            let label = format!("\n{}\n", plot.curves[0].label);
            let places: Vec<i32> = text
                .split("<text ")
                .filter(|element| element.contains(&label))
                .map(|element| element.split('"').nth(1).unwrap().parse().unwrap())
                .collect();
            assert_eq!(places.len(), 9, "{text}");
            let end = |x: &i32| x + letters as i32 * LETTER;
            assert!(
                places.iter().all(|x| *x >= EDGE && end(x) <= SIZE.0 as i32 - EDGE),
                "{places:?}"
            );
        }
    }
}
