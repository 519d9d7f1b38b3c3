//! One-sided MPI over shared memory (`node/mpi`): programs of MPI under `onenode-mpi`, with each MPI that is
//! installed, and what the command does where it cannot help.

use crate::launch::{self, NO_WORDS, Outcome};
use crate::{Result, compile, launchers, tree};
use libtest_mimic::Trial;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::slice;

/// The two MPIs, by the ending of their commands' names in Debian.
const KINDS: [&str; 2] = ["mpich", "openmpi"];

/// The trials.
pub fn trials() -> Vec<Trial> {
    // They compile when they run.
    if compile::is_elsewhere() {
        return Vec::new();
    }
    let mut trials = Vec::new();
    for mpi in KINDS {
        let absent = tree::skip_without(&format!("mpicc.{mpi}"))
            || tree::skip_without(&format!("mpirun.{mpi}"));
        let mut add = |what: String, run: Box<dyn FnOnce() -> Result + Send>| {
            let trial = Trial::test(format!("mpi/{mpi}/{what}"), run);
            trials.push(trial.with_ignored_flag(absent));
        };
        for ranks in [2, 6] {
            add(format!("random/{ranks}"), Box::new(move || random(mpi, ranks)));
        }
        for ranks in [2, 3] {
            add(format!("order/{ranks}"), Box::new(move || is_right(mpi, "order", ranks)));
            add(format!("told/{ranks}"), Box::new(move || is_told_the_same(mpi, ranks)));
        }
        // MPICH can pretend that ranks are on several nodes.
        for nodes in if mpi == "mpich" { &[2, 3][..] } else { &[] } {
            add(format!("nodes/{nodes}"), Box::new(move || over_nodes(mpi, *nodes)));
        }
        add("threads".into(), Box::new(move || is_right(mpi, "threads", 2)));
        add("wide".into(), Box::new(move || is_right(mpi, "wide", 1)));
        add("edges".into(), Box::new(move || is_right(mpi, "edges", 2)));
        add("layouts".into(), Box::new(move || layouts(mpi)));
        add("many".into(), Box::new(move || is_right(mpi, "many", 1)));
        add("tool".into(), Box::new(move || tool(mpi)));
        add("other-mpi".into(), Box::new(move || other(mpi)));
        add("loaded".into(), Box::new(move || loaded(mpi)));
        add("no-compiler".into(), Box::new(move || no_compiler(mpi)));
        add("open-folder".into(), Box::new(move || open_folder(mpi)));
        let fortran = tree::skip_without(&format!("mpif90.{mpi}"));
        let trial = Trial::test(format!("mpi/{mpi}/fortran"), move || fortran_program(mpi));
        trials.push(trial.with_ignored_flag(absent || fortran));
    }
    for (name, folder) in tree::other_versions("ONESHMEM_TEST_MPI", "bin/mpirun") {
        let bin = folder.join("bin");
        for compiler in ["mpicc", "mpicc_abi"].into_iter().filter(|name| bin.join(name).exists()) {
            for (source, ranks) in [("random", 2), ("order", 2), ("wide", 1)] {
                let (bin, made) = (bin.clone(), format!("{name}-{compiler}"));
                let run = move || under_other_mpi(&bin, compiler, &made, source, ranks);
                trials.push(Trial::test(format!("mpi/{name}/{compiler}/{source}"), run));
            }
        }
    }
    trials
}

/// A program of another MPI, by the command that a user types: also one of the standard ABI is served.
fn under_other_mpi(bin: &Path, compiler: &str, made: &str, source: &str, ranks: usize) -> Result {
    let target = tree::scratch("mpi").join(made).join(source);
    let source = tree::repository(format!("tests/mpi/{source}.c"));
    let mut command = Command::new(bin.join(compiler));
    command.args(["-O1", "-g", "-pthread"]).arg(&source).arg("-o").arg(&target);
    compile::made(&target, &[source], command)?;
    let mut command = preloaded(&bin.join("mpirun"))?;
    launchers::prepare_mpirun(&mut command)?;
    // Open MPI 5's component for UCX prints errors where there is no network.
    let open_mpi = [
        ("PRTE_ALLOW_RUN_AS_ROOT", "1"),
        ("PRTE_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"),
        ("OMPI_MCA_osc", "^ucx"),
    ];
    command.envs(open_mpi).env("ONENODE_MPI_STATS", "1");
    command.arg("-n").arg(ranks.to_string()).args([target.as_os_str(), "20".as_ref()]);
    let outcome = launch::run(command)?;
    outcome.prints(&["right"])?;
    let ours = matches!(counts(&outcome, "MPI_Put")[..], [.., _, 0]);
    outcome.require(ours, "expected no put on windows that onenode does not serve")
}

/// A launcher's command under `onenode-mpi`.
fn preloaded(launcher: &Path) -> Result<Command> {
    let mut command = Command::new(tree::repository("node/mpi/onenode-mpi"));
    let cache = tree::place("mpi/cache/library")?.with_file_name("");
    command.arg(launcher).env("ONENODE_MPI_CACHE", cache).env_remove("MPICC");
    Ok(command)
}

/// A program of `tests/mpi`, compiled by this MPI's wrapper.
fn program(mpi: &str, source: &str) -> Result<PathBuf> {
    let (name, kind) = source.split_once('.').unwrap_or((source, "c"));
    let source = tree::repository(format!("tests/mpi/{name}.{kind}"));
    let target = tree::scratch("mpi").join(mpi).join(format!("{name}-{kind}"));
    let is_c = kind == "c";
    let mut compiler = Command::new(format!("{}.{mpi}", if is_c { "mpicc" } else { "mpif90" }));
    if is_c {
        compiler.args(["-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread"]);
    }
    let modules = target.with_file_name("modules");
    std::fs::create_dir_all(&modules)?;
    compiler.current_dir(modules).arg(&source).arg("-o").arg(&target);
    compile::made(&target, &[source], compiler)?;
    Ok(target)
}

/// The command that runs `ranks` processes of a program, under `onenode-mpi` or alone.
fn job(mpi: &str, ranks: usize, program: &Path, preload: bool) -> Result<Command> {
    let launcher = format!("mpirun.{mpi}");
    let mut command =
        if preload { preloaded(Path::new(&launcher))? } else { Command::new(launcher) };
    if mpi == "openmpi" {
        command.args(["--oversubscribe", "--bind-to", "none"]);
        launchers::prepare_mpirun(&mut command)?;
    }
    command.arg("-n").arg(ranks.to_string()).arg(program);
    Ok(command)
}

fn run(mpi: &str, ranks: usize, source: &str, arguments: &[&str]) -> Result<Outcome> {
    let mut command = job(mpi, ranks, &program(mpi, source)?, true)?;
    command.args(arguments);
    launch::run(command)
}

fn random(mpi: &str, ranks: usize) -> Result {
    let rounds = if ranks > 3 { "12" } else { "30" };
    run(mpi, ranks, "random", &[rounds, launch::seed()])?.prints(&["rounds: right"])
}

fn is_right(mpi: &str, source: &str, ranks: usize) -> Result {
    run(mpi, ranks, source, &[])?.prints(&["right"])
}

fn layouts(mpi: &str) -> Result {
    run(mpi, 1, "layouts", &["1000", launch::seed()])?.prints(&["right"])
}

/// Where the calls of this name went, as `ONENODE_MPI_STATS` tells: by onenode, left to MPI, on other windows.
fn counts(outcome: &Outcome, name: &str) -> Vec<u64> {
    let mut lines = outcome.stderr.lines().map(|line| line.split_whitespace().skip(1));
    let words = lines.find_map(|mut words| (words.next() == Some(name)).then_some(words));
    words.into_iter().flatten().map_while(|word| word.parse().ok()).collect()
}

/// Over nodes, with one rank more than nodes, puts and gets between ranks of one node are ours, the rest and all
/// accumulates MPI's.
fn over_nodes(mpi: &str, nodes: usize) -> Result {
    let (source, arguments, line) = match nodes {
        2 => ("order", &[][..], "right"),
        _ => ("random", &["10", launch::seed()][..], "rounds: right"),
    };
    let mut command = job(mpi, nodes + 1, &program(mpi, source)?, true)?;
    command.args(arguments).env("MPIR_CVAR_NUM_CLIQUES", nodes.to_string());
    command.env("ONENODE_MPI_STATS", "1");
    let outcome = launch::run(command)?;
    outcome.prints(&[line])?;
    let split = matches!(counts(&outcome, "MPI_Put")[..], [(1..), (1..), 0]);
    outcome.require(split, "expected puts by onenode and by MPI")?;
    let whole = matches!(counts(&outcome, "MPI_Accumulate")[..], [0, (1..), _]);
    outcome.require(whole, "expected all accumulates by MPI")
}

/// Attributes, info and errors are those of the MPI alone. Open MPI's depend on the component; for a window of shared memory
/// it is `sm`, whose info has two keys of its own.
fn is_told_the_same(mpi: &str, ranks: usize) -> Result {
    let told = run(mpi, ranks, "calls", &[])?;
    told.prints(&["flavor 2", "wait of three: ok"])?;
    told.require(!told.stdout.contains("wrong"), "something is wrong")?;
    let mut alone = job(mpi, ranks, &program(mpi, "calls")?, false)?;
    alone.env("OMPI_MCA_osc", "sm");
    let alone = launch::run(alone)?;
    alone.success()?;
    let lines = |outcome: &Outcome| -> Vec<String> {
        let own = ["alloc_shared_noncontig", "blocking_fence", "no_locks"];
        let skipped = |line: &str| mpi == "openmpi" && own.iter().any(|key| line.contains(key));
        outcome.stdout.lines().filter(|line| !skipped(line)).map(str::to_owned).collect()
    };
    let (with, without) = (lines(&told), lines(&alone));
    told.require(with == without, format!("alone the MPI says {without:#?}"))
}

/// A tool that counts calls by their MPI names sees all of them, and they are still ours.
fn tool(mpi: &str) -> Result {
    let mut command = job(mpi, 2, &program(mpi, "tool")?, true)?;
    command.env("ONENODE_MPI_STATS", "1");
    let outcome = launch::run(command)?;
    outcome.prints(&["the tool saw 100 puts and 100 flushes"])?;
    let ours =
        ["MPI_Put", "MPI_Win_flush"].iter().all(|name| counts(&outcome, name) == [200, 0, 0]);
    outcome.require(ours, "expected 200 calls by onenode, none left to MPI")
}

fn fortran_program(mpi: &str) -> Result {
    for source in ["fortran.f90", "fortran08.f90"] {
        let mut command = job(mpi, 2, &program(mpi, source)?, true)?;
        command.env("ONENODE_MPI_STATS", "1");
        let outcome = launch::run(command)?;
        outcome.prints(&["right"])?;
        let ours = counts(&outcome, "MPI_Put") == [2, 0, 0];
        outcome.require(ours, "expected two puts by onenode")?;
    }
    Ok(())
}

/// The library of one MPI in a program of the other: a sentence, and the program runs as it does alone.
fn other(mpi: &str) -> Result {
    let theirs = if mpi == KINDS[0] { KINDS[1] } else { KINDS[0] };
    if tree::find(&format!("mpicc.{theirs}")).is_none() {
        return Ok(());
    }
    let mut command = job(theirs, 1, &program(theirs, "random")?, true)?;
    command.args(["20"]).env("MPICC", format!("mpicc.{mpi}"));
    let outcome = launch::run(command)?;
    outcome.prints(&["rounds: right"])?;
    outcome.ends(0, &["onenode-mpi: the program is linked to", "going on without it"])
}

/// A program loads an MPI while it runs: its own is served, and what is meant for the other goes to neither.
fn loaded(mpi: &str) -> Result {
    let source = tree::repository("tests/mpi/loaded.c");
    let target = tree::place("mpi/loaded")?;
    let mut compiler = Command::new("cc");
    compiler.arg(&source).arg("-o").arg(&target).arg("-ldl");
    compile::made(&target, slice::from_ref(&source), compiler)?;
    for kind in KINDS.into_iter().filter(|kind| tree::find(&format!("mpicc.{kind}")).is_some()) {
        let module = tree::scratch("mpi").join(kind).join("loaded.so");
        let mut compiler = Command::new(format!("mpicc.{kind}"));
        compiler.args(["-shared", "-fPIC", "-DMODULE"]).arg(&source).arg("-o").arg(&module);
        compile::made(&module, slice::from_ref(&source), compiler)?;
        let mut command = job(kind, 1, &target, true)?;
        command.arg(&module).env("MPICC", format!("mpicc.{mpi}"));
        let outcome = launch::run(command)?;
        match kind == mpi {
            true => outcome.prints(&["right"])?,
            false => {
                outcome.ends(1, &["onenode-mpi: the program has loaded", "run it by the mpirun"])?
            }
        }
    }
    Ok(())
}

fn no_compiler(mpi: &str) -> Result {
    let mut command = job(mpi, 1, &program(mpi, "random")?, true)?;
    command.args(["20"]).env("MPICC", "no-such-compiler");
    let outcome = launch::run(command)?;
    outcome.ends(0, &["there is no no-such-compiler", "going on with MPI alone"])
}

/// A folder in which others can put libraries is not used.
fn open_folder(mpi: &str) -> Result {
    use std::os::unix::fs::PermissionsExt;
    let folder = tree::Folder::new(&format!("mpi-open-{mpi}"))?;
    std::fs::set_permissions(&*folder, PermissionsExt::from_mode(0o777))?;
    let mut command = job(mpi, 1, &program(mpi, "random")?, true)?;
    command.args(["20"]).env("ONENODE_MPI_CACHE", &*folder);
    let outcome = launch::run(command)?;
    outcome.ends(0, &["can be written by others", "going on with MPI alone"])?;
    outcome.prints(NO_WORDS)
}
