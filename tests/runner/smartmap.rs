//! Features of a library with SMARTMAP's addresses: the programs for the Kitten kernel, started as
//! on Kitten by their environment alone, and the library's own limits.

use crate::conformance;
use crate::directives::{Case, Program, Variant};
use crate::launch::{self, NO_WORDS, Outcome, Running, all_succeed};
use crate::{Result, compile, tree};
use libtest_mimic::Trial;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// The programs that `make kitten` builds, which check all that the library does, and what rank 0 says if all
/// is well.
const PROGRAMS: [(&str, &str); 2] =
    [("smoke", " passed, 0 failed\n"), ("families", "all families: verified\n")];

/// The trials. None for another library.
pub fn trials() -> Vec<Trial> {
    if !tree::is_smartmap() {
        return Vec::new();
    }
    let mut trials = vec![
        Trial::test("smartmap/position-independent", position_independent),
        Trial::test("smartmap/too-many-pes", too_many),
        Trial::test("smartmap/address-taken", address_taken),
    ];
    for (name, says) in PROGRAMS {
        trials.push(Trial::test(format!("kitten/{name}/executable"), move || {
            fixed_and_static(&program(name))
        }));
        for ranks in [1, 2, 4] {
            trials.push(Trial::test(format!("kitten/{name}/linux/{ranks}"), move || {
                let outcomes = run_ranks(&program(name), ranks, ranks)?;
                all_succeed(&outcomes)?;
                outcomes[0].prints(&[says])
            }));
            trials.push(Trial::test(format!("kitten/{name}/imitated/{ranks}"), move || {
                kitten(ranks, &program(name), &[], &[])?.prints(&[says])
            }));
        }
    }
    trials.push(Trial::test("kitten/heap-too-large", || {
        let outcome = kitten(2, &program("smoke"), &[], &[("SHMEM_SYMMETRIC_SIZE", "1g")])?;
        outcome.fails(&["SHMEM_SYMMETRIC_SIZE", "loader"])
    }));
    trials.push(Trial::test("kitten/rank-beyond-the-job", || {
        kitten(2, &program("smoke"), &[], &[("PMI_SIZE", "1")])?
            .fails(&["process number 0x1001", "PMI_SIZE=1"])
    }));
    trials.push(Trial::test("kitten/heaps-apart", || {
        kitten_of("programs/heaps_apart.c")?.fails(&["symmetric heap is at", "shmem_init"])
    }));
    // Leaving without shmem_finalize ends the job with 1, as under all launchers but oshrun.
    for (how, status) in [("fault", 139), ("abort", 134), ("exit-0", 1), ("exit-7", 1)] {
        trials.push(Trial::test(format!("kitten/death/{how}"), move || {
            death_is_told("wait", how, status, &[])
        }));
        trials.push(Trial::test(format!("kitten/death-as-root/{how}"), move || {
            death_is_told("compute", how, status, &[("KITTEN_ROOT", "1")])
        }));
    }
    trials.push(Trial::test("kitten/calls", calls_are_made));
    for source in conformance::sources("tests/c") {
        trials.extend(imitated(&source));
    }
    trials
}

/// Programs of the conformance suite that use features missing on Kitten: child processes, threads, CPU sets,
/// `/proc`.
const NOT_THERE: &[&str] = &[
    "coll_active_threads",
    "data_aligned",
    "data_untouched",
    "fork",
    "fork_communicates",
    "fork_handlers",
    "fork_threads",
    "mapping",
    "protected",
    "threads",
    "wait_neighbour",
];

/// A conformance program on the imitated kernel, if it simply runs.
fn imitated(source: &Path) -> Option<Trial> {
    let program = Program::read(source).ok()?;
    let plain = matches!(&program.cases[..], [case] if *case == Case::default());
    let is_c = source.extension().is_some_and(|extension| extension == "c");
    if !plain || !is_c || !program.pes.contains(&2) || NOT_THERE.contains(&program.name()) {
        return None;
    }
    let name = format!("kitten/conformance/{}", program.name());
    Some(Trial::test(name, move || {
        let executable = compile::executable(&program, Variant::Static)?;
        kitten(2, &executable, &[], &[("SHMEM_SYMMETRIC_SIZE", "32m")])?.success()
    }))
}

/// Runs a program on the imitated kernel, with 128 MiB for each rank. The imitation ends a job that
/// makes a call that Kitten lacks, except those in its list.
fn kitten(
    ranks: usize,
    program: &Path,
    arguments: &[&str],
    environment: &[(&str, &str)],
) -> Result<Outcome> {
    let mut command = Command::new(imitation()?);
    command.args([&ranks.to_string(), "128"]).arg(program).args(arguments);
    command.envs(environment.iter().copied());
    launch::run(command)
}

/// The imitation of the kernel.
fn imitation() -> Result<PathBuf> {
    let (target, source) = (tree::scratch("kitten"), tree::repository("tests/programs/kitten.c"));
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-Wall", "-Wextra", "-Werror"]).arg(&source).arg("-o").arg(&target);
    compile::made(&target, &[source], compiler)?;
    Ok(target)
}

/// Every call in the imitation's list is one that programs make. Whether a rank is told to end while
/// it already ends, and sets a timer, is a matter of time.
fn calls_are_made() -> Result {
    let die = Program::of(tree::repository("tests/c/die.c"));
    let die = compile::executable(&die, Variant::Static)?;
    let told = [("KITTEN_CALLS", "1"), ("KITTEN_ROOT", "1"), ("SHMEM_SYMMETRIC_SIZE", "32m")];
    let mut outcomes = vec![launch::run(Command::new(imitation()?))?];
    for (name, _) in PROGRAMS {
        outcomes.push(kitten(2, &program(name), &[], &told)?);
    }
    for others in ["sleep", "wait"] {
        outcomes.push(kitten(2, &die, &[others, "abort"], &told)?);
    }
    let number = |text: &str| text.split([' ', ',']).next()?.parse::<u32>().ok();
    let listed: BTreeSet<_> = outcomes[0].stdout.lines().filter_map(number).collect();
    let lines = outcomes.iter().flat_map(|outcome| outcome.stderr.lines());
    let mut made: BTreeSet<_> =
        lines.filter_map(|line| number(line.split_once(" made call ")?.1)).collect();
    made.insert(nix::libc::SYS_setitimer as u32);
    match listed == made {
        true => Ok(()),
        false => Err(format!("the imitation lists {listed:?}, programs make {made:?}").into()),
    }
}

/// A rank that dies of a fault, or exits, reports it itself: the kernel does not until the loader
/// unmaps the rank's memory. Ranks that compute get a signal, which only root may send.
fn death_is_told(others: &str, how: &str, status: i32, environment: &[(&str, &str)]) -> Result {
    let program = Program::of(tree::repository("tests/c/die.c"));
    let executable = compile::executable(&program, Variant::Static)?;
    let mut environment = environment.to_vec();
    environment.extend([("KITTEN_REMEMBERS", "1"), ("SHMEM_SYMMETRIC_SIZE", "32m")]);
    kitten(2, &executable, &[others, how], &environment)?.ends(status, NO_WORDS)
}

/// Runs a static program of this folder on the imitated kernel, on two ranks.
fn kitten_of(source: &str) -> Result<Outcome> {
    let program = Program::of(tree::repository("tests").join(source));
    kitten(2, &compile::executable(&program, Variant::Static)?, &[], &[])
}

/// The path of a program built by `make kitten`.
fn program(name: &str) -> PathBuf {
    match std::env::var_os("ONESHMEM_KITTEN") {
        Some(folder) => Path::new(&folder).join(name),
        None => tree::repository("build/kitten").join(name),
    }
}

/// Runs ranks 0 to `started` of `size`, with only the two variables set.
fn run_ranks(program: &Path, started: usize, size: usize) -> Result<Vec<Outcome>> {
    static JOB: AtomicU32 = AtomicU32::new(0);
    // On Linux, where several jobs may run at a time, a job also has a name.
    let job = JOB.fetch_add(1, Ordering::Relaxed).to_string();
    let running: Result<Vec<_>> = (0..started)
        .map(|rank| {
            let mut command = Command::new(program);
            command.env("PMI_RANK", rank.to_string()).env("PMI_SIZE", size.to_string());
            command.env("PMI_JOBID", &job);
            Running::start(command)
        })
        .collect();
    running?.into_iter().map(Running::finish).collect()
}

/// Checks for `ET_EXEC` without `PT_INTERP`: Kitten loads nothing else.
fn fixed_and_static(program: &Path) -> Result {
    let mut command = Command::new("readelf");
    command.args(["--wide", "--file-header", "--program-headers"]).arg(program);
    let outcome = launch::run(command)?;
    outcome.success()?;
    let fixed = outcome.stdout.lines().any(|line| {
        line.trim_start().starts_with("Type:") && line.contains("EXEC (Executable file)")
    });
    if fixed && !outcome.stdout.contains("INTERP") && !outcome.stdout.contains("DYNAMIC") {
        Ok(())
    } else {
        Err(outcome.report("expected a static program at a fixed address"))
    }
}

fn position_independent() -> Result {
    for variant in [Variant::Pie, Variant::StaticPie] {
        let program = Program::of(tree::repository("examples/hello.c"));
        let executable = compile::executable(&program, variant)?;
        launch::run(launch::oshrun(2, &executable))?.fails(&[
            "shmem_init",
            "position independent",
            "-no-pie",
        ])?;
    }
    Ok(())
}

fn too_many() -> Result {
    let executable = compile::plain("examples/hello.c", &[])?;
    launch::run(launch::oshrun(255, &executable))?.fails(&["255", "254"])?;
    let outcomes = run_ranks(&executable, 1, 255)?;
    outcomes.iter().try_for_each(|outcome| outcome.fails(&["255", "1 to 254 PEs"]))
}

fn address_taken() -> Result {
    let executable = compile::plain("tests/programs/taken.c", &[])?;
    launch::run(launch::oshrun(2, &executable))?.fails(&["0x80", "is not free"])
}
