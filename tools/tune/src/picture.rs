//! The crossover plot: time over bytes by algorithm, with a row of panels for each operation and a
//! column for each number of PEs. Barriers, which have no bytes, are plotted over PEs.

use crate::plan::{self, Point};
use crate::results::Results;
use oneshmem::internals::collectives::select::Operation;
use oneshmem_plots::Unit;
use oneshmem_plots::plot::{Axis, Curve, Ink, Mark, Plot, Shade, panels};

/// The picture as SVG text.
pub fn draw(results: &Results, pes: &[usize]) -> anyhow::Result<String> {
    let mut plots = Vec::new();
    for index in 0..Operation::ALL.len() {
        let operation = Operation::ALL[index];
        if operation == Operation::Barrier {
            continue;
        }
        for &pes in pes {
            let points = |algorithm| {
                let mark = move |bytes| {
                    let y = results.median(pes, Point { operation: index, bytes, algorithm })?;
                    Some(Mark { x: bytes as f64, y, bar: None })
                };
                plan::sizes(operation, pes).filter_map(mark).collect()
            };
            let title = format!("{}, {pes} PEs", operation.name());
            plots.push(plot(operation, title, Axis::Bytes, points));
        }
    }
    let barrier = |algorithm| {
        let mark = |&pes: &usize| {
            let y = results.median(pes, Point { operation: 0, bytes: 0, algorithm })?;
            Some(Mark { x: pes as f64, y, bar: None })
        };
        pes.iter().filter_map(mark).collect()
    };
    plots.push(plot(Operation::Barrier, "barrier".into(), Axis::Pes, barrier));
    // A panel without measurements stays empty, so that each column belongs to one number of PEs.
    let drawn = |plot: &&Plot| plot.curves.iter().any(|curve| !curve.points.is_empty());
    let panes: Vec<_> = plots.iter().map(|plot| Some(plot).filter(drawn)).collect();
    panels(&panes, pes.len())
}

fn plot(operation: Operation, title: String, x: Axis, points: impl Fn(usize) -> Vec<Mark>) -> Plot {
    let curve = |(algorithm, name): (usize, &&str)| Curve {
        label: (*name).to_owned(),
        ink: Ink::Nth(algorithm - 1, Shade::Full),
        points: points(algorithm),
    };
    let curves = operation.algorithms().iter().enumerate().skip(1).map(curve).collect();
    Plot { title, x, unit: Unit::Nanoseconds, curves }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::point;

    #[test]
    fn a_panel_for_each_operation_and_number_of_pes() {
        let mut results = Results::default();
        for pes in [2, 4] {
            for (name, ns) in [("direct", 100.0), ("linear", 200.0)] {
                results.add(pes, point(Operation::Barrier, 0, name), (0, 0), ns);
                for bytes in [8, 64] {
                    results.add(pes, point(Operation::Scan, bytes, name), (0, 0), ns);
                }
            }
        }
        let text = draw(&results, &[2, 4]).unwrap();
        for title in ["scan, 2 PEs", "scan, 4 PEs", "barrier"] {
            assert!(text.contains(title), "{title}");
        }
        assert!(!text.contains("broadcast"));
        // Each panel has two curves of two points.
        assert_eq!(text.matches("<circle").count(), 12);
    }
}
