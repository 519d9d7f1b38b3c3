//! Executes a plan: builds and runs the programs, and collects a report.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;

use crate::execute::Outcome;
use crate::implementation::Implementation;
use crate::instructions;
use crate::lines::{self, Line};
use crate::machine::{self, Machine};
use crate::noise::Watch;
use crate::plan::{Comparison, Experiment, Extent};
use crate::progress::Progress;
use crate::report::{self, Key, RAW, RemarkKind, Report, Run, Summary, Unit};
use crate::whole_job;

/// The measurements to make.
#[derive(Debug)]
pub struct Suite {
    /// The implementations, our own first.
    pub implementations: Vec<Implementation>,
    /// How much to run.
    pub extent: Extent,
    /// How often to run everything.
    pub repeats: usize,
    /// How long a job of another implementation may take, if not as long as our own.
    pub limit: Option<Duration>,
    /// Whether PEs are pinned to CPUs, if there are enough.
    pub pins: bool,
    /// The experiments of one turn.
    pub groups: Vec<Comparison>,
    /// Run only programs whose names contain one of these. Empty for all programs.
    pub only: Vec<String>,
    /// The folder of the programs' sources.
    pub sources: PathBuf,
    /// Where to build.
    pub work: PathBuf,
}

/// Runs without any figure, which are not tried again: implementation, program, PEs.
type Hopeless = HashSet<(String, String, usize)>;

/// A figure that is not part of the report yet.
struct Figure {
    who: String,
    key: Key,
    unit: Unit,
    samples: Summary,
}

impl Suite {
    /// Adds the instructions per call of every implementation. Requires valgrind.
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

    /// Runs everything. Only a failure that makes all figures impossible is an error. A failure of
    /// one implementation or program becomes a remark.
    pub fn run(&self) -> anyhow::Result<Report> {
        let cpus = machine::usable_cpus()?;
        let repeats = self.repeats;
        let machine = Machine::here(&cpus);
        let mut report = Report::new(self.extent != Extent::Full, repeats, cpus.clone(), machine);
        let watch = Watch::start();

        let wanted = |program: &str| {
            self.only.is_empty() || self.only.iter().any(|part| program.contains(part.as_str()))
        };
        let mut groups = self.groups.clone();
        for group in &mut groups {
            // A program's references are kept with it.
            let any = group.iter().any(|e| wanted(&e.program));
            group.retain(|e| wanted(&e.program) || (e.raw && any));
        }
        let experiments: Vec<&Experiment> = groups.iter().flatten().collect();
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

        let pins = if self.pins { machine::listed(&cpus) } else { String::new() };
        let pinning = format!("cpus={pins}");
        let each =
            |e: &Experiment| everyone.iter().filter(|who| who.bin.is_none() == e.raw).count();
        let jobs: usize = experiments.iter().map(|e| each(e)).sum();
        let mut progress = Progress::of(jobs * repeats);
        // Turns are the outer loop, so that changes of the machine's speed affect all
        // implementations.
        for turn in 0..repeats {
            for experiment in &experiments {
                let Experiment { program, raw, pes, .. } = experiment;
                for who in everyone.iter().filter(|who| who.bin.is_none() == *raw) {
                    progress.step(&format!("{} {program} on {pes} PEs", who.name));
                    let found = self.once(who, experiment, &pinning, &mut report, &mut hopeless)?;
                    for Figure { who, key, unit, samples } in found {
                        report.add(&who, program, key, unit, Run { turn, samples });
                    }
                }
            }
        }
        progress.end();
        report.noise = watch.end();
        Ok(report)
    }

    /// The path of an implementation's program. Raw programs have distinct names.
    fn program(&self, who: &Implementation, name: &str) -> PathBuf {
        self.work.join(&who.folder).join(name)
    }

    fn scratch(&self, who: &Implementation) -> PathBuf {
        self.work.join(&who.folder)
    }

    fn build(
        &self,
        everyone: &[Implementation],
        experiments: &[&Experiment],
        report: &mut Report,
        hopeless: &mut Hopeless,
    ) -> anyhow::Result<()> {
        let used = |raw: bool| {
            let named =
                experiments.iter().filter(move |e| e.raw == raw).map(|e| e.program.as_str());
            let mut names: Vec<&str> = (!raw).then_some("facts").into_iter().chain(named).collect();
            names.sort_unstable();
            names.dedup();
            names
        };
        // Variants of an implementation share its programs.
        let mut folders = HashSet::new();
        let distinct = |who: &&Implementation| folders.insert(who.folder.clone());
        let builders: Vec<&Implementation> = everyone.iter().filter(distinct).collect();
        let all = builders.iter().map(|who| used(who.bin.is_none()).len()).sum();
        let mut progress = Progress::of(all);
        for who in builders {
            let scratch = self.scratch(who);
            std::fs::create_dir_all(&scratch)
                .with_context(|| format!("cannot make {}", scratch.display()))?;
            let raw = who.bin.is_none();
            for name in used(raw) {
                progress.step(&format!("building {name} for {}", who.folder));
                let directory = if raw { self.sources.join("raw") } else { self.sources.clone() };
                let source = directory.join(name).with_extension("c");
                if let Err(error) = who.build(&source, &self.program(who, name), &scratch) {
                    let its = experiments.iter().filter(|e| e.raw == raw && e.program == name);
                    let pes: Vec<usize> = its.map(|e| e.pes).collect();
                    for variant in everyone.iter().filter(|other| other.folder == who.folder) {
                        let what = format!("{error:#}");
                        report.remark(&variant.name, name, RemarkKind::Failed, what);
                        let label = |&pes: &usize| (variant.name.clone(), name.to_owned(), pes);
                        hopeless.extend(pes.iter().map(label));
                    }
                }
            }
        }
        progress.end();
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
            let outcome =
                crate::execute::run(&mut command, &self.scratch(who), self.patience(who))?;
            for line in self.lines(who, "facts", &outcome, report) {
                if let Line::Fact(what, value) = line {
                    facts.push((what, value));
                }
            }
        }
        facts.extend(who.info());
        Ok(facts)
    }

    fn patience(&self, who: &Implementation) -> Duration {
        let is_own = self.implementations.first().is_some_and(|own| own.name == who.name);
        let limit = self.limit.filter(|_| !is_own);
        limit.unwrap_or(Duration::from_secs(self.extent.patience()))
    }

    /// Runs one experiment once, for one implementation.
    fn once(
        &self,
        who: &Implementation,
        experiment: &Experiment,
        pinning: &str,
        report: &mut Report,
        hopeless: &mut Hopeless,
    ) -> anyhow::Result<Vec<Figure>> {
        let program = experiment.program.as_str();
        let label = (who.name.clone(), program.to_owned(), experiment.pes);
        let mut figures = Vec::new();
        if hopeless.contains(&label) {
            return Ok(figures);
        }
        let built = self.program(who, program);
        let outcome =
            who.run(experiment, &built, pinning, &self.scratch(who), self.patience(who))?;
        let lines = self.lines(who, program, &outcome, report);
        if !lines.contains(&Line::Done) {
            // A forced algorithm has figures up to the size that it is not for.
            if !lines.iter().any(|line| matches!(line, Line::Result(..))) {
                hopeless.insert(label);
            }
        } else if experiment.whole_job && !whole_job::all_greet(&outcome.stdout, experiment.pes) {
            let what = format!("not one greeting of each of {} PEs", experiment.pes);
            report.remark(&who.name, program, RemarkKind::Failed, what);
        } else if experiment.whole_job {
            let name = format!("startup.{program}");
            figures.push(wall(&who.name, &name, experiment.pes, outcome.took));
            figures.extend(self.nothing_done(who, experiment.pes)?);
        }
        for line in lines {
            match line {
                Line::Result(key, unit, samples) => {
                    figures.push(Figure { who: who.name.clone(), key, unit, samples });
                }
                Line::Skip(what, why) => {
                    let what = format!("{what}: {why}");
                    report.remark(&who.name, program, RemarkKind::Skipped, what);
                }
                Line::Wrong(what, how) => {
                    let what = format!("{what}: wrong {how}");
                    report.remark(&who.name, program, RemarkKind::Failed, what);
                }
                Line::Fact(..) | Line::Done => {}
            }
        }
        Ok(figures)
    }

    /// Parses the lines of a run, and adds a remark if it did not end well. Figures printed before
    /// a bad end count, except the last one if a check of data failed, as that figure is in doubt.
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
                if let Some(doubtful) = doubtful.filter(|_| outcome.stderr.contains("FAILED")) {
                    lines.remove(doubtful);
                }
            }
        }
        lines
    }

    /// References for a whole job: as many processes that do nothing, started by the same launcher
    /// and directly by this process.
    fn nothing_done(&self, who: &Implementation, pes: usize) -> anyhow::Result<Vec<Figure>> {
        let mut figures = Vec::new();
        let mut command = who.job(pes, Path::new("/bin/true"), &[], 16);
        let outcome = crate::execute::run(&mut command, &self.scratch(who), self.patience(who))?;
        if outcome.success() {
            figures.push(wall(&who.name, "startup.true", pes, outcome.took));
        }
        if self.implementations.first().is_some_and(|own| own.name == who.name) {
            figures.push(wall(RAW, "raw.true", pes, whole_job::without_launcher(pes)?));
        }
        Ok(figures)
    }
}

/// Wall time of a whole job.
fn wall(who: &str, name: &str, pes: usize, took: Duration) -> Figure {
    Figure {
        who: who.into(),
        key: Key { name: name.into(), size: 0, pes },
        unit: Unit::Nanoseconds,
        samples: Summary::one(took.as_nanos() as f64),
    }
}
