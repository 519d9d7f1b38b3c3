//! An implementation of OpenSHMEM as this suite uses it: an `oshcc` and an `oshrun`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};

use crate::execute::{self, Outcome};
use crate::over::Over;
use crate::plan::Experiment;

/// The implementation name of the raw programs' points.
pub const RAW: &str = "raw";

/// The flags for compiling all programs, with any compiler.
const FLAGS: [&str; 4] = ["-O2", "-std=gnu11", "-D_GNU_SOURCE", "-Wno-deprecated-declarations"];

/// Compiles and starts the programs.
#[derive(Debug, Clone)]
pub struct Implementation {
    /// The name in the report.
    pub name: String,
    /// Where its programs are built, below the suite's folder: the same for all variants of one.
    pub folder: String,
    /// More environment for its jobs.
    pub environment: Vec<(String, String)>,
    /// The folder of `oshcc` and `oshrun`. `None` for the raw programs.
    pub bin: Option<PathBuf>,
    /// Additional arguments for its launcher.
    pub launch: Vec<String>,
    /// How its jobs are started over emulated nodes, if they are.
    pub over: Option<Over>,
}

impl Implementation {
    /// The implementation whose commands are in this folder.
    pub fn new(name: &str, bin: &Path, launch: Vec<String>) -> anyhow::Result<Self> {
        let bin = std::fs::canonicalize(bin)
            .with_context(|| format!("{name}: no directory {}", bin.display()))?;
        for command in ["oshcc", "oshrun"] {
            if !bin.join(command).is_file() {
                bail!("{name}: there is no {command} in {}", bin.display());
            }
        }
        Ok(Self { bin: Some(bin), launch, ..Self::called(name) })
    }

    fn called(name: &str) -> Self {
        Self {
            name: name.into(),
            folder: name.into(),
            environment: Vec::new(),
            bin: None,
            launch: Vec::new(),
            over: None,
        }
    }

    /// The same programs under another name, in jobs with more environment.
    pub fn variant(&self, name: String, environment: &[(&str, &str)]) -> Self {
        let more = environment.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        Self { name, environment: more.collect(), ..self.clone() }
    }

    /// No implementation: plain shared memory.
    pub fn raw() -> Self {
        Self::called(RAW)
    }

    /// The folder of its commands.
    pub fn commands(&self) -> anyhow::Result<&Path> {
        self.bin.as_deref().with_context(|| format!("{} has no directory of commands", self.name))
    }

    /// Compiles one program. The error contains the compiler's messages.
    pub fn build(&self, source: &Path, program: &Path, scratch: &Path) -> anyhow::Result<()> {
        let compiler = self.bin.as_ref().map_or("cc".into(), |bin| bin.join("oshcc"));
        let mut command = Command::new(compiler);
        command.args(FLAGS).arg(source).arg("-o").arg(program);
        command.envs(self.environment.iter().map(|(key, value)| (key, value)));
        let outcome = execute::run(&mut command, scratch, Duration::from_secs(300))?;
        if !outcome.success() {
            bail!("does not build: {}", outcome.reason());
        }
        Ok(())
    }

    /// The command that starts a job.
    pub fn job(&self, pes: usize, program: &Path, arguments: &[String], heap_mib: u64) -> Command {
        let Some(bin) = &self.bin else {
            let mut command = Command::new(program);
            command.arg(format!("pes={pes}")).args(arguments);
            return command;
        };
        let launcher = bin.join("oshrun");
        let mut command = match self.over.filter(|_| Over::is_for(pes)) {
            Some(over) => over.command(&launcher, pes),
            None => {
                let mut command = Command::new(launcher);
                command.args(["-n", &pes.to_string()]);
                command
            }
        };
        command.args(&self.launch).arg(program).args(arguments);
        for variable in ["SHMEM_SYMMETRIC_SIZE", "SMA_SYMMETRIC_SIZE"] {
            command.env(variable, format!("{heap_mib}M"));
        }
        command.envs(self.environment.iter().map(|(key, value)| (key, value)));
        command
    }

    /// Runs one experiment.
    pub fn run(
        &self,
        experiment: &Experiment,
        program: &Path,
        pinning: &str,
        scratch: &Path,
        patience: Duration,
    ) -> anyhow::Result<Outcome> {
        let mut arguments = experiment.arguments.clone();
        arguments.push(pinning.into());
        let mut command = self.job(experiment.pes, program, &arguments, experiment.heap);
        execute::run(&mut command, scratch, patience)
    }

    /// The output of its info tool, if it has one that prints `Name   value`.
    pub fn info(&self) -> Vec<(String, String)> {
        let Some(tool) =
            self.bin.as_ref().map(|bin| bin.join("oshinfo")).filter(|tool| tool.is_file())
        else {
            return Vec::new();
        };
        let text = Command::new(tool).output().map(|output| output.stdout).unwrap_or_default();
        String::from_utf8_lossy(&text)
            .lines()
            .filter_map(|line| line.split_once("  "))
            .filter(|(name, _)| ["Version", "Build", "Backend"].contains(name))
            .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
            .collect()
    }
}
