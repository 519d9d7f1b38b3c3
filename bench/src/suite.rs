//! Builds programs and runs them in turns, and collects a report.

use std::collections::HashSet;
use std::path::PathBuf;

use anyhow::bail;

use crate::data::{Part, Setting};
use crate::implementation::{Implementation, Kind};
use crate::machine;
use crate::neighbours::Neighbours;
use crate::read::{Reading, Told};
use crate::report::{Report, Run};

/// A program with one number of PEs.
#[derive(Debug, Clone)]
pub struct Job {
    /// The name of the program, without its ending; or where one is that is not built.
    pub program: String,
    pub pes: usize,
    pub arguments: Vec<String>,
    /// The symmetric heap that it needs, in MiB.
    pub heap: u64,
    /// Its busy neighbours ([`Neighbours::start`]).
    pub neighbours: String,
    /// Added to the names of its quantities.
    pub suffix: String,
}

/// Jobs for several implementations.
pub struct Suite<'a> {
    /// Who runs them, our own first; plain shared memory among them if it does.
    pub who: Vec<Implementation>,
    /// The jobs of a turn.
    pub jobs: Vec<Job>,
    pub part: &'a Part,
    pub setting: &'a Setting,
}

impl Suite<'_> {
    /// Runs everything. Turns are the outer loop, and implementations the inner one, so that changes of the machine's speed
    /// affect all of them. What fails becomes a remark.
    pub fn run(&self) -> anyhow::Result<Report> {
        let Part { place, statistic, .. } = *self.part;
        let mut report = Report { place, statistic, ..Report::default() };
        let ours = self.who.iter().filter(|who| !who.is_raw());
        report.names = ours.map(|who| who.name.clone()).collect();
        // Jobs that ended without a figure are not tried again: implementation, program, PEs.
        let mut failed: HashSet<(String, String, usize)> = HashSet::new();
        // Before anything is measured; what fails is told where the job is due.
        for job in &self.jobs {
            self.who.iter().for_each(|who| drop(self.built(who, &job.program)));
        }
        for turn in 0..self.setting.repeats {
            for job in &self.jobs {
                let _neighbours = Neighbours::start(&job.neighbours)?;
                for who in &self.who {
                    let label = (who.name.clone(), job.program.clone(), job.pes);
                    if !failed.contains(&label) && !self.once(turn, who, job, &mut report)? {
                        failed.insert(label);
                    }
                }
            }
        }
        Ok(report)
    }

    /// The source of a program.
    fn source(&self, who: &Implementation, program: &str) -> anyhow::Result<PathBuf> {
        let endings = if who.rust.is_some() { &["rs"][..] } else { &["c", "cc"] };
        let all = &self.setting.sources;
        // Further folders are of OpenSHMEM alone: one program is all of their examples over MPI.
        let (folders, names) = match who.kind {
            Kind::Mpi(..) => (&all[..2], &[program, "mpi"][..]),
            _ => (&all[..], &[program][..]),
        };
        for (name, folder) in names.iter().flat_map(|name| folders.iter().map(move |it| (name, it)))
        {
            let mut files = endings.iter().map(|end| folder.join(name).with_extension(end));
            if let Some(file) = files.find(|file| file.is_file()) {
                return Ok(file);
            }
        }
        bail!("no source of {program} in {folders:?}")
    }

    /// Builds a program, once for all figures and all variants of an implementation.
    fn built(&self, who: &Implementation, program: &str) -> Result<(), String> {
        if program.starts_with('/') {
            return Ok(());
        }
        let build = |file: &PathBuf| {
            std::fs::create_dir_all(self.setting.work.join(&who.folder))?;
            who.build(&self.source(who, program)?, file)
        };
        let mut built = self.setting.built.borrow_mut();
        let made = built.entry(self.setting.work.join(&who.folder).join(program));
        made.or_insert_with_key(|file| build(file).map_err(|error| format!("{error:#}"))).clone()
    }

    /// Runs one job once. Returns whether to try it again.
    fn once(
        &self,
        turn: usize,
        who: &Implementation,
        job: &Job,
        report: &mut Report,
    ) -> anyhow::Result<bool> {
        let (Job { program, pes, .. }, reading) = (job, self.part.read);
        if let Err(error) = self.built(who, program) {
            report.remark(&who.name, true, &format!("{program}: {error}"));
            return Ok(false);
        }
        let mut arguments = job.arguments.clone();
        if reading == Reading::Lines && self.part.bound.is_none() {
            arguments.push(format!("cpus={}", machine::listed(&self.setting.cpus)));
        }
        let folder = self.setting.work.join(&who.folder);
        let mut command = who.job(*pes, &folder.join(program), &arguments, job.heap);
        command.envs(reading.environment(&folder));
        let outcome = oneshmem_watched::run(&mut command, self.setting.limit)?;
        let told = reading.of(program, *pes, &outcome, &folder).unwrap_or_else(|error| Told {
            remarks: vec![(true, format!("{error:#}"))],
            ..Told::default()
        });
        let mut remarks = told.remarks;
        let only = arguments.iter().filter_map(|text| text.strip_prefix("only="));
        let is_missing = |name: &&str| {
            let is_there = told.figures.iter().any(|(key, ..)| key.name == *name);
            told.done && !is_there && !remarks.iter().any(|(_, what)| what.starts_with(name))
        };
        let missing: Vec<&str> =
            only.flat_map(|names| names.split(',')).filter(is_missing).collect();
        if !missing.is_empty() {
            remarks.push((true, format!("no figures for {}", missing.join(", "))));
        }
        match (told.done, outcome.success()) {
            (true, true) => {}
            (true, false) => {
                let ending = outcome.ending();
                remarks.push((true, format!("after all checks had passed the job {ending}")));
            }
            (false, _) if outcome.stderr.contains("which SHMEM_") => {
                remarks.push((false, "this algorithm is not for all of these sizes".into()));
            }
            (false, _) => remarks.push((true, outcome.reason())),
        }
        for (fails, what) in remarks {
            report.remark(&who.name, fails, &format!("{program}: {what}"));
        }
        let mut figures = told.figures;
        if !told.done && outcome.stderr.contains("FAILED") {
            // Data was wrong: the last figure is in doubt.
            figures.pop();
        }
        let hopeful = told.done || !figures.is_empty();
        for (mut key, unit, run) in figures {
            key.name += &job.suffix;
            report.add(&who.name, key, unit, Run { turn, ..run });
        }
        Ok(hopeful)
    }
}
