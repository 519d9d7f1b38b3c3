//! All samples, and what they say about one algorithm compared with another.

use crate::plan::Point;
use oneshmem::internals::collectives::select::rules::{self, RuleTable};
use oneshmem_plots::stats;
use std::collections::BTreeMap;

/// The job and the sweep of a sample.
pub type Sweep = (u32, usize);

/// Samples by number of PEs and point.
#[derive(Debug)]
pub struct Results {
    samples: BTreeMap<(usize, Point), Vec<(Sweep, f64)>>,
    /// With a CPU for each PE, and without. Over several nodes they are equal.
    compiled_in: [RuleTable; 2],
}

/// The cost of one algorithm relative to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The median over the sweeps.
    pub median: f64,
    /// Half the range of the middle half of the sweeps.
    pub spread: f64,
    /// In how many sweeps it was faster.
    pub wins: usize,
    /// The number of sweeps.
    pub sweeps: usize,
}

/// An algorithm can count as faster only if its ratio is at most this.
const CLEARLY: f64 = 0.95;
/// Fewer sweeps than this do not allow a decision.
const LEAST_SWEEPS: usize = 9;
/// Algorithms slower than the best one by more than this factor are not measured again.
const HOPELESS: f64 = 2.0;

impl Default for Results {
    fn default() -> Self {
        Self { samples: BTreeMap::new(), compiled_in: [1, usize::MAX].map(RuleTable::built_in) }
    }
}

impl Results {
    /// No samples yet, of jobs over several nodes.
    pub fn over_nodes() -> Self {
        Self {
            samples: BTreeMap::new(),
            compiled_in: [RuleTable::over_nodes(), RuleTable::over_nodes()],
        }
    }

    /// Adds a sample.
    pub fn add(&mut self, pes: usize, point: Point, sweep: Sweep, ns: f64) {
        self.samples.entry((pes, point)).or_default().push((sweep, ns));
    }

    /// The compiled-in table to compare with.
    pub fn compiled_in(&self, pes: usize) -> &RuleTable {
        &self.compiled_in[usize::from(rules::crowded(pes))]
    }

    /// The compiled-in algorithm for the point's operation and size.
    pub fn usual(&self, pes: usize, point: Point) -> Point {
        let algorithm = self.compiled_in(pes).choice(point.operation(), pes, point.bytes);
        Point { algorithm, ..point }
    }

    /// The most samples of any algorithm for this operation and size.
    pub fn sampled(&self, pes: usize, point: Point) -> usize {
        let count =
            |algorithm| self.samples.get(&(pes, Point { algorithm, ..point })).map(Vec::len);
        (1..point.operation().algorithms().len()).filter_map(count).max().unwrap_or(0)
    }

    /// The median time of a point in nanoseconds, if it was measured.
    pub fn median(&self, pes: usize, point: Point) -> Option<f64> {
        let samples = self.samples.get(&(pes, point))?;
        Some(stats::median(&samples.iter().map(|sample| sample.1).collect::<Vec<_>>()))
    }

    /// Whether to measure it (again): it may be the best, or it is the one that others are compared
    /// with.
    pub fn is_contender(&self, pes: usize, point: Point) -> bool {
        let Some(mine) = self.median(pes, point) else { return true };
        let rivals = (1..point.operation().algorithms().len())
            .filter_map(|algorithm| self.median(pes, Point { algorithm, ..point }));
        point == self.usual(pes, point) || mine <= HOPELESS * rivals.fold(f64::INFINITY, f64::min)
    }

    /// The point's cost relative to the compiled-in algorithm, sweep by sweep.
    pub fn ratio(&self, pes: usize, point: Point) -> Option<Ratio> {
        let usual = self.samples.get(&(pes, self.usual(pes, point)))?;
        Ratio::between(self.samples.get(&(pes, point))?, usual)
    }
}

impl Ratio {
    /// The cost of some samples relative to those of the same sweeps; `None` if there are too few.
    pub fn between(mine: &[(Sweep, f64)], usual: &[(Sweep, f64)]) -> Option<Self> {
        let mine: BTreeMap<Sweep, f64> = mine.iter().copied().collect();
        let mut ratios: Vec<f64> =
            usual.iter().filter_map(|(sweep, ns)| Some(mine.get(sweep)? / ns)).collect();
        if ratios.len() < LEAST_SWEEPS {
            return None;
        }
        ratios.sort_by(f64::total_cmp);
        let (sweeps, quarter) = (ratios.len(), ratios.len() / 4);
        Some(Ratio {
            median: stats::median(&ratios),
            spread: (ratios[sweeps - 1 - quarter] - ratios[quarter]) / 2.0,
            wins: ratios.iter().filter(|ratio| **ratio < 1.0).count(),
            sweeps,
        })
    }

    /// Whether it is clearly faster: by 5 %, by more than the sweeps differ, and in more sweeps
    /// than an equally fast one would be. The latter wins half of them, with a standard deviation
    /// of half the square root of their number; three standard deviations are almost never
    /// exceeded.
    pub fn is_clearly_better(self) -> bool {
        let sweeps = self.sweeps as f64;
        self.median <= CLEARLY
            && 1.0 - self.median > self.spread
            && self.wins as f64 >= sweeps / 2.0 + 3.0 * sweeps.sqrt() / 2.0
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use oneshmem::internals::collectives::select::Operation;

    /// The point of an algorithm.
    pub fn point(operation: Operation, bytes: usize, name: &str) -> Point {
        let place = |list: &[&str]| list.iter().position(|known| *known == name).unwrap();
        Point {
            operation: Operation::ALL.iter().position(|known| *known == operation).unwrap(),
            bytes,
            algorithm: place(operation.algorithms()),
        }
    }

    #[test]
    fn ratios_are_those_of_one_sweep() {
        let mut results = Results::default();
        let [usual, other] =
            ["direct", "binomial"].map(|name| point(Operation::Broadcast, 8192, name));
        // The machine is ten times slower in some sweeps; the ratio is always 0.5.
        for (sweep, mood) in
            [1.0, 10.0, 1.0, 1.0, 10.0, 10.0, 1.0, 2.0, 3.0].into_iter().enumerate()
        {
            results.add(1, usual, (0, sweep), 100.0 * mood);
            results.add(1, other, (0, sweep), 50.0 * mood);
        }
        let ratio = results.ratio(1, other).unwrap();
        assert_eq!(ratio, Ratio { median: 0.5, spread: 0.0, wins: 9, sweeps: 9 });
        assert!(ratio.is_clearly_better());
        assert_eq!(results.ratio(4, other), None);
    }

    #[test]
    fn noise_decides_nothing() {
        let clear = Ratio { median: 0.8, spread: 0.1, wins: 16, sweeps: 20 };
        for (ratio, is) in [
            (Ratio { wins: 17, ..clear }, true),
            (clear, false),
            (Ratio { wins: 20, median: 0.96, ..clear }, false),
            (Ratio { wins: 20, spread: 0.25, ..clear }, false),
            (Ratio { wins: 9, sweeps: 9, ..clear }, true),
            (Ratio { wins: 8, sweeps: 9, ..clear }, false),
        ] {
            assert_eq!(ratio.is_clearly_better(), is, "{ratio:?}");
        }
    }

    #[test]
    fn the_hopeless_are_left_out() {
        let mut results = Results::default();
        for (name, ns) in [("direct", 500.0), ("linear", 250.0), ("kary", 100.0)] {
            results.add(1, point(Operation::Broadcast, 8192, name), (0, 0), ns);
        }
        for (name, is) in [("direct", true), ("linear", false), ("kary", true), ("binomial", true)]
        {
            let point = point(Operation::Broadcast, 8192, name);
            assert_eq!(results.is_contender(1, point), is, "{name}");
        }
    }
}
