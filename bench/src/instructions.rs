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

/// Counts of operations of an implementation: instructions in the library for one call, from entry to return.
type Counts = Vec<(String, f64)>;
/// Those of several, our own first.
type Columns = Vec<(String, Counts)>;

/// A line in a file of limits: `operation | limit | others`, where the limit may be
/// `another operation + number`.
#[derive(Debug, Clone, PartialEq)]
struct Limit {
    operation: String,
    text: String,
    /// The maximum number of instructions, or the maximum excess over another operation.
    most: f64,
    than: Option<String>,
    /// Published counts of other libraries, as text.
    others: String,
}

/// Counts for several implementations, our own first, which has to be counted; others may be left out, and are said to be.
fn columns<'a>(
    who: impl Iterator<Item = &'a Implementation>,
    sources: &Path,
    work: &Path,
) -> anyhow::Result<(Columns, Vec<String>)> {
    let (mut columns, mut left_out) = (Columns::new(), Vec::new());
    for who in who {
        match count(who, sources, work) {
            Ok(counts) => columns.push((who.name.clone(), counts)),
            Err(error) if columns.is_empty() => return Err(error),
            Err(error) => left_out.push(format!("Left out: {}: {error:#}", who.name)),
        }
    }
    Ok((columns, left_out))
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
    let program = directory.join("calls");
    who.build(&sources.join("calls.c"), &program)?;
    let arguments = [
        "--tool=callgrind".to_owned(),
        // Of each instruction, for what is told of single ones; with whole names and addresses.
        "--dump-instr=yes".to_owned(),
        "--compress-strings=no".to_owned(),
        "--compress-pos=no".to_owned(),
        format!("--callgrind-out-file={}", directory.join("dump").display()),
        program.display().to_string(),
    ];
    let mut command = who.job(1, Path::new("valgrind"), &arguments, 16);
    let outcome = oneshmem_watched::run(&mut command, Duration::from_secs(300))?;
    if !outcome.stdout.lines().any(|line| line == "DONE") {
        bail!("{} under callgrind: {}", who.name, outcome.reason());
    }
    subtract(dumps(who, work))
}

/// One dump of callgrind, of an operation. `kind` names the loop around the call, by arguments and result.
#[derive(Debug, Clone, PartialEq)]
struct Dump {
    kind: String,
    operation: String,
    total: f64,
    text: String,
}

/// The dumps that callgrind wrote in [`count`], without the one at the program's end.
fn dumps(who: &Implementation, work: &Path) -> Vec<Dump> {
    let dumps = work.join(&who.folder).join("calls/dump");
    let text = |number| std::fs::read_to_string(format!("{}.{number}", dumps.display())).ok();
    (1..).map_while(text).filter_map(dump).collect()
}

/// Parses the name and the total of a dump.
fn dump(text: String) -> Option<Dump> {
    let after = |start: &str| text.lines().find_map(|line| line.strip_prefix(start));
    let (kind, operation) = after("desc: Trigger: Client Request: ")?.split_once(' ')?;
    let (kind, operation) = (kind.into(), operation.into());
    let total = after("totals: ").or_else(|| after("summary: "))?.split_whitespace().next()?;
    Some(Dump { kind, operation, total: total.parse().ok()?, text })
}

/// Subtracts from each dump the count of its kind of empty loop.
fn subtract(dumps: Vec<Dump>) -> anyhow::Result<Counts> {
    let is_empty = |dump: &Dump| dump.operation == EMPTY || dump.operation == NOTHING;
    let count = |dump: &Dump| {
        let empty = dumps.iter().find(|other| is_empty(other) && other.kind == dump.kind);
        let empty = empty.with_context(|| format!("no empty loop of the kind {}", dump.kind))?;
        let shared = if empty.operation == EMPTY { 1.0 } else { 0.0 };
        Ok((dump.operation.clone(), (dump.total - empty.total) / CALLS + shared))
    };
    dumps.iter().filter(|dump| !is_empty(dump)).map(count).collect()
}

/// The count of an operation, if there is one.
fn instructions(counts: &[(String, f64)], operation: &str) -> Option<f64> {
    counts.iter().find(|count| count.0 == operation).map(|count| count.1)
}

/// Parses a file of limits. Lines that begin with `#` are comments.
fn limits(text: &str) -> anyhow::Result<Vec<Limit>> {
    let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let limit = |line: &str| {
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let &[operation, most, others] = &fields[..] else {
            bail!("not `operation | limit | others`: {line}")
        };
        let than = most.split_once(" + ").map(|(than, _)| than.to_owned());
        let number = most.rsplit(" + ").next().unwrap_or_default();
        let number =
            number.parse().with_context(|| format!("no number of instructions: {line}"))?;
        let (operation, text, others) = (operation.into(), most.into(), others.into());
        Ok(Limit { operation, text, most: number, than, others })
    };
    lines.map(limit).collect()
}

/// A row for each operation of the first implementation, with its limit and the published counts of others; and the operations
/// that exceed their limit or have none.
fn judge(columns: &[(String, Counts)], limits: &[Limit]) -> (Table, Vec<String>) {
    let mut header = vec!["instructions a call".to_owned()];
    header.extend(columns.iter().map(|(name, _)| name.clone()));
    let published = "published of Sandia OpenSHMEM and of OSHMPI, optimised, above OFI; put of 4 B";
    header.extend(["limit", published].map(str::to_owned));
    let mut table = Table { title: "Instructions of a call".into(), header, rows: Vec::new() };
    let mut complaints = Vec::new();
    let (own, counts) = columns.first().map_or(("", &[][..]), |(own, counts)| (own, counts));
    for (operation, taken) in counts {
        // Other threads of an implementation may make a count unusable, as a negative one shows.
        let shown = |count: f64| if count < 0.0 { "?".into() } else { format!("{count:.0}") };
        let of = |(_, counts): &(String, Counts)| instructions(counts, operation).map(shown);
        let mut row = vec![operation.clone()];
        row.extend(columns.iter().map(|column| of(column).unwrap_or_default()));
        let limit = limits.iter().find(|limit| limit.operation == *operation);
        row.extend(limit.map_or_else(Default::default, |it| [it.text.clone(), it.others.clone()]));
        table.rows.push(row);
        let Some(Limit { most, than, .. }) = limit else {
            if !limits.iter().any(|limit| limit.operation == OTHERS) {
                complaints.push(format!("{operation} has no limit"));
            }
            continue;
        };
        // A missing count has already been reported.
        let base = than.as_ref().map(|than| instructions(counts, than).unwrap_or(0.0));
        let slack = if base.is_some() { RELATIVE_SLACK } else { SLACK };
        let most = most + base.unwrap_or(0.0);
        if *taken > most + slack {
            complaints.push(format!(
                "{own}: {operation} takes {taken:.1} instructions, its limit is {most:.1}"
            ));
        }
    }
    for Limit { operation, .. } in limits {
        if operation != OTHERS && instructions(counts, operation).is_none() {
            complaints.push(format!("{operation} has a limit but was not counted"));
        }
    }
    (table, complaints)
}

/// The table of these implementations beside the limits in this text, or the library's own; and what exceeds them or was left out.
pub fn beside_limits(
    who: &[Implementation],
    sources: &Path,
    work: &Path,
    text: Option<&str>,
) -> anyhow::Result<(Table, Vec<String>)> {
    let limits = limits(text.unwrap_or(PUBLISHED))?;
    let (columns, left_out) = columns(who.iter(), sources, work)?;
    for left_out in left_out {
        eprintln!("oshbench: {left_out}");
    }
    let (table, complaints) = judge(&columns, &limits);
    Ok((table, if text.is_some() { complaints } else { Vec::new() }))
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
        let why = format!("Not here: valgrind, which counts instructions ({error}).");
        return Ok((Vec::new(), vec![why]));
    }
    let inlined =
        who[0].variant(format!("{}, inlined", who[0].name), &[("SHMEM_CC", "cc -DSHMEM_INLINE")]);
    let all = [&who[0], &inlined].into_iter().chain(&who[1..]);
    let (columns, mut remarks) = columns(all, sources, work)?;
    let mut tables = vec![judge(&columns, &limits(PUBLISHED)?).0];
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
    let mut objdump = Command::new("objdump");
    objdump.args(["-d", "--no-show-raw-insn"]).arg(&library);
    let outcome = oneshmem_watched::run(&mut objdump, Duration::from_secs(300))?;
    if !outcome.success() {
        bail!("objdump of {}: {}", library.display(), outcome.reason());
    }
    let dumps = dumps(own, work);
    let mut rows = Vec::new();
    for (routine, operation) in STEPS_OF {
        let dump = dumps.iter().find(|dump| dump.operation == operation);
        let dump = dump.with_context(|| format!("no counts of {operation}"))?;
        let counts = told_apart(&executed(&dump.text, &outcome.stdout, routine)?);
        let all = counts.iter().sum::<usize>();
        let counts = counts.iter().chain([&all]).map(usize::to_string);
        rows.push(std::iter::once(format!("{operation} ({routine})")).chain(counts).collect());
    }
    let header = ["", "checks", "addresses", "access and order", "return", "all"];
    let title = "What they are for: comparisons and jumps; finding the peer's memory; loads and stores there, and fences".into();
    Ok(Table { title, header: header.map(str::to_owned).to_vec(), rows })
}

/// The instructions of a routine that callgrind has counted, from a disassembly of the library.
fn executed<'a>(dump: &str, text: &'a str, routine: &str) -> anyhow::Result<Vec<&'a str>> {
    // The strong name of a weak symbol begins with a p.
    let is_it = |name: &str| name == routine || name.strip_prefix('p') == Some(routine);
    let number = |text: &str| u64::from_str_radix(text.trim().trim_start_matches("0x"), 16).ok();
    let functions = dump.split("\nfn=").skip(1).filter_map(|function| function.split_once('\n'));
    let lines = functions.filter(|(name, _)| is_it(name)).flat_map(|(_, lines)| lines.lines());
    let addresses: BTreeSet<u64> = lines
        .filter(|line| line.starts_with("0x"))
        .filter_map(|line| number(line.split(' ').next()?))
        .collect();
    let first = addresses.first().with_context(|| format!("no instructions of {routine}"))?;
    let mut blocks = text.split("\n\n").filter_map(|block| block.trim().split_once(">:\n"));
    let block = blocks.find(|(name, _)| {
        name.split_once('<').is_some_and(|(_, name)| is_it(name.split('@').next().unwrap_or(name)))
    });
    let (_, body) = block.with_context(|| format!("no symbol {routine}"))?;
    let lines = body.lines().filter_map(|line| {
        let (address, instruction) = line.split_once(":\t")?;
        Some((number(address)?, instruction.trim()))
    });
    let start = lines.clone().next().map_or(0, |(address, _)| address);
    let was = |address: u64| addresses.contains(&(address - start + first));
    Ok(lines.filter(|(address, _)| was(*address)).map(|(_, instruction)| instruction).collect())
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
        let put = dump(text.into()).unwrap();
        assert_eq!((&*put.kind, &*put.operation, put.total), ("4", "put 8 B", 13005.0));
        assert_eq!(dump("desc: Trigger: Program termination\ntotals: 7\n".into()), None);
    }

    #[test]
    fn each_kind_has_its_own_empty_loop() {
        let dump = |kind: &str, operation: &str, total| Dump {
            kind: kind.into(),
            operation: operation.into(),
            total,
            text: String::new(),
        };
        let dumps = vec![
            dump("4", EMPTY, 9000.0),
            dump("0", EMPTY, 3000.0),
            dump("4", "put", 19_000.0),
            dump("0", "quiet", 4000.0),
        ];
        let counts: Vec<f64> = subtract(dumps).unwrap().iter().map(|count| count.1).collect();
        assert_eq!(counts, [11.0, 2.0]);
        let dumps = vec![dump("3", NOTHING, 4000.0), dump("3", "p", 8000.0)];
        assert_eq!(subtract(dumps).unwrap()[0].1, 4.0);
        assert!(subtract(vec![dump("4", "put", 1.0)]).is_err());
    }

    fn counted(counts: &[(&str, f64)]) -> Columns {
        let counts = counts.iter().map(|(operation, count)| ((*operation).to_owned(), *count));
        vec![("one".to_owned(), counts.collect())]
    }

    #[test]
    fn more_than_the_limit_is_complained_about() {
        let limits = limits("# comment\n\nput 8 B | 20 | 71, 93\nquiet | 3 |\n").unwrap();
        assert_eq!(limits.len(), 2);
        let (table, complaints) = judge(&counted(&[("put 8 B", 20.4)]), &limits);
        assert_eq!(table.rows[0][2..], ["20", "71, 93"]);
        assert_eq!(complaints, ["quiet has a limit but was not counted"]);
        let (_, complaints) = judge(&counted(&[("put 8 B", 22.0)]), &limits);
        assert!(complaints[0].contains("takes 22.0"), "{complaints:?}");
    }

    #[test]
    fn a_limit_may_be_another_operations_count() {
        let limits = limits("p | 12 |\nctx p | p + 4 |\n").unwrap();
        assert!(judge(&counted(&[("p", 11.0), ("ctx p", 15.0)]), &limits).1.is_empty());
        let (table, complaints) = judge(&counted(&[("p", 11.0), ("ctx p", 16.0)]), &limits);
        assert_eq!(table.rows[1][2], "p + 4");
        assert_eq!(complaints, ["one: ctx p takes 16.0 instructions, its limit is 15.0"]);
    }

    #[test]
    fn a_file_can_leave_others_without_a_limit() {
        let counts = counted(&[("p", 9.0), ("new", 9.0)]);
        assert!(judge(&counts, &limits("p | 9 |\nothers | 0 |\n").unwrap()).1.is_empty());
        assert_eq!(judge(&counts, &limits("p | 7 |\nothers | 0 |\n").unwrap()).1.len(), 1);
        assert_eq!(judge(&counted(&[("new", 1.0)]), &[]).1, ["new has no limit"]);
    }

    #[test]
    fn files_of_limits_are_checked() {
        assert!(limits("put 8 B 20").is_err());
        assert!(limits("put 8 B | many |").is_err());
    }

    #[test]
    fn steps_of_a_routine() {
        let dump = "\nfn=other\n0x500 0 1000\nfn=pshmem_p\n0x1010 0 1000\n0x1017 0 1000\n0x101e 0 1000\n\
                    0x1024 0 1000\n0x1028 0 1000\nfn=main\n0x40 0 1\n";
        let text = "x:     file format elf64-x86-64\n\n0000000000000000 <other>:\n   0:\tret\n\n0000000000000010 <pshmem_p@@V>:\n   \
                    10:\tsub    0x1(%rip),%rdi\n   17:\tcmp    $0x1000,%rdx\n   1e:\tjae    41\n   \
                    20:\tmov    0x8000(%rax,%rcx,8),%rax\n   24:\tmov    %rsi,(%rax,%rdi,1)\n   28:\tret\n   30:\tnop\n";
        let path = executed(dump, text, "shmem_p").unwrap();
        assert_eq!(path.len(), 5);
        assert_eq!(told_apart(&path), [2, 1, 1, 1]);
        assert!(executed(dump, text, "shmem_g").is_err());
    }
}
