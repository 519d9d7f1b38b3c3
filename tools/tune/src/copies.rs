//! Which method copies how many bytes: what to measure, and the choice of the limits.
//!
//! As for collectives, only a clearly faster method counts as faster, and a limit moves only if that
//! gains as much as 5 % at one size.

use crate::results::{Ratio, Sweep};
use onenode_core::copy::{self, Methods};
use oneshmem_plots::figures;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A way to copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CopyMethod {
    /// Moves, through the caches.
    Moves,
    /// The string instruction.
    String,
    /// Past the caches, with lines from so many pages in turn.
    Past(usize),
}

/// A way to copy some bytes to an address that lies `offset` bytes after the source, modulo the
/// page size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Point {
    /// Bytes of the copy.
    pub bytes: usize,
    /// Bytes from the source to the destination.
    pub offset: usize,
    /// The way.
    pub way: CopyMethod,
}

/// Sizes at which the string instruction is compared with moves.
const SMALL: [usize; 9] =
    [256, 512, 1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 64 << 10, 256 << 10];
/// Sizes at which the ways past the caches compete, too.
const LARGE: [usize; 7] = [1 << 20, 2 << 20, 4 << 20, 8 << 20, 16 << 20, 32 << 20, MOST];
/// The largest copy.
pub const MOST: usize = 64 << 20;
/// Offsets at which the string instruction may be slow, and sizes at which they are measured.
const OFFSETS: [usize; 3] = [8, 24, 48];
const AT_OFFSETS: [usize; 2] = [4 << 10, 64 << 10];
/// The distances that may be kept from those.
const APART: [usize; 4] = [1, 16, 32, 64];
/// Numbers of pages to take lines from.
const ABREAST: [usize; 3] = [1, 2, 4];
/// The least gain for which a limit changes: a part of the time.
const CHANGE: f64 = 0.05;

impl CopyMethod {
    /// The limits with which all copies of more than 128 bytes are made this way; past the caches
    /// from 256 KiB on.
    pub fn methods(self) -> Methods {
        match self {
            Self::Moves => Methods::ONE,
            Self::String => Methods { string_from: 1, ..Methods::ONE },
            Self::Past(abreast) => Methods { cached_to: 1, abreast, ..Methods::ONE },
        }
    }
}

/// All points, with those to be compared next to each other. The list is the same in every process.
pub fn points() -> Vec<Point> {
    let mut list = Vec::new();
    let mut add = |bytes, offset, ways: &[CopyMethod]| {
        list.extend(ways.iter().map(|way| Point { bytes, offset, way: *way }));
    };
    let near = [CopyMethod::Moves, CopyMethod::String];
    for bytes in SMALL {
        add(bytes, 0, &near);
        if AT_OFFSETS.contains(&bytes) {
            OFFSETS.into_iter().for_each(|offset| add(bytes, offset, &near));
        }
    }
    let all: Vec<CopyMethod> = near.into_iter().chain(ABREAST.map(CopyMethod::Past)).collect();
    for bytes in LARGE {
        add(bytes, 0, &all);
    }
    list
}

/// Samples by point.
#[derive(Debug, Default)]
pub struct Samples(BTreeMap<Point, Vec<(Sweep, f64)>>);

impl Samples {
    /// Adds one.
    pub fn add(&mut self, point: Point, sweep: Sweep, ns: f64) {
        self.0.entry(point).or_default().push((sweep, ns));
    }

    /// The cost of a way relative to another as a logarithm; 0 if they do not differ clearly.
    fn cost(&self, bytes: usize, offset: usize, way: CopyMethod, usual: CopyMethod) -> f64 {
        let of = |way| self.0.get(&Point { bytes, offset, way });
        let clearly = |mine, usual| {
            let ratio = Ratio::between(of(mine)?, of(usual)?)?;
            ratio.is_clearly_better().then(|| ratio.median.ln())
        };
        match (clearly(way, usual), clearly(usual, way)) {
            (Some(gain), _) => gain,
            (_, Some(loss)) => -loss,
            _ => 0.0,
        }
    }

    /// The limits for this machine, starting from `usual`.
    pub fn choose(&self, usual: Methods) -> Methods {
        let string =
            |bytes, offset| self.cost(bytes, offset, CopyMethod::String, CopyMethod::Moves);
        let sizes = || SMALL.into_iter().chain([LARGE[0]]);
        let starts =
            sizes().chain([usize::MAX]).map(|string_from| Methods { string_from, ..usual });
        let mut best = cheapest(usual, starts, |methods| {
            sizes().filter(|bytes| *bytes >= methods.string_from).map(|it| string(it, 0)).sum()
        });
        let aparts = APART.map(|string_apart| Methods { string_apart, ..best });
        best = cheapest(best, aparts, |methods| {
            let taken = AT_OFFSETS.into_iter().filter(|bytes| *bytes >= methods.string_from);
            taken
                .flat_map(|bytes| OFFSETS.map(|offset| (bytes, offset)))
                .filter(|(_, offset)| *offset >= methods.string_apart)
                .map(|(bytes, offset)| string(bytes, offset))
                .sum()
        });
        let limits = [LARGE[0] / 2].into_iter().chain(LARGE).chain([usize::MAX]);
        let pasts: Vec<Methods> = limits
            .flat_map(|cached_to| ABREAST.map(|abreast| Methods { cached_to, abreast, ..best }))
            .collect();
        cheapest(best, pasts, |methods| {
            let past = CopyMethod::Past(methods.abreast);
            let cached = |bytes| {
                if bytes >= best.string_from { CopyMethod::String } else { CopyMethod::Moves }
            };
            let large = LARGE.into_iter().filter(|bytes| *bytes > methods.cached_to);
            large.map(|bytes| self.cost(bytes, 0, past, cached(bytes))).sum()
        })
    }
}

/// The limits with the lowest cost; the usual ones unless others gain enough.
fn cheapest(
    usual: Methods,
    others: impl IntoIterator<Item = Methods>,
    cost: impl Fn(&Methods) -> f64,
) -> Methods {
    let needed = cost(&usual) - CHANGE;
    let best = others.into_iter().map(|it| (cost(&it), it)).min_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|(cost, _)| *cost < needed).map_or(usual, |(_, methods)| methods)
}

/// The chosen limits as lines for the terminal, beside those that are built in.
pub fn print(chosen: &Methods) -> String {
    let usual = &copy::built_in();
    let size = |bytes| match bytes {
        usize::MAX => "never".into(),
        bytes => figures::size(bytes as u64),
    };
    let column = |methods: &Methods| {
        let Methods { string_from, string_apart, cached_to, abreast, together_to } = *methods;
        let abreast = abreast.to_string();
        [size(string_from), size(string_apart), size(cached_to), abreast, size(together_to)]
    };
    let names = [
        "string instruction from",
        "not where the destination is closer by",
        "through the caches up to",
        "past them, lines of so many pages",
        "in collectives, all together up to",
    ];
    let mut text = format!("\n{:<38} {:<12} {}\n", "copies", "chosen", "built in");
    for ((name, chosen), usual) in names.iter().zip(column(chosen)).zip(column(usual)) {
        let _ = writeln!(text, "{name:<38} {chosen:<12} {usual}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Methods = Methods {
        string_from: 4096,
        string_apart: 64,
        cached_to: 16 << 20,
        abreast: 1,
        together_to: 128 << 20,
    };

    /// Samples of all points, with costs relative to moves.
    fn samples(cost: impl Fn(Point) -> f64) -> Samples {
        let mut samples = Samples::default();
        for point in points() {
            for sweep in 0..9 {
                samples.add(point, (0, sweep), 1000.0 * cost(point));
            }
        }
        samples
    }

    #[test]
    fn nothing_moves_without_samples_or_differences() {
        for usual in [USUAL, Methods::ONE, copy::built_in()] {
            assert_eq!(Samples::default().choose(usual), usual);
            assert_eq!(samples(|_| 1.0).choose(usual), usual);
            assert_eq!(samples(|point| 1.0 + point.offset as f64 * 1e-4).choose(usual), usual);
        }
    }

    #[test]
    fn the_string_instruction_from_where_it_wins() {
        let string = |from: usize| {
            samples(move |Point { bytes, way, .. }| match way {
                CopyMethod::String if bytes >= from => 0.8,
                CopyMethod::String => 1.3,
                _ => 1.0,
            })
        };
        for from in [512, 4096, 1 << 20] {
            assert_eq!(string(from).choose(USUAL).string_from, from);
        }
        assert_eq!(string(usize::MAX).choose(USUAL).string_from, usize::MAX);
    }

    #[test]
    fn a_distance_only_where_it_is_slow_near() {
        let slow_to = |most: usize| {
            samples(move |Point { offset, way, .. }| match way {
                CopyMethod::String if (1..most).contains(&offset) => 15.0,
                CopyMethod::String => 0.7,
                _ => 1.0,
            })
        };
        for (most, apart) in [(1, 1), (16, 16), (32, 32), (64, 64)] {
            assert_eq!(slow_to(most).choose(USUAL).string_apart, apart);
        }
    }

    #[test]
    fn past_the_caches_where_they_are_too_small() {
        let from = |least: usize, pages: usize| {
            samples(move |Point { bytes, way, .. }| match way {
                CopyMethod::Past(abreast) if bytes > least && abreast == pages => 0.6,
                CopyMethod::Past(_) if bytes > least => 0.8,
                CopyMethod::Past(_) => 1.5,
                _ => 1.0,
            })
        };
        for (least, pages) in [(512 << 10, 1), (4 << 20, 2), (32 << 20, 4)] {
            let chosen = from(least, pages).choose(USUAL);
            assert_eq!((chosen.cached_to, chosen.abreast), (least, pages));
        }
        assert_eq!(from(usize::MAX, 1).choose(USUAL).cached_to, MOST);
    }
}
