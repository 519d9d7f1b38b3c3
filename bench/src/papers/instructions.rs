//! Instructions of calls, of all implementations and compiled in; and what those of put and quiet are for.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};

use super::{Drawing, Setting, Table, cells};
use crate::implementation::Implementation;
use crate::instructions as counts;

/// What is told instruction by instruction: the routine, and what `calls.c` calls it.
const STEPS_OF: [(&str, &str); 2] = [("shmem_putmem", "put 4 B"), ("shmem_quiet", "quiet")];

/// Counts, and draws tables.
pub fn draw(setting: &Setting) -> anyhow::Result<Drawing> {
    let mut drawing = Drawing::default();
    if let Err(error) = Command::new("valgrind").arg("--version").output() {
        drawing.remarks.push(format!("Not here: valgrind, which counts instructions ({error})."));
        return Ok(drawing);
    }
    let own = setting.own();
    let mut inlined =
        own.variant(format!("{}, inlined", own.name), &[("SHMEM_CC", "cc -DSHMEM_INLINE")]);
    inlined.folder += "-inlined";
    let peers = setting.implementations[1..].iter().cloned();
    let mut columns = Vec::new();
    for who in [own.clone(), inlined].into_iter().chain(peers) {
        match counts::count(&who, &setting.sources, &setting.work) {
            Ok(counts) => columns.push((who.name, counts)),
            Err(error) if columns.is_empty() => return Err(error),
            Err(error) => drawing.remarks.push(format!("Left out: {}: {error:#}", who.name)),
        }
    }
    let mut rows = counts::rows(&columns)?;
    let header = rows.remove(0);
    drawing.tables.push(Table { title: "Instructions of a call".into(), header, rows });
    match steps(own, &setting.work) {
        Ok(table) => drawing.tables.push(table),
        Err(error) => drawing.remarks.push(format!("Not by step: {error:#}.")),
    }
    Ok(drawing)
}

/// What the instructions of a routine are for that a call goes through.
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
    let dumps = counts::dumps(own, work);
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
        let counts = told_apart(&instructions(&text, &path));
        let all = counts.iter().sum::<usize>();
        let counts = counts.iter().chain([&all]).map(usize::to_string);
        rows.push(std::iter::once(format!("{operation} ({routine})")).chain(counts).collect());
    }
    let header = cells(&["", "checks", "addresses", "access and order", "return", "all"]);
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
fn instructions<'a>(text: &'a str, path: &BTreeSet<u64>) -> Vec<&'a str> {
    let lines = text.lines().filter_map(|line| line.split_once(":\t"));
    let here =
        |address: &str| u64::from_str_radix(address.trim(), 16).is_ok_and(|it| path.contains(&it));
    lines.filter(|(address, _)| here(address)).map(|(_, instruction)| instruction.trim()).collect()
}

/// What the instructions of a path do: checks, addresses, access and order, return.
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
    fn steps_of_a_routine() {
        let dump = "fn=other\n0x500 0 1000\nfn=pshmem_p\n0x1010 0 1000\n0x1017 0 1000\n0x101e 0 1000\n\
                    0x1024 0 1000\n0x1028 0 1000\nfn=main\n0x40 0 1\n";
        let path = executed(dump, "shmem_p");
        assert_eq!((path.len(), path.first()), (5, Some(&0x1010)));
        let text = "   10:\tsub    0x1(%rip),%rdi\n   17:\tcmp    $0x1000,%rdx\n   1e:\tjae    41\n   \
                    20:\tmov    0x8000(%rax,%rcx,8),%rax\n   24:\tmov    %rsi,(%rax,%rdi,1)\n   28:\tret\n   30:\tnop\n";
        let path = path.iter().map(|address| address - 0x1000).collect();
        assert_eq!(told_apart(&instructions(text, &path)), [2, 1, 1, 1]);
    }
}
