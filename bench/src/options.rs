//! The command line.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

/// Defines the command line.
pub fn command() -> Command {
    Command::new("oshbench")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Benchmarks of OpenSHMEM implementations, beside what plain shared memory does on the same machine.")
        .subcommand_required(true)
        .subcommand(
            Command::new("run")
                .about("Build and run the programs, print a table, write PREFIX.json and PREFIX.html")
                .args(implementations())
                .arg(flag("quick", "The short form: about a minute"))
                .arg(flag("tiny", "Next to nothing of everything, to see that it works").conflicts_with("quick"))
                .arg(repeats("Run every program so often [default: 3 if quick, else 11]"))
                .arg(value("only", "PART", "Only programs whose names contain this, with the raw ones they are set against; may be repeated").action(ArgAction::Append))
                .arg(flag("all", "Print every size in the terminal"))
                .arg(
                    value("plots", "DIR", "Write every plot there as a picture of its own (SVG)")
                        .value_parser(value_parser!(PathBuf)),
                )
                .arg(value("out", "PREFIX", "Where to write the report [default: WORK/report]").value_parser(value_parser!(PathBuf))),
        )
        .subcommand(
            Command::new("figures")
                .about("Draw the figures and tables of the papers behind this library on one page, with data beside it; all, or those of a paper, or one")
                .arg(Arg::new("PAPER").help("mapping, ondemand, oshmpi, shcoll or partitions"))
                .arg(Arg::new("N").help("The number of the figure, as --list shows it").value_parser(value_parser!(usize)))
                .args(implementations())
                .arg(flag("list", "Only say which there are"))
                .arg(flag("quick", "Fewer sizes, PEs and repeats than the papers have; the plots say so"))
                .arg(flag("tiny", "Next to nothing of everything, to see that it works").conflicts_with("quick"))
                .arg(repeats("Run everything so often [default: 5]"))
                .arg(folder_of("smartmap", "Where the commands of the library with SMARTMAP's addresses are", "build/smartmap/bin"))
                .arg(folder_of("examples", "Where the examples are", "examples"))
                .arg(folder_of("apps", "Where the applications are", "bench/apps"))
                .arg(script()),
        )
        .subcommand(
            Command::new("apps")
                .about("Whole applications: the examples beside the same programs in OpenMP and MPI, with 1, 2, 4 and 8 PEs")
                .args(own_and_peers())
                .arg(
                    value("mpi", "NAME=COMPILER,LAUNCHER", "An MPI, its launcher with arguments if need be; may be repeated [default: mpicc and mpiexec of PATH]")
                        .action(ArgAction::Append),
                )
                .arg(flag("tiny", "Next to nothing of everything, to see that it works"))
                .arg(repeats("Run everything so often [default: 5]"))
                .arg(folder_of("sources", "Where the programs in MPI and OpenMP are", "bench/apps"))
                .arg(folder_of("examples", "Where the programs in OpenSHMEM are", "examples"))
                .arg(folder()),
        )
        .subcommand(
            Command::new("nodes")
                .about("Jobs over two emulated nodes, with 1, 2, 4 and 8 PEs on each, beside other implementations (needs UCX and network namespaces)")
                .args(implementations())
                .arg(flag("tiny", "Next to nothing of everything, to see that it works"))
                .arg(repeats("Run everything so often [default: 11]"))
                .arg(
                    value("limit", "SECONDS", "Stop a job of another implementation after this time, and say so")
                        .default_value("60")
                        .value_parser(value_parser!(u64).range(1..)),
                )
                .arg(script()),
        )
        .subcommand(
            Command::new("instructions")
                .about("Count instructions per call by callgrind (needs valgrind)")
                .args(implementations())
                .arg(value("limits", "FILE", "Fail where the first implementation takes more than this file allows").value_parser(value_parser!(PathBuf))),
        )
        .subcommand(
            Command::new("diff")
                .about("Compare two reports; a verdict only where the spread of the runs allows one")
                .arg(file("BEFORE"))
                .arg(file("AFTER")),
        )
        .after_help(
            "Examples:\n  oshbench run --quick --own oneshmem=build/bin\n  \
             oshbench figures mapping 1 --quick --own oneshmem=build/bin\n  \
             oshbench run --own oneshmem=build/bin --peer openmpi=/usr/bin --peer-args openmpi='--oversubscribe --bind-to none'\n  \
             oshbench diff before.json after.json",
        )
}

fn implementations() -> impl Iterator<Item = Arg> {
    let sources = folder_of("sources", "Where the programs are", "bench/programs");
    own_and_peers().into_iter().chain([sources, folder()])
}

fn script() -> Arg {
    let what = "What makes network namespaces and runs a command among them";
    value("script", "FILE", what)
        .default_value("tests/programs/namespaces.sh")
        .value_parser(value_parser!(PathBuf))
}

fn own_and_peers() -> [Arg; 3] {
    [
        own(),
        value("peer", "NAME=BIN", "Another one, to compare with; may be repeated")
            .action(ArgAction::Append),
        value(
            "peer-args",
            "NAME=ARGS",
            "Further arguments of that implementation's launcher, split at blanks",
        )
        .action(ArgAction::Append),
    ]
}

fn own() -> Arg {
    value("own", "NAME=BIN", "The implementation in question: where its oshcc and oshrun are")
        .required(true)
}

fn folder() -> Arg {
    folder_of("work", "Where to build", "build/bench")
}

fn folder_of(name: &'static str, what: &'static str, usual: &'static str) -> Arg {
    value(name, "DIR", what).default_value(usual).value_parser(value_parser!(PathBuf))
}

fn value(name: &'static str, what: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(what).help(help)
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

fn repeats(help: &'static str) -> Arg {
    value("repeats", "N", help).value_parser(value_parser!(usize))
}

fn file(name: &'static str) -> Arg {
    Arg::new(name).required(true).value_parser(value_parser!(PathBuf))
}

/// The `NAME=REST` pairs of a repeatable option.
pub fn pairs(matches: &ArgMatches, option: &str) -> anyhow::Result<Vec<(String, String)>> {
    let values = matches.get_many::<String>(option).unwrap_or_default();
    values
        .map(|value| match value.split_once('=') {
            Some((name, rest)) if is_name(name) => Ok((name.to_owned(), rest.to_owned())),
            _ => anyhow::bail!(
                "--{option} takes NAME=..., the name of letters, digits, - and _, not {value:?}"
            ),
        })
        .collect()
}

/// Whether a name is valid, since names become folders.
fn is_name(name: &str) -> bool {
    name != crate::report::RAW
        && !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn names_of_implementations() {
        let matches = |value: &str| {
            let matches =
                command().try_get_matches_from(["oshbench", "run", "--own", value]).unwrap();
            pairs(matches.subcommand_matches("run").unwrap(), "own")
        };
        assert_eq!(matches("a-1=/x=y").unwrap(), [("a-1".to_owned(), "/x=y".to_owned())]);
        for wrong in ["/x", "=x", "../a=x", "raw=x"] {
            assert!(matches(wrong).is_err(), "{wrong}");
        }
    }
}
