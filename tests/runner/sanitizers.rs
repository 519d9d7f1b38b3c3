//! Programs that users compile with sanitizers: errors of the program are reported, and none of the
//! library's.

use crate::directives::Program;
use crate::{Result, launch, tree};
use libtest_mimic::Trial;
use std::path::PathBuf;
use std::process::Command;

/// The compilers to test, if available.
const COMPILERS: [&str; 2] = ["gcc", "clang"];
/// Sanitizers that can be combined.
const SANITIZERS: [&str; 2] = ["address,undefined", "thread"];
/// Programs that move data, fork, copy or start threads.
const PROGRAMS: [&str; 7] =
    ["coll_mix", "data_aligned", "data_segment", "fork", "memory", "rma_sized", "rma_strided"];

/// The trials. Those whose compiler or sanitizer is absent are ignored. There are none where
/// mirrors have fixed addresses, which sanitizers use themselves.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for compiler in COMPILERS {
        for sanitizers in SANITIZERS {
            let skipped = is_absent(compiler, sanitizers);
            let title = |name: &str| format!("sanitizers/{name}/{sanitizers}/{compiler}");
            // Each program with each sanitizer; which compiler checks it changes from one to the next.
            let turn = usize::from((compiler == COMPILERS[0]) == (sanitizers == SANITIZERS[0]));
            for name in PROGRAMS.into_iter().skip(turn).step_by(2) {
                let trial = Trial::test(title(name), move || clean(name, compiler, sanitizers));
                trials.push(trial.with_ignored_flag(skipped));
            }
        }
        let title = format!("sanitizers/overflow/address/{compiler}");
        let trial = Trial::test(title, move || reported(compiler));
        trials.push(trial.with_ignored_flag(is_absent(compiler, "address")));
    }
    trials
}

/// Whether the compiler cannot build such programs, and that is allowed.
fn is_absent(compiler: &str, sanitizers: &str) -> bool {
    std::env::var_os("ONESHMEM_TEST_ALL").is_none() && !works(compiler, sanitizers).unwrap_or(false)
}

/// Whether the compiler can build such programs.
fn works(compiler: &str, sanitizers: &str) -> Result<bool> {
    let Some(compiler) = tree::find(compiler) else { return Ok(false) };
    let folder = tree::scratch("sanitizers");
    std::fs::create_dir_all(&folder)?;
    let (source, target) = (folder.join("empty.c"), folder.join("empty"));
    std::fs::write(&source, "int main(void) { return 0; }\n")?;
    let mut command = Command::new(compiler);
    command.arg(format!("-fsanitize={sanitizers}")).arg(source).arg("-o").arg(target);
    Ok(launch::run(command)?.status == 0)
}

fn compile(source: &str, compiler: &str, sanitizers: &str) -> Result<PathBuf> {
    let program = Program::read(&tree::repository(source)).ok();
    let folder = tree::scratch("sanitizers").join(compiler).join(sanitizers);
    std::fs::create_dir_all(&folder)?;
    let source = tree::repository(source);
    let target = folder.join(source.file_stem().ok_or("a source has a name")?);
    let mut command = Command::new(tree::prefix("bin/oshcc"));
    command
        .env("SHMEM_CC", compiler)
        .args(["-O1", "-g", "-fno-sanitize-recover=all", "-I"])
        .arg(tree::repository("tests/c"))
        .arg(format!("-fsanitize={sanitizers}"))
        .args(program.iter().flat_map(|program| &program.cflags))
        .arg(source)
        .arg("-o")
        .arg(&target)
        .arg("-lm");
    launch::run(command)?.success()?;
    Ok(target)
}

fn clean(name: &str, compiler: &str, sanitizers: &str) -> Result {
    let program = compile(&format!("tests/c/{name}.c"), compiler, sanitizers)?;
    // Programs that end with their job do not free their memory.
    let mut command = launch::oshrun(3, &program);
    command.env("ASAN_OPTIONS", "detect_leaks=0");
    launch::run(command)?.success()
}

fn reported(compiler: &str) -> Result {
    let program = compile("tests/programs/overflow.c", compiler, "address")?;
    let outcome = launch::run(launch::oshrun(2, &program))?;
    if outcome.status != 0 && outcome.stderr.contains("global-buffer-overflow") {
        return Ok(());
    }
    Err(format!("no overflow was reported:\n{}", outcome.stderr).into())
}
