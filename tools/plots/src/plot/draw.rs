//! Draws the axes and the curves.

use super::{Axis, Mark, Plot};
use crate::figures;
use plotters::coord::Shift;
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::prelude::*;

/// A logarithmic axis with ticks at given places.
struct TickedAxis {
    from: f64,
    to: f64,
    ticks: Vec<f64>,
}

impl Ranged for TickedAxis {
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

impl Plot {
    /// Draws everything.
    pub(super) fn draw<'a>(
        &self,
        area: &DrawingArea<SVGBackend<'a>, Shift>,
    ) -> Result<(), Box<dyn std::error::Error + 'a>> {
        let (low, high) = self.y_range();
        if !(low > 0.0 && high.is_finite()) {
            return Err("a logarithmic axis has no place for its figures".into());
        }
        let xs = || self.curves.iter().flat_map(|curve| curve.points.iter().map(|mark| mark.x));
        let (left, right) = (xs().fold(f64::INFINITY, f64::min), xs().fold(0.0, f64::max));
        let (left, right) = (left.log2(), right.log2());
        let decades = |from: f64, to: f64| {
            (from.log10().floor() as i32..=to.log10().ceil() as i32).map(f64::from)
        };
        // Ticks are set by hand: at powers of two along x and powers of ten along y. The other
        // digits are light lines, and if there are few decades, some of these have ticks, too.
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
        let step = ((right - left) / 9.0).ceil().max(1.0) as usize;
        let x_ticks: Vec<f64> =
            (left.ceil() as i32..=right.floor() as i32).step_by(step).map(f64::from).collect();
        let margin = ((right - left) * 0.03).max(0.1);

        area.fill(&WHITE)?;
        let (head, body) = area.split_vertically(self.head_height());
        self.draw_head(&head)?;
        let mut chart = ChartBuilder::on(&body)
            .margin(12)
            .x_label_area_size(44)
            .y_label_area_size(90)
            .build_cartesian_2d(
                TickedAxis { from: left - margin, to: right + margin, ticks: x_ticks },
                TickedAxis { from: low.log10(), to: high.log10(), ticks: ticks(digits) },
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
            })
            .x_label_formatter(&|x| match self.x {
                Axis::Bytes => figures::size(x.exp2().round() as u64),
                Axis::Pes => x.exp2().round().to_string(),
            })
            .y_desc(self.unit.quantity())
            .y_label_formatter(&|y| figures::tick(10f64.powf(*y), self.unit))
            .draw()?;
        for (index, curve) in self.curves.iter().enumerate() {
            let colour = curve.ink.colour();
            // Draw bars of different curves side by side, not over one another.
            let aside =
                (index as f64 - (self.curves.len() as f64 - 1.0) / 2.0) * (right - left) * 0.006;
            let place = |mark: &Mark| (mark.x.log2() + aside, mark.y.log10());
            let path: Vec<(f64, f64)> = curve.points.iter().map(place).collect();
            chart.draw_series(LineSeries::new(
                path.iter().copied(),
                colour.stroke_width(curve.ink.width()),
            ))?;
            chart.draw_series(path.iter().map(|&at| Circle::new(at, 3, colour.filled())))?;
            chart.draw_series(curve.points.iter().filter_map(|mark| {
                let (least, most) = mark.bar?;
                let (x, y) = place(mark);
                Some(ErrorBar::new_vertical(
                    x,
                    least.log10(),
                    y,
                    most.log10(),
                    colour.stroke_width(1),
                    7,
                ))
            }))?;
        }
        Ok(())
    }
}
