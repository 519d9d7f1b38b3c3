//! Builds programs and runs them in turns, and collects a report.

use std::collections::HashSet;
use std::path::PathBuf;

use anyhow::Context;

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

    /// The source of a program. Further folders are of OpenSHMEM alone.
    fn source(&self, who: &Implementation, program: &str) -> anyhow::Result<PathBuf> {
        let endings = if who.rust.is_some() { &["rs"][..] } else { &["c", "cc"] };
        let all = &self.setting.sources;
        let folders = if matches!(who.kind, Kind::Mpi(..)) { &all[..2] } else { &all[..] };
        let found = folders.iter().find_map(|folder| {
            let mut files = endings.iter().map(|end| folder.join(program).with_extension(end));
            files.find(|file| file.is_file())
        });
        found.with_context(|| format!("no source of {program} in {folders:?}"))
    }

    /// Builds a program, once for all figures and all variants of an implementation.
    fn built(&self, who: &Implementation, program: &str) -> Result<(), String> {
        let folder = self.setting.work.join(&who.folder);
        let file = folder.join(program);
        let known = self.setting.built.borrow().get(&file).cloned();
        if program.starts_with('/') {
            return Ok(());
        }
        let build = || {
            std::fs::create_dir_all(&folder)?;
            match self.source(who, program) {
                // Over MPI one program is all of the further examples: its name says which.
                Err(_) if matches!(who.kind, Kind::Mpi(..)) && program != "mpi" => {
                    self.built(who, "mpi").map_err(anyhow::Error::msg)?;
                    std::fs::copy(folder.join("mpi"), &file)?;
                    Ok(())
                }
                source => who.build(&source?, &file),
            }
        };
        known.unwrap_or_else(|| {
            let made = build().map_err(|error| format!("{error:#}"));
            self.setting.built.borrow_mut().insert(file.clone(), made.clone());
            made
        })
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
