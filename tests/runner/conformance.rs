//! The programs of `tests/c`, each run according to its directives.

use crate::directives::{Case, Program, Variant};
use crate::{Result, compile, imitation, launch, tree};
use libtest_mimic::Trial;
use std::path::PathBuf;
use std::sync::Arc;

/// The C and C++ programs of a folder, sorted by name.
pub fn sources(folder: &str) -> Vec<PathBuf> {
    let mut sources: Vec<PathBuf> = std::fs::read_dir(tree::repository(folder))
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            path.extension().is_some_and(|extension| extension == "c" || extension == "cc")
        })
        .collect();
    sources.sort();
    sources
}

/// A trial for each program, variant, number of PEs and case.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (index, source) in sources("tests/c").into_iter().enumerate() {
        match Program::read(&source) {
            Ok(program) => trials.extend(of_program(&Arc::new(program), index)),
            Err(error) => {
                let name = format!("c/{}", source.display());
                trials.push(Trial::test(name, move || Err(error.into())));
            }
        }
    }
    trials
}

/// The numbers of PEs that `ONESHMEM_TEST_PES` lists, if it is set.
pub fn wanted_pes() -> Option<Vec<usize>> {
    let list = std::env::var("ONESHMEM_TEST_PES").ok()?;
    Some(list.split_whitespace().filter_map(|number| number.parse().ok()).collect())
}

/// Whether to run this number of PEs.
pub fn wanted(pes: usize) -> bool {
    wanted_pes().is_none_or(|wanted| wanted.contains(&pes))
}

/// Whether programs run in all ways with a partition's memory instead of the heap's, as in
/// `make test-partitions`, and not just in one.
fn all_over_partitions() -> bool {
    std::env::var_os("ONESHMEM_TEST_PARTITIONS").is_some()
}

/// Whether symmetric memory is that of a partition, not of the heap.
fn is_over_partition(variant: Variant) -> bool {
    matches!(variant, Variant::Partition | Variant::Device)
}

/// The numbers of PEs for a program's further variants.
const FEW: [usize; 4] = [1, 2, 4, 7];

/// Of few tests, programs are linked in one further way, by turns: the `index`th program in the `index`th way.
fn of_program(program: &Arc<Program>, index: usize) -> Vec<Trial> {
    let mut trials = Vec::new();
    let ways = program.variants.iter().skip(1).filter(|variant| !is_over_partition(**variant));
    let further = index.checked_rem(ways.count()).map(|turn| turn + 1);
    for (first, &variant) in program.variants.iter().enumerate() {
        let over_partition = is_over_partition(variant);
        let is_left_out = first > 0 && !over_partition && further != Some(first);
        if tree::is_few() && is_left_out {
            continue;
        }
        let all = over_partition && all_over_partitions();
        let once = !all && (over_partition || first > 0 && tree::is_few());
        for &pes in program.pes.iter().filter(|pes| wanted(**pes)) {
            // How a program is compiled rarely matters to one of many cases.
            let many = program.cases.len() > 3 || variant == Variant::Inline;
            let few = if many { &FEW[..2] } else { &FEW[..] };
            if first > 0 && !few.contains(&pes) && !all {
                continue;
            }
            if once && pes != few_for(program) {
                continue;
            }
            let cases = if once { &program.cases[..1] } else { &program.cases[..] };
            for case in cases {
                let name = [program.name(), &case.name, variant.name(), &pes.to_string()]
                    .into_iter()
                    .filter(|part| !part.is_empty())
                    .collect::<Vec<_>>()
                    .join("/");
                let no_compiler = program.is_cpp() && tree::skip_without("c++");
                let skipped = !case.is_served() || no_compiler;
                let (program, case) = (Arc::clone(program), case.clone());
                let trial =
                    Trial::test(format!("c/{name}"), move || trial(&program, variant, pes, &case));
                trials.push(trial.with_ignored_flag(skipped));
            }
        }
    }
    trials
}

/// The number of PEs for a program that runs only once: two, or the first number that it gives.
fn few_for(program: &Program) -> usize {
    if program.pes.contains(&2) { 2 } else { program.pes[0] }
}

fn trial(program: &Program, variant: Variant, pes: usize, case: &Case) -> Result {
    let executable = compile::executable(program, variant)?;
    let mut command = launch::oshrun(pes, &executable);
    command.args(&case.arguments);
    command.envs(variant.environment());
    if variant == Variant::Device {
        command.envs(imitation::environment()?);
    }
    command.envs(case.environment.iter().map(|(name, value)| (name, value)));
    launch::run(command)?.expect(case)
}
