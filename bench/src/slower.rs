//! The sentence at a comparison's end: where another one is faster, and by how much.

use oneshmem_plots::figures;

/// `START at 2 of 9 points: reduce of 8 B on 2 PEs (1.30 times other's time), ….`, or nothing where
/// nothing was compared.
pub fn sentence(start: &str, compared: usize, points: &[String]) -> String {
    match (compared, points.len()) {
        (0, _) => String::new(),
        (_, 0) => format!("{start} at none of {compared} points.\n"),
        (_, slower) => {
            format!("{start} at {slower} of {compared} points: {}.\n", points.join(", "))
        }
    }
}

/// A point of [`sentence`]: `WHAT (1.30 times WHOSE time)`.
pub fn point(what: &str, times: f64, whose: &str) -> String {
    format!("{what} ({} times {whose}'s time)", figures::ratio(times))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_sentence_or_none() {
        assert_eq!(sentence("Slower", 0, &[]), "");
        assert_eq!(sentence("Slower", 3, &[]), "Slower at none of 3 points.\n");
        let points = [point("put of 8 B", 1.25, "other"), point("get", 2.0, "other")];
        assert_eq!(
            sentence("Slower", 3, &points),
            "Slower at 2 of 3 points: put of 8 B (1.25 times other's time), get (2.00 times other's time).\n"
        );
    }
}
