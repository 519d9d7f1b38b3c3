//! Which algorithm to run at which size: for each operation and number of PEs the list of
//! choices that costs least in total.
//!
//! The cost of a size is the logarithm of its time in units of what is compiled in; only
//! what is clearly quicker counts as quicker. Changing from one algorithm to another
//! between neighbouring sizes costs as much as 5 % at one size, so that a single lucky size
//! makes no rule.

use crate::plan::{self, Point};
use crate::results::{Ratio, Results};
use oneshmem::collectives::select::Operation;
use oneshmem::collectives::select::rules::Rule;

/// What a change of the algorithm costs.
const CHANGE: f64 = 0.05;

/// The choices for one operation and number of PEs.
#[derive(Debug)]
pub struct Choice {
    /// The operation.
    pub operation: Operation,
    /// From this number of PEs on.
    pub pes: usize,
    /// By size, ascending.
    pub spans: Vec<Span>,
}

/// One choice for neighbouring sizes.
#[derive(Debug)]
pub struct Span {
    /// Up to so many bytes.
    pub to: usize,
    /// What runs there.
    pub what: What,
}

/// What runs.
#[derive(Debug)]
pub enum What {
    /// What is compiled in: these rules.
    CompiledIn(Vec<Rule>),
    /// Another algorithm, with its cost at each size measured.
    Other(usize, Vec<(usize, Ratio)>),
}

impl Choice {
    /// As rules of a file.
    pub fn rules(&self) -> Vec<Rule> {
        let (operation, pes) = (self.operation, self.pes);
        let mut rules: Vec<Rule> = Vec::new();
        for Span { to, what } in &self.spans {
            match what {
                What::CompiledIn(list) => rules.extend(list),
                What::Other(algorithm, _) => {
                    rules.push(Rule { operation, pes, bytes: *to, algorithm: *algorithm });
                }
            }
        }
        rules.dedup_by(|later, rule| {
            let same = later.algorithm == rule.algorithm;
            if same {
                rule.bytes = later.bytes;
            }
            same
        });
        rules
    }
}

/// Chooses for all operations and these numbers of PEs.
pub fn choose(results: &Results, pes: &[usize]) -> Vec<Choice> {
    (0..Operation::ALL.len())
        .flat_map(|operation| pes.iter().map(move |&pes| one(results, operation, pes)))
        .collect()
}

fn one(results: &Results, index: usize, pes: usize) -> Choice {
    let operation = Operation::ALL[index];
    let sizes: Vec<usize> = plan::sizes(operation, pes).collect();
    let point = |bytes, algorithm| Point { operation: index, bytes, algorithm };
    let path = cheapest(&sizes, operation.algorithms().len(), |bytes, algorithm| match algorithm {
        COMPILED_IN => Some(0.0),
        _ => results.ratio(pes, point(bytes, algorithm)).map(|ratio| {
            let cost = ratio.median.ln();
            if ratio.is_clearly_better() { cost } else { cost.max(0.0) }
        }),
    });
    let mut spans = Vec::new();
    let mut from = 0;
    for range in path.chunk_by(|a, b| a.1 == b.1) {
        let last = range[range.len() - 1].0;
        let next = sizes.iter().find(|size| **size > last);
        // Somewhere between two sizes the one overtakes the other.
        let to = next.map_or(usize::MAX, |next| (last * next).isqrt().next_power_of_two());
        let what = match range[0].1 {
            COMPILED_IN => What::CompiledIn(cut(results, operation, pes, (from, to))),
            algorithm => {
                let ratio = |&(bytes, _): &(usize, usize)| {
                    Some((bytes, results.ratio(pes, point(bytes, algorithm))?))
                };
                What::Other(algorithm, range.iter().filter_map(ratio).collect())
            }
        };
        spans.push(Span { to, what });
        from = to;
    }
    Choice { operation, pes, spans }
}

/// Stands for the algorithm that is compiled in; that of any number is `auto`.
const COMPILED_IN: usize = 0;

/// Sizes and algorithms.
type Path = Vec<(usize, usize)>;

/// For each size the algorithm, such that all costs together are least; at the same cost what is
/// compiled in. `cost` is none where there is nothing to go by.
fn cheapest(
    sizes: &[usize],
    algorithms: usize,
    cost: impl Fn(usize, usize) -> Option<f64>,
) -> Path {
    // Of each algorithm at the present size: the cost of the best way there, and that way.
    let mut ways: Vec<Option<(f64, Path)>> = vec![Some((0.0, Path::new())); algorithms];
    for &size in sizes {
        let way = |algorithm| {
            let here = cost(size, algorithm)?;
            let (before, way) = ways
                .iter()
                .enumerate()
                .filter_map(|(other, way)| {
                    let (cost, way) = way.as_ref()?;
                    let changes = other != algorithm && !way.is_empty();
                    Some((cost + if changes { CHANGE } else { 0.0 }, way))
                })
                .min_by(|a, b| a.0.total_cmp(&b.0))?;
            let mut way = way.clone();
            way.push((size, algorithm));
            Some((before + here, way))
        };
        ways = (0..algorithms).map(way).collect();
    }
    let best = ways.into_iter().flatten().min_by(|a, b| a.0.total_cmp(&b.0));
    best.map(|(_, way)| way).unwrap_or_default()
}

/// The compiled-in rules for more than `from` and up to `to` bytes, as rules for so many PEs.
fn cut(
    results: &Results,
    operation: Operation,
    pes: usize,
    (from, to): (usize, usize),
) -> Vec<Rule> {
    let mut list = Vec::new();
    for rule in results.compiled_in(pes).rules_for(operation, pes) {
        if rule.bytes > from || rule.bytes == usize::MAX {
            list.push(Rule { pes, bytes: rule.bytes.min(to), ..*rule });
        }
        if rule.bytes >= to {
            break;
        }
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::point;

    /// On any machine there is a CPU for each.
    const PES: usize = 1;

    /// Samples such that at each size each algorithm costs this much of what is compiled in.
    fn measured(operation: Operation, costs: &[(&str, &[f64])]) -> Results {
        let mut results = Results::default();
        for (place, size) in plan::sizes(operation, PES).enumerate() {
            for sweep in 0..9 {
                let usual = results.usual(PES, point(operation, size, operation.algorithms()[1]));
                results.add(PES, usual, (0, sweep), 1000.0);
                for (name, costs) in costs {
                    if let Some(cost) = costs.get(place) {
                        results.add(PES, point(operation, size, name), (0, sweep), 1000.0 * cost);
                    }
                }
            }
        }
        results
    }

    fn rules(operation: Operation, results: &Results) -> Vec<(usize, &'static str)> {
        let all = choose(results, &[PES]);
        let choice = all.iter().find(|choice| choice.operation == operation).unwrap();
        let name = |rule: Rule| (rule.bytes, operation.algorithms()[rule.algorithm]);
        choice.rules().into_iter().map(name).collect()
    }

    #[test]
    fn without_samples_what_is_compiled_in() {
        let choices = choose(&Results::default(), &[1, 4, 1 << 20]);
        for choice in choices {
            let built_in = Results::default();
            let expected: Vec<_> = built_in
                .compiled_in(choice.pes)
                .rules_for(choice.operation, choice.pes)
                .iter()
                .map(|rule| Rule { pes: choice.pes, ..*rule })
                .collect();
            assert_eq!(choice.rules(), expected);
        }
    }

    #[test]
    fn the_boundary_lies_between_the_sizes() {
        // Quicker up to 1 KiB, then slower.
        let results = measured(
            Operation::Scan,
            &[("linear", &[0.5, 0.5, 0.5, 0.5, 1.5, 2.0, 2.0, 2.0, 2.0])],
        );
        assert_eq!(rules(Operation::Scan, &results), [(2048, "linear"), (usize::MAX, "direct")]);
    }

    #[test]
    fn one_lucky_size_makes_no_rule() {
        let lucky = measured(
            Operation::Collect,
            &[("linear", &[1.1, 1.1, 1.1, 0.94, 1.1, 1.1, 1.1, 1.1, 1.1])],
        );
        assert_eq!(rules(Operation::Collect, &lucky), [(usize::MAX, "direct")]);
        let good = measured(
            Operation::Collect,
            &[("linear", &[1.1, 1.1, 1.1, 0.5, 1.1, 1.1, 1.1, 1.1, 1.1])],
        );
        assert_eq!(
            rules(Operation::Collect, &good),
            [(512, "direct"), (2048, "linear"), (usize::MAX, "direct")]
        );
    }

    #[test]
    fn small_differences_are_none() {
        let results = measured(Operation::Collect, &[("linear", &[0.96; 9])]);
        assert_eq!(rules(Operation::Collect, &results), [(usize::MAX, "direct")]);
        let results = measured(Operation::Barrier, &[("dissemination", &[0.9])]);
        assert_eq!(rules(Operation::Barrier, &results), [(usize::MAX, "dissemination")]);
    }
}
