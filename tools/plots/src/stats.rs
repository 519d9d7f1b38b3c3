//! Medians and ranges.

/// The median; NaN if there are no values.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n => (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0,
    }
}

/// The mean; NaN if there are no values.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The standard deviation of a sample; NaN for fewer than two values.
pub fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (values.len() as f64 - 1.0)).sqrt()
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
    fn means_and_deviations() {
        assert_eq!((mean(&[1.0, 3.0]), deviation(&[1.0, 3.0])), (2.0, 2_f64.sqrt()));
        assert!(mean(&[]).is_nan() && deviation(&[1.0]).is_nan());
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
}
