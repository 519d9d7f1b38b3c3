//! The command line.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::{Args, Parser, Subcommand, value_parser};

use crate::implementation::Implementation;
use crate::report::RAW;

/// Benchmarks of OpenSHMEM implementations, beside what plain shared memory does on the same machine.
#[derive(Parser)]
#[command(
    name = "oshbench",
    version,
    after_help = "At the top of the source tree, where the programs are:\n  oshbench run --quick --own oneshmem=build/bin\n  \
        oshbench figures mapping 5 --quick --own oneshmem=build/bin\n  \
        oshbench figures today --own oneshmem=build/bin --mpi mpich=mpicc.mpich,mpiexec.mpich\n  \
        oshbench suite osu --own oneshmem=build/bin --peer openmpi=/usr/bin\n  \
        oshbench run --own oneshmem=build/bin --peer openmpi=/usr/bin --peer-args openmpi='--oversubscribe --bind-to none'"
)]
pub struct Options {
    /// The task.
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Measure every kind of operation beside plain shared memory, on a page (`figures run`)
    Run(Collection),
    /// Jobs over two emulated nodes, beside other implementations, on a page (`figures nodes`; needs UCX and network namespaces)
    Nodes(Collection),
    /// Draw figures on one page, with data beside it: those of the papers behind this library, or what `--list` shows; all, or one
    Figures {
        /// A paper or a collection: mapping, ondemand, oshmpi, shcoll, partitions, today, run, nodes
        #[arg(value_name = "PAPER")]
        paper: Option<String>,
        #[command(flatten)]
        which: Collection,
    },
    /// Jobs of 2, 4 and 8 PEs, bound and unbound, beside 0, 1, 2 and 4 processes that compute all the time, beside other implementations
    Neighbours(Collection),
    Suite(Suite),
    Instructions(Instructions),
}

#[derive(Args)]
pub struct Collection {
    /// The number of the figure, as --list shows it: 5, 5a, table-1
    #[arg(value_name = "N")]
    pub number: Option<String>,
    #[command(flatten)]
    pub programs: Programs,
    #[command(flatten)]
    pub length: Length,
    /// An MPI, for figures that have one: compiler, and launcher with arguments; may be repeated
    #[arg(long, value_name = "NAME=COMPILER,LAUNCHER", value_parser = pair)]
    pub mpi: Vec<Pair>,
    /// Only say which there are
    #[arg(long)]
    pub list: bool,
    /// As many PEs where there would be as many as CPUs (16: message rates as in the paper)
    #[arg(long, value_name = "PES", value_parser = value_parser!(u16).range(2..=1024))]
    pub pes: Option<u16>,
    /// Where the commands of the library with SMARTMAP's addresses are
    #[arg(long, value_name = "DIR", default_value = "build/smartmap/bin")]
    pub smartmap: PathBuf,
}

/// Public OpenSHMEM benchmarks, fetched by you: build them with each implementation, run them in turns, and draw a page
#[derive(Args)]
pub struct Suite {
    /// A folder with the suite; or osu or shmembench, which is looked for in the current folder
    #[arg(value_name = "SUITE")]
    pub suite: String,
    #[command(flatten)]
    pub programs: Programs,
    #[command(flatten)]
    pub length: Length,
    /// How many PEs
    #[arg(long, value_name = "PES", default_value_t = 2, value_parser = value_parser!(u16).range(1..=1024))]
    pub pes: u16,
    /// Only programs whose names contain this; may be repeated
    #[arg(long, value_name = "PART")]
    pub only: Vec<String>,
    /// A further option of the compiler; may be repeated
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    pub cflag: Vec<String>,
    /// Arguments of every program
    #[arg(last = true, value_name = "ARGUMENT")]
    pub arguments: Vec<String>,
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
    pub quick: bool,
    /// Next to nothing of everything, to see that it works
    #[arg(long, conflicts_with = "quick")]
    pub tiny: bool,
    /// Run everything so often [default: 5; 3 if quick]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..))]
    pub repeats: Option<u16>,
    /// Stop a job after this time, and say so [default: 300; 60 if quick]
    #[arg(long, value_name = "SECONDS", value_parser = value_parser!(u64).range(1..))]
    pub limit: Option<u64>,
}

#[derive(Args)]
pub struct Programs {
    /// The implementation in question: where its oshcc and oshrun are
    #[arg(long, value_name = "NAME=BIN", value_parser = pair)]
    own: Pair,
    /// Another one, to compare with; may be repeated
    #[arg(long, value_name = "NAME=BIN", value_parser = pair)]
    peer: Vec<Pair>,
    /// Further arguments of that implementation's launcher, split at blanks
    #[arg(long, value_name = "NAME=ARGS", value_parser = pair)]
    peer_args: Vec<Pair>,
    /// Where to build and to write
    #[arg(long, value_name = "DIR", default_value = "build/bench")]
    work: PathBuf,
}

impl Programs {
    /// The folder for builds, as an absolute path: jobs may start in another folder.
    pub fn work(&self) -> anyhow::Result<PathBuf> {
        let work = &self.work;
        std::fs::create_dir_all(work).with_context(|| format!("cannot make {}", work.display()))?;
        Ok(std::fs::canonicalize(work)?)
    }

    /// The implementations, our own first.
    pub fn implementations(&self) -> anyhow::Result<Vec<Implementation>> {
        let mut list: Vec<Implementation> = Vec::new();
        for Pair { name, rest } in std::iter::once(&self.own).chain(&self.peer) {
            if list.iter().any(|known| known.name == *name) {
                bail!("two implementations are called {name}");
            }
            list.push(Implementation::shmem(name, Path::new(rest))?);
        }
        for Pair { name, rest } in &self.peer_args {
            let who = list.iter_mut().find(|who| who.name == *name);
            let who =
                who.with_context(|| format!("--peer-args: no implementation is called {name}"))?;
            who.launch.extend(rest.split_whitespace().map(str::to_owned));
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
