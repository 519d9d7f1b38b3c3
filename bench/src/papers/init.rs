//! The steps of `shmem_init`, from timelines.

use anyhow::{Context, bail};
use oneshmem_plots::plot::{Axis, Curve, Ink, Mark, Plot, Shade};
use oneshmem_plots::{Unit, figures, stats};

use super::data::few;
use super::{Drawing, Setting, Table};
use crate::implementation::Implementation;

/// The steps of `shmem_init` on a node and on two, in jobs of so many PEs, with this setting of SHMEM_ATTACH.
pub fn steps(setting: &Setting, attach: &str, numbers: &[usize]) -> anyhow::Result<Drawing> {
    let own = setting.own_with(attach, &[("SHMEM_ATTACH", attach)]);
    let mut drawing = on(setting, &own, "on a node", &few(numbers, setting.by(64, 8, 2)))?;
    match &setting.no_nodes {
        Some(why) => drawing.remarks.push(format!("Not on two nodes: {why}.")),
        None => {
            let far = setting.over_nodes(vec![own])?;
            let numbers = few(numbers, setting.by(8, 8, 2));
            drawing.add(on(setting, &far[0], "on two nodes", &numbers)?);
        }
    }
    Ok(drawing)
}

fn on(
    setting: &Setting,
    own: &Implementation,
    place: &str,
    numbers: &[usize],
) -> anyhow::Result<Drawing> {
    let folder = setting.work.join(&own.folder);
    std::fs::create_dir_all(&folder)?;
    let program = folder.join("hello");
    own.build(&setting.sources.join("hello.c"), &program, &folder)?;
    // Of each number of PEs, the steps in the order of a PE.
    let mut jobs: Vec<Vec<Step>> = Vec::new();
    for &pes in numbers {
        let mut found: Vec<Step> = Vec::new();
        for _ in 0..setting.repeats {
            let trace = folder.join("trace.json");
            let mut job = own.job(pes, &program, &[], 16);
            super::run(setting, job.env("SHMEM_TRACE", &trace), &format!("hello on {pes} PEs"))?;
            for (name, mean) in mean_steps(&std::fs::read_to_string(&trace)?, pes)? {
                match found.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, times)) => times.push(mean),
                    None => found.push((name, vec![mean])),
                }
            }
        }
        jobs.push(found);
    }
    // The longest list has all steps.
    let longest = jobs.iter().max_by_key(|steps| steps.len());
    let names: Vec<&String> = longest.into_iter().flatten().map(|(name, _)| name).collect();
    let times = |steps: &[Step], name: &str| -> Vec<f64> {
        steps.iter().find(|(known, _)| known == name).map_or(Vec::new(), |(_, times)| times.clone())
    };
    let shown = |time: f64| match time.is_nan() {
        true => String::new(),
        false => figures::figure(time, Unit::Nanoseconds),
    };
    let (mut rows, mut curves) = (Vec::new(), Vec::new());
    for (nth, &name) in names.iter().enumerate() {
        let each = jobs.iter().map(|steps| shown(stats::median(&times(steps, name))));
        rows.push(std::iter::once(name.clone()).chain(each).collect());
        let points = jobs.iter().zip(numbers);
        let points: Vec<Mark> = points
            .map(|(steps, &pes)| Mark::of_runs(pes as f64, &times(steps, name)))
            .filter(|mark| !mark.y.is_nan())
            .collect();
        curves.push(Curve { label: name.clone(), ink: Ink::Nth(nth, Shade::Full), points });
    }
    let sum = |steps: &Vec<Step>| shown(steps.iter().map(|(_, times)| stats::median(times)).sum());
    rows.push(std::iter::once("all".to_owned()).chain(jobs.iter().map(sum)).collect());
    let header = std::iter::once("step".to_owned())
        .chain(numbers.iter().map(|pes| format!("{pes} PEs")))
        .collect();
    let title = format!("Steps of shmem_init, {place}");
    let plot = Plot { title: title.clone(), x: Axis::Pes, unit: Unit::Nanoseconds, curves };
    let table = Table { title, header, rows };
    Ok(Drawing { plots: vec![plot], tables: vec![table], ..Drawing::default() })
}

/// A step of initialisation and its times in nanoseconds.
type Step = (String, Vec<f64>);

/// The mean time of each step over all PEs, in the order of a PE, from a timeline.
fn mean_steps(trace: &str, pes: usize) -> anyhow::Result<Vec<(String, f64)>> {
    let data: serde_json::Value = serde_json::from_str(trace).context("no timeline")?;
    let mut sums: Vec<(String, f64)> = Vec::new();
    for event in data["traceEvents"].as_array().context("a timeline without events")? {
        if event["cat"] != "init" {
            continue;
        }
        let name = event["name"].as_str().context("a step without a name")?;
        let time = event["dur"].as_f64().context("a step without a time")? * 1e3;
        match sums.iter_mut().find(|(known, _)| known == name) {
            Some((_, sum)) => *sum += time,
            None => sums.push((name.to_owned(), time)),
        }
    }
    if sums.is_empty() {
        bail!("the timeline has no steps of shmem_init");
    }
    Ok(sums.into_iter().map(|(name, sum)| (name, sum / pes as f64)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_initialisation() {
        let event = |name: &str, time: f64| {
            format!("{{\"cat\": \"init\", \"name\": \"{name}\", \"dur\": {time}}}")
        };
        let events = [
            event("layout", 1.0),
            event("memory", 4.0),
            event("layout", 2.0),
            event("memory", 6.0),
        ];
        let text = format!("{{\"traceEvents\": [{{\"cat\": \"put\"}}, {}]}}", events.join(", "));
        let steps = mean_steps(&text, 2).expect("steps");
        assert_eq!(steps, [("layout".to_owned(), 1500.0), ("memory".to_owned(), 5000.0)]);
        assert!(mean_steps("{\"traceEvents\": []}", 2).is_err());
    }
}
