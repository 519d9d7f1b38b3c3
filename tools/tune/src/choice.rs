//! Which algorithm to use at which size: for each operation and number of PEs, the list of choices
//! with the lowest total cost.
//!
//! The cost of a size is the logarithm of its time relative to the compiled-in choice; only a
//! clearly faster algorithm counts as faster. Changing the algorithm between adjacent sizes costs
//! as much as 5 % at one size, so that a single lucky size does not make a rule.

use crate::plan::{self, Point};
use crate::results::{Ratio, Results};
use oneshmem::internals::collectives::select::Operation;
use oneshmem::internals::collectives::select::rules::Rule;

/// The cost of a change of the algorithm.
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

/// One choice for a range of adjacent sizes.
#[derive(Debug)]
pub struct Span {
    /// The largest number of bytes.
    pub to: usize,
    /// The algorithm or method to use there.
    pub what: Selection,
}

/// An algorithm or method to use.
#[derive(Debug)]
pub enum Selection {
    /// The compiled-in choice: these rules.
    CompiledIn(Vec<Rule>),
    /// Another algorithm, with its cost at each measured size.
    Other(usize, Vec<(usize, Ratio)>),
}

impl Choice {
    /// The choice as rules of a tuning file.
    pub fn rules(&self) -> Vec<Rule> {
        let (operation, pes) = (self.operation, self.pes);
        let mut rules: Vec<Rule> = Vec::new();
        for Span { to, what } in &self.spans {
            match what {
                Selection::CompiledIn(list) => rules.extend(list),
                Selection::Other(algorithm, _) => {
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
        // One algorithm overtakes the other somewhere between the two sizes.
        let to = next.map_or(usize::MAX, |next| (last * next).isqrt().next_power_of_two());
        let what = match range[0].1 {
            COMPILED_IN => Selection::CompiledIn(cut(results, operation, pes, (from, to))),
            algorithm => {
                let ratio = |&(bytes, _): &(usize, usize)| {
                    Some((bytes, results.ratio(pes, point(bytes, algorithm))?))
                };
                Selection::Other(algorithm, range.iter().filter_map(ratio).collect())
            }
        };
        spans.push(Span { to, what });
        from = to;
    }
    Choice { operation, pes, spans }
}

/// Stands for the compiled-in algorithm. As an algorithm's number, 0 is `auto`.
const COMPILED_IN: usize = 0;

/// Sizes, with the algorithm chosen for each.
type Path = Vec<(usize, usize)>;

/// The algorithm for each size that minimises the total cost; at equal cost, the compiled-in one.
/// `cost` returns `None` if there are no data.
fn cheapest(
    sizes: &[usize],
    algorithms: usize,
    cost: impl Fn(usize, usize) -> Option<f64>,
) -> Path {
    // For each algorithm at the current size: the lowest cost of a path that ends there, and that
    // path.
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

/// The compiled-in rules for more than `from` and up to `to` bytes, as rules for this number of
/// PEs.
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

    /// Any machine has a CPU for each.
    const PES: usize = 1;

    /// Samples in which each algorithm costs this much at each size, relative to the compiled-in
    /// one.
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
        // Faster up to 1 KiB, then slower.
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
