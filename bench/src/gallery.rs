//! The plots of a report, in the style of the paper's figures.

use std::path::Path;

use anyhow::Context;

use crate::figures;
use crate::limits;
use crate::plot::{Axis, Curve, Ink, Mark, Plot, Shade};
use crate::report::{Point, Report, Unit};

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

/// The sizes of `programs/offsets.h`.
const OFFSET_SIZES: [u64; 4] = [512, 4 << 10, 64 << 10, 1 << 20];

const RAW_MEMORY: &str = "raw shared memory";

/// Whether curves have bars from minimum to maximum.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bars {
    No,
    Yes,
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
    let by_size =
        |name: &str, title: &str, bars| compared(report, &[(name, "")], title, Axis::Bytes, bars);
    let by_pes =
        |name: &str, title: &str| compared(report, &[(name, "")], title, Axis::Pes, Bars::No);
    let mut list = vec![
        PageSection {
            title: "Ping-pong",
            caption: "Half of the round trip between two PEs; bars from the smallest to the largest sample of a typical \
                      run, cut where they would be longer than ten times the curves. The bandwidth is the message size over that time. \
                      Costs in units of raw shared memory are those within a turn, here and below, with bars over the turns.",
            plots: vec![
                by_size("pingpong.put", "Latency: putmem and wait", Bars::Yes),
                bandwidth_of_pingpong(report),
                by_size("pingpong.put_signal", "Latency: put with signal and wait", Bars::Yes),
                in_units(
                    report,
                    &[("pingpong.put", ", put"), ("pingpong.put_signal", ", put with signal")],
                    RAW_MEMORY,
                    Axis::Bytes,
                ),
            ],
        },
        PageSection {
            title: "Message rate",
            caption: "Each PE puts 128 messages to each of its peers (six, where there are so many) and waits for the last one \
                      expected; average rate of one PE, caches invalidated before each iteration.",
            plots: vec![
                by_size("msgrate.put", "Messages a second and PE", Bars::Yes),
                in_units(report, &[("msgrate.put", "")], RAW_MEMORY, Axis::Bytes),
            ],
        },
        PageSection {
            title: "Bandwidth",
            caption: "Windows of transfers, then quiet. The limit is the best of several raw copies at each size.",
            plots: vec![
                by_size("bandwidth.put", "Put", Bars::No),
                by_size("bandwidth.put_both", "Put in both directions at once", Bars::No),
                by_size("bandwidth.get", "Get", Bars::No),
                by_size("bandwidth.put_nbi", "Put without blocking", Bars::No),
                in_units(
                    report,
                    &[("bandwidth.put", ", put"), ("bandwidth.get", ", get")],
                    RAW_MEMORY,
                    Axis::Bytes,
                ),
                in_units(
                    report,
                    &[("bandwidth.put_both", ", put"), ("bandwidth.get_both", ", get")],
                    "raw shared memory, both ways",
                    Axis::Bytes,
                ),
            ],
        },
        PageSection {
            title: "Offset of destination to source",
            caption: "Bandwidth over the destination's address minus the source's, whole pages not counted: processors first compare \
                      addresses without their pages. The limit is the best of several raw copies at each offset.",
            plots: OFFSET_SIZES.map(|size| at_offset(report, size)).into(),
        },
        PageSection {
            title: "Collectives",
            caption: "Time of the slowest PE by the size of a block. Where an implementation has them, both the forms over \
                      teams and the older ones over active sets.",
            plots: ["broadcast", "fcollect", "alltoall", "sum", "collect", "alltoalls"]
                .map(|operation| {
                    let names = [
                        (format!("collective.{operation}"), ", teams"),
                        (format!("activeset.{operation}"), ", active sets"),
                    ];
                    let names: Vec<(&str, &str)> =
                        names.iter().map(|(name, form)| (name.as_str(), *form)).collect();
                    compared(report, &names, operation, Axis::Bytes, Bars::No)
                })
                .into(),
        },
        PageSection {
            title: "Starting",
            caption: "Wall time of a whole job in which every PE says who it is, beside as many /bin/true from the same \
                      launcher and without one; the time inside shmem_init; and what the job costs in units of /bin/true from its launcher.",
            plots: vec![
                compared(
                    report,
                    &[("startup.hello", ""), ("startup.true", ", /bin/true")],
                    "Whole job",
                    Axis::Pes,
                    Bars::No,
                ),
                by_pes("startup.init", "shmem_init"),
                by_pes("startup.first_contact", "First contact with another PE"),
                in_units(
                    report,
                    &[("startup.hello", "")],
                    "/bin/true from the launcher",
                    Axis::Pes,
                ),
            ],
        },
        PageSection {
            title: "Over two nodes",
            caption: "Two nodes with half of the PEs each, emulated on this machine, whose CPUs all PEs share. PE 0 works \
                      on the first PE of the other node, while the others wait; of collectives, the slowest PE's time.",
            plots: vec![
                by_pes("nodes.put", "put of 8 B and quiet"),
                by_pes("nodes.get", "get of 8 B"),
                compared(
                    report,
                    &[("nodes.fetch_add", ""), ("nodes.fetch_add_computing", ", target computes")],
                    "fetch-add",
                    Axis::Pes,
                    Bars::No,
                ),
                by_pes("nodes.put_signal", "put with signal, one way"),
                by_pes("nodes.put_bandwidth", "put of 1 MiB and quiet"),
                by_pes("nodes.get_bandwidth", "get of 1 MiB"),
                by_pes("nodes.barrier", "barrier_all"),
                by_pes("nodes.reduce", "sum of 8 B"),
            ],
        },
        PageSection {
            title: "More PEs than CPUs",
            caption: "From as many PEs as CPUs to eight times as many.",
            plots: vec![
                by_pes("oversubscribed.barrier_all", "barrier_all"),
                by_pes("oversubscribed.ring", "One hop of a token round the ring"),
                by_pes("oversubscribed.sum_and_barrier", "A reduction of 8 bytes, and barrier_all"),
                in_units(
                    report,
                    &[
                        ("oversubscribed.barrier_all", ", barrier_all"),
                        ("oversubscribed.ring", ", ring"),
                    ],
                    RAW_MEMORY,
                    Axis::Pes,
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

/// Curves of some quantities for each implementation, and of the last quantity's limit.
fn compared(report: &Report, names: &[(&str, &str)], title: &str, x: Axis, bars: Bars) -> Plot {
    let mut curves = Vec::new();
    let mut unit = Unit::Nanoseconds;
    let mut limit: Vec<Mark> = Vec::new();
    for (place, implementation) in report.implementations.iter().enumerate() {
        for (&(name, form), shade) in names.iter().zip([Shade::Full, Shade::Light]) {
            let points = sorted(report, &implementation.name, name, x);
            let Some(first) = points.first() else { continue };
            unit = first.unit;
            if names.last().is_some_and(|last| last.0 == name) && limit.is_empty() {
                let raw = |point: &&Point| {
                    limits::limit_of(report, point)
                        .map(|raw| Mark { y: raw.value, ..mark(point, x, Bars::No) })
                };
                limit = points.iter().filter_map(raw).collect();
            }
            curves.push(Curve {
                label: format!("{}{form}", implementation.name),
                ink: Ink::Nth(place, shade),
                points: points.iter().map(|point| mark(point, x, bars)).collect(),
            });
        }
    }
    if !limit.is_empty() {
        let starts = names.iter().any(|(name, _)| *name == "startup.true");
        let label = if starts { "/bin/true, no launcher" } else { RAW_MEMORY };
        curves.push(Curve { label: label.into(), ink: Ink::Raw, points: limit });
    }
    Plot { title: title.into(), x, unit, curves }
}

/// The costs of some quantities relative to their limits, with bars over the turns.
fn in_units(report: &Report, names: &[(&str, &str)], of: &str, x: Axis) -> Plot {
    let mut curves = Vec::new();
    for (place, implementation) in report.implementations.iter().enumerate() {
        for (&(name, form), shade) in names.iter().zip([Shade::Full, Shade::Light]) {
            let points = sorted(report, &implementation.name, name, x);
            let mark = |point: &&Point| {
                let ratios = limits::ratios(report, point)?;
                let range = ratios.range();
                let bar = Some((range.low, range.high));
                Some(Mark { y: ratios.value(), bar, ..mark(point, x, Bars::No) })
            };
            let points: Vec<Mark> = points.iter().filter_map(mark).collect();
            if !points.is_empty() {
                let label = format!("{}{form}", implementation.name);
                curves.push(Curve { label, ink: Ink::Nth(place, shade), points });
            }
        }
    }
    Plot { title: format!("Cost in units of {of}"), x, unit: Unit::Times, curves }
}

fn sorted<'a>(report: &'a Report, implementation: &'a str, name: &str, x: Axis) -> Vec<&'a Point> {
    let mut points: Vec<&Point> =
        report.points_of(implementation).filter(|point| point.name == name).collect();
    points.sort_by_key(|point| (point.size, point.pes));
    if x == Axis::Bytes {
        points.retain(|point| point.size > 0);
    }
    points
}

fn mark(point: &Point, x: Axis, bars: Bars) -> Mark {
    let (min, _, max) = point.within();
    let x = match x {
        Axis::Bytes | Axis::Offset => point.size as f64,
        Axis::Pes => point.pes as f64,
    };
    Mark { x, y: point.value(), bar: (bars == Bars::Yes).then_some((min, max)) }
}

/// Copies of one size at all offsets.
fn at_offset(report: &Report, size: u64) -> Plot {
    let [put, get] = ["put", "get"].map(|operation| format!("at_offset.{operation}.{size}"));
    let names = [(get.as_str(), ", get"), (put.as_str(), ", put")];
    let title = format!("Copies of {}", figures::bytes(size));
    compared(report, &names, &title, Axis::Offset, Bars::No)
}

/// The ping-pong's latencies converted to bandwidths.
fn bandwidth_of_pingpong(report: &Report) -> Plot {
    let mut plot = compared(
        report,
        &[("pingpong.put", "")],
        "Bandwidth: putmem and wait",
        Axis::Bytes,
        Bars::No,
    );
    plot.unit = Unit::MegaBytes;
    for mark in plot.curves.iter_mut().flat_map(|curve| &mut curve.points) {
        mark.y = mark.x * 1000.0 / mark.y;
    }
    plot
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
    use crate::machine::Machine;
    use crate::report::{Implementation, Key, RAW, Run, Summary};

    #[test]
    fn curves_of_all_and_the_limit() {
        let mut report = Report::new(true, 1, vec![0, 1], Machine::default());
        for name in ["mine", "theirs"] {
            report.implementations.push(Implementation { name: name.into(), facts: Vec::new() });
        }
        for size in [64, 8] {
            for (who, name, value) in [
                (RAW, "raw.pingpong.pause", 50.0),
                ("mine", "pingpong.put", 100.0),
                ("theirs", "pingpong.put", 400.0),
            ] {
                let samples = Summary { min: value / 2.0, max: value * 2.0, ..Summary::one(value) };
                let run = Run { samples, ..Run::one(0, value) };
                report.add(
                    who,
                    "p",
                    Key { name: name.into(), size, pes: 2 },
                    Unit::Nanoseconds,
                    run,
                );
            }
        }
        let sections = sections(&report);
        assert_eq!(sections.len(), 1);
        let [latency, bandwidth, times] = &sections[0].plots[..] else {
            panic!("{} plots", sections[0].plots.len())
        };
        let labels: Vec<&str> = latency.curves.iter().map(|curve| curve.label.as_str()).collect();
        assert_eq!(labels, ["mine", "theirs", "raw shared memory"]);
        let mine = &latency.curves[0].points;
        assert_eq!((mine[0].x, mine[1].x, mine[0].bar), (8.0, 64.0, Some((50.0, 200.0))));
        assert_eq!(bandwidth.curves[0].points[1].y, 640.0);
        let of_raw: Vec<f64> = times.curves.iter().map(|curve| curve.points[0].y).collect();
        assert_eq!(of_raw, [2.0, 8.0]);
    }
}
