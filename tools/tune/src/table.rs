//! The choices as a table for the terminal.

use crate::choice::{Choice, Selection};
use crate::plan;
use crate::results::{Ratio, Results};
use oneshmem_plots::{figures, stats};
use std::fmt::Write;

/// The table, and how much of the plan could be measured.
pub fn print(choices: &[Choice], results: &Results) -> String {
    let mut text = format!(
        "{:<10} {:>4}  {:<18} {:<20} {:<18} {}\n",
        "", "PEs", "bytes", "chosen", "built in", "time (built-in = 1)"
    );
    for choice in choices {
        let names = choice.operation.algorithms();
        let mut from = 0;
        for span in &choice.spans {
            let (chosen, usual, cost) = match &span.what {
                Selection::CompiledIn(rules) => {
                    let mut list: Vec<_> = rules.iter().map(|rule| names[rule.algorithm]).collect();
                    list.dedup();
                    ("as built in".into(), list.join(", "), String::new())
                }
                Selection::Other(algorithm, ratios) => {
                    let usual = |bytes| {
                        results.compiled_in(choice.pes).choice(choice.operation, choice.pes, bytes)
                    };
                    let mut list: Vec<_> =
                        ratios.iter().map(|(bytes, _)| names[usual(*bytes)]).collect();
                    list.dedup();
                    (names[*algorithm].to_owned(), list.join(", "), cost(ratios))
                }
            };
            let _ = writeln!(
                text,
                "{:<10} {:>4}  {:<18} {chosen:<20} {usual:<18} {cost}",
                choice.operation.name(),
                choice.pes,
                sizes(from, span.to),
            );
            from = span.to;
        }
    }
    let (measured, all) = counts(choices, results);
    if measured < all {
        let _ = writeln!(
            text,
            "{} of {all} points had too few samples for a result; a longer --time helps.",
            all - measured
        );
    }
    text
}

fn sizes(from: usize, to: usize) -> String {
    let size = |bytes: usize| figures::size(bytes as u64);
    match (from, to) {
        (0, usize::MAX) => "any".into(),
        (0, to) => format!("up to {}", size(to)),
        (from, usize::MAX) => format!("above {}", size(from)),
        (from, to) => format!("{} to {}", size(from), size(to)),
    }
}

/// The median over the sizes, and the largest of their spreads.
fn cost(ratios: &[(usize, Ratio)]) -> String {
    let medians: Vec<f64> = ratios.iter().map(|(_, ratio)| ratio.median).collect();
    let spread = ratios.iter().map(|(_, ratio)| ratio.spread).fold(0.0, f64::max);
    format!("{:.2} ± {spread:.2}", stats::median(&medians))
}

/// The number of operations and sizes at which the compiled-in algorithm can be compared with
/// another, and the number of all.
fn counts(choices: &[Choice], results: &Results) -> (usize, usize) {
    let (mut measured, mut all) = (0, 0);
    for choice in choices {
        for point in plan::points(choice.pes) {
            if point.operation() == choice.operation && results.is_contender(choice.pes, point) {
                all += 1;
                measured += usize::from(results.ratio(choice.pes, point).is_some());
            }
        }
    }
    (measured, all)
}
