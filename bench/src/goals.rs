//! The performance goals and how far each is reached: the report's first table.

use crate::figures;
use crate::limits;
use crate::ratios::Ratios;
use crate::report::{Key, Point, Report};

/// A goal: the maximum cost relative to a reference.
struct Goal {
    /// Its name.
    title: &'static str,
    /// The quantities by name. A name that ends in a dot stands for all names that begin with it.
    /// The worst quantity counts.
    names: &'static [&'static str],
    /// The smallest and the largest size.
    sizes: (u64, u64),
    /// The number of PEs, if it matters.
    pes: Option<usize>,
    /// The reference.
    against: Against,
    /// The maximum relative cost.
    most: f64,
}

/// The reference for a quantity.
#[derive(Clone, Copy)]
enum Against {
    /// Its limit (`limits.rs`).
    Limit,
    /// The same quantity with this many PEs.
    Pes(usize),
    /// The same quantity at its best size. Applies only if a raw program's worst size is as near to
    /// its best one.
    BestSize,
}

const ANY: (u64, u64) = (0, u64::MAX);
const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// All goals.
#[rustfmt::skip]
const GOALS: [Goal; 10] = [
    Goal { title: "ping-pong of 8 bytes", names: &["pingpong.put"], sizes: (8, 8), pes: None, against: Against::Limit, most: 1.10 },
    Goal { title: "the same, compiled in", names: &["inlined.pingpong.put"], sizes: (8, 8), pes: None, against: Against::Limit, most: 1.05 },
    // Half the rate of calls that only store.
    Goal { title: "p and small puts", names: &["rate.p.", "rate.put"], sizes: (0, 64), pes: None, against: Against::Limit, most: 2.0 },
    // 0.95 of the bandwidth of the best copy.
    Goal { title: "large copies", names: &["bandwidth.put", "bandwidth.get"], sizes: (4 * KIB, 64 * MIB), pes: None, against: Against::Limit, most: 1.0 / 0.95 },
    // At the worst offset, 0.6 of the bandwidth at the best one.
    Goal { title: "offset of destination to source", names: &["at_offset."], sizes: ANY, pes: None, against: Against::BestSize, most: 1.0 / 0.6 },
    Goal { title: "atomics alone", names: &["atomic."], sizes: ANY, pes: None, against: Against::Limit, most: 1.10 },
    Goal { title: "atomics contended", names: &["contended."], sizes: ANY, pes: None, against: Against::Limit, most: 1.10 },
    Goal { title: "put of 16 MiB to untouched memory", names: &["touch.put"], sizes: (16 * MIB, 16 * MIB), pes: None, against: Against::Limit, most: 1.2 },
    Goal { title: "hello on 64 PEs", names: &["startup.hello"], sizes: ANY, pes: Some(64), against: Against::Limit, most: 3.0 },
    // Constant, except for the noise of starting.
    Goal { title: "shmem_init on 64 PEs, beside 2", names: &["startup.init"], sizes: ANY, pes: Some(64), against: Against::Pes(2), most: 1.25 },
];

/// Whether a goal is met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Met {
    /// In every turn that counts.
    Yes,
    /// In none.
    No,
    /// In some of them.
    Unclear,
}

impl Met {
    /// The word shown.
    pub fn word(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Unclear => "unclear",
        }
    }

    fn of(ratios: &Ratios, most: f64) -> Self {
        let range = ratios.range();
        match (range.low <= most, range.high <= most) {
            (_, true) => Self::Yes,
            (false, _) => Self::No,
            _ => Self::Unclear,
        }
    }
}

/// How far a goal is reached.
#[derive(Debug)]
pub struct Standing<'a> {
    /// The goal's name.
    pub title: &'static str,
    /// The quantity with the highest relative cost.
    pub worst: &'a Point,
    /// How many quantities there are.
    pub of: usize,
    /// The smallest and the largest of their sizes.
    pub sizes: (u64, u64),
    /// The relative costs of the worst.
    pub ratios: Ratios,
    /// The maximum relative cost.
    pub most: f64,
    /// Whether the goal is met.
    pub met: Met,
}

impl Standing<'_> {
    /// Describes the worst quantity.
    pub fn which(&self) -> String {
        let Point { name, size, pes, .. } = self.worst;
        let mut text = format!("{name}, ");
        if *size > 0 {
            text += &format!("{}, ", figures::bytes(*size));
        }
        text += &format!("{pes} PEs");
        let (least, most) = self.sizes;
        match self.of {
            1 => {}
            of if least == most => text += &format!(" (the worst of {of})"),
            of => {
                let written = |size| match size {
                    0 => "0 B".into(),
                    size => figures::bytes(size),
                };
                let (least, most) = (written(least), written(most));
                text += &format!(" (the worst of {of}, {least} to {most})");
            }
        }
        text
    }

    /// The best figure of any turn.
    pub fn best(&self) -> f64 {
        let unit = self.worst.unit;
        let best = |a: &f64, b: &f64| unit.cost_ratio(*a, *b).total_cmp(&1.0);
        self.worst.medians().into_iter().min_by(best).unwrap_or(f64::NAN)
    }

    /// The cells of a table with [`HEADER`].
    pub fn cells(&self) -> [String; 6] {
        [
            self.title.to_owned(),
            self.which(),
            figures::figure(self.best(), self.worst.unit),
            format!(
                "{} {}",
                figures::ratio(self.ratios.value()),
                figures::spread(self.ratios.spread())
            ),
            figures::ratio(self.most),
            self.met.word().to_owned(),
        ]
    }
}

/// The header of the table.
pub const HEADER: [&str; 6] = ["goal", "quantity", "best turn", "x raw", "at most", "met"];
/// The note below the table.
pub const NOTE: &str = "Of each kind the quantity that is furthest from its limit. Met, or not, is what holds in every turn \
    (of five or more the least and the largest ratio are left out); unclear, what holds in some.";

/// The standings of all goals that have figures.
pub fn standings(report: &Report) -> Vec<Standing<'_>> {
    GOALS.iter().filter_map(|goal| goal.standing(report)).collect()
}

/// Which goals are missed, and by how much: the report's last line.
pub fn verdict(standings: &[Standing<'_>]) -> String {
    let missed = |standing: &&Standing<'_>| standing.met == Met::No;
    let told = |standing: &Standing<'_>| {
        let (ratio, most) = (standing.ratios.value(), standing.most);
        let by = (ratio / most - 1.0) * 100.0;
        format!(
            "{} by {by:.0} % ({}, at most {})",
            standing.title,
            figures::ratio(ratio),
            figures::ratio(most)
        )
    };
    let list: Vec<String> = standings.iter().filter(missed).map(told).collect();
    let unclear = standings.iter().filter(|standing| standing.met == Met::Unclear).count();
    let met = standings.len() - list.len() - unclear;
    let all = standings.len();
    let list = if list.is_empty() { "none".into() } else { list.join("; ") };
    format!("Goals met: {met} of {all}, unclear: {unclear}, missed: {list}")
}

impl Goal {
    fn covers(&self, point: &Point) -> bool {
        let named = self.names.iter().any(|name| match name.strip_suffix('.') {
            Some(_) => point.name.starts_with(name),
            None => point.name == *name,
        });
        named
            && (self.sizes.0..=self.sizes.1).contains(&point.size)
            && self.pes.is_none_or(|pes| point.pes == pes)
    }

    fn ratios(&self, report: &Report, point: &Point) -> Option<Ratios> {
        match self.against {
            Against::Limit => limits::ratios(report, point),
            Against::Pes(pes) => {
                let other = report.find(&point.implementation, &Key { pes, ..point.key() })?;
                Ratios::between(point, other)
            }
            Against::BestSize => {
                if limits::evenest_raw(report, point)? > self.most {
                    return None;
                }
                let same = |other: &&Point| other.name == point.name && other.pes == point.pes;
                let all: Vec<&Point> =
                    report.points_of(&point.implementation).filter(same).collect();
                limits::behind_best(point, &all)
            }
        }
    }

    fn standing<'a>(&self, report: &'a Report) -> Option<Standing<'a>> {
        let all: Vec<(&Point, Ratios)> = report
            .points_of(report.own()?)
            .filter(|point| self.covers(point))
            .filter_map(|point| Some((point, self.ratios(report, point)?)))
            .collect();
        let of = all.len();
        let sizes = all.iter().map(|(point, _)| point.size);
        let sizes = (sizes.clone().min()?, sizes.max()?);
        let (worst, ratios) = all.into_iter().max_by(|a, b| a.1.value().total_cmp(&b.1.value()))?;
        let met = Met::of(&ratios, self.most);
        Some(Standing { title: self.title, worst, of, sizes, ratios, most: self.most, met })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{RAW, Unit};

    type Given<'a> = (&'a str, &'a str, u64, usize, Unit, [f64; 3]);

    fn report(points: &[Given<'_>]) -> Report {
        let mut report = Report::of(&["mine"]);
        for &(who, name, size, pes, unit, values) in points {
            report.note(who, name, (size, pes), unit, &values);
        }
        report
    }

    #[test]
    fn the_worst_of_many_stands_for_all() {
        let rate = Unit::MegaBytes;
        let report = report(&[
            (RAW, "raw.copy.memcpy", 64, 2, rate, [100.0; 3]),
            (RAW, "raw.copy.memcpy", 4096, 2, rate, [100.0; 3]),
            (RAW, "raw.copy.memcpy", 8192, 2, rate, [100.0; 3]),
            ("mine", "bandwidth.put", 64, 2, rate, [10.0; 3]),
            ("mine", "bandwidth.put", 4096, 2, rate, [98.0; 3]),
            ("mine", "bandwidth.get", 8192, 2, rate, [80.0, 84.0, 88.0]),
        ]);
        let [copies] = &standings(&report)[..] else { panic!("one goal has figures") };
        assert_eq!(copies.met, Met::No);
        let which = "bandwidth.get, 8 KiB, 2 PEs (the worst of 2, 4 KiB to 8 KiB)";
        assert_eq!(copies.which(), which);
        assert_eq!(copies.best(), 88.0);
        let cells = copies.cells();
        assert_eq!(cells[2..].join(" | "), "88.0 MB/s | 1.19 ±5 % | 1.05 | no");
    }

    #[test]
    fn a_goal_met_in_some_turns_is_unclear() {
        let ns = Unit::Nanoseconds;
        let met = |own: [f64; 3]| {
            let report = report(&[
                (RAW, "raw.pingpong.tight", 8, 2, ns, [50.0, 250.0, 50.0]),
                ("mine", "pingpong.put", 8, 2, ns, own),
            ]);
            standings(&report)[0].met
        };
        assert_eq!(met([54.0, 260.0, 50.0]), Met::Yes);
        assert_eq!(met([54.0, 290.0, 50.0]), Met::Unclear);
        assert_eq!(met([60.0, 290.0, 70.0]), Met::No);
    }

    #[test]
    fn the_worst_offset_is_set_against_the_best() {
        let rate = Unit::MegaBytes;
        let own = |offset, values| ("mine", "at_offset.put.4096", offset, 2, rate, values);
        let raw = |loops, offset, value| (RAW, loops, offset, 2, rate, [value; 3]);
        let (even, uneven) = ("raw.at_offset.4096.moves", "raw.at_offset.4096.memcpy");
        let mut points = vec![
            own(0, [100.0, 200.0, 100.0]),
            own(16, [50.0, 100.0, 50.0]),
            own(4095, [90.0, 180.0, 90.0]),
            raw(uneven, 0, 100.0),
            raw(uneven, 16, 5.0),
        ];
        assert!(standings(&report(&points)).is_empty(), "no raw loop is even");
        points.extend([raw(even, 0, 90.0), raw(even, 16, 80.0)]);
        let report = report(&points);
        let [offsets] = &standings(&report)[..] else { panic!("one goal has figures") };
        assert_eq!((offsets.worst.size, offsets.ratios.value(), offsets.met), (16, 2.0, Met::No));
        assert_eq!(
            verdict(&standings(&report)),
            "Goals met: 0 of 1, unclear: 0, missed: offset of destination to source by 20 % (2.00, at most 1.67)"
        );
        assert_eq!(verdict(&[]), "Goals met: 0 of 0, unclear: 0, missed: none");
    }

    #[test]
    fn starting_is_set_against_few_pes_and_the_launcher() {
        let ns = Unit::Nanoseconds;
        let report = report(&[
            ("mine", "startup.init", 0, 2, ns, [100.0; 3]),
            ("mine", "startup.init", 0, 16, ns, [900.0; 3]),
            ("mine", "startup.init", 0, 64, ns, [110.0; 3]),
            ("mine", "startup.true", 0, 64, ns, [10.0; 3]),
            ("mine", "startup.hello", 0, 64, ns, [31.0; 3]),
        ]);
        let standings = standings(&report);
        let told: Vec<(f64, Met)> = standings.iter().map(|s| (s.ratios.value(), s.met)).collect();
        assert_eq!(told, [(3.1, Met::No), (1.1, Met::Yes)]);
    }
}
