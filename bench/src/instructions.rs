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
/// In a file of limits: operations that the file does not name have no limit.
const OTHERS: &str = "others";

/// The library's limits, with the published counts of others.
const PUBLISHED: &str = include_str!("../instructions.txt");

/// Counts of operations of an implementation: instructions in the library for one call, from entry to return.
type Counts = Vec<(String, f64)>;
/// Those of several, our own first.
type Columns = Vec<(String, Counts)>;

/// A line in a file of limits: `operation | limit | others`, the published counts of other libraries as text.
struct Limit {
    operation: String,
    most: f64,
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

/// A row for each operation of the first implementation, with its limit and the published counts of others; and the limits
/// that it exceeds, that nothing was counted for, or that an operation lacks.
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

/// The table of these implementations beside the limits in this text, or the library's own; and what exceeds those of the text.
pub fn beside_limits(
    who: &[Implementation],
    sources: &Path,
    work: &Path,
    text: Option<&str>,
) -> anyhow::Result<(Table, Vec<String>)> {
    let (columns, left_out) = columns(who.iter(), sources, work)?;
    left_out.iter().for_each(|left_out| eprintln!("oshbench: {left_out}"));
    let (table, complaints) = judge(&columns, &limits(text.unwrap_or(PUBLISHED))?);
    Ok((table, if text.is_some() { complaints } else { Vec::new() }))
}

/// Routines whose instructions are told apart, by their strong names, and what `calls.c` calls them.
const STEPS_OF: [(&str, &str); 2] = [("pshmem_putmem", "put 4 B"), ("pshmem_quiet", "quiet")];

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
    let (dumps, mut rows) = (dumps(own, work), Vec::new());
    for (routine, operation) in STEPS_OF {
        let mut objdump = Command::new("objdump");
        objdump.args(["-d", "--no-show-raw-insn", &format!("--disassemble={routine}")]);
        objdump.arg(own.commands()?.join("../lib/libshmem.so"));
        let outcome = oneshmem_watched::run(&mut objdump, Duration::from_secs(300))?;
        let dump = dumps.iter().find(|dump| dump.operation == operation);
        let dump = dump.with_context(|| format!("no counts of {operation}"))?;
        let path = executed(&dump.text, &outcome.stdout, routine);
        if path.is_empty() {
            bail!("no instructions of {routine}; objdump {}", outcome.ending());
        }
        let counts = told_apart(&path).into_iter().chain([path.len()]);
        let name = format!("{operation} ({})", &routine[1..]);
        rows.push(std::iter::once(name).chain(counts.map(|it| it.to_string())).collect());
    }
    let header = ["", "checks", "addresses", "access and order", "return", "all"];
    let title = "What they are for: comparisons and jumps; finding the peer's memory; loads and stores there, and fences".into();
    Ok(Table { title, header: header.map(str::to_owned).to_vec(), rows })
}

/// The instructions of a routine that callgrind has counted, of a disassembly of it.
fn executed<'a>(dump: &str, text: &'a str, routine: &str) -> Vec<&'a str> {
    let number = |text: &str| u64::from_str_radix(text.trim().trim_start_matches("0x"), 16).ok();
    let functions = dump.split("\nfn=").filter_map(|function| function.split_once('\n'));
    // The library may be called by either name.
    let of_it = functions.filter(|(name, _)| [routine, &routine[1..]].contains(name));
    let counted: BTreeSet<u64> = of_it
        .flat_map(|(_, lines)| lines.lines().filter(|line| line.starts_with("0x")))
        .filter_map(|line| number(line.split(' ').next()?))
        .collect();
    let lines = text.lines().filter_map(|line| {
        let (address, instruction) = line.split_once(":\t")?;
        Some((number(address)?, instruction.trim()))
    });
    let start = lines.clone().next().map_or(0, |(address, _)| address);
    let first = counted.first().copied().unwrap_or_default();
    let was = |address: u64| counted.contains(&(address - start + first));
    lines.filter(|(address, _)| was(*address)).map(|(_, instruction)| instruction).collect()
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

    #[test]
    fn more_than_the_limit_is_complained_about() {
        let counted = |put| vec![("one".to_owned(), vec![("put 8 B".to_owned(), put)])];
        let limits = limits("# comment\n\nput 8 B | 20 | 71, 93\nquiet | 3 |\n").unwrap();
        let (table, complaints) = judge(&counted(20.4), &limits);
        assert_eq!(table.rows[0][1..], ["20", "20", "71, 93"]);
        assert_eq!(complaints, ["quiet has a limit but was not counted"]);
        let (_, complaints) = judge(&counted(22.0), &limits);
        assert_eq!(complaints[0], "one: put 8 B takes 22.0 instructions, its limit is 20");
    }

    #[test]
    fn a_file_can_leave_others_without_a_limit() {
        let counts = [("p", 9.0), ("new", 9.0)].map(|(operation, count)| (operation.into(), count));
        let counts = [("one".to_owned(), counts.to_vec())];
        let complaints = |text| judge(&counts, &limits(text).unwrap()).1;
        assert!(complaints("p | 9 |\nothers | 0 |\n").is_empty());
        assert_eq!(complaints("p | 7 |\nothers | 0 |\n").len(), 1);
        assert_eq!(complaints("p | 9 |\n"), ["new has no limit"]);
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
        let text = "x:     file format elf64-x86-64\n\n0000000000000010 <pshmem_p@@V>:\n   \
                    10:\tsub    0x1(%rip),%rdi\n   17:\tcmp    $0x1000,%rdx\n   1e:\tjae    41\n   \
                    20:\tmov    0x8000(%rax,%rcx,8),%rax\n   24:\tmov    %rsi,(%rax,%rdi,1)\n   28:\tret\n   30:\tnop\n";
        let path = executed(dump, text, "pshmem_p");
        assert_eq!(path.len(), 5);
        assert_eq!(told_apart(&path), [2, 1, 1, 1]);
        assert!(executed(dump, text, "pshmem_g").is_empty());
    }
}
