//! Applications: peers that their PEs talk to, and their times.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use oneshmem_plots::plot::{Axis, Curve, Ink, Mark, Plot, Shade};
use oneshmem_plots::{Unit, figures, stats};

use super::data::few;
use super::{Drawing, Setting, Table, cells, run};
use crate::execute;
use crate::implementation::Implementation;
use crate::progress::Progress;

/// Applications: whether in the folder of patterns or among the examples, name, and arguments of a
/// short run.
const APPLICATIONS: [(bool, &str, &[&str]); 8] = [
    (false, "heat", &["64", "20"]),
    (false, "isort", &["20000"]),
    (false, "gups", &["12"]),
    (false, "matmul", &["48"]),
    (false, "queue", &["400"]),
    (true, "halo", &["16", "10"]),
    (true, "bfs", &["12"]),
    (true, "transpose", &["32", "10"]),
];

/// Builds an application of [`APPLICATIONS`].
fn build(setting: &Setting, pattern: bool, name: &str) -> anyhow::Result<PathBuf> {
    let folder = if pattern { setting.apps.join("patterns") } else { setting.examples.clone() };
    let program = setting.work.join(format!("application-{name}"));
    let source = folder.join(format!("{name}.c"));
    let mut compiler = Command::new(setting.own().commands()?.join("oshcc"));
    compiler.args(["-O2", "-std=gnu11", "-D_GNU_SOURCE"]).arg(&source);
    compiler.arg("-o").arg(&program).arg("-lm");
    run(setting, &mut compiler, &format!("the build of {}", source.display()))?;
    Ok(program)
}

/// Runs an application, which has to verify its result, with a variable of the environment.
fn run_one(
    setting: &Setting,
    who: &Implementation,
    program: &Path,
    pes: usize,
    arguments: &[&str],
    (variable, value): (&str, &str),
) -> anyhow::Result<execute::Outcome> {
    let what = format!("{} on {pes} PEs", program.display());
    let mut job = who.job(pes, program, &cells(arguments), 64);
    let outcome = run(setting, job.env(variable, value), &what)?;
    if !outcome.stdout.contains("verified") {
        bail!("{what} did not verify its result");
    }
    Ok(outcome)
}

/// How many peers a PE of each application talks to.
pub fn peers(setting: &Setting, numbers: &[usize]) -> anyhow::Result<Drawing> {
    let numbers = few(numbers, setting.by(64, 16, 4));
    let mut header = cells(&["peers of a PE, on average"]);
    header.extend(numbers.iter().map(|pes| format!("{pes} PEs")));
    let (mut rows, mut curves) = (Vec::new(), Vec::new());
    let mut progress = Progress::of(APPLICATIONS.len() * numbers.len());
    for (nth, (pattern, name, arguments)) in APPLICATIONS.iter().enumerate() {
        let program = build(setting, *pattern, name)?;
        let mut points = Vec::new();
        for &pes in &numbers {
            progress.step(&format!("{name} on {pes} PEs"));
            let counting = ("SHMEM_STATS", "1");
            let outcome = run_one(setting, setting.own(), &program, pes, arguments, counting)?;
            let y = talked_to(&outcome.stderr).with_context(|| name.to_owned())?;
            points.push(Mark { x: pes as f64, y, bar: None });
        }
        let each = points.iter().map(|mark| format!("{:.1}", mark.y));
        rows.push(std::iter::once((*name).to_owned()).chain(each).collect());
        // The axis is logarithmic.
        points.retain(|mark| mark.y > 0.0);
        if !points.is_empty() {
            curves.push(Curve { label: (*name).into(), ink: Ink::Nth(nth, Shade::Full), points });
        }
    }
    progress.end();
    let title = "Peers that a PE talks to".to_owned();
    let table = Table { title: title.clone(), header, rows };
    let plot = Plot { title, x: Axis::Pes, unit: Unit::Count, curves };
    Ok(Drawing { plots: vec![plot], ..Drawing::of_table(table) })
}

/// How long the jobs of each application take, with peers attached on demand and eagerly.
pub fn times(setting: &Setting) -> anyhow::Result<Drawing> {
    let pes = setting.some();
    let mut places = vec![("on a node", setting.own().clone())];
    if setting.no_nodes.is_none() {
        places.push(("on two nodes", setting.over_nodes(vec![setting.own().clone()])?.remove(0)));
    }
    let mut header = vec![format!("{pes} PEs")];
    for (place, _) in &places {
        header.extend([
            format!("{place}: on demand"),
            "eagerly".into(),
            "on demand better by".into(),
        ]);
    }
    let mut progress = Progress::of(APPLICATIONS.len() * places.len() * setting.repeats * 2);
    let mut rows = Vec::new();
    for (pattern, name, arguments) in APPLICATIONS {
        let program = build(setting, pattern, name)?;
        let mut row = vec![name.to_owned()];
        for (place, who) in &places {
            let mut times = [Vec::new(), Vec::new()];
            for _ in 0..setting.repeats {
                for (times, attach) in times.iter_mut().zip(["demand", "eager"]) {
                    progress.step(&format!("{name} {place}, {attach}"));
                    let with = ("SHMEM_ATTACH", attach);
                    let outcome = run_one(setting, who, &program, pes, arguments, with)?;
                    times.push(outcome.took.as_nanos() as f64);
                }
            }
            let [demand, eager] = times.map(|times| stats::median(&times));
            row.extend([demand, eager].map(|time| figures::figure(time, Unit::Nanoseconds)));
            row.push(format!("{:.0} %", 100.0 * (1.0 - demand / eager)));
        }
        rows.push(row);
    }
    progress.end();
    Ok(Drawing::of_table(Table { title: "Wall time of a job".into(), header, rows }))
}

/// The mean number of peers in the table of SHMEM_STATS.
fn talked_to(statistics: &str) -> anyhow::Result<f64> {
    let line = statistics.lines().find_map(|line| line.split_once("PEs that a PE talked to: "));
    let number = line.and_then(|(_, rest)| rest.split(' ').next()?.parse().ok());
    number.context("SHMEM_STATS did not say how many PEs a PE talked to")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_in_statistics() {
        let statistics = "x\nPEs that a PE talked to: 1.5 on average, at most 2\n";
        assert_eq!(talked_to(statistics).ok(), Some(1.5));
        assert!(talked_to("nothing").is_err());
    }
}
