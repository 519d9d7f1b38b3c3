//! The figures and tables of each paper.

use std::path::Path;

use anyhow::Context;
use oneshmem_plots::plot::Axis;

use super::{Content, Figure, Paper, Setting, programs};
use crate::curves::{Panel, Shows};
use crate::implementation::Implementation;
use crate::over::NODES;
use crate::plan::{Comparison, Experiment, Extent};

/// All of them.
pub const PAPERS: [Paper; 5] = [
    Paper {
        key: "mapping",
        title: "An Intra-Node Implementation of OpenSHMEM Using Virtual Address Space Mapping",
        by: "R. Brightwell and K. Pedretti, PGAS 2011",
        figures: mapping,
    },
    Paper {
        key: "ondemand",
        title: "On-demand Connection Management for OpenSHMEM and OpenSHMEM+MPI",
        by: "S. Chakraborty, H. Subramoni, J. Perkins, A. A. Awan and D. K. Panda, IPDPS Workshops 2015",
        figures: on_demand,
    },
    Paper {
        key: "oshmpi",
        title: "OpenSHMEM over MPI as a Performance Contender: Thorough Analysis and Optimizations",
        by: "M. Si, H. Fu, J. R. Hammond and P. Balaji, OpenSHMEM 2021",
        figures: over_mpi,
    },
    Paper {
        key: "shcoll",
        title: "SHCOLL: A Standalone Implementation of OpenSHMEM-Style Collectives API",
        by: "S. Milaković, Z. Budimlić, H. Pritchard, A. Curtis, B. Chapman and V. Sarkar, OpenSHMEM 2018",
        figures: collectives,
    },
    Paper {
        key: "partitions",
        title: "Symmetric memory partitions for arrays that OpenMP maps to a device",
        by: "the proposal of partitions, extended by OpenMP's device memory",
        figures: partitions,
    },
];

impl Setting {
    /// A program of the suite on so many PEs, with these sizes.
    fn job(
        &self,
        program: &'static str,
        pes: usize,
        (least, most, step): (u64, u64, u64),
        more: &[String],
    ) -> Experiment {
        let sizes = [format!("min={least}"), format!("max={most}"), format!("step={step}")];
        let time = [format!("ms={}", self.extent.ms())];
        let room = (most * pes as u64 * 4) >> 20;
        Experiment {
            program,
            raw: false,
            pes,
            arguments: [&time, &sizes[..], more].concat(),
            heap: room.next_power_of_two().clamp(64, 1024),
            whole_job: false,
        }
    }

    /// A program on plain shared memory.
    fn raw(
        &self,
        program: &'static str,
        pes: usize,
        sizes: (u64, u64, u64),
        more: &[String],
    ) -> Experiment {
        Experiment { raw: true, ..self.job(program, pes, sizes, more) }
    }

    /// One of three values, by extent.
    fn by<T>(&self, full: T, quick: T, tiny: T) -> T {
        match self.extent {
            Extent::Full => full,
            Extent::Quick => quick,
            Extent::Tiny => tiny,
        }
    }

    /// Message sizes from 8 bytes.
    fn sizes(&self, most: u64) -> (u64, u64, u64) {
        (8, self.by(most, most.min(256 << 10), 512), self.by(2, 4, 8))
    }

    /// As many PEs as CPUs, at least 2.
    fn everybody(&self) -> usize {
        self.cpus.len().clamp(2, 64)
    }

    /// Our own implementation with a setting, under a label.
    fn own_with(&self, label: &str, environment: &[(&str, &str)]) -> Implementation {
        self.own().variant(format!("{}, {label}", self.own().name), environment)
    }

    /// The other implementations.
    fn peers(&self) -> impl Iterator<Item = Implementation> {
        self.implementations[1..].iter().cloned()
    }
}

fn alone(experiments: Vec<Experiment>) -> Comparison {
    Comparison { experiments, by_distance: true }
}

fn anywhere(experiments: Vec<Experiment>) -> Comparison {
    Comparison { experiments, by_distance: false }
}

/// Each way to map memory that there is here, and the peers.
fn mappings(setting: &Setting) -> Vec<Implementation> {
    let mut who = vec![setting.own_with("memfd", &[("SHMEM_BACKEND", "memfd")])];
    if Path::new("/dev/xpmem").exists() {
        who.push(setting.own_with("XPMEM", &[("SHMEM_BACKEND", "xpmem")]));
    }
    who.extend(setting.smartmap.clone());
    who.extend(setting.peers());
    who
}

fn mapping(setting: &Setting) -> anyhow::Result<Vec<Figure>> {
    let who = mappings(setting);
    let absent = match (Path::new("/dev/xpmem").exists(), &setting.smartmap) {
        (true, Some(_)) => String::new(),
        (xpmem, smartmap) => {
            let mut words = Vec::new();
            if !xpmem {
                words.push("XPMEM (there is no /dev/xpmem; make bench-xpmem measures it in a virtual machine)");
            }
            if smartmap.is_none() {
                words.push("SMARTMAP's addresses (make smartmap builds that library)");
            }
            format!(" Not here: {}.", words.join("; "))
        }
    };
    let sizes = setting.sizes(4 << 20);
    let each = [format!("each={}", setting.by(1000, 1000, 50))];
    let pingpong = || {
        alone(vec![setting.raw("flags", 2, sizes, &each), setting.job("pingpong", 2, sizes, &each)])
    };
    let iterations = setting.by(4096, 64, 2);
    let rates = setting.sizes(64 << 10);
    let cache = crate::machine::last_cache().unwrap_or(8 << 20);
    let more = [format!("iters={iterations}"), format!("cache={cache}")];
    let everybody = setting.everybody();
    Ok(vec![
        Figure {
            title: "Latency of put over message size".into(),
            caption: format!(
                "Half of a round trip between 2 PEs, of putmem and a wait. Each of {} messages is \
                 timed; the curve is their mean, and the bars go from the least to the largest, cut where \
                 they would be ten times longer than the curves.{absent}",
                setting.by(1000, 1000, 50)
            ),
            published: "",
            content: Content::Measured {
                who: who.clone(),
                groups: vec![pingpong()],
                panels: vec![
                    Panel::of("pingpong.put", "putmem and wait", Axis::Bytes).showing(Shows::Mean),
                    Panel::of("pingpong.put_signal", "put with signal and wait", Axis::Bytes)
                        .showing(Shows::Mean),
                ],
            },
        },
        Figure {
            title: "Bandwidth of put over message size".into(),
            caption: format!(
                "The message size over half of the round trip of the same ping-pong; and put \
                 in one direction, in windows of up to 64 that end with quiet.{absent}"
            ),
            published: "",
            content: Content::Measured {
                who: who.clone(),
                groups: vec![
                    pingpong(),
                    alone(vec![
                        setting.raw("copies", 2, sizes, &[]),
                        setting.job("bandwidth", 2, sizes, &[]),
                    ]),
                ],
                panels: vec![
                    Panel::of("pingpong.put", "ping-pong", Axis::Bytes).showing(Shows::Bandwidth),
                    Panel::of("bandwidth.put", "one direction", Axis::Bytes),
                    Panel::of("bandwidth.put_both", "both directions at once", Axis::Bytes),
                ],
            },
        },
        Figure {
            title: format!("Message rate of {everybody} PEs"),
            caption: format!(
                "The Sandia message-rate test: each PE puts 128 messages to each of six peers (fewer \
                 where there are fewer PEs), {iterations} times, after a pass over {} MiB, as much as the last \
                 cache holds, that is not timed. The mean rate of a PE; bars over the iterations.{absent}",
                cache >> 20
            ),
            published: "",
            content: Content::Measured {
                who,
                groups: vec![alone(vec![
                    setting.raw("rates", everybody, rates, &more),
                    setting.job("msgrate", everybody, rates, &more),
                ])],
                panels: vec![
                    Panel::of("msgrate.put", "messages a second and PE", Axis::Bytes)
                        .showing(Shows::Mean),
                ],
            },
        },
    ])
}

fn on_demand(setting: &Setting) -> anyhow::Result<Vec<Figure>> {
    let both = |base: Vec<Implementation>| {
        let on_demand = base[0].variant(format!("{}, on demand", base[0].name), &[]);
        let eager = [("SHMEM_ATTACH", "eager")];
        let eager = base[0].variant(format!("{}, eager", base[0].name), &eager);
        [on_demand, eager].into_iter().chain(base.into_iter().skip(1)).collect::<Vec<_>>()
    };
    let starts = |numbers: &[usize]| {
        let start = |&pes: &usize| {
            let hello = setting.job("hello", pes, (8, 8, 2), &[]);
            anywhere(vec![
                setting.job("startup", pes, (8, 8, 2), &[]),
                Experiment { whole_job: true, ..hello },
            ])
        };
        numbers.iter().map(start).collect::<Vec<_>>()
    };
    let panels = || {
        vec![
            Panel::of("startup.init", "shmem_init", Axis::Pes),
            Panel::of("startup.hello", "hello: the whole job", Axis::Pes),
            Panel::of("startup.first_contact", "first contact with a peer", Axis::Pes),
            Panel::of("startup.first_barrier", "first barrier", Axis::Pes),
        ]
    };
    let numbers: &[usize] = setting.by(&[1, 2, 4, 8, 16, 32, 64], &[1, 2, 4, 8, 16], &[1, 2]);
    let far: &[usize] = setting.by(&[2, 4, 8, 16, 32], &[2, 4, 8], &[2]);
    // As many on each of two nodes.
    let most = setting.by(64, 18, 4);
    let steps = |title: &str, what: &str, content| Figure {
        title: title.into(),
        caption: format!(
            "{what} Recorded by oshrun --trace: the mean over the PEs, of the median of all jobs."
        ),
        published: "",
        content,
    };
    let memory = |title: &str, place: &str, who: Result<Vec<Implementation>, String>| Figure {
        title: title.into(),
        caption: format!(
            "Of PE 0 in a job of {most} PEs {place}: mappings, page tables, and resident pages, after it has \
             talked to one peer after the other."
        ),
        published: "up to 90 % fewer network endpoints",
        content: match who {
            Err(why) => Content::Missing(why),
            Ok(who) => Content::Measured {
                who: both(who),
                groups: vec![anywhere(vec![setting.job("peers", most, (8, 8, 2), &[])])],
                panels: vec![
                    Panel::of("peers.maps", "mappings (lines of /proc/self/maps)", Axis::Peers),
                    Panel::of("peers.page_tables", "page tables (VmPTE)", Axis::Peers),
                    Panel::of("peers.resident", "resident pages (VmRSS)", Axis::Peers),
                ],
            },
        },
    };
    let published = "initialisation up to 30 times and hello up to 8.3 times as fast as with all connections made at \
                     start, on 8192 PEs";
    Ok(vec![
        Figure {
            title: "Initialisation and hello over PEs, on a node".into(),
            caption: "Memory of a peer is attached when a PE first uses it, or, eagerly (SHMEM_ATTACH=eager), all \
                      of it in shmem_init."
                .into(),
            published,
            content: Content::Measured {
                who: both(setting.implementations.clone()),
                groups: starts(numbers),
                panels: panels(),
            },
        },
        Figure {
            title: "Initialisation and hello over PEs, on two nodes".into(),
            caption: "The same over two emulated nodes with half of the PEs each, which share this machine's CPUs. \
                      Eagerly, all nodes are connected, too."
                .into(),
            published,
            content: match &setting.no_nodes {
                Some(why) => Content::Missing(why.clone()),
                None => Content::Measured {
                    who: both(setting.over_nodes()?),
                    groups: starts(far),
                    panels: panels(),
                },
            },
        },
        steps(
            "shmem_init by step, on a node",
            "handshake: finding the job and meeting its launcher; layout: settings and addresses; registration: \
             telling the others of this PE; memory: mapping data and heap; start: the rest; peers: attaching them, \
             if eager.",
            Content::Made(programs::steps_on_a_node),
        ),
        steps(
            "shmem_init by step, on two nodes",
            "network: opening UCX; the others as on a node. Eagerly, peers are also the connections to other nodes.",
            match &setting.no_nodes {
                Some(why) => Content::Missing(why.clone()),
                None => Content::Made(programs::steps_on_two_nodes),
            },
        ),
        memory("Memory of a process over its peers, on a node", "on a node", Ok(setting.implementations.clone())),
        memory(
            "Memory of a process over its peers, on two nodes",
            "on two emulated nodes, UCX included",
            match &setting.no_nodes {
                Some(why) => Err(why.clone()),
                None => Ok(setting.over_nodes()?),
            },
        ),
        Figure {
            title: "Peers that a process talks to, by application".into(),
            caption: "Counted by SHMEM_STATS; the mean over the PEs. What collectives do inside the library does not \
                      count. Extrapolated by the growth from the last but one to the last number of PEs."
                .into(),
            published: "",
            content: Content::Made(programs::peers_of_applications),
        },
    ])
}

fn over_mpi(setting: &Setting) -> anyhow::Result<Vec<Figure>> {
    const OPERATIONS: [(&str, &str); 4] = [
        ("bandwidth.put", "put"),
        ("bandwidth.get", "get"),
        ("bandwidth.put_nbi", "put_nbi"),
        ("bandwidth.get_nbi", "get_nbi"),
    ];
    let panels = |shows| {
        OPERATIONS.map(|(name, title)| Panel::of(name, title, Axis::Bytes).showing(shows)).into()
    };
    let only = |window: u64, most| {
        setting.job("bandwidth", 2, setting.sizes(most), &[format!("window={window}")])
    };
    let figure = |title: &str, window, most, shows, nodes: bool| {
        let content = match (nodes, &setting.no_nodes) {
            (true, Some(why)) => Content::Missing(why.clone()),
            (true, None) => Content::Measured {
                who: setting.over_nodes()?,
                groups: vec![anywhere(vec![only(window, most)])],
                panels: panels(shows),
            },
            (false, _) => Content::Measured {
                who: setting.implementations.clone(),
                groups: vec![alone(vec![
                    setting.raw("copies", 2, setting.sizes(most), &[format!("window={window}")]),
                    only(window, most),
                ])],
                panels: panels(shows),
            },
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
            content: Content::Made(programs::instructions),
        },
        figure("Latency over message size, on a node", 1, 4 << 20, Shows::TimeOfOne, false)?,
        figure("Message rate over message size, on a node", 64, 64 << 10, Shows::Rate, false)?,
        figure("Latency over message size, between nodes", 1, 4 << 20, Shows::TimeOfOne, true)?,
        figure("Message rate over message size, between nodes", 64, 64 << 10, Shows::Rate, true)?,
    ])
}

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

fn collectives(setting: &Setting) -> anyhow::Result<Vec<Figure>> {
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
        anywhere(experiments)
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

fn partitions(_: &Setting) -> anyhow::Result<Vec<Figure>> {
    let caption = |what: &str| {
        format!(
            "{what} OpenMP's device is the host's processor, whose CPUs all PEs share: no figure is one of another \
             device. standard: target update copies the array to the symmetric heap and back; extended: the array \
             is symmetric itself, in a partition of KIND=LIBOMP; MPI: target update, and messages."
        )
    };
    let missing = programs::no_offloading();
    let figure = |title: &str, what: &str, published, make| Figure {
        title: title.into(),
        caption: caption(what),
        published,
        content: match &missing {
            Some(why) => Content::Missing(why.clone()),
            None => Content::Made(make),
        },
    };
    let scaled = "The time of the same work on 1, 2 and 4 PEs; efficiency is the time of one by that of all together.";
    Ok(vec![
        figure(
            "Latency of put with signal",
            "Between 2 PEs, one way.",
            "standard / extended 6 to 1.3, from 8 B to 256 MiB",
            programs::device_put,
        ),
        figure(
            "Latency of all-to-all",
            "Of 2 PEs.",
            "standard / extended 2.6 to 1.4",
            programs::device_alltoall,
        ),
        figure(
            "Random access",
            "Updates a second of all PEs, on tables of the same size on each; in the extended form by atomic operations, and, as in the paper, by get and put.",
            "extended / standard 4.9",
            programs::device_updates,
        ),
        figure("FFT in two dimensions", scaled, "", programs::device_fft),
        figure("Matrix product on a ring", scaled, "", programs::device_product),
        figure("Heat in three dimensions", scaled, "", programs::device_heat),
    ])
}
