//! Costs of one quantity relative to another, as a median over turns.
//!
//! A machine's speed changes between turns, especially that of a virtual machine whose CPUs are
//! moved. Figures of one turn were measured in immediate succession, so only those are divided by
//! one another.

use crate::report::{Point, Run};
use crate::stats;

/// Ratios, one for each turn in which both quantities were measured. Never empty.
#[derive(Debug, Clone, PartialEq)]
pub struct Ratios(Vec<f64>);

impl Ratios {
    /// The given ratios. `None` if there are none.
    pub fn of(turns: impl IntoIterator<Item = f64>) -> Option<Self> {
        let ratios: Vec<f64> = turns.into_iter().collect();
        (!ratios.is_empty()).then_some(Self(ratios))
    }

    /// A point's costs relative to a reference that may be missing in some turns.
    pub fn to(
        point: &Point,
        figure: fn(&Run) -> f64,
        reference: impl Fn(usize) -> Option<f64>,
    ) -> Option<Self> {
        Self::of(
            point
                .runs
                .iter()
                .filter_map(|run| Some(point.unit.cost_ratio(figure(run), reference(run.turn)?))),
        )
    }

    /// A point's costs relative to another point's.
    pub fn between(point: &Point, other: &Point) -> Option<Self> {
        let median = |run: &Run| run.samples.median;
        Self::to(point, median, |turn| other.in_turn(turn).map(median))
    }

    /// The ratio to quote.
    pub fn value(&self) -> f64 {
        stats::median(&self.0)
    }

    /// Half the range, relative to the value. NaN if there is only one turn.
    pub fn spread(&self) -> f64 {
        stats::spread(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Unit;

    fn point(runs: &[(usize, f64)]) -> Point {
        let run = |&(turn, value): &(usize, f64)| Run::one(turn, value);
        Point {
            implementation: "one".into(),
            program: "p".into(),
            name: "a.b".into(),
            size: 8,
            pes: 2,
            unit: Unit::Nanoseconds,
            runs: runs.iter().map(run).collect(),
        }
    }

    #[test]
    fn turns_are_compared_with_themselves() {
        // The ratio of the medians would be 110 / 50.
        let mine = point(&[(0, 55.0), (1, 110.0), (2, 330.0)]);
        let raw = point(&[(2, 300.0), (1, 50.0), (0, 50.0)]);
        let ratios = Ratios::between(&mine, &raw).unwrap();
        assert_eq!(ratios.value(), 1.1);
        assert_eq!(ratios.0.len(), 3);
    }

    #[test]
    fn turns_that_only_one_has_do_not_count() {
        let mine = point(&[(0, 60.0), (1, 500.0)]);
        let raw = point(&[(0, 50.0), (2, 1.0)]);
        assert_eq!(Ratios::between(&mine, &raw), Ratios::of([1.2]));
        assert!(Ratios::between(&mine, &raw).unwrap().spread().is_nan());
        assert_eq!(Ratios::between(&mine, &point(&[(2, 1.0)])), None);
    }
}
