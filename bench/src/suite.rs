//! Building, running and collecting: from a plan to a report.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};

use crate::execute::Outcome;
use crate::implementation::Implementation;
use crate::instructions;
use crate::lines::{self, Line};
use crate::machine::{self, Machine};
use crate::noise::Watch;
use crate::plan::{Experiment, Extent};
use crate::report::{self, Key, RAW, RemarkKind, Report, Run, Unit};

/// What is to be done.
#[derive(Debug)]
pub struct Suite {
    /// The implementations, the own one first.
    pub implementations: Vec<Implementation>,
    /// How much.
    pub extent: Extent,
    /// Repeats, if not as many as usual.
    pub repeats: Option<usize>,
    /// The experiments, for so many usable CPUs.
    pub experiments: fn(Extent, usize) -> Vec<Experiment>,
    /// Only programs whose names contain one of these; all if there are none.
    pub only: Vec<String>,
    /// Where the programs' sources are.
    pub sources: PathBuf,
    /// Where to build.
    pub work: PathBuf,
}

/// Runs that need not be tried again: implementation, program, PEs.
type Hopeless = HashSet<(String, &'static str, usize)>;

impl Suite {
    /// Adds the instructions per call of every implementation, which takes valgrind.
    pub fn count_instructions(&self, report: &mut Report) {
        for who in &self.implementations {
            match instructions::count(who, &self.sources, &self.work) {
                Ok(counts) => report.instructions.push((who.name.clone(), counts)),
                Err(error) => report.remark(
                    &who.name,
                    "calls",
                    RemarkKind::Skipped,
                    format!("instructions per call: {error:#}"),
                ),
            }
        }
    }

    /// Runs everything. Only what makes all figures impossible is an error; what fails for
    /// one implementation or program becomes a remark.
    pub fn run(&self) -> anyhow::Result<Report> {
        let cpus = machine::usable_cpus()?;
        let repeats = self.repeats.unwrap_or(self.extent.repeats());
        let machine = Machine::here(&cpus);
        let mut report = Report::new(self.extent != Extent::Full, repeats, cpus.clone(), machine);
        let mut watch = Watch::start();

        let wanted = |program: &str| {
            self.only.is_empty() || self.only.iter().any(|part| program.contains(part.as_str()))
        };
        let experiments: Vec<Experiment> = (self.experiments)(self.extent, cpus.len())
            .into_iter()
            .filter(|e| wanted(e.program))
            .collect();
        let mut everyone = vec![Implementation::raw()];
        everyone.extend(self.implementations.iter().cloned());

        let mut hopeless = Hopeless::new();
        self.build(&everyone, &experiments, &mut report, &mut hopeless)?;
        for implementation in &self.implementations {
            let facts = self.facts(implementation, &mut report)?;
            report
                .implementations
                .push(report::Implementation { name: implementation.name.clone(), facts });
        }

        // Repeats are the outer loop, so that a change of the machine's mood meets everyone alike.
        let pinning = format!("cpus={}", machine::listed(&cpus));
        let belongs = |who: &Implementation, e: &Experiment| who.bin.is_none() == e.raw;
        let jobs: usize =
            everyone.iter().map(|who| experiments.iter().filter(|e| belongs(who, e)).count()).sum();
        let bar = bar((jobs * repeats) as u64);
        for _ in 0..repeats {
            watch.probe();
            for experiment in &experiments {
                for who in everyone.iter().filter(|who| belongs(who, experiment)) {
                    bar.set_message(format!(
                        "{} {} on {} PEs",
                        who.name, experiment.program, experiment.pes
                    ));
                    self.once(who, experiment, &pinning, &mut report, &mut hopeless)?;
                    bar.inc(1);
                }
            }
        }
        bar.finish_and_clear();
        watch.probe();
        report.noise = watch.end();
        Ok(report)
    }

    /// Where an implementation's program is built. Raw programs have names of their own.
    fn program(&self, who: &Implementation, name: &str) -> PathBuf {
        self.work.join(&who.name).join(name)
    }

    fn scratch(&self, who: &Implementation) -> PathBuf {
        self.work.join(&who.name)
    }

    fn build(
        &self,
        everyone: &[Implementation],
        experiments: &[Experiment],
        report: &mut Report,
        hopeless: &mut Hopeless,
    ) -> anyhow::Result<()> {
        let used = |raw: bool| {
            let named = experiments.iter().filter(move |e| e.raw == raw).map(|e| e.program);
            let mut names: Vec<&str> = (!raw).then_some("facts").into_iter().chain(named).collect();
            names.sort_unstable();
            names.dedup();
            names
        };
        let bar = bar(everyone.iter().map(|who| used(who.bin.is_none()).len() as u64).sum());
        for who in everyone {
            let scratch = self.scratch(who);
            std::fs::create_dir_all(&scratch)
                .with_context(|| format!("cannot make {}", scratch.display()))?;
            let raw = who.bin.is_none();
            for name in used(raw) {
                bar.set_message(format!("building {name} for {}", who.name));
                let directory = if raw { self.sources.join("raw") } else { self.sources.clone() };
                let source = directory.join(name).with_extension("c");
                if let Err(error) = who.build(&source, &self.program(who, name), &scratch) {
                    report.remark(&who.name, name, RemarkKind::Failed, format!("{error:#}"));
                    let its = experiments.iter().filter(|e| e.raw == raw && e.program == name);
                    hopeless.extend(its.map(|e| (who.name.clone(), e.program, e.pes)));
                }
                bar.inc(1);
            }
        }
        bar.finish_and_clear();
        Ok(())
    }

    fn facts(
        &self,
        who: &Implementation,
        report: &mut Report,
    ) -> anyhow::Result<Vec<(String, String)>> {
        let program = self.program(who, "facts");
        let mut facts = Vec::new();
        if let Some(bin) = &who.bin {
            facts.push(("commands".to_owned(), bin.display().to_string()));
        }
        if !who.launch.is_empty() {
            facts.push(("launcher arguments".to_owned(), who.launch.join(" ")));
        }
        if program.is_file() {
            let mut command = who.job(1, &program, &[], 16);
            let outcome = crate::execute::run(&mut command, &self.scratch(who), self.patience())?;
            for line in self.lines(who, "facts", &outcome, report) {
                if let Line::Fact(what, value) = line {
                    facts.push((what, value));
                }
            }
        }
        facts.extend(who.info());
        Ok(facts)
    }

    fn patience(&self) -> Duration {
        Duration::from_secs(self.extent.patience())
    }

    /// One experiment, once, for one implementation.
    fn once(
        &self,
        who: &Implementation,
        experiment: &Experiment,
        pinning: &str,
        report: &mut Report,
        hopeless: &mut Hopeless,
    ) -> anyhow::Result<()> {
        let label = (who.name.clone(), experiment.program, experiment.pes);
        if hopeless.contains(&label) {
            return Ok(());
        }
        let program = self.program(who, experiment.program);
        let outcome =
            who.run(experiment, &program, pinning, &self.scratch(who), self.patience())?;
        let lines = self.lines(who, experiment.program, &outcome, report);
        if !lines.contains(&Line::Done) {
            hopeless.insert(label);
        }
        if experiment.whole_job && lines.contains(&Line::Done) {
            self.add_wall(&who.name, "startup.job", experiment.pes, outcome.took, report);
            self.add_true(who, experiment.pes, report)?;
        }
        for line in lines {
            match line {
                Line::Result(key, unit, run) => {
                    report.add(&who.name, experiment.program, key, unit, run)
                }
                Line::Skip(what, why) => {
                    report.remark(
                        &who.name,
                        experiment.program,
                        RemarkKind::Skipped,
                        format!("{what}: {why}"),
                    );
                }
                Line::Wrong(what, how) => {
                    report.remark(
                        &who.name,
                        experiment.program,
                        RemarkKind::Failed,
                        format!("{what}: wrong {how}"),
                    );
                }
                Line::Fact(..) | Line::Done => {}
            }
        }
        Ok(())
    }

    /// The lines of a run, with a remark if it did not end well. What was printed before a bad
    /// end counts, except the last figure where a check of data failed: it is the one in doubt.
    fn lines(
        &self,
        who: &Implementation,
        program: &str,
        outcome: &Outcome,
        report: &mut Report,
    ) -> Vec<Line> {
        let mut lines = Vec::new();
        for text in outcome.stdout.lines() {
            match lines::parse(text) {
                Ok(Some(line)) => lines.push(line),
                Ok(None) => {}
                Err(error) => {
                    report.remark(&who.name, program, RemarkKind::Failed, format!("{error:#}"))
                }
            }
        }
        match (lines.contains(&Line::Done), outcome.success()) {
            (true, true) => {}
            (true, false) => {
                let what = format!("after all checks had passed the job {}", outcome.ending());
                report.remark(&who.name, program, RemarkKind::BadEnd, what);
            }
            (false, _) => {
                report.remark(&who.name, program, RemarkKind::Failed, outcome.reason());
                let doubtful = lines.iter().rposition(|line| matches!(line, Line::Result(..)));
                if outcome.stderr.contains("FAILED")
                    && let Some(doubtful) = doubtful
                {
                    lines.remove(doubtful);
                }
            }
        }
        lines
    }

    fn add_wall(&self, who: &str, name: &str, pes: usize, took: Duration, report: &mut Report) {
        let ns = took.as_nanos() as f64;
        let run = Run { min: ns, median: ns, mean: ns, max: ns, samples: 1 };
        report.add(who, "startup", Key { name: name.into(), size: 0, pes }, Unit::Nanoseconds, run);
    }

    /// Beside the start of a job: as many processes that do nothing, from the same launcher and from this
    /// process directly.
    fn add_true(
        &self,
        who: &Implementation,
        pes: usize,
        report: &mut Report,
    ) -> anyhow::Result<()> {
        let mut command = who.job(pes, Path::new("/bin/true"), &[], 16);
        let outcome = crate::execute::run(&mut command, &self.scratch(who), self.patience())?;
        if outcome.success() {
            self.add_wall(&who.name, "startup.true", pes, outcome.took, report);
        }
        if self.implementations.first().is_some_and(|own| own.name == who.name) {
            let start = Instant::now();
            let spawn = |_| {
                Command::new("/bin/true")
                    .stdin(Stdio::null())
                    .spawn()
                    .context("cannot run /bin/true")
            };
            let children = (0..pes).map(spawn).collect::<anyhow::Result<Vec<_>>>()?;
            for mut child in children {
                child.wait()?;
            }
            self.add_wall(RAW, "raw.true", pes, start.elapsed(), report);
        }
        Ok(())
    }
}

/// A bar that shows how long it will still take; nothing where there is no terminal.
fn bar(length: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed} (still {eta}) {msg}");
    ProgressBar::new(length).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
