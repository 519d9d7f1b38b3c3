//! Figures of the paper on OpenSHMEM over MPI.

use std::process::Command;

use anyhow::{Context, bail};
use oneshmem_plots::plot::Axis;

use super::{Content, Drawing, Figure, Setting, Table, cells};
use crate::curves::{Panel, Shows};
use crate::implementation::Implementation;
use crate::instructions as counts;
use crate::plan::Experiment;

/// All of them.
pub fn figures(setting: &Setting) -> anyhow::Result<Vec<Figure>> {
    const OPERATIONS: [(&str, &str); 4] = [
        ("bandwidth.put", "put"),
        ("bandwidth.get", "get"),
        ("bandwidth.put_nbi", "put_nbi"),
        ("bandwidth.get_nbi", "get_nbi"),
    ];
    let figure = |title: &str, window, most, shows, nodes: bool| {
        let measured = |who, experiments: Vec<Experiment>| Content::Measured {
            who,
            groups: vec![experiments],
            panels: OPERATIONS
                .map(|(name, title)| Panel::of(name, title, Axis::Bytes).showing(shows))
                .into(),
        };
        let (sizes, more) = (setting.sizes(most), [format!("window={window}")]);
        let job = setting.job("bandwidth", 2, sizes, &more);
        let content = if nodes {
            setting.on_two_nodes(|who| measured(who, vec![job]))?
        } else {
            let raw = setting.raw("copies", 2, sizes, &more);
            measured(setting.implementations.clone(), vec![raw, job])
        };
        let place = if nodes {
            "Between two emulated nodes with a PE each, which share this machine's CPUs"
        } else {
            "Between 2 PEs of a node"
        };
        let how = match window {
            1 => "one operation, then quiet".to_owned(),
            _ => format!(
                "windows of up to {window} operations (64 KiB, if they are longer), then quiet"
            ),
        };
        anyhow::Ok(Figure {
            title: title.into(),
            caption: format!("{place}: {how}."),
            published: "",
            content,
        })
    };
    Ok(vec![
        Figure {
            title: "Instructions of a call".into(),
            caption: "In the library, from the jump into it to the return, on a PE that is its own target, counted by \
                      callgrind; and, of the routines for one element, what these instructions do."
                .into(),
            published: "put 71 and 93 instructions, quiet 91 and 44, above the network layers of OSHMPI and Sandia \
                        OpenSHMEM",
            content: Content::made(instructions),
        },
        figure("Latency over message size, on a node", 1, 4 << 20, Shows::TimeOfOne, false)?,
        figure("Message rate over message size, on a node", 64, 64 << 10, Shows::Rate, false)?,
        figure("Latency over message size, between nodes", 1, 4 << 20, Shows::TimeOfOne, true)?,
        figure("Message rate over message size, between nodes", 64, 64 << 10, Shows::Rate, true)?,
    ])
}

/// The routines whose instructions are told one by one.
const STEPS_OF: [&str; 3] = ["shmem_long_p", "shmem_long_g", "shmem_long_atomic_fetch_add"];

/// Instructions of a call, of all implementations and compiled in, and what those of a few routines
/// do.
fn instructions(setting: &Setting) -> anyhow::Result<Drawing> {
    let (mut columns, mut remarks) = (Vec::new(), Vec::new());
    let own = setting.own();
    let mut inlined =
        own.variant(format!("{}, inlined", own.name), &[("SHMEM_CC", "cc -DSHMEM_INLINE")]);
    inlined.folder += "-inlined";
    let who =
        [own.clone(), inlined].into_iter().chain(setting.implementations[1..].iter().cloned());
    for who in who {
        match counts::count(&who, &setting.sources, &setting.work) {
            Ok(counts) => columns.push((who.name, counts)),
            Err(error) if columns.is_empty() => return Err(error),
            Err(error) => remarks.push(format!("Left out: {}: {error:#}", who.name)),
        }
    }
    let mut rows = counts::rows(&columns)?;
    let header = rows.remove(0);
    let mut tables = vec![Table { title: "Instructions of a call".into(), header, rows }];
    match steps(setting.own()) {
        Ok(table) => tables.push(table),
        Err(error) => remarks.push(format!("Not by step: {error:#}")),
    }
    Ok(Drawing { tables, remarks, ..Drawing::default() })
}

/// What the instructions of a routine do, from its disassembly.
fn steps(own: &Implementation) -> anyhow::Result<Table> {
    let bin = own.commands()?;
    let library = bin.join("../lib/libshmem.so");
    let printed = |tool: &str, arguments: &[&str]| {
        let output = Command::new(tool).args(arguments).arg(&library).output();
        let output = output.with_context(|| format!("cannot run {tool}"))?;
        if !output.status.success() {
            bail!("{tool} cannot read {}", library.display());
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    if std::env::consts::ARCH != "x86_64" {
        bail!("instructions are told apart for x86-64 only");
    }
    let symbols = printed("nm", &["-D"])?;
    let mut rows = Vec::new();
    for routine in STEPS_OF {
        let symbol = symbols.lines().find(|line| {
            line.split_whitespace().last().and_then(|name| name.split('@').next()) == Some(routine)
        });
        let start = symbol.and_then(|line| line.split_whitespace().next()).context("no symbol")?;
        let end = u64::from_str_radix(start, 16)? + 256;
        let range = [format!("--start-address=0x{start}"), format!("--stop-address={end}")];
        let text = printed("objdump", &["-d", "--no-show-raw-insn", &range[0], &range[1]])?;
        let [checks, translation, access, rest] = told_apart(&text);
        let all = checks + translation + access + rest;
        let counts = [0, checks, translation, access, rest, all].map(|count| count.to_string());
        rows.push([vec![routine.to_owned()], counts.into()].concat());
    }
    let header = cells(&["routine", "symbol", "checks", "translation", "access", "return", "all"]);
    let title = "What they do (symbol: finding the library's state; the path without an error)";
    Ok(Table { title: title.into(), header, rows })
}

/// What the instructions of a routine for one element do, before the first return: checks,
/// translation, access and return.
fn told_apart(text: &str) -> [usize; 4] {
    let mut counts = [0; 4];
    let mut path: Vec<&str> = Vec::new();
    for line in text.lines() {
        let Some((_, instruction)) = line.split_once(":\t") else { continue };
        path.push(instruction.trim());
        if instruction.starts_with("ret") {
            break;
        }
    }
    // The access is the last instruction with an operand in memory, and what follows it.
    let access = path.iter().rposition(|one| one.contains('(')).unwrap_or(path.len());
    for (place, one) in path.iter().enumerate() {
        let is_check = ["cmp", "test", "j"].iter().any(|word| one.starts_with(word));
        let kind = match one {
            one if one.starts_with("ret") => 3,
            _ if is_check => 0,
            _ if place >= access => 2,
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
        let text = "   10:\tsub    0x1(%rip),%rdi\n   17:\tcmp    $0x1000,%rdx\n   1e:\tjae    41\n   \
                    20:\tmov    0x88(%rax),%rax\n   24:\tmov    %rsi,(%rax,%rdi,1)\n   28:\tret\n   30:\tnop\n";
        assert_eq!(told_apart(text), [2, 2, 1, 1]);
    }
}
