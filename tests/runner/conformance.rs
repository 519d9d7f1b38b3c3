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
/// Of a program with more cases, each runs linked as usual and in one further way, once each: the numbers of PEs take
/// turns.
const MANY: usize = 8;

/// Of few tests, programs are linked in one further way, by turns: the `index`th program in the `index`th way. Of all, at a
/// fixed address with the shared or with the static library, by turns, unless the program says otherwise. With SMARTMAP's
/// addresses, the `index`th program is linked in the `index`th way alone.
fn of_program(program: &Arc<Program>, index: usize) -> Vec<Trial> {
    let mut trials = Vec::new();
    let mut variants = program.variants.clone();
    if variants.starts_with(&Variant::COMMON) && !tree::is_few() {
        let left_out = [Variant::NoPie, Variant::Static][index % 2];
        variants.retain(|variant| *variant != left_out);
    }
    if tree::is_smartmap() {
        let usual: Vec<_> =
            variants.iter().copied().filter(|way| !is_over_partition(*way)).collect();
        let one = by_turns(&usual, index);
        variants.retain(|way| is_over_partition(*way) || one.contains(way));
    }
    let ways = variants.iter().skip(1).filter(|variant| !is_over_partition(**variant)).count();
    let further = index.checked_rem(ways).map(|turn| turn + 1);
    let all: Vec<usize> = program.pes.iter().copied().filter(|pes| wanted(*pes)).collect();
    let few: Vec<usize> = all.iter().copied().filter(|pes| FEW.contains(pes)).collect();
    let one: Vec<usize> = all.iter().copied().filter(|pes| *pes == few_for(program)).collect();
    for (way, &variant) in variants.iter().enumerate() {
        let over_partition = is_over_partition(variant);
        if tree::is_few() && way > 0 && !over_partition && further != Some(way) {
            continue;
        }
        let once = over_partition && !all_over_partitions() || way > 0 && tree::is_few();
        let cases = if once { &program.cases[..1] } else { &program.cases[..] };
        let many = cases.len() > MANY;
        for (turn, case) in cases.iter().enumerate() {
            if many && way > 0 && !over_partition && turn % ways != way - 1 {
                continue;
            }
            let numbers = match (once, way) {
                (true, _) => &one[..],
                // How a program is linked rarely matters to one number of PEs alone.
                (_, 1..) if !over_partition => by_turns(&few, index + way + turn),
                _ if many || tree::is_smartmap() => by_turns(&all, index + turn),
                _ => &all,
            };
            for &pes in numbers {
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

/// The `turn`th of these, around and around; none if there are none.
pub fn by_turns<T>(all: &[T], turn: usize) -> &[T] {
    turn.checked_rem(all.len()).map_or(&[], |turn| &all[turn..=turn])
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
