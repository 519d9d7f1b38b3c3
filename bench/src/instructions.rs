//! Instructions per call, counted by callgrind: a figure without noise.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail};
use serde::Serialize;

use crate::execute;
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
/// The same for limits relative to another count.
const RELATIVE_SLACK: f64 = 0.5;
/// In a file of limits: operations that the file does not name have no limit.
const OTHERS: &str = "others";

/// The library's limits, with the published counts of others.
const PUBLISHED: &str = include_str!("../instructions.txt");

/// One class of operation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Count {
    /// Its name, as printed by the program.
    pub operation: String,
    /// Instructions in the library for one call, from entry to return.
    pub instructions: f64,
}

/// A line in a file of limits: `operation | limit | others`, where the limit may be
/// `another operation + number`.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// Name of the operation.
    pub operation: String,
    /// The maximum number of instructions, or the maximum excess over another operation.
    pub most: f64,
    /// The other operation.
    pub than: Option<String>,
    /// Published counts of other libraries, as text.
    pub others: String,
}

/// Builds the program, runs it on one PE under callgrind and reads the counts.
pub fn count(who: &Implementation, sources: &Path, work: &Path) -> anyhow::Result<Vec<Count>> {
    let directory = work.join(&who.folder).join("calls");
    // Remove an earlier run's dumps, so that they are not read as this one's.
    if directory.exists() {
        std::fs::remove_dir_all(&directory)
            .with_context(|| format!("cannot clear {}", directory.display()))?;
    }
    std::fs::create_dir_all(&directory)?;
    let program = directory.join("calls");
    who.build(&sources.join("calls.c"), &program, &directory)?;
    let dumps = directory.join("dump");
    let arguments = [
        "--tool=callgrind".to_owned(),
        // Of each instruction, for what is told of single ones; with whole names and addresses.
        "--dump-instr=yes".to_owned(),
        "--compress-strings=no".to_owned(),
        "--compress-pos=no".to_owned(),
        format!("--callgrind-out-file={}", dumps.display()),
        program.display().to_string(),
    ];
    let mut command = who.job(1, Path::new("valgrind"), &arguments, 16);
    let outcome = execute::run(&mut command, &directory, Duration::from_secs(300))?;
    if !outcome.stdout.lines().any(|line| line == "DONE") {
        bail!("{} under callgrind: {}", who.name, outcome.reason());
    }
    subtract(self::dumps(who, work).iter().filter_map(|text| dump(text)).collect())
}

/// What callgrind wrote in [`count`], one text for each operation.
pub fn dumps(who: &Implementation, work: &Path) -> Vec<String> {
    let dumps = work.join(&who.folder).join("calls/dump");
    let text = |number| std::fs::read_to_string(format!("{}.{number}", dumps.display())).ok();
    (1..).map_while(text).collect()
}

/// Subtracts from each dump the count of its kind of empty loop.
fn subtract(dumps: Vec<Dump>) -> anyhow::Result<Vec<Count>> {
    let is_empty = |dump: &Dump| dump.operation == EMPTY || dump.operation == NOTHING;
    let count = |dump: &Dump| {
        let empty = dumps.iter().find(|other| is_empty(other) && other.kind == dump.kind);
        let empty = empty.with_context(|| format!("no empty loop of the kind {}", dump.kind))?;
        let shared = if empty.operation == EMPTY { 1.0 } else { 0.0 };
        Ok(Count {
            operation: dump.operation.clone(),
            instructions: (dump.total - empty.total) / CALLS + shared,
        })
    };
    dumps.iter().filter(|dump| !is_empty(dump)).map(count).collect()
}

/// One dump: `kind` names the loop around the call, by arguments and result.
#[derive(Debug, Clone, PartialEq)]
struct Dump {
    kind: String,
    operation: String,
    total: f64,
}

/// Parses the name and the total of a dump. `None` for the one at the program's end.
fn dump(text: &str) -> Option<Dump> {
    let name =
        text.lines().find_map(|line| line.strip_prefix("desc: Trigger: Client Request: "))?;
    let total = text.lines().find_map(|line| {
        let rest = line.strip_prefix("totals: ").or_else(|| line.strip_prefix("summary: "))?;
        rest.split_whitespace().next()?.parse().ok()
    })?;
    let (kind, operation) = name.split_once(' ')?;
    Some(Dump { kind: kind.into(), operation: operation.into(), total })
}

/// Formats a count. Other threads of an implementation may make it unusable, as a negative one
/// shows.
fn shown(instructions: f64) -> String {
    if instructions < 0.0 { "?".into() } else { format!("{instructions:.0}") }
}

/// The count of an operation, if there is one.
fn instructions(counts: &[Count], operation: &str) -> Option<f64> {
    counts.iter().find(|count| count.operation == operation).map(|count| count.instructions)
}

impl Limit {
    fn shown(&self) -> String {
        match &self.than {
            None => format!("{:.0}", self.most),
            Some(than) => format!("{than} + {:.0}", self.most),
        }
    }
}

/// Parses a file of limits. Lines that begin with `#` are comments.
pub fn limits(text: &str) -> anyhow::Result<Vec<Limit>> {
    let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let fields: Vec<&str> = line.split('|').map(str::trim).collect();
            let &[operation, most, others] = &fields[..] else {
                bail!("not `operation | limit | others`: {line}")
            };
            let (than, most) = match most.split_once(" + ") {
                Some((than, most)) => (Some(than.to_owned()), most),
                None => (None, most),
            };
            let most =
                most.parse().with_context(|| format!("no number of instructions: {line}"))?;
            Ok(Limit { operation: operation.into(), most, than, others: others.into() })
        })
        .collect()
}

/// The counts of several implementations as rows of a table: a header, then one row for each
/// operation of the first, with the published counts of others in the last column.
pub fn rows(columns: &[(String, Vec<Count>)]) -> anyhow::Result<Vec<Vec<String>>> {
    let published = limits(PUBLISHED)?;
    let mut rows = counted(columns);
    rows[0].push(
        "published of Sandia OpenSHMEM and of OSHMPI, optimised, above OFI; put of 4 B".to_owned(),
    );
    for row in &mut rows[1..] {
        let others = published.iter().find(|limit| limit.operation == row[0]);
        row.push(others.map_or(String::new(), |limit| limit.others.clone()));
    }
    Ok(rows)
}

/// The same without others' counts.
fn counted(columns: &[(String, Vec<Count>)]) -> Vec<Vec<String>> {
    let mut rows = vec![vec!["instructions a call".to_owned()]];
    rows[0].extend(columns.iter().map(|(name, _)| name.clone()));
    for Count { operation, .. } in columns.first().map_or(&[][..], |(_, counts)| counts) {
        let each = columns
            .iter()
            .map(|(_, counts)| instructions(counts, operation).map_or(String::new(), shown));
        rows.push(std::iter::once(operation.clone()).chain(each).collect());
    }
    rows
}

/// The rows of a table, and the operations that exceed their limit or have none.
pub fn judge(
    columns: &[(String, Vec<Count>)],
    limits: &[Limit],
) -> (Vec<Vec<String>>, Vec<String>) {
    let mut rows = counted(columns);
    rows[0].extend(["limit".to_owned(), "published".to_owned()]);
    let mut complaints = Vec::new();
    let (own, counts) = columns.first().map_or(("", &[][..]), |(own, counts)| (own, counts));
    for (row, count) in rows[1..].iter_mut().zip(counts) {
        match limits.iter().find(|limit| limit.operation == count.operation) {
            Some(limit) => {
                let (most, slack) = match &limit.than {
                    None => (limit.most, SLACK),
                    // A missing count has already been reported.
                    Some(than) => {
                        (limit.most + instructions(counts, than).unwrap_or(0.0), RELATIVE_SLACK)
                    }
                };
                row.extend([limit.shown(), limit.others.clone()]);
                if count.instructions > most + slack {
                    complaints.push(format!(
                        "{own}: {} takes {:.1} instructions, its limit is {most:.1}",
                        count.operation, count.instructions
                    ));
                }
            }
            None if limits.iter().any(|limit| limit.operation == OTHERS) => {}
            None => complaints.push(format!("{} has no limit", count.operation)),
        }
    }
    for limit in limits.iter().filter(|limit| {
        limit.operation != OTHERS && instructions(counts, &limit.operation).is_none()
    }) {
        complaints.push(format!("{} has a limit but was not counted", limit.operation));
    }
    (rows, complaints)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dumps() {
        let text = "# callgrind format\nversion: 1\npart: 2\ndesc: Trigger: Client Request: 4 put 8 B\nevents: Ir\n\
                    summary: 13005\ntotals: 13005\n";
        let put = Dump { kind: "4".into(), operation: "put 8 B".into(), total: 13005.0 };
        assert_eq!(dump(text), Some(put));
        assert_eq!(dump("desc: Trigger: Program termination\ntotals: 7\n"), None);
    }

    #[test]
    fn each_kind_has_its_own_empty_loop() {
        let dump = |kind: &str, operation: &str, total| Dump {
            kind: kind.into(),
            operation: operation.into(),
            total,
        };
        let dumps = vec![
            dump("4", EMPTY, 9000.0),
            dump("0", EMPTY, 3000.0),
            dump("4", "put", 19_000.0),
            dump("0", "quiet", 4000.0),
        ];
        let counts: Vec<f64> =
            subtract(dumps).unwrap().iter().map(|count| count.instructions).collect();
        assert_eq!(counts, [11.0, 2.0]);
        let dumps = vec![dump("3", NOTHING, 4000.0), dump("3", "p", 8000.0)];
        assert_eq!(subtract(dumps).unwrap()[0].instructions, 4.0);
        assert!(subtract(vec![dump("4", "put", 1.0)]).is_err());
    }

    #[test]
    fn more_than_the_limit_is_complained_about() {
        let limits = limits("# comment\n\nput 8 B | 20 | 71, 93\nquiet | 3 |\n").unwrap();
        assert_eq!(limits.len(), 2);
        let counts = |put| {
            vec![("one".to_owned(), vec![Count { operation: "put 8 B".into(), instructions: put }])]
        };
        let (rows, complaints) = judge(&counts(20.4), &limits);
        assert_eq!(rows[1][3], "71, 93");
        assert_eq!(complaints, ["quiet has a limit but was not counted"]);
        let (_, complaints) = judge(&counts(22.0), &limits);
        assert!(complaints[0].contains("takes 22.0"), "{complaints:?}");
    }

    #[test]
    fn a_limit_may_be_another_operations_count() {
        let limits = limits("p | 12 |\nctx p | p + 4 |\n").unwrap();
        let counts = |ctx_p| {
            let count =
                |operation: &str, instructions| Count { operation: operation.into(), instructions };
            vec![("one".to_owned(), vec![count("p", 11.0), count("ctx p", ctx_p)])]
        };
        assert!(judge(&counts(15.0), &limits).1.is_empty());
        let (rows, complaints) = judge(&counts(16.0), &limits);
        assert_eq!(rows[2][2], "p + 4");
        assert_eq!(complaints, ["one: ctx p takes 16.0 instructions, its limit is 15.0"]);
    }

    #[test]
    fn a_file_can_leave_others_without_a_limit() {
        let count = |operation: &str| Count { operation: operation.into(), instructions: 9.0 };
        let counts = vec![("one".to_owned(), vec![count("p"), count("new")])];
        assert!(judge(&counts, &limits("p | 9 |\nothers | 0 |\n").unwrap()).1.is_empty());
        assert_eq!(judge(&counts, &limits("p | 7 |\nothers | 0 |\n").unwrap()).1.len(), 1);
    }

    #[test]
    fn a_class_without_a_limit_is_complained_about() {
        let counts =
            vec![("one".to_owned(), vec![Count { operation: "new".into(), instructions: 1.0 }])];
        assert_eq!(judge(&counts, &[]).1, ["new has no limit"]);
    }

    #[test]
    fn files_of_limits_are_checked() {
        assert!(limits("put 8 B 20").is_err());
        assert!(limits("put 8 B | many |").is_err());
    }
}
