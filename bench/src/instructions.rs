//! Instructions per call, counted by callgrind: a figure without noise.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
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
/// The same for limits relative to another count.
const RELATIVE_SLACK: f64 = 0.5;
/// In a file of limits: operations that the file does not name have no limit.
const OTHERS: &str = "others";

/// The library's limits, with the published counts of others.
const PUBLISHED: &str = include_str!("../instructions.txt");

/// One class of operation.
#[derive(Debug, Clone, PartialEq)]
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
    who.build(&sources.join("calls.c"), &program)?;
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
    let outcome = oneshmem_watched::run(&mut command, Duration::from_secs(300))?;
    if !outcome.stdout.lines().any(|line| line == "DONE") {
        bail!("{} under callgrind: {}", who.name, outcome.reason());
    }
    subtract(self::dumps(who, work).iter().filter_map(|text| dump(text)).collect())
}

/// The profiles that callgrind wrote in [`count`], one text for each operation.
fn dumps(who: &Implementation, work: &Path) -> Vec<String> {
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
fn rows(columns: &[(String, Vec<Count>)]) -> anyhow::Result<Vec<Vec<String>>> {
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
pub fn judge(columns: &[(String, Vec<Count>)], limits: &[Limit]) -> (Table, Vec<String>) {
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
    let header = rows.remove(0);
    (Table { title: "Instructions of a call".into(), header, rows }, complaints)
}

/// Routines that are listed instruction by instruction, with their names in `calls.c`.
const STEPS_OF: [(&str, &str); 2] = [("shmem_putmem", "put 4 B"), ("shmem_quiet", "quiet")];

/// The counts of all implementations and of our own calls compiled in, and what those of put and quiet are for; and who is
/// left out.
pub fn tables(
    who: &[Implementation],
    sources: &Path,
    work: &Path,
) -> anyhow::Result<(Vec<Table>, Vec<String>)> {
    if let Err(error) = Command::new("valgrind").arg("--version").output() {
        return Ok((
            Vec::new(),
            vec![format!("Not here: valgrind, which counts instructions ({error}).")],
        ));
    }
    let inlined =
        who[0].variant(format!("{}, inlined", who[0].name), &[("SHMEM_CC", "cc -DSHMEM_INLINE")]);
    let (mut columns, mut remarks) = (Vec::new(), Vec::new());
    for who in [&who[0], &inlined].into_iter().chain(&who[1..]) {
        match count(who, sources, work) {
            Ok(counts) => columns.push((who.name.clone(), counts)),
            Err(error) if columns.is_empty() => return Err(error),
            Err(error) => remarks.push(format!("Left out: {}: {error:#}", who.name)),
        }
    }
    let mut rows = rows(&columns)?;
    let header = rows.remove(0);
    let mut tables = vec![Table { title: "Instructions of a call".into(), header, rows }];
    match steps(&who[0], work) {
        Ok(table) => tables.push(table),
        Err(error) => remarks.push(format!("Not by step: {error:#}.")),
    }
    Ok((tables, remarks))
}

/// The purpose of the instructions of a routine that a call goes through.
fn steps(own: &Implementation, work: &Path) -> anyhow::Result<Table> {
    if std::env::consts::ARCH != "x86_64" {
        bail!("instructions are told apart for x86-64 only");
    }
    let library = own.commands()?.join("../lib/libshmem.so");
    let printed = |tool: &str, arguments: &[&str]| {
        let output = Command::new(tool).args(arguments).arg(&library).output();
        let output = output.with_context(|| format!("cannot run {tool}"))?;
        if !output.status.success() {
            bail!("{tool} cannot read {}", library.display());
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let symbols = printed("nm", &["-D"])?;
    let text = printed("objdump", &["-d", "--no-show-raw-insn"])?;
    let dumps = self::dumps(own, work);
    let mut rows = Vec::new();
    for (routine, operation) in STEPS_OF {
        let is_it = |line: &&str| {
            line.split_whitespace().last().and_then(|name| name.split('@').next()) == Some(routine)
        };
        let symbol = symbols.lines().find(is_it).and_then(|line| line.split(' ').next());
        let start = u64::from_str_radix(symbol.context("no symbol")?, 16)?;
        let title = format!(" {operation}");
        let of_it = |dump: &&String| {
            dump.lines().any(|line| {
                line.strip_prefix("desc: Trigger: ").is_some_and(|line| line.ends_with(&title))
            })
        };
        let dump = dumps.iter().find(of_it).with_context(|| format!("no counts of {operation}"))?;
        let path = executed(dump, routine);
        let first = *path.first().with_context(|| format!("no instructions of {routine}"))?;
        let path = path.iter().map(|address| address - first + start).collect();
        let counts = told_apart(&at(&text, &path));
        let all = counts.iter().sum::<usize>();
        let counts = counts.iter().chain([&all]).map(usize::to_string);
        rows.push(std::iter::once(format!("{operation} ({routine})")).chain(counts).collect());
    }
    let header = ["", "checks", "addresses", "access and order", "return", "all"]
        .map(str::to_owned)
        .to_vec();
    let title = "What they are for: comparisons and jumps; finding the peer's memory; loads and stores there, and fences".into();
    Ok(Table { title, header, rows })
}

/// The addresses in a routine that callgrind has counted, in ascending order: the first is the routine's.
fn executed(dump: &str, routine: &str) -> BTreeSet<u64> {
    let mut inside = false;
    let mut addresses = BTreeSet::new();
    for line in dump.lines() {
        if let Some(name) = line.strip_prefix("fn=") {
            // The strong name of a weak symbol begins with a p.
            inside = name == routine || name.strip_prefix('p') == Some(routine);
        }
        let address = line.split(' ').next().and_then(|word| word.strip_prefix("0x"));
        if let (true, Some(address)) = (inside, address) {
            addresses.extend(u64::from_str_radix(address, 16).ok());
        }
    }
    addresses
}

/// The instructions at these addresses of a disassembly.
fn at<'a>(text: &'a str, path: &BTreeSet<u64>) -> Vec<&'a str> {
    let lines = text.lines().filter_map(|line| line.split_once(":\t"));
    let here =
        |address: &str| u64::from_str_radix(address.trim(), 16).is_ok_and(|it| path.contains(&it));
    lines.filter(|(address, _)| here(address)).map(|(_, instruction)| instruction.trim()).collect()
}

/// The instructions of a path by purpose: checks, addresses, access and order, return.
fn told_apart(path: &[&str]) -> [usize; 4] {
    let mut counts = [0; 4];
    for one in path {
        let is_check = ["cmp", "test", "j"].iter().any(|word| one.starts_with(word));
        let operands = one.split_once(char::is_whitespace).map_or("", |(_, operands)| operands);
        let orders = one.starts_with("lock") || one.contains("fence");
        // Neither relative to the program nor an entry of a table.
        let plain =
            operands.contains('(') && !["%rip", ",8)"].iter().any(|it| operands.contains(it));
        let access = plain && one.starts_with("mov");
        let kind = match one {
            one if one.starts_with("ret") => 3,
            _ if is_check => 0,
            _ if orders || access => 2,
            _ => 1,
        };
        counts[kind] += 1;
    }
    counts
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
        let (table, complaints) = judge(&counts(20.4), &limits);
        assert_eq!(table.rows[0][3], "71, 93");
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
        let (table, complaints) = judge(&counts(16.0), &limits);
        assert_eq!(table.rows[1][2], "p + 4");
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

    #[test]
    fn steps_of_a_routine() {
        let dump = "fn=other\n0x500 0 1000\nfn=pshmem_p\n0x1010 0 1000\n0x1017 0 1000\n0x101e 0 1000\n\
                    0x1024 0 1000\n0x1028 0 1000\nfn=main\n0x40 0 1\n";
        let path = executed(dump, "shmem_p");
        assert_eq!((path.len(), path.first()), (5, Some(&0x1010)));
        let text = "   10:\tsub    0x1(%rip),%rdi\n   17:\tcmp    $0x1000,%rdx\n   1e:\tjae    41\n   \
                    20:\tmov    0x8000(%rax,%rcx,8),%rax\n   24:\tmov    %rsi,(%rax,%rdi,1)\n   28:\tret\n   30:\tnop\n";
        let path = path.iter().map(|address| address - 0x1000).collect();
        assert_eq!(told_apart(&at(text, &path)), [2, 1, 1, 1]);
    }
}
