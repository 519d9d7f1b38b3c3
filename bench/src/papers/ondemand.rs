//! Figures of the paper on connections on demand.

use oneshmem_plots::plot::Axis;

use super::{Content, Figure, Setting, applications, init};
use crate::curves::{Panel, Shows};
use crate::implementation::Implementation;
use crate::plan::Experiment;

/// All of them.
pub fn figures(setting: &Setting) -> anyhow::Result<Vec<Figure>> {
    let both = |base: Vec<Implementation>| {
        let on_demand = base[0].variant(format!("{}, on demand", base[0].name), &[]);
        let eager = [("SHMEM_ATTACH", "eager")];
        let eager = base[0].variant(format!("{}, eager", base[0].name), &eager);
        [on_demand, eager].into_iter().chain(base.into_iter().skip(1)).collect::<Vec<_>>()
    };
    let starts = |numbers: &[usize]| {
        let start = |&pes: &usize| {
            let hello = setting.job("hello", pes, (8, 8, 2), &[]);
            vec![
                setting.job("startup", pes, (8, 8, 2), &[]),
                Experiment { whole_job: true, ..hello },
            ]
        };
        numbers.iter().map(start).collect::<Vec<_>>()
    };
    let operations = |numbers: &[usize]| {
        let window = ["window=1".to_owned()];
        let over_size = setting.job("bandwidth", 2, setting.sizes(1 << 20), &window);
        let over_pes = numbers.iter().map(|&pes| setting.job("over_nodes", pes, (8, 8, 2), &[]));
        std::iter::once(over_size).chain(over_pes).map(|job| vec![job]).collect()
    };
    let numbers: &[usize] = setting.by(&[1, 2, 4, 8, 16, 32, 64], &[1, 2, 4, 8, 16], &[1, 2]);
    let far: &[usize] = setting.by(&[2, 4, 8, 16, 32], &[2, 4, 8], &[2]);
    // As many on each of two nodes.
    let most = setting.by(64, 18, 4);
    let started = |who, numbers: &[usize]| Content::Measured {
        who: both(who),
        groups: starts(numbers),
        panels: vec![
            Panel::of("startup.init", "shmem_init", Axis::Pes),
            Panel::of("startup.hello", "hello: the whole job", Axis::Pes),
            Panel::of("startup.first_contact", "first contact with a peer", Axis::Pes),
            Panel::of("startup.first_barrier", "first barrier", Axis::Pes),
        ],
    };
    let steps = |title: &str, what: &str, content| Figure {
        title: title.into(),
        caption: format!(
            "{what} Recorded by oshrun --trace: the mean over the PEs, of the median of all jobs."
        ),
        published: "",
        content,
    };
    let used = |who| Content::Measured {
        who: both(who),
        groups: vec![(vec![setting.job("peers", most, (8, 8, 2), &[])])],
        panels: vec![
            Panel::of("peers.maps", "mappings (lines of /proc/self/maps)", Axis::Peers),
            Panel::of("peers.page_tables", "page tables (VmPTE)", Axis::Peers),
            Panel::of("peers.resident", "resident pages (VmRSS)", Axis::Peers),
        ],
    };
    let memory = |title: &str, place: &str, content| Figure {
        title: title.into(),
        caption: format!(
            "Of PE 0 in a job of {most} PEs {place}: mappings, page tables, and resident pages, after it has \
             talked to one peer after the other."
        ),
        published: "up to 90 % fewer network endpoints",
        content,
    };
    let operate = |who| Content::Measured {
        who: both(who),
        groups: operations(far),
        panels: vec![
            Panel::of("bandwidth.put", "put", Axis::Bytes).showing(Shows::TimeOfOne),
            Panel::of("bandwidth.get", "get", Axis::Bytes).showing(Shows::TimeOfOne),
            Panel::of("nodes.fetch_add", "fetch-add", Axis::Pes),
            Panel::of("nodes.barrier", "barrier", Axis::Pes),
            Panel::of("nodes.reduce", "sum of 8 B", Axis::Pes),
        ],
    };
    let here = || setting.implementations.clone();
    let published = "initialisation up to 30 times and hello up to 8.3 times as fast as with all connections made at \
                     start, on 8192 PEs";
    Ok(vec![
        Figure {
            title: "Initialisation and hello over PEs, on a node".into(),
            caption: "Memory of a peer is attached when a PE first uses it, or, eagerly (SHMEM_ATTACH=eager), all \
                      of it in shmem_init."
                .into(),
            published,
            content: started(here(), numbers),
        },
        Figure {
            title: "Initialisation and hello over PEs, on two nodes".into(),
            caption: "The same over two emulated nodes with half of the PEs each, which share this machine's CPUs. \
                      Eagerly, all nodes are connected, too."
                .into(),
            published,
            content: setting.on_two_nodes(|who| started(who, far))?,
        },
        steps(
            "shmem_init by step, on a node",
            "handshake: finding the job and meeting its launcher; layout: settings and addresses; registration: \
             telling the others of this PE; memory: mapping data and heap; start: the rest; peers: attaching them, \
             if eager.",
            Content::made(|setting| init::steps(setting, setting.own(), &[2, 8, 32])),
        ),
        steps(
            "shmem_init by step, on two nodes",
            "network: opening UCX; the others as on a node. Eagerly, peers are also the connections to other nodes.",
            setting.on_two_nodes(|who| {
                Content::made(move |setting| init::steps(setting, &who[0], &[2, 8]))
            })?,
        ),
        memory("Memory of a process over its peers, on a node", "on a node", used(here())),
        memory(
            "Memory of a process over its peers, on two nodes",
            "on two emulated nodes, UCX included",
            setting.on_two_nodes(used)?,
        ),
        Figure {
            title: "Operations on two nodes, on demand and eagerly".into(),
            caption: "After the first contact: put and get over size between 2 PEs; fetch-add, barrier and reduction over \
                      PEs. Two emulated nodes with half of the PEs each share this machine's CPUs."
                .into(),
            published: "",
            content: setting.on_two_nodes(operate)?,
        },
        Figure {
            title: "Peers that a process talks to, by application".into(),
            caption: "Counted by SHMEM_STATS; the mean over the PEs. What collectives do inside the library does not \
                      count: an application that uses nothing else has no curve. Extrapolated by the growth from the \
                      last but one to the last number of PEs."
                .into(),
            published: "",
            content: Content::made(applications::peers),
        },
        Figure {
            title: "Applications, on demand and eagerly".into(),
            caption: "The wall time of short jobs, start and end included: medians.".into(),
            published: "NAS Parallel Benchmarks up to 35 % faster than with all connections made at start",
            content: Content::made(applications::times),
        },
    ])
}
