//! Whose programs are measured: an OpenSHMEM, an MPI, or plain shared memory. How they are built and started.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};

use crate::machine;
use crate::over::Over;
use crate::report::RAW;

/// The flags for all programs, with any compiler.
const FLAGS: [&str; 3] = ["-O2", "-D_GNU_SOURCE", "-Wno-deprecated-declarations"];
/// The flags for programs of OpenMP's device, which is the host's processor.
const OFFLOADING: [&str; 2] = ["-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu"];
/// More ranks than CPUs, and as root.
const OVERSUBSCRIBE: [(&str, &str); 4] = [
    ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
    ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"),
    ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
    ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
];
/// Prints which OpenSHMEM the commands in a folder are of; of ours, also what it was built from, and how it maps memory.
const VERSION: &str = r#"cd "$0"; echo "version: $(./oshrun --version | head -n 1)"
./oshinfo 2> /dev/null | sed -nE 's/^(Build|Backend) +/\L\1: /p'"#;
/// How long a build may take.
const BUILDING: Duration = Duration::from_secs(300);

/// Compiles and starts the programs.
#[derive(Debug, Clone, Default)]
pub struct Implementation {
    pub name: String,
    /// Where its programs are built: the same for all variants of one.
    pub folder: String,
    pub kind: Kind,
    /// More environment for its builds and jobs.
    pub environment: Vec<(String, String)>,
    /// Further arguments for its compiler.
    pub further: Vec<String>,
    /// Further arguments for its launcher.
    pub launch: Vec<String>,
    /// How its jobs are started over emulated nodes, if they are.
    pub over: Option<Over>,
    /// What its programs are told before and after what all are told.
    pub words: [Vec<String>; 2],
    /// Cargo's profile, if its programs are in Rust.
    pub rust: Option<&'static str>,
}

/// The kind of an implementation.
#[derive(Debug, Clone, Default)]
pub enum Kind {
    /// Processes that share memory, without a library.
    #[default]
    Raw,
    /// The folder of `oshcc` and `oshrun`.
    Shmem(PathBuf),
    /// A compiler, and a launcher with arguments.
    Mpi(String, Vec<String>),
}

impl Implementation {
    fn new(name: &str, kind: Kind) -> Self {
        Self { name: name.into(), folder: name.into(), kind, ..Self::default() }
    }

    pub fn raw() -> Self {
        Self::new(RAW, Kind::Raw)
    }

    /// The OpenSHMEM whose commands are in this folder.
    pub fn shmem(name: &str, bin: &Path) -> anyhow::Result<Self> {
        let bin = std::fs::canonicalize(bin)
            .with_context(|| format!("{name}: no directory {}", bin.display()))?;
        for command in ["oshcc", "oshrun"] {
            if !bin.join(command).is_file() {
                bail!("{name}: there is no {command} in {}", bin.display());
            }
        }
        Ok(Self::new(name, Kind::Shmem(bin)))
    }

    /// An MPI, by `COMPILER,LAUNCHER`.
    pub fn mpi(name: &str, commands: &str) -> anyhow::Result<Self> {
        let (compiler, launcher) = commands.split_once(',').unwrap_or_default();
        let launcher: Vec<String> = launcher.split_whitespace().map(str::to_owned).collect();
        if compiler.is_empty() || launcher.is_empty() {
            bail!("{name}: expected COMPILER,LAUNCHER");
        }
        Ok(Self::new(name, Kind::Mpi(compiler.into(), launcher)))
    }

    /// The same under another name, with more environment. Programs that it compiles differently lie apart.
    pub fn variant(&self, name: String, environment: &[(&str, &str)]) -> Self {
        let mut folder = self.folder.clone();
        if environment.iter().any(|(variable, _)| *variable == "SHMEM_CC") {
            folder = name.replace([' ', ','], "-");
        }
        let more = environment.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let environment = self.environment.iter().cloned().chain(more).collect();
        Self { name, folder, environment, ..self.clone() }
    }

    /// Programs of OpenMP's device, in a form that these words before and after all others name.
    pub fn on_device(&self, form: &str, before: &[&str], after: &[&str]) -> Self {
        let strings = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        let compiler = offloading_compiler();
        let environment = ["SHMEM_CXX", "OMPI_CXX", "MPICH_CXX"].map(|it| (it, compiler.as_str()));
        Self {
            folder: format!("{}-device", self.folder),
            further: strings(&OFFLOADING),
            words: [strings(before), strings(after)],
            ..self.variant(form.into(), &environment)
        }
    }

    /// Programs in Rust, built with this profile.
    pub fn in_rust(&self, profile: &'static str) -> Self {
        let (name, folder) = (format!("{}, in Rust", self.name), format!("{}-rust", self.folder));
        Self { name, folder, rust: Some(profile), ..self.clone() }
    }

    /// The folder of the commands of an OpenSHMEM.
    pub fn commands(&self) -> anyhow::Result<&Path> {
        match &self.kind {
            Kind::Shmem(bin) => Ok(bin),
            _ => bail!("{} is no OpenSHMEM", self.name),
        }
    }

    pub fn is_raw(&self) -> bool {
        matches!(self.kind, Kind::Raw)
    }

    /// Compiles one program. The error contains the compiler's messages.
    pub fn build(&self, source: &Path, program: &Path) -> anyhow::Result<()> {
        if let Some(profile) = self.rust {
            return build_example(source, profile, program);
        }
        let is_cxx = source.extension().is_some_and(|ending| ending == "cc");
        let mut command = match &self.kind {
            Kind::Raw => Command::new("cc"),
            Kind::Shmem(bin) => Command::new(bin.join(if is_cxx { "oshc++" } else { "oshcc" })),
            Kind::Mpi(compiler, _) => Command::new(compiler),
        };
        command.args(FLAGS).arg(if is_cxx { "-std=gnu++20" } else { "-std=gnu11" });
        match &self.kind {
            Kind::Raw => command.arg("-DBENCH_RAW"),
            Kind::Mpi(..) => command.arg("-DBENCH_MPI"),
            Kind::Shmem(_) => &mut command,
        };
        command.args(&self.further).arg(source).arg("-o").arg(program).arg("-lm");
        command.envs(self.environment.iter().map(|(key, value)| (key, value)));
        let outcome = oneshmem_watched::run(&mut command, BUILDING)?;
        if !outcome.success() {
            bail!("does not build: {}", outcome.reason());
        }
        Ok(())
    }

    /// The command that starts a job.
    pub fn job(&self, pes: usize, program: &Path, arguments: &[String], heap_mib: u64) -> Command {
        let count = pes.to_string();
        let mut command;
        match &self.kind {
            Kind::Raw => {
                command = Command::new(program);
                command.arg(format!("pes={pes}"));
            }
            Kind::Shmem(bin) => {
                let launcher = bin.join("oshrun");
                command = match self.over {
                    Some(over) => over.command(&launcher, pes),
                    None => Command::new(launcher),
                };
                command.args(["-n", &count]).args(&self.launch).arg(program);
            }
            Kind::Mpi(_, launcher) => {
                command = Command::new(&launcher[0]);
                command.args(&launcher[1..]).args(["-n", &count]).arg(program).envs(OVERSUBSCRIBE);
            }
        }
        command.args(&self.words[0]).args(arguments).args(&self.words[1]);
        command.env("OMP_NUM_THREADS", "1");
        for variable in ["SHMEM_SYMMETRIC_SIZE", "SMA_SYMMETRIC_SIZE"] {
            command.env(variable, format!("{heap_mib}M"));
        }
        command.envs(self.environment.iter().map(|(key, value)| (key, value)));
        command
    }

    /// What it is, and how it is started.
    pub fn facts(&self) -> Vec<(String, String)> {
        let (commands, told) = match &self.kind {
            Kind::Raw => return Vec::new(),
            Kind::Mpi(compiler, launcher) => {
                (format!("{compiler}, {}", launcher.join(" ")), Vec::new())
            }
            Kind::Shmem(bin) => {
                let mut shell = Command::new("sh");
                (bin.display().to_string(), machine::told(shell.args(["-c", VERSION]).arg(bin)))
            }
        };
        let mut facts = vec![("implementation", self.name.clone()), ("commands", commands)];
        if !self.launch.is_empty() {
            facts.push(("launcher arguments", self.launch.join(" ")));
        }
        let facts = facts.into_iter().map(|(name, value)| (name.to_owned(), value));
        facts.chain(told).collect()
    }
}

/// Builds an example of the crate in whose folder the source lies, with the features of the whole workspace, so that what
/// tests have compiled serves here, too.
fn build_example(source: &Path, profile: &str, program: &Path) -> anyhow::Result<()> {
    let name = source.file_stem().context("a source without a name")?;
    let folder = source.parent().and_then(Path::parent).context("an example outside a crate")?;
    let words = ["build", "--locked", "--quiet", "--workspace", "--message-format", "json"];
    let mut command = Command::new("cargo");
    command.args(words).args(["--profile", profile, "--example"]).arg(name).current_dir(folder);
    let outcome = oneshmem_watched::run(&mut command, 4 * BUILDING)?;
    if !outcome.success() {
        bail!("does not build: {}", outcome.reason());
    }
    let mut paths = outcome.stdout.lines().filter_map(|line| {
        let said: serde_json::Value = serde_json::from_str(line).ok()?;
        let is_it = said["target"]["name"] == name.to_str()?;
        Some(PathBuf::from(said["executable"].as_str().filter(|_| is_it)?))
    });
    let made = paths.next_back().context("cargo did not say where it is")?;
    std::fs::copy(&made, program).with_context(|| format!("cannot copy {}", made.display()))?;
    Ok(())
}

fn offloading_compiler() -> String {
    std::env::var("SHMEM_CXX").unwrap_or_else(|_| "clang++".into())
}

/// Why programs of OpenMP's device cannot be built here, if they cannot.
pub fn no_offloading() -> Option<String> {
    let mut command = Command::new(offloading_compiler());
    command.args(OFFLOADING).args(["-x", "c++", "-", "-o", "/dev/null"]);
    let why = match oneshmem_watched::run(&mut command, BUILDING) {
        Err(error) => error.to_string(),
        // An empty program lacks only `main`.
        Ok(outcome) if outcome.stderr.contains("main") => return None,
        Ok(_) => "it does not build for OpenMP's device on the host".into(),
    };
    Some(format!("{}: {why} (SHMEM_CXX names a compiler)", offloading_compiler()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_told_by_words() {
        let mpi = Implementation::mpi("m", "mpicxx,mpiexec -x").unwrap();
        let form = mpi.on_device("e", &["extended"], &["get-put"]);
        let job = form.job(2, Path::new("p"), &["64".into()], 16);
        let words: Vec<_> = job.get_args().map(|word| word.to_string_lossy()).collect();
        assert_eq!(words, ["-x", "-n", "2", "p", "extended", "64", "get-put"]);
        assert_eq!((form.name.as_str(), form.folder.as_str()), ("e", "m-device"));
        for wrong in ["mpicc", "mpicc, "] {
            assert!(Implementation::mpi("m", wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn variants_that_compile_differently_lie_apart() {
        let raw = Implementation::raw();
        assert_eq!(raw.variant("x, y".into(), &[("SHMEM_CC", "cc")]).folder, "x--y");
        assert_eq!(raw.variant("x".into(), &[("SHMEM_ATTACH", "eager")]).folder, RAW);
    }
}
