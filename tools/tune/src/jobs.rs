//! Starts the measuring jobs and collects what they print.

use crate::copies::{self, Samples};
use crate::options::{self, Hosts};
use crate::plan::{self, Point};
use crate::results::Results;
use anyhow::{Context, bail};
use indicatif::{ProgressBar, ProgressStyle};
use oneshmem::internals::collectives::select::{self, Operation};
use oneshmem_job::env;
use oneshmem_tools::installation::Installation;
use oneshmem_watched::Running;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How many jobs measure each number of PEs, in turn: differences between jobs, such as where
/// memory lies, are part of the spread.
const ROUNDS: u32 = 3;
/// Seconds that a job takes in addition to measuring.
const START: f64 = 0.1;
/// A job gets at least this many seconds, even if earlier jobs took too long.
const LEAST: f64 = 0.1;
/// A job that has not ended so many seconds after its time hangs.
const PATIENCE: f64 = 300.0;
/// Enough for the arrays of all points.
const HEAP: &str = "64m";
/// Enough for the largest copy.
const HEAP_OF_COPIES: &str = "80m";

/// The algorithm of the barriers that are not measured: on one node, and over several.
const BARRIERS: [&str; 2] = ["direct", "two_level"];

/// Measures for `seconds` seconds, on this machine or over hosts.
pub fn measure(pes: &[usize], seconds: f64, hosts: Option<&Hosts>) -> anyhow::Result<Results> {
    let launcher = launcher()?;
    let bar = bar(seconds);
    let start = Instant::now();
    let mut results = if hosts.is_some() { Results::over_nodes() } else { Results::default() };
    for round in 0..ROUNDS {
        for (place, &pes_now) in pes.iter().enumerate() {
            let jobs_left = (ROUNDS - round) as usize * pes.len() - place;
            let share = (seconds - start.elapsed().as_secs_f64()) / jobs_left as f64 - START;
            let all = plan::points(pes_now);
            let worth = |point: &Point| results.is_contender(pes_now, *point);
            let mut wanted: Vec<usize> =
                (0..all.len()).filter(|index| worth(&all[*index])).collect();
            // Points that earlier jobs did not reach come first.
            wanted.sort_by_key(|index| results.sampled(pes_now, all[*index]));
            let mut job = command(&launcher, pes_now, share.max(LEAST), &wanted, hosts)?;
            let mut take = |index: usize, sweep, ns| {
                let point = *all.get(index).context("a point that was not asked for")?;
                results.add(pes_now, point, (round, sweep), ns);
                bar.set_message(format!("{pes_now} PEs, {}", point.operation().name()));
                bar.set_position((start.elapsed().as_secs_f64() * 1e3) as u64);
                anyhow::Ok(())
            };
            listen(&mut job, share.max(LEAST), &mut take)
                .with_context(|| format!("the job with {pes_now} PEs"))?;
        }
    }
    bar.finish_and_clear();
    Ok(results)
}

/// The `oshrun` of this installation.
fn launcher() -> anyhow::Result<PathBuf> {
    let installation =
        Installation::of_this_command().context("cannot find the installation of oshtune")?;
    let path = installation.bin().join("oshrun");
    if !path.is_file() {
        bail!("{} does not exist: oshtune and oshrun must be in the same folder", path.display());
    }
    Ok(path)
}

fn command(
    launcher: &Path,
    pes: usize,
    seconds: f64,
    points: &[usize],
    hosts: Option<&Hosts>,
) -> anyhow::Result<Command> {
    let points: Vec<String> = points.iter().map(usize::to_string).collect();
    let mut command = job(launcher, pes, HEAP);
    if let Some(Hosts { names, agent }) = hosts {
        command.args(["--host", &names.join(",")]);
        command.args(agent.iter().flat_map(|agent| ["--launch-agent", agent]));
    }
    command
        .arg(std::env::current_exe()?)
        .args([options::PE, &seconds.to_string(), &points.join(",")])
        .arg(BARRIERS[usize::from(hosts.is_some())]);
    Ok(command)
}

/// The beginning of a job's command line. Neither an old tuning file nor a choice by the user has an
/// influence on it.
fn job(launcher: &Path, pes: usize, heap: &str) -> Command {
    let mut command = Command::new(launcher);
    command.args(["-n", &pes.to_string()]).stdin(Stdio::null());
    command.env(env::TUNING.name, "").env(env::SYMMETRIC_SIZE.name, heap);
    for variable in Operation::ALL.map(select::variable) {
        for name in variable.names() {
            command.env_remove(name);
        }
    }
    command
}

/// Measures copies between two PEs of this machine for `seconds` seconds.
pub fn measure_copies(seconds: f64) -> anyhow::Result<Samples> {
    let launcher = launcher()?;
    let bar = bar(seconds);
    bar.set_message("copies");
    let points = copies::points();
    let mut samples = Samples::default();
    for round in 0..ROUNDS {
        let share = seconds / f64::from(ROUNDS);
        let mut command = job(&launcher, 2, HEAP_OF_COPIES);
        command.arg(std::env::current_exe()?).args([options::COPIES, &share.to_string()]);
        let mut take = |index: usize, sweep, ns| {
            let point = *points.get(index).context("a point that does not exist")?;
            samples.add(point, (round, sweep), ns);
            anyhow::Ok(())
        };
        listen(&mut command, share, &mut take).context("the job that measures copies")?;
        bar.set_position((share * f64::from(round + 1) * 1e3) as u64);
    }
    bar.finish_and_clear();
    Ok(samples)
}

/// Runs the job, which takes so many seconds, and passes on its samples as they come: point, sweep, nanoseconds.
fn listen(
    job: &mut Command,
    seconds: f64,
    take: &mut dyn FnMut(usize, usize, f64) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut started = String::new();
    let mut taken = Ok(());
    let outcome = Running::start(job)?.listen(
        Duration::from_secs_f64(seconds + PATIENCE),
        |_| (),
        |piece| {
            started += &String::from_utf8_lossy(piece);
            while let (Some((line, rest)), true) = (started.split_once('\n'), taken.is_ok()) {
                taken = sample(line).and_then(|(index, sweep, ns)| take(index, sweep, ns));
                started = rest.to_owned();
            }
        },
    )?;
    eprint!("{}", outcome.stderr);
    taken?;
    if !outcome.success() {
        bail!("{}", outcome.ending());
    }
    Ok(())
}

/// A sample in a line of a job.
fn sample(line: &str) -> anyhow::Result<(usize, usize, f64)> {
    let fields: Vec<&str> = line.split(' ').collect();
    let parsed = match fields[..] {
        [index, sweep, ns] => (index.parse().ok(), sweep.parse().ok(), ns.parse().ok()),
        _ => (None, None, None),
    };
    match parsed {
        (Some(index), Some(sweep), Some(ns)) => Ok((index, sweep, ns)),
        _ => bail!("printed \"{line}\" instead of a sample"),
    }
}

/// A progress bar over the time; hidden if there is no terminal.
fn bar(seconds: f64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {percent} % of {prefix} s, {msg}");
    ProgressBar::new((seconds * 1e3) as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        .with_prefix(seconds.to_string())
}
