//! Instructions per call, counted by callgrind: a figure without noise.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail};

use crate::curves::Table;
use crate::implementation::Implementation;

/// Calls of each operation between two dumps: `CALLS` in `programs/calls.c`.
const CALLS: f64 = 1000.0;
/// The loop around an empty function, subtracted from every figure. The function's one instruction
/// is its return, which the library's routine also has.
const EMPTY: &str = "empty";
/// The same for operations compiled in: operands in registers, and no function.
const NOTHING: &str = "nothing";
/// How far a count may exceed its limit. An operation's count is exact, but the loop's share
/// depends on the C compiler.
const SLACK: f64 = 1.0;
/// In a file of limits: operations that the file does not name have no limit.
const OTHERS: &str = "others";

/// The library's limits, with the published counts of others.
pub const PUBLISHED: &str = include_str!("../instructions.txt");

/// Counts of operations of an implementation: instructions in the library for one call, from entry to return.
type Counts = Vec<(String, f64)>;

/// A line in a file of limits: `operation | limit | others`, the published counts of other libraries as text.
struct Limit {
    operation: String,
    most: f64,
    others: String,
}

/// What was counted.
pub struct Counted {
    pub table: Table,
    /// Limits that our own exceeds, that nothing was counted for, or that an operation lacks.
    pub complaints: Vec<String>,
    /// Others that could not be counted, and why.
    pub left_out: Vec<String>,
}

/// Counts for several implementations, our own first, which has to be counted, beside the limits in this text.
pub fn counted(
    who: &[Implementation],
    sources: &Path,
    work: &Path,
    text: &str,
) -> anyhow::Result<Counted> {
    let (mut columns, mut left_out) = (Vec::new(), Vec::new());
    for who in who {
        match count(who, sources, work) {
            Ok(counts) => columns.push((who.name.clone(), counts)),
            Err(error) if columns.is_empty() => return Err(error),
            Err(error) => left_out.push(format!("Left out: {}: {error:#}", who.name)),
        }
    }
    let (table, complaints) = judge(&columns, &limits(text)?);
    Ok(Counted { table, complaints, left_out })
}

/// Builds the program, runs it on one PE under callgrind and reads the counts.
fn count(who: &Implementation, sources: &Path, work: &Path) -> anyhow::Result<Counts> {
    let directory = work.join(&who.folder).join("calls");
    // Remove an earlier run's dumps, so that they are not read as this one's.
    if directory.exists() {
        std::fs::remove_dir_all(&directory)
            .with_context(|| format!("cannot clear {}", directory.display()))?;
    }
    std::fs::create_dir_all(&directory)?;
    let (program, dumps) = (directory.join("calls"), directory.join("dump").display().to_string());
    who.build(&sources.join("calls.c"), &program)?;
    let to = format!("--callgrind-out-file={dumps}");
    let arguments = ["--tool=callgrind".into(), to, program.display().to_string()];
    let mut command = who.job(1, Path::new("valgrind"), &arguments, 16);
    let outcome = oneshmem_watched::run(&mut command, Duration::from_secs(300))?;
    if !outcome.stdout.lines().any(|line| line == "DONE") {
        bail!("{} under callgrind: {}", who.name, outcome.reason());
    }
    let texts = (1..).map_while(|number| std::fs::read_to_string(format!("{dumps}.{number}")).ok());
    subtract(&texts.filter_map(|text| dump(&text)).collect::<Vec<_>>())
}

/// One dump of callgrind, of an operation. `kind` names the loop around the call, by arguments and result.
#[derive(Debug, PartialEq)]
struct Dump {
    kind: String,
    operation: String,
    total: f64,
}

/// Parses a dump; `None` for the one at the program's end.
fn dump(text: &str) -> Option<Dump> {
    let after = |start: &str| text.lines().find_map(|line| line.strip_prefix(start));
    let (kind, operation) = after("desc: Trigger: Client Request: ")?.split_once(' ')?;
    let total = after("totals: ").or_else(|| after("summary: "))?.split_whitespace().next()?;
    Some(Dump { kind: kind.into(), operation: operation.into(), total: total.parse().ok()? })
}

/// Subtracts from each dump the count of its kind of empty loop.
fn subtract(dumps: &[Dump]) -> anyhow::Result<Counts> {
    let is_empty = |dump: &&Dump| dump.operation == EMPTY || dump.operation == NOTHING;
    let count = |dump: &Dump| {
        let empty = dumps.iter().filter(is_empty).find(|other| other.kind == dump.kind);
        let empty = empty.with_context(|| format!("no empty loop of the kind {}", dump.kind))?;
        let shared = if empty.operation == EMPTY { 1.0 } else { 0.0 };
        Ok((dump.operation.clone(), (dump.total - empty.total) / CALLS + shared))
    };
    dumps.iter().filter(|dump| !is_empty(dump)).map(count).collect()
}

/// Parses a file of limits. Lines that begin with `#` are comments.
fn limits(text: &str) -> anyhow::Result<Vec<Limit>> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let limit = |line: &str| {
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let &[operation, most, others] = &fields[..] else {
            bail!("not `operation | limit | others`: {line}")
        };
        let most = most.parse().with_context(|| format!("no number of instructions: {line}"))?;
        Ok(Limit { operation: operation.into(), most, others: others.into() })
    };
    lines.map(limit).collect()
}

/// A row for each operation of the first implementation, with its limit and the published counts of others; and what is to
/// be complained about.
fn judge(columns: &[(String, Counts)], limits: &[Limit]) -> (Table, Vec<String>) {
    let count = |counts: &Counts, operation: &str| {
        counts.iter().find(|count| count.0 == operation).map(|count| count.1)
    };
    let mut header = vec!["instructions a call".to_owned()];
    header.extend(columns.iter().map(|(name, _)| name.clone()));
    let published = "published of Sandia OpenSHMEM and of OSHMPI, optimised, above OFI; put of 4 B";
    header.extend(["limit", published].map(str::to_owned));
    let row = |(operation, _): &(String, f64)| {
        // Other threads of an implementation may make a count unusable, as a negative one shows.
        let shown = |count: f64| if count < 0.0 { "?".into() } else { format!("{count:.0}") };
        let of = |(_, counts): &(String, Counts)| count(counts, operation).map(shown);
        let limit = limits.iter().find(|limit| limit.operation == *operation);
        let limit = limit.map(|it| [it.most.to_string(), it.others.clone()]).unwrap_or_default();
        let counts = columns.iter().map(|column| of(column).unwrap_or_default());
        std::iter::once(operation.clone()).chain(counts).chain(limit).collect()
    };
    let (own, counts) = &columns[0];
    let complaint = |Limit { operation, most, .. }: &Limit| match count(counts, operation) {
        Some(taken) if taken <= most + SLACK => None,
        Some(taken) => {
            Some(format!("{own}: {operation} takes {taken:.1} instructions, its limit is {most}"))
        }
        None => Some(format!("{operation} has a limit but was not counted")),
    };
    let (others, limits): (Vec<_>, Vec<_>) = limits.iter().partition(|it| it.operation == OTHERS);
    let has = |operation: &String| limits.iter().any(|limit| limit.operation == *operation);
    let unlimited = counts.iter().filter(|(operation, _)| others.is_empty() && !has(operation));
    let unlimited = unlimited.map(|(operation, _)| format!("{operation} has no limit"));
    let complaints = limits.iter().copied().filter_map(complaint).chain(unlimited).collect();
    let (title, rows) = ("Instructions of a call".into(), counts.iter().map(row).collect());
    (Table { title, header, rows }, complaints)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_own_empty_loop() {
        let dump = |request: &str, total: u32| {
            let text = format!("version: 1\ndesc: Trigger: {request}\nsummary: {total}\n");
            super::dump(&text)
        };
        let request = |words: &str, total| dump(&format!("Client Request: {words}"), total);
        let counts = |dumps: [Option<Dump>; 4]| {
            let counts = subtract(&dumps.into_iter().flatten().collect::<Vec<_>>())?;
            anyhow::Ok(counts.into_iter().map(|count| count.1).collect::<Vec<_>>())
        };
        let (empty, put) = (request("4 empty", 9000), || request("4 put 8 B", 19_000));
        let (none, quiet) = (request("0 nothing", 3000), request("0 quiet", 4000));
        assert_eq!(counts([empty, none, put(), quiet]).unwrap(), [11.0, 1.0]);
        assert!(counts([put(), None, None, dump("Program termination", 7)]).is_err());
    }

    #[test]
    fn more_than_the_limit_is_complained_about() {
        let judged = |put, text| {
            let counts = [("put 8 B", put), ("new", 9.0)].map(|(name, count)| (name.into(), count));
            judge(&[("one".into(), counts.to_vec())], &limits(text).unwrap())
        };
        let (table, complaints) = judged(20.4, "# comment\n\nput 8 B | 20 | 71, 93\nquiet | 3 |\n");
        assert_eq!(table.rows[0][1..], ["20", "20", "71, 93"]);
        assert_eq!(complaints, ["quiet has a limit but was not counted", "new has no limit"]);
        let (_, complaints) = judged(22.0, "put 8 B | 20 |\nothers | 0 |\n");
        assert_eq!(complaints, ["one: put 8 B takes 22.0 instructions, its limit is 20"]);
        assert!(limits("put 8 B 20").is_err() && limits("put 8 B | many |").is_err());
    }
}
