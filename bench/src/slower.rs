//! The sentence at a comparison's end: where another one is faster, and by how much.

use oneshmem_plots::figures;

use crate::ratios::Ratios;
use crate::report::{Point, RAW, Report};

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

/// The sentence about a report: where one of `peers` is ahead of each of our own variants.
pub fn in_report(report: &Report, peers: &[&str]) -> String {
    let is_peer = |name: &str| peers.contains(&name);
    let ours = |name: &str| !is_peer(name) && name != RAW;
    let (mut all, mut slower) = (0, Vec::new());
    for theirs in report.points.iter().filter(|point| is_peer(&point.implementation)) {
        let same = |point: &&Point| ours(&point.implementation) && point.key() == theirs.key();
        let ratios =
            report.points.iter().filter(same).filter_map(|own| Ratios::between(own, theirs));
        let Some(best) = ratios.map(|ratios| ratios.value()).min_by(f64::total_cmp) else {
            continue;
        };
        all += 1;
        if best > 1.0 {
            let size = match theirs.size {
                0 => String::new(),
                size => format!(" {}", figures::bytes(size)),
            };
            let what = format!("{}{size} on {} PEs", theirs.name, theirs.pes);
            slower.push(point(&what, best, &theirs.implementation));
        }
    }
    sentence("Slower than another implementation", all, &slower)
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
