//! Medians, ranges, and whether a difference is significant.

/// The median; NaN if there are no values.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n => (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0,
    }
}

/// Half the range of some runs ([`Range::of_runs`]), relative to their median; NaN for a single
/// run.
pub fn spread(runs: &[f64]) -> f64 {
    if runs.len() < 2 {
        return f64::NAN;
    }
    Range::of_runs(runs).width() / 2.0 / median(runs)
}

/// From the smallest to the largest of some values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// The smallest.
    pub low: f64,
    /// The largest.
    pub high: f64,
}

impl Range {
    /// The range of some values.
    pub fn of(values: &[f64]) -> Self {
        values.iter().fold(Self { low: f64::INFINITY, high: f64::NEG_INFINITY }, |r, &v| Self {
            low: r.low.min(v),
            high: r.high.max(v),
        })
    }

    /// The range of a quantity's runs. From five runs on, the smallest and the largest are left
    /// out: on any machine, one run in several is disturbed.
    pub fn of_runs(runs: &[f64]) -> Self {
        let mut sorted = runs.to_vec();
        sorted.sort_by(f64::total_cmp);
        match sorted.len() {
            0..5 => Self::of(&sorted),
            n => Self::of(&sorted[1..n - 1]),
        }
    }

    /// Its width.
    pub fn width(self) -> f64 {
        self.high - self.low
    }
}

/// The result of comparing two sets of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The second set costs less.
    Better,
    /// The second set costs more.
    Worse,
    /// The runs do not show a difference.
    Unclear,
}

/// Fewer runs than this on either side give no verdict.
pub const LEAST_RUNS: usize = 3;
/// Smaller differences get no verdict: alignment and layout alone cause them.
pub const LEAST_CHANGE: f64 = 0.03;

/// Compares the costs of two sets of runs (less is better).
///
/// A verdict needs three runs on each side, medians at least [`LEAST_CHANGE`] apart, and ranges
/// ([`Range::of_runs`]) that do not overlap and whose distance exceeds the width of the wider one.
/// With three runs and no real difference, mere separation happens in one comparison of ten; the
/// gap makes that rare among hundreds of comparisons.
pub fn compare(before: &[f64], after: &[f64]) -> Verdict {
    if before.len() < LEAST_RUNS || after.len() < LEAST_RUNS {
        return Verdict::Unclear;
    }
    let (old, new) = (Range::of_runs(before), Range::of_runs(after));
    let gap = (new.low - old.high).max(old.low - new.high);
    let change = median(after) / median(before);
    if gap <= old.width().max(new.width()) || (change - 1.0).abs() < LEAST_CHANGE {
        return Verdict::Unclear;
    }
    if new.low > old.high { Verdict::Worse } else { Verdict::Better }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn ranges() {
        let range = Range::of(&[3.0, 1.0, 2.0]);
        assert_eq!((range.low, range.high, range.width()), (1.0, 3.0, 2.0));
    }

    #[test]
    fn spreads() {
        assert_eq!(spread(&[3.0, 1.0, 2.0]), 0.5);
        assert!(spread(&[3.0]).is_nan());
    }

    #[test]
    fn clear_differences_get_a_verdict() {
        assert_eq!(compare(&[10.0, 10.1, 10.2], &[12.0, 12.1, 12.2]), Verdict::Worse);
        assert_eq!(compare(&[10.0, 10.1, 10.2], &[8.0, 8.1, 8.2]), Verdict::Better);
    }

    #[test]
    fn overlap_gets_none() {
        assert_eq!(compare(&[10.0, 11.0, 12.0], &[11.5, 13.0, 14.0]), Verdict::Unclear);
        assert_eq!(compare(&[10.0, 10.0, 20.0], &[12.0, 12.0, 12.0]), Verdict::Unclear);
    }

    #[test]
    fn separation_narrower_than_the_spread_gets_none() {
        assert_eq!(compare(&[10.0, 11.0, 12.0], &[12.5, 13.0, 14.0]), Verdict::Unclear);
    }

    #[test]
    fn one_odd_run_of_seven_does_not_hide_a_difference() {
        let before = [10.0, 10.1, 10.2, 10.0, 10.1, 90.0, 10.1];
        let after = [12.0, 12.1, 12.2, 12.0, 12.1, 12.1, 5.0];
        assert_eq!(compare(&before, &after), Verdict::Worse);
        assert_eq!(Range::of_runs(&before).high, 10.2);
        // Of three runs, every one counts.
        assert_eq!(Range::of_runs(&before[4..]).high, 90.0);
    }

    #[test]
    fn tiny_differences_get_none_however_clear() {
        assert_eq!(compare(&[10.0, 10.0, 10.0], &[10.2, 10.2, 10.2]), Verdict::Unclear);
    }

    #[test]
    fn few_runs_get_none() {
        assert_eq!(compare(&[10.0, 10.0], &[20.0, 20.0, 20.0]), Verdict::Unclear);
    }
}
