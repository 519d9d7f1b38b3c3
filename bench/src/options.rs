//! The command line.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use clap::{Args, Parser, Subcommand, value_parser};

use crate::implementation::{Implementation, RAW};
use crate::plan::Extent;

/// Benchmarks of OpenSHMEM implementations, beside what plain shared memory does on the same machine.
#[derive(Parser)]
#[command(
    name = "oshbench",
    version,
    after_help = "Examples:\n  oshbench run --quick --own oneshmem=build/bin\n  \
        oshbench figures mapping 5 --quick --own oneshmem=build/bin\n  \
        oshbench run --own oneshmem=build/bin --peer openmpi=/usr/bin --peer-args openmpi='--oversubscribe --bind-to none'"
)]
pub struct Options {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    Run(Run),
    Figures(Figures),
    Apps(Apps),
    Nodes(Nodes),
    Neighbours(Neighbours),
    Instructions(Instructions),
}

/// Build and run the programs, print a table, write PREFIX.json and PREFIX.html
#[derive(Args)]
pub struct Run {
    #[command(flatten)]
    pub programs: Programs,
    #[command(flatten)]
    pub length: Length,
    /// Only programs whose names contain this, with the raw ones they are set against; may be repeated
    #[arg(long, value_name = "PART")]
    pub only: Vec<String>,
    /// Print every size in the terminal
    #[arg(long)]
    pub all: bool,
    /// Write every plot there as a picture of its own (SVG)
    #[arg(long, value_name = "DIR")]
    pub plots: Option<PathBuf>,
    /// Where to write the report [default: WORK/report]
    #[arg(long, value_name = "PREFIX")]
    pub out: Option<PathBuf>,
}

/// Draw the figures and tables of the papers behind this library on one page, with data beside it; all, or those of a paper, or one
#[derive(Args)]
pub struct Figures {
    /// mapping, ondemand, oshmpi, shcoll or partitions
    #[arg(value_name = "PAPER")]
    pub paper: Option<String>,
    /// The number of the figure in the paper, as --list shows it: 5, 5a, table-1
    #[arg(value_name = "N")]
    pub number: Option<String>,
    #[command(flatten)]
    pub programs: Programs,
    #[command(flatten)]
    pub length: Length,
    /// Only say which there are
    #[arg(long)]
    pub list: bool,
    /// As many PEs where there would be as many as CPUs (16: message rates as in the paper)
    #[arg(long, value_name = "PES", value_parser = value_parser!(u16).range(2..=1024))]
    pub pes: Option<u16>,
    /// Where the commands of the library with SMARTMAP's addresses are
    #[arg(long, value_name = "DIR", default_value = "build/smartmap/bin")]
    pub smartmap: PathBuf,
    /// Where the examples are
    #[arg(long, value_name = "DIR", default_value = "examples")]
    pub examples: PathBuf,
    /// Where the applications are
    #[arg(long, value_name = "DIR", default_value = "bench/apps")]
    pub apps: PathBuf,
    #[command(flatten)]
    pub namespaces: Namespaces,
}

/// Whole applications: the examples beside the same programs in OpenMP and MPI, with 1, 2, 4 and 8 PEs
#[derive(Args)]
pub struct Apps {
    #[command(flatten)]
    pub who: Implementations,
    /// An MPI, its launcher with arguments if need be; may be repeated [default: mpicc and mpiexec of PATH]
    #[arg(long, value_name = "NAME=COMPILER,LAUNCHER", value_parser = pair)]
    pub mpi: Vec<Pair>,
    #[command(flatten)]
    pub length: Length,
    /// Where the programs in MPI and OpenMP are
    #[arg(long, value_name = "DIR", default_value = "bench/apps")]
    pub sources: PathBuf,
    /// Where the programs in OpenSHMEM are
    #[arg(long, value_name = "DIR", default_value = "examples")]
    pub examples: PathBuf,
    #[command(flatten)]
    pub folder: Folder,
}

/// Jobs over two emulated nodes, with 1, 2, 4 and 8 PEs on each, beside other implementations (needs UCX and network namespaces)
#[derive(Args)]
pub struct Nodes {
    #[command(flatten)]
    pub programs: Programs,
    #[command(flatten)]
    pub length: Length,
    #[command(flatten)]
    pub limit: Limit,
    #[command(flatten)]
    pub namespaces: Namespaces,
}

/// Jobs of 2, 4 and 8 PEs, bound and unbound, beside 0, 1, 2 and 4 processes that compute all the time, beside other implementations
#[derive(Args)]
pub struct Neighbours {
    #[command(flatten)]
    pub programs: Programs,
    #[command(flatten)]
    pub length: Length,
    #[command(flatten)]
    pub limit: Limit,
}

/// Count instructions per call by callgrind (needs valgrind)
#[derive(Args)]
pub struct Instructions {
    #[command(flatten)]
    pub programs: Programs,
    /// Fail where the first implementation takes more than this file allows
    #[arg(long, value_name = "FILE")]
    pub limits: Option<PathBuf>,
}

#[derive(Args)]
pub struct Length {
    /// Fewer sizes, PEs and repeats; of the suite, about a minute
    #[arg(long)]
    quick: bool,
    /// Next to nothing of everything, to see that it works
    #[arg(long, conflicts_with = "quick")]
    tiny: bool,
    /// Run everything so often [default: 11, of figures and applications 5; 3 if quick]
    #[arg(long, value_name = "N")]
    repeats: Option<usize>,
}

impl Length {
    pub fn extent(&self) -> Extent {
        match (self.tiny, self.quick) {
            (true, _) => Extent::Tiny,
            (_, true) => Extent::Quick,
            _ => Extent::Full,
        }
    }

    /// How often to run everything, at most so often by default.
    pub fn repeats(&self, most: usize) -> usize {
        self.repeats.unwrap_or(self.extent().repeats().min(most)).max(1)
    }
}

#[derive(Args)]
pub struct Limit {
    /// Stop a job of another implementation after this time, and say so
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = value_parser!(u64).range(1..))]
    limit: u64,
}

impl Limit {
    /// How long a job of another implementation may take.
    pub fn time(&self) -> Duration {
        Duration::from_secs(self.limit)
    }
}

#[derive(Args)]
pub struct Programs {
    #[command(flatten)]
    pub who: Implementations,
    /// Where the programs are
    #[arg(long, value_name = "DIR", default_value = "bench/programs")]
    pub sources: PathBuf,
    #[command(flatten)]
    pub folder: Folder,
}

#[derive(Args)]
pub struct Namespaces {
    /// What makes network namespaces and runs a command among them
    #[arg(long, value_name = "FILE", default_value = "tests/programs/namespaces.sh")]
    pub script: PathBuf,
}

#[derive(Args)]
pub struct Folder {
    /// Where to build
    #[arg(long, value_name = "DIR", default_value = "build/bench")]
    work: PathBuf,
}

impl Folder {
    /// The folder for builds, as an absolute path: jobs may start in another folder.
    pub fn make(&self) -> anyhow::Result<PathBuf> {
        let work = &self.work;
        std::fs::create_dir_all(work).with_context(|| format!("cannot make {}", work.display()))?;
        Ok(std::fs::canonicalize(work)?)
    }
}

#[derive(Args)]
pub struct Implementations {
    /// The implementation in question: where its oshcc and oshrun are
    #[arg(long, value_name = "NAME=BIN", value_parser = pair)]
    own: Pair,
    /// Another one, to compare with; may be repeated
    #[arg(long, value_name = "NAME=BIN", value_parser = pair)]
    peer: Vec<Pair>,
    /// Further arguments of that implementation's launcher, split at blanks
    #[arg(long, value_name = "NAME=ARGS", value_parser = pair)]
    peer_args: Vec<Pair>,
}

impl Implementations {
    /// The implementations, our own first.
    pub fn list(&self) -> anyhow::Result<Vec<Implementation>> {
        let mut list: Vec<Implementation> = Vec::new();
        for Pair { name, rest } in std::iter::once(&self.own).chain(&self.peer) {
            if list.iter().any(|known| known.name == *name) {
                bail!("two implementations are called {name}");
            }
            let its = self.peer_args.iter().filter(|more| more.name == *name);
            let launch = its.flat_map(|more| more.rest.split_whitespace().map(str::to_owned));
            list.push(Implementation::new(name, Path::new(rest), launch.collect())?);
        }
        let unknown = |more: &&Pair| list.iter().all(|known| known.name != more.name);
        if let Some(Pair { name, .. }) = self.peer_args.iter().find(unknown) {
            bail!("--peer-args {name}=...: there is no implementation of this name");
        }
        Ok(list)
    }
}

/// `NAME=REST`.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    pub name: String,
    pub rest: String,
}

/// Parses a pair. Names become folders.
fn pair(text: &str) -> Result<Pair, &'static str> {
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    match text.split_once('=') {
        Some((name, rest)) if name != RAW && !name.is_empty() && name.chars().all(letter) => {
            Ok(Pair { name: name.into(), rest: rest.into() })
        }
        _ => Err("expected NAME=..., the name of letters, digits, - and _"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Options::command().debug_assert();
    }

    #[test]
    fn names_of_implementations() {
        assert_eq!(pair("a-1=/x=y"), Ok(Pair { name: "a-1".into(), rest: "/x=y".into() }));
        for wrong in ["/x", "=x", "../a=x", "raw=x"] {
            assert!(pair(wrong).is_err(), "{wrong}");
        }
    }
}
