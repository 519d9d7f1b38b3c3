//! The plots of a report, in the style of the paper's figures.

use std::path::Path;

use anyhow::Context;

use crate::curves::Panel;
use crate::curves::Shows::{self, Itself};
use crate::plot::Axis::{self, Bytes, Pes};
use crate::plot::Plot;
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

/// Heading, caption and pictures of the sections: quantity, title and axis, and what is shown.
type Heading = (&'static str, &'static str, &'static [(&'static str, &'static str, Axis, Shows)]);

const SECTIONS: [Heading; 7] = [
    (
        "Ping-pong",
        "Half of the round trip between two PEs. The bandwidth is the message size over that time.",
        &[
            ("pingpong.put", "Latency: putmem and wait", Bytes, Itself),
            ("pingpong.put", "Bandwidth: putmem and wait", Bytes, Shows::Bandwidth),
            ("pingpong.put_signal", "Latency: put with signal and wait", Bytes, Itself),
        ],
    ),
    (
        "Message rate",
        "Each PE puts 128 messages to each of its peers (six, where there are so many) and waits for the last one expected; \
         average rate of one PE, caches invalidated before each iteration.",
        &[("msgrate.put", "Messages a second and PE", Bytes, Itself)],
    ),
    (
        "Bandwidth",
        "Windows of transfers, then quiet. The limit is the best of several raw copies at each size.",
        &[
            ("bandwidth.put", "Put", Bytes, Itself),
            ("bandwidth.put_both", "Put in both directions at once", Bytes, Itself),
            ("bandwidth.get", "Get", Bytes, Itself),
            ("bandwidth.put_nbi", "Put without blocking", Bytes, Itself),
        ],
    ),
    (
        "Collectives",
        "Time of the slowest PE by the size of a block, over teams.",
        &[
            ("collective.broadcast", "broadcast", Bytes, Itself),
            ("collective.fcollect", "fcollect", Bytes, Itself),
            ("collective.alltoall", "alltoall", Bytes, Itself),
            ("collective.sum", "sum", Bytes, Itself),
            ("collective.collect", "collect", Bytes, Itself),
            ("collective.alltoalls", "alltoalls", Bytes, Itself),
        ],
    ),
    (
        "Starting",
        "Wall time of a whole job in which every PE says who it is, beside as many /bin/true from the same launcher; the time \
         inside shmem_init; and the first contact with another PE.",
        &[
            ("startup.hello", "Whole job", Pes, Itself),
            ("startup.init", "shmem_init", Pes, Itself),
            ("startup.first_contact", "First contact with another PE", Pes, Itself),
        ],
    ),
    (
        "Over two nodes",
        "Two nodes with half of the PEs each, emulated on this machine, whose CPUs all PEs share. PE 0 works on the first PE \
         of the other node, while the others wait; of collectives, the slowest PE's time.",
        &[
            ("nodes.put", "put of 8 B and quiet", Pes, Itself),
            ("nodes.get", "get of 8 B", Pes, Itself),
            ("nodes.fetch_add", "fetch-add", Pes, Itself),
            ("nodes.put_signal", "put with signal, one way", Pes, Itself),
            ("nodes.put_bandwidth", "put of 1 MiB and quiet", Pes, Itself),
            ("nodes.get_bandwidth", "get of 1 MiB", Pes, Itself),
            ("nodes.barrier", "barrier_all", Pes, Itself),
            ("nodes.reduce", "sum of 8 B", Pes, Itself),
        ],
    ),
    (
        "More PEs than CPUs",
        "From as many PEs as CPUs to eight times as many.",
        &[
            ("oversubscribed.barrier_all", "barrier_all", Pes, Itself),
            ("oversubscribed.ring", "One hop of a token round the ring", Pes, Itself),
            (
                "oversubscribed.sum_and_barrier",
                "A reduction of 8 bytes, and barrier_all",
                Pes,
                Itself,
            ),
        ],
    ),
];

/// All sections that have data.
pub fn sections(report: &Report) -> Vec<PageSection> {
    let section = |&(title, caption, panels): &Heading| {
        let plot = |&(name, title, x, shows): &(_, _, _, _)| {
            Panel { shows, ..Panel::of(name, title, x) }.plot(report)
        };
        let plots = panels.iter().map(plot).filter(Plot::is_worthwhile).collect();
        PageSection { title, caption, plots }
    };
    let list = SECTIONS.iter().map(section);
    list.filter(|section| !section.plots.is_empty()).collect()
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
