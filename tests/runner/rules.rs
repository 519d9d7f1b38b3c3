//! Checks `RULES.md`, which says for each rule of the specification which programs test it, or why
//! none can: the table and the programs must match. Also checks a rule of the library's own that no
//! compiler checks.

use crate::{conformance, tree};
use libtest_mimic::Trial;
use std::collections::{BTreeMap, BTreeSet};

/// A rule's programs, and the reason if there are none.
struct Row {
    programs: BTreeSet<String>,
    reason: String,
}

/// The trials.
pub fn trials() -> Vec<Trial> {
    vec![
        Trial::test("rules/table", || Ok(check()?)),
        Trial::test("rules/one-door-for-the-environment", || Ok(one_door()?)),
    ]
}

/// In the library only `src/sys/environment.rs` may read the environment, so that none of it is
/// used in a program with the set-user-ID bit.
fn one_door() -> Result<(), String> {
    let mut doors = Vec::new();
    let mut folders = vec![tree::repository("src"), tree::repository("capi/src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).map_err(|error| error.to_string())?.flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).map_err(|error| error.to_string())?;
            let words = ["env::var", "getenv", "libc::environ", "self/environ"];
            if words.iter().any(|word| text.contains(word)) {
                doors.push(path);
            }
        }
    }
    if doors == [tree::repository("src/sys/environment.rs")] {
        Ok(())
    } else {
        Err(format!("the environment is read in {doors:?}; expected src/sys/environment.rs alone"))
    }
}

fn check() -> Result<(), String> {
    let table = read_table()?;
    let mut problems = Vec::new();
    let mut mentioned: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in [conformance::sources("tests/c"), conformance::sources("tests/programs")].concat()
    {
        let name = source.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        let text = std::fs::read_to_string(&source).map_err(|error| error.to_string())?;
        for rule in rules_in(&text, &table) {
            if table.contains_key(&rule) {
                mentioned.entry(rule).or_default().insert(name.clone());
            } else {
                problems
                    .push(format!("{name} mentions rule {rule}, which the table does not have"));
            }
        }
    }
    for (rule, row) in &table {
        let programs = mentioned.remove(rule).unwrap_or_default();
        if programs != row.programs {
            problems.push(format!(
                "rule {rule}: the table names {:?}, the programs that mention it are {programs:?}",
                row.programs
            ));
        }
        if row.programs.is_empty() && row.reason.is_empty() {
            problems.push(format!("rule {rule} has neither a test nor a reason"));
        }
    }
    let tested = table.values().filter(|row| !row.programs.is_empty()).count();
    println!("{tested} of {} rules have tests", table.len());
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}

/// Reads the table, whose rows look like
/// `| 6.1 | 9.6.1 | what it says | rma_types.c, signal.c | reason or remark |`.
fn read_table() -> Result<BTreeMap<String, Row>, String> {
    let path = tree::repository("tests/RULES.md");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{path:?}: {error}"))?;
    let mut table = BTreeMap::new();
    for line in text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| Rule")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [rule, section, says, programs, remark] = cells[..] else {
            return Err(format!("a row of five cells was expected: {line}"));
        };
        if !is_section(section) || says.is_empty() {
            return Err(format!("a section of the specification and what it says: {line}"));
        }
        let programs =
            programs.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
        let row = Row { programs: programs.collect(), reason: remark.to_owned() };
        if table.insert(rule.to_owned(), row).is_some() {
            return Err(format!("rule {rule} has two rows"));
        }
    }
    Ok(table)
}

/// Whether this names sections of the specification: their numbers, an annex, or the glossary.
fn is_section(text: &str) -> bool {
    let is_number = |word: &str| {
        word.split('.').all(|part| part.parse::<u32>().is_ok_and(|part| (1..=16).contains(&part)))
    };
    let mut words = text.split([' ', ',']).filter(|word| !word.is_empty() && *word != "to");
    text == "Glossary"
        || text.strip_prefix("Annex ").is_some_and(|annex| annex.len() == 1)
        || words.clone().next().is_some() && words.all(is_number)
}

/// The rules named in a program's comments: `rule 6.1`, or `rule 9.1 to rule 9.5` or
/// `rule 9.1 to 9.5` for a range.
fn rules_in(text: &str, table: &BTreeMap<String, Row>) -> BTreeSet<String> {
    let words: Vec<&str> = text.split_whitespace().filter(|word| *word != "*").collect();
    let mut rules = BTreeSet::new();
    for (at, _) in words.iter().enumerate().filter(|(_, word)| word.trim_matches('(') == "rule") {
        let Some(first) = words.get(at + 1).copied().and_then(number) else { continue };
        rules.insert(first.clone());
        let last = match words[at + 2..] {
            ["to", "rule", last, ..] | ["to", last, ..] => number(last),
            _ => None,
        };
        if let Some(last) = last {
            let (low, high) = (order(&first), order(&last));
            rules.extend(
                table.keys().filter(|rule| order(rule) >= low && order(rule) <= high).cloned(),
            );
        }
    }
    rules
}

/// A rule's number in a word that may end in punctuation.
fn number(word: &str) -> Option<String> {
    let word = word.trim_end_matches(|c: char| !c.is_ascii_digit());
    let (section, item) = word.split_once('.')?;
    let is_number = section.starts_with(|c: char| c.is_ascii_digit())
        && section.chars().all(|c| c.is_ascii_alphanumeric())
        && item.chars().all(|c| c.is_ascii_digit());
    is_number.then(|| word.to_owned())
}

/// The sort key of a rule in the checklist: by section, then by number.
fn order(rule: &str) -> (String, u32) {
    let (section, item) = rule.split_once('.').unwrap_or((rule, "0"));
    let width = section.trim_end_matches(|c: char| c.is_ascii_alphabetic()).len();
    (format!("{:0>3}{}", &section[..width], &section[width..]), item.parse().unwrap_or(0))
}
