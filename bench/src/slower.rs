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

/// Comparisons of our own points with other implementations'.
#[derive(Default)]
pub struct Compared {
    all: usize,
    slower: Vec<String>,
}

impl Compared {
    /// The other's cost relative to ours, for a table; empty if there is none. `what` names the point in the sentence.
    pub fn with(&mut self, mine: &Point, theirs: Option<&Point>, what: &str) -> String {
        let compared = theirs.and_then(|it| Some((it, Ratios::between(it, mine)?.value())));
        let Some((theirs, ratio)) = compared else { return String::new() };
        self.note(1.0 / ratio, what, &theirs.implementation);
        figures::ratio(ratio)
    }

    /// Notes that our point takes so many times the time of another one.
    fn note(&mut self, times: f64, what: &str, whose: &str) {
        self.all += 1;
        if times > 1.0 {
            self.slower.push(point(what, times, whose));
        }
    }

    /// The sentence about all of them.
    pub fn sentence(&self) -> String {
        sentence("Slower than another implementation", self.all, &self.slower)
    }
}

/// The sentence about a report: where one of `peers` is ahead of each of our own variants.
pub fn in_report(report: &Report, peers: &[&str]) -> String {
    let is_peer = |name: &str| peers.contains(&name);
    let ours = |name: &str| !is_peer(name) && name != RAW;
    let mut compared = Compared::default();
    for theirs in report.points.iter().filter(|point| is_peer(&point.implementation)) {
        let same = |point: &&Point| ours(&point.implementation) && point.key() == theirs.key();
        let ratios =
            report.points.iter().filter(same).filter_map(|own| Ratios::between(own, theirs));
        let Some(best) = ratios.map(|ratios| ratios.value()).min_by(f64::total_cmp) else {
            continue;
        };
        let size = match theirs.size {
            0 => String::new(),
            size => format!(" {}", figures::bytes(size)),
        };
        let what = format!("{}{size} on {} PEs", theirs.name, theirs.pes);
        compared.note(best, &what, &theirs.implementation);
    }
    compared.sentence()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Unit;

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

    #[test]
    fn each_variant_of_ours_is_behind() {
        let mut report = Report::of(&["mine", "other"]);
        for (who, name, value) in [
            ("mine", "behind", 300.0),
            ("mine, SMARTMAP", "behind", 200.0),
            ("other", "behind", 100.0),
            ("mine", "ahead", 200.0),
            ("mine, SMARTMAP", "ahead", 50.0),
            ("other", "ahead", 100.0),
            ("other", "alone", 1.0),
            (RAW, "alone", 2.0),
        ] {
            report.note(who, name, (8, 2), Unit::Nanoseconds, &[value; 3]);
        }
        assert_eq!(
            in_report(&report, &["other"]),
            "Slower than another implementation at 1 of 2 points: behind 8 B on 2 PEs (2.00 times other's time).\n"
        );
    }
}
