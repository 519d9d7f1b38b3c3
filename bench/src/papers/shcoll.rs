//! Figures of the paper on collectives.

use anyhow::Context;
use oneshmem_plots::plot::Axis;

use super::{Content, Figure, Setting};
use crate::curves::Panel;
use crate::implementation::Implementation;
use crate::over::NODES;

/// A family of collectives: its operation in `oshinfo`, the variable that chooses an algorithm, its
/// quantity, and whether it has a size.
const FAMILIES: [(&str, &str, &str, bool); 8] = [
    ("barrier", "SHMEM_BARRIER_ALGORITHM", "collective.barrier_all", false),
    ("broadcast", "SHMEM_BROADCAST_ALGORITHM", "collective.broadcast", true),
    ("collect", "SHMEM_COLLECT_ALGORITHM", "collective.collect", true),
    ("fcollect", "SHMEM_FCOLLECT_ALGORITHM", "collective.fcollect", true),
    ("alltoall", "SHMEM_ALLTOALL_ALGORITHM", "collective.alltoall", true),
    ("alltoalls", "SHMEM_ALLTOALLS_ALGORITHM", "collective.alltoalls", true),
    ("reduce", "SHMEM_REDUCE_ALGORITHM", "collective.sum", true),
    ("scan", "SHMEM_SCAN_ALGORITHM", "collective.inscan", true),
];

/// All of them.
pub fn figures(setting: &Setting) -> anyhow::Result<Vec<Figure>> {
    let algorithms = algorithms(setting.own())?;
    let mut figures = Vec::new();
    for nodes in [false, true] {
        for (operation, variable, quantity, sized) in FAMILIES {
            let names = algorithms
                .iter()
                .find(|(known, _)| known == operation)
                .with_context(|| format!("oshinfo names no algorithms of {operation}"))?;
            let content = match (nodes, &setting.no_nodes) {
                (true, Some(why)) => Content::Missing(why.clone()),
                _ => family(setting, &names.1, (variable, quantity, sized), nodes)?,
            };
            let place = if nodes { "over two nodes" } else { "on a node" };
            let caption = format!(
                "Each algorithm of the library, chosen by {variable}, beside the choice of its table; the slowest \
                 PE's time.{}",
                match (nodes, sized) {
                    (true, _) =>
                        " Two emulated nodes with half of the PEs each share this machine's CPUs.",
                    (false, true) =>
                        " Raw shared memory: the bytes that must move, copied by as many processes at \
                                      once without a word to one another.",
                    (false, false) => " Raw shared memory: a barrier on a central counter.",
                }
            );
            figures.push(Figure {
                title: format!("{operation}, {place}"),
                caption,
                published: "up to 12 times as fast as the vendor's library, for long messages on a Cray XC30",
                content,
            });
        }
    }
    Ok(figures)
}

fn family(
    setting: &Setting,
    names: &[String],
    (variable, quantity, sized): (&str, &str, bool),
    nodes: bool,
) -> anyhow::Result<Content> {
    let base = if nodes { setting.over_nodes()? } else { setting.implementations.clone() };
    let own = &base[0];
    let mut who = vec![own.variant(format!("{}, auto", own.name), &[])];
    who.extend(names.iter().map(|name| own.variant(name.clone(), &[(variable, name)])));
    who.extend(base[1..].iter().cloned());
    let few = if nodes { NODES } else { setting.everybody() };
    let many = setting.by(4 * few, 2 * few, few);
    let numbers: Vec<usize> =
        (1..).map(|bit| 1 << bit).take_while(|pes| *pes <= many.max(2)).collect();
    let sizes =
        if sized { (8, setting.by(1 << 20, 64 << 10, 64), setting.by(4, 8, 8)) } else { (8, 8, 2) };
    let only = [format!("only={quantity}")];
    let group = |&pes: &usize| {
        // All sizes where they are drawn over size, else the least alone.
        let sizes = if pes == few || pes == many { sizes } else { (8, 8, 2) };
        let mut experiments = vec![setting.job("collectives", pes, sizes, &only)];
        if !nodes && quantity != "collective.inscan" {
            experiments.insert(0, setting.raw("moves", pes, sizes, &[]));
        }
        experiments
    };
    let over_sizes =
        |pes| Panel { pes: Some(pes), ..Panel::of(quantity, &format!("{pes} PEs"), Axis::Bytes) };
    let over_pes = Panel {
        size: Some(if sized { 8 } else { 0 }),
        ..Panel::of(quantity, if sized { "8 bytes" } else { "over PEs" }, Axis::Pes)
    };
    let mut panels = vec![over_pes];
    if sized {
        panels.push(over_sizes(few));
        if many != few {
            panels.push(over_sizes(many));
        }
    }
    Ok(Content::Measured { who, groups: numbers.iter().map(group).collect(), panels })
}

/// The names of all algorithms, by operation, as `oshinfo` tells them.
fn algorithms(own: &Implementation) -> anyhow::Result<Vec<(String, Vec<String>)>> {
    let bin = own.commands()?;
    let tool = bin.join("oshinfo");
    let output = std::process::Command::new(&tool)
        .arg("--json")
        .output()
        .with_context(|| format!("cannot run {}", tool.display()))?;
    let told: serde_json::Value = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("{} --json printed no JSON", tool.display()))?;
    let list = told["algorithms"].as_array().context("oshinfo names no algorithms")?;
    let words = |value: &serde_json::Value| -> Option<Vec<String>> {
        value.as_array()?.iter().map(|word| Some(word.as_str()?.to_owned())).collect()
    };
    list.iter()
        .map(|one| Some((one["operation"].as_str()?.to_owned(), words(&one["all"])?)))
        .collect::<Option<Vec<_>>>()
        .context("oshinfo names algorithms in another form")
}
