//! Tables of tuning rules, and the files they come from.
//!
//! ```text
//! oneshmem tuning 1
//! machine 2 AMD EPYC 7543
//! # operation  from PEs  up to bytes  algorithm
//! broadcast    2         65536        direct
//! broadcast    2         any          scatter_collect
//! copies
//! cached_to      16777216
//! over nodes
//! broadcast    2         any          two_level
//! ```
//!
//! The first rules apply to members on one node, those after the line `over nodes` to members on
//! several nodes. After the line `copies` come limits of [`Methods`]; those that are not given are
//! built in. Bytes are those that one member contributes. For a number of PEs, the rules with the
//! largest number not above it apply, or, if there are none, those with the smallest. Of these, the
//! first is used that covers the bytes and whose algorithm can serve the case.

use super::algorithm::Operation;
use super::operation::OPERATIONS;
use crate::copy::{self, Methods};
use crate::sys::hash::fnv1a;
use crate::sys::process;
use std::fmt::Write;
use std::path::PathBuf;

const MAGIC: &str = "oneshmem tuning 1";
/// Number of an operation's first algorithm, which serves every case.
const FIRST: usize = 1;
/// For members that have a CPU each.
pub(super) const BUILT_IN: &str = include_str!("default.tuning");
/// For PEs that take turns on the CPUs: a step that all wait for costs more there than many bytes.
const BUILT_IN_CROWDED: &str = include_str!("crowded.tuning");
/// For members on several nodes.
const BUILT_IN_OVER_NODES: &str = include_str!("nodes.tuning");

/// The line after which rules are for members on several nodes.
const OVER_NODES: &str = "over nodes";
/// The line after which lines are limits of copies.
const COPIES: &str = "copies";

/// The contents of a tuning file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// For members on one node.
    pub on_a_node: Vec<Rule>,
    /// For members on several nodes.
    pub over_nodes: Vec<Rule>,
    /// For copies.
    pub copies: Option<Methods>,
}

/// One rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The operation it applies to.
    pub operation: Operation,
    /// The number of PEs from which it applies.
    pub pes: usize,
    /// The number of bytes up to which it applies.
    pub bytes: usize,
    /// Index of the algorithm in [`Operation::algorithms`].
    pub algorithm: usize,
}

/// Rules, and where they come from.
#[derive(Debug)]
pub struct RuleTable {
    /// The rules of each operation, grouped by number of PEs, with the number from which they
    /// apply, the largest first.
    groups: [Vec<(usize, Vec<Rule>)>; OPERATIONS],
    /// The file, unless the rules are compiled in.
    pub file: Option<PathBuf>,
}

impl RuleTable {
    /// The compiled-in table for a job of `pes` PEs. No team has more, so rules for more are left
    /// out, and cost no time in small jobs.
    pub fn built_in(pes: usize) -> Self {
        let text = if crowded(pes) { BUILT_IN_CROWDED } else { BUILT_IN };
        let mut rules = compiled_in(text).on_a_node;
        rules.retain(|rule| rule.pes <= pes.max(1));
        Self::new(&rules, None)
    }

    /// The compiled-in table for members on several nodes, the same on every machine.
    pub fn over_nodes() -> Self {
        Self::new(&compiled_in(BUILT_IN_OVER_NODES).over_nodes, None)
    }

    /// Makes a table of `rules`, which come from `file`.
    pub fn new(rules: &[Rule], file: Option<PathBuf>) -> Self {
        let groups = Operation::ALL.map(|operation| {
            let of = |pes: Option<usize>| {
                rules.iter().filter(move |rule| {
                    rule.operation == operation && pes.is_none_or(|pes| rule.pes == pes)
                })
            };
            let mut numbers: Vec<_> = of(None).map(|rule| rule.pes).collect();
            numbers.sort_unstable_by(|a, b| b.cmp(a));
            numbers.dedup();
            let least = numbers.last().copied();
            // The rules for the smallest number apply to fewer PEs, too.
            let from = |pes| if Some(pes) == least { 0 } else { pes };
            numbers.into_iter().map(|pes| (from(pes), of(Some(pes)).copied().collect())).collect()
        });
        Self { groups, file }
    }

    /// Passes the algorithms of the rules that apply to `pes` PEs and cover `bytes` bytes to
    /// `take`, in order, and returns the first result that is not `None`.
    #[inline(always)]
    pub fn find<R>(
        &self,
        operation: Operation,
        pes: usize,
        bytes: usize,
        take: impl Fn(usize) -> Option<R>,
    ) -> Option<R> {
        let rules = self.rules_for(operation, pes).iter();
        rules.filter(|rule| bytes <= rule.bytes).find_map(|rule| take(rule.algorithm))
    }

    /// The rules that apply to `pes` PEs.
    pub fn rules_for(&self, operation: Operation, pes: usize) -> &[Rule] {
        let groups = &self.groups[operation as usize];
        groups.iter().find(|(from, _)| *from <= pes).map_or(&[], |(_, rules)| rules)
    }

    /// The algorithm that the rules give, as an index in [`Operation::algorithms`].
    pub fn choice(&self, operation: Operation, pes: usize, bytes: usize) -> usize {
        let serves = |number: usize| operation.serves(number, pes, bytes).ok().map(|()| number);
        self.find(operation, pes, bytes, serves).unwrap_or(FIRST)
    }

    /// All rules.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.groups.iter().flatten().flat_map(|(_, rules)| rules)
    }

    /// A hash of the rules.
    pub fn fingerprint(&self) -> u64 {
        let words = |rule: &Rule| [rule.operation as usize, rule.pes, rule.bytes, rule.algorithm];
        mix(&self.rules().flat_map(words).map(|word| word as u64).collect::<Vec<_>>())
    }
}

fn compiled_in(text: &str) -> Rules {
    parse(text, None).unwrap_or_else(|why| unreachable!("the compiled-in tuning table: {why}"))
}

/// A hash of the words.
pub fn mix(words: &[u64]) -> u64 {
    fnv1a(words.iter().flat_map(|word| word.to_le_bytes())) as u64
}

/// Whether there are more PEs than CPUs in the machine. Every PE gets the same answer, whatever
/// CPUs it is bound to.
pub fn crowded(pes: usize) -> bool {
    pes > process::online_cpus()
}

/// The text of a tuning file for `machine`.
pub fn write(rules: &Rules, machine: &str) -> String {
    let mut text = format!("{MAGIC}\nmachine {machine}\n");
    text.push_str("# operation  from PEs  up to bytes  algorithm\n");
    write_part(&mut text, &rules.on_a_node);
    if let Some(copies) = &rules.copies {
        text.push_str(COPIES);
        text.push('\n');
        for line in copies.lines() {
            text.push_str(&line);
            text.push('\n');
        }
    }
    if !rules.over_nodes.is_empty() {
        text.push_str(OVER_NODES);
        text.push('\n');
        write_part(&mut text, &rules.over_nodes);
    }
    text
}

fn write_part(text: &mut String, rules: &[Rule]) {
    for Rule { operation, pes, bytes, algorithm } in rules {
        let bytes = if *bytes == usize::MAX { "any".into() } else { bytes.to_string() };
        let name = operation.algorithms()[*algorithm];
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:<12} {pes:<9} {bytes:<12} {name}", operation.name());
    }
}

/// A kind of line of a file.
enum Part<'a> {
    Rules(&'a mut Vec<Rule>),
    Copies(&'a mut Methods),
}

/// Parses the text of a tuning file. If `machine` is given, the file must be for that machine.
pub fn parse(text: &str, machine: Option<&str>) -> Result<Rules, String> {
    let mut lines = text.lines().enumerate();
    if lines.next().is_none_or(|(_, line)| line != MAGIC) {
        return Err(format!("its first line is not \"{MAGIC}\""));
    }
    let mut rules = Rules::default();
    let mut part = Part::Rules(&mut rules.on_a_node);
    let mut made_for = None;
    for (number, line) in lines {
        let line = line.split('#').next().unwrap_or_default().trim();
        if let Some(machine) = line.strip_prefix("machine ") {
            made_for = Some(machine.trim().to_owned());
        } else if line == OVER_NODES {
            part = Part::Rules(&mut rules.over_nodes);
        } else if line == COPIES {
            part = Part::Copies(rules.copies.get_or_insert_with(copy::built_in));
        } else if !line.is_empty() {
            let taken = match &mut part {
                Part::Rules(list) => rule(line).map(|rule| list.push(rule)),
                Part::Copies(methods) => methods.take(line),
            };
            taken.map_err(|why| format!("line {}: {why}", number + 1))?;
        }
    }
    match (machine, made_for) {
        (Some(here), Some(there)) if here != there => {
            Err(format!("it was made for the machine \"{there}\", this is \"{here}\""))
        }
        (Some(_), None) => Err("it does not name the machine it was made for".into()),
        _ => Ok(rules),
    }
}

fn rule(line: &str) -> Result<Rule, String> {
    let fields: Vec<_> = line.split_whitespace().collect();
    let [operation, pes, bytes, algorithm] = fields[..] else {
        return Err(format!("expected operation, PEs, bytes and algorithm, found \"{line}\""));
    };
    let operation = Operation::named(operation)
        .ok_or_else(|| format!("\"{operation}\" is no collective operation"))?;
    let pes = pes.parse().ok().filter(|pes| *pes > 0);
    let bytes = match bytes {
        "any" => Some(usize::MAX),
        number => number.parse().ok(),
    };
    let algorithms = operation.algorithms();
    let index = algorithms.iter().position(|name| *name == algorithm).filter(|index| *index > 0);
    Ok(Rule {
        operation,
        pes: pes.ok_or("PEs must be a number of at least 1")?,
        bytes: bytes.ok_or("bytes must be a number or \"any\"")?,
        algorithm: index
            .ok_or_else(|| format!("\"{algorithm}\" is none of {}", algorithms[1..].join(", ")))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compiled_in_tables_have_a_rule_for_everything() {
        let [roomy, crowded] = [1, usize::MAX].map(RuleTable::built_in);
        assert_ne!(roomy.fingerprint(), crowded.fingerprint());
        let tables = [roomy, crowded, RuleTable::over_nodes()];
        let cases =
            tables.iter().flat_map(|table| Operation::ALL.map(|operation| (table, operation)));
        for (table, operation) in cases {
            for pes in [1, 2, 3, 100, 4096] {
                for bytes in [0, 8, 1 << 20, usize::MAX] {
                    let serves = |number| operation.serves(number, pes, bytes).ok();
                    let found = table.find(operation, pes, bytes, serves);
                    assert!(found.is_some(), "{operation:?} of {bytes} bytes on {pes} PEs");
                }
            }
        }
    }

    #[test]
    fn what_is_written_can_be_read() {
        let on_a_node = compiled_in(BUILT_IN).on_a_node;
        let over_nodes = compiled_in(BUILT_IN_OVER_NODES).over_nodes;
        for rules in [
            Rules { on_a_node: on_a_node.clone(), over_nodes: over_nodes.clone(), copies: None },
            Rules { on_a_node, copies: Some(Methods::ONE), ..Rules::default() },
            Rules { over_nodes, ..Rules::default() },
        ] {
            assert_eq!(parse(&write(&rules, "4 any"), Some("4 any")), Ok(rules));
        }
    }

    #[test]
    fn rules_for_several_nodes_are_apart() {
        let text = format!("{MAGIC}\nscan 2 any direct\nover nodes\nscan 2 8 linear\n");
        let rules = parse(&text, None).unwrap();
        let name = |rule: &Rule| Operation::Scan.algorithms()[rule.algorithm];
        let names = |rules: &[Rule]| rules.iter().map(name).collect::<Vec<_>>();
        assert_eq!(names(&rules.on_a_node), ["direct"]);
        assert_eq!(names(&rules.over_nodes), ["linear"]);
    }

    #[test]
    fn limits_that_are_not_given_are_built_in() {
        let text = format!("{MAGIC}\ncopies\ncached_to 77\nover nodes\nscan 2 8 linear\n");
        let rules = parse(&text, None).unwrap();
        assert_eq!(rules.copies, Some(Methods { cached_to: 77, ..copy::built_in() }));
        assert_eq!((rules.on_a_node.len(), rules.over_nodes.len()), (0, 1));
    }

    #[test]
    fn the_rules_of_the_nearest_number_of_pes_below_count() {
        let text = format!("{MAGIC}\nscan 2 any direct\nscan 4 8 direct\nscan 4 any linear\n");
        let table = RuleTable::new(&parse(&text, None).unwrap().on_a_node, None);
        let name = |number: usize| Operation::Scan.algorithms().get(number).copied();
        let found = |pes, bytes| table.find(Operation::Scan, pes, bytes, name);
        for (pes, bytes, expected) in [
            (1, 9, "direct"),
            (3, 9, "direct"),
            (4, 8, "direct"),
            (4, 9, "linear"),
            (9, 9, "linear"),
        ] {
            assert_eq!(found(pes, bytes), Some(expected), "{pes} PEs, {bytes} bytes");
        }
    }

    #[test]
    fn bad_files_are_told_apart() {
        for (text, why) in [
            ("", "its first line is not"),
            ("oneshmem tuning 2\n", "its first line is not"),
            ("oneshmem tuning 1\nmachine 1 other\n", "it was made for the machine \"1 other\""),
            ("oneshmem tuning 1\n", "does not name the machine"),
            ("oneshmem tuning 1\nmachine x\nscan 2 any\n", "line 3: expected operation"),
            ("oneshmem tuning 1\nmachine x\ngather 2 any direct\n", "line 3: \"gather\" is no"),
            ("oneshmem tuning 1\nmachine x\nscan 0 any direct\n", "line 3: PEs must be"),
            ("oneshmem tuning 1\nmachine x\nscan 2 -1 direct\n", "line 3: bytes must be"),
            ("oneshmem tuning 1\nmachine x\ncopies\ncached_to 0\n", "line 4: cached_to must be"),
            (
                "oneshmem tuning 1\nmachine x\nscan 2 any auto\n",
                "line 3: \"auto\" is none of direct",
            ),
        ] {
            let found = parse(text, Some("x")).unwrap_err();
            assert!(found.contains(why), "{text:?}: {found}");
        }
    }
}
