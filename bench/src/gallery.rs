//! The plots of a report, in the style of the paper's figures.

use std::path::Path;

use anyhow::Context;

use crate::curves::{Panel, RAW_MEMORY, Shows};
use crate::plot::{Axis, Plot};
use crate::report::Report;

/// Plots under one heading.
#[derive(Debug)]
pub struct PageSection {
    /// The heading.
    pub title: &'static str,
    /// What the plots show.
    pub caption: &'static str,
    /// The plots that have data.
    pub plots: Vec<Plot>,
}

/// Writes each plot to a file of its own, named after its section and title.
pub fn write(report: &Report, directory: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(directory)
        .with_context(|| format!("cannot make {}", directory.display()))?;
    for section in sections(report) {
        for plot in &section.plots {
            let file = directory.join(file_name(section.title, &plot.title));
            std::fs::write(&file, plot.svg()?)
                .with_context(|| format!("cannot write {}", file.display()))?;
        }
    }
    Ok(())
}

/// A name like `ping-pong-latency-putmem-and-wait.svg`: words and hyphens, whatever the titles
/// contain.
fn file_name(section: &str, plot: &str) -> String {
    let text = format!("{section} {plot}").to_lowercase();
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-") + ".svg"
}

/// All sections that have data.
pub fn sections(report: &Report) -> Vec<PageSection> {
    use Axis::{Bytes, Pes};
    let plot = |name: &str, title: &str, x| Panel::of(name, title, x).plot(report);
    let both = |names: [(&str, &'static str); 2], title: &str, x| {
        Panel::of_both(names, title, x).plot(report)
    };
    let ranges =
        |name: &str, title: &str| Panel::of(name, title, Bytes).showing(Shows::Range).plot(report);
    let in_units = |names, of: &str, x| Panel::of_both(names, "", x).in_units(report, of);
    let one_in_units = |name: &str, of: &str, x| Panel::of(name, "", x).in_units(report, of);
    let mut list = vec![
        PageSection {
            title: "Ping-pong",
            caption: "Half of the round trip between two PEs; bars from the smallest to the largest sample of a typical \
                      run, cut where they would be longer than ten times the curves. The bandwidth is the message size over that time. \
                      Costs in units of raw shared memory are those within a turn, here and below, with bars over the turns.",
            plots: vec![
                ranges("pingpong.put", "Latency: putmem and wait"),
                Panel::of("pingpong.put", "Bandwidth: putmem and wait", Bytes)
                    .showing(Shows::Bandwidth)
                    .plot(report),
                ranges("pingpong.put_signal", "Latency: put with signal and wait"),
                in_units(
                    [("pingpong.put", ", put"), ("pingpong.put_signal", ", put with signal")],
                    RAW_MEMORY,
                    Bytes,
                ),
            ],
        },
        PageSection {
            title: "Message rate",
            caption: "Each PE puts 128 messages to each of its peers (six, where there are so many) and waits for the last one \
                      expected; average rate of one PE, caches invalidated before each iteration.",
            plots: vec![
                ranges("msgrate.put", "Messages a second and PE"),
                one_in_units("msgrate.put", RAW_MEMORY, Bytes),
            ],
        },
        PageSection {
            title: "Bandwidth",
            caption: "Windows of transfers, then quiet. The limit is the best of several raw copies at each size.",
            plots: vec![
                plot("bandwidth.put", "Put", Bytes),
                plot("bandwidth.put_both", "Put in both directions at once", Bytes),
                plot("bandwidth.get", "Get", Bytes),
                plot("bandwidth.put_nbi", "Put without blocking", Bytes),
                in_units(
                    [("bandwidth.put", ", put"), ("bandwidth.get", ", get")],
                    RAW_MEMORY,
                    Bytes,
                ),
                in_units(
                    [("bandwidth.put_both", ", put"), ("bandwidth.get_both", ", get")],
                    "raw shared memory, both ways",
                    Bytes,
                ),
            ],
        },
        PageSection {
            title: "Collectives",
            caption: "Time of the slowest PE by the size of a block. Where an implementation has them, both the forms over \
                      teams and the older ones over active sets.",
            plots: ["broadcast", "fcollect", "alltoall", "sum", "collect", "alltoalls"]
                .map(|operation| {
                    let [team, set] =
                        ["collective", "activeset"].map(|form| format!("{form}.{operation}"));
                    both([(&team, ", teams"), (&set, ", active sets")], operation, Bytes)
                })
                .into(),
        },
        PageSection {
            title: "Starting",
            caption: "Wall time of a whole job in which every PE says who it is, beside as many /bin/true from the same \
                      launcher and without one; the time inside shmem_init; and what the job costs in units of /bin/true from its launcher.",
            plots: vec![
                both([("startup.hello", ""), ("startup.true", ", /bin/true")], "Whole job", Pes),
                plot("startup.init", "shmem_init", Pes),
                plot("startup.first_contact", "First contact with another PE", Pes),
                one_in_units("startup.hello", "/bin/true from the launcher", Pes),
            ],
        },
        PageSection {
            title: "Over two nodes",
            caption: "Two nodes with half of the PEs each, emulated on this machine, whose CPUs all PEs share. PE 0 works \
                      on the first PE of the other node, while the others wait; of collectives, the slowest PE's time.",
            plots: vec![
                plot("nodes.put", "put of 8 B and quiet", Pes),
                plot("nodes.get", "get of 8 B", Pes),
                both(
                    [("nodes.fetch_add", ""), ("nodes.fetch_add_computing", ", target computes")],
                    "fetch-add",
                    Pes,
                ),
                plot("nodes.put_signal", "put with signal, one way", Pes),
                plot("nodes.put_bandwidth", "put of 1 MiB and quiet", Pes),
                plot("nodes.get_bandwidth", "get of 1 MiB", Pes),
                plot("nodes.barrier", "barrier_all", Pes),
                plot("nodes.reduce", "sum of 8 B", Pes),
            ],
        },
        PageSection {
            title: "More PEs than CPUs",
            caption: "From as many PEs as CPUs to eight times as many.",
            plots: vec![
                plot("oversubscribed.barrier_all", "barrier_all", Pes),
                plot("oversubscribed.ring", "One hop of a token round the ring", Pes),
                plot(
                    "oversubscribed.sum_and_barrier",
                    "A reduction of 8 bytes, and barrier_all",
                    Pes,
                ),
                in_units(
                    [
                        ("oversubscribed.barrier_all", ", barrier_all"),
                        ("oversubscribed.ring", ", ring"),
                    ],
                    RAW_MEMORY,
                    Pes,
                ),
            ],
        },
    ];
    for section in &mut list {
        section.plots.retain(Plot::is_worthwhile);
    }
    list.retain(|section| !section.plots.is_empty());
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_after_what_they_show() {
        let name = file_name("Ping-pong", "Latency: putmem and wait");
        assert_eq!(name, "ping-pong-latency-putmem-and-wait.svg");
        assert_eq!(file_name("Starting", "/bin/true"), "starting-bin-true.svg");
    }
}
