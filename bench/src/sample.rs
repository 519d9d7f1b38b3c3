//! The figure by which a comparison of collectives ranks and divides.

use crate::ratios::Ratios;
use crate::report::{Point, Run};

/// Which of a run's samples to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sample {
    /// The median.
    Median,
    /// The least, which other load on the machine disturbs least.
    Least,
}

impl Sample {
    /// A run's figure.
    fn of_run(self) -> fn(&Run) -> f64 {
        match self {
            Self::Median => |run| run.samples.median,
            Self::Least => |run| run.samples.min,
        }
    }

    /// The median of the runs' figures.
    pub fn of(self, point: &Point) -> f64 {
        match self {
            Self::Median => point.value(),
            Self::Least => point.within().0,
        }
    }

    /// The costs of a point relative to the least of some others, turn by turn.
    pub fn ratios(self, point: &Point, others: &[&Point]) -> Option<Ratios> {
        let figure = self.of_run();
        Ratios::to(point, figure, |turn| {
            let figures = others.iter().filter_map(|other| other.in_turn(turn).map(figure));
            figures.min_by(f64::total_cmp)
        })
    }
}
