//! Compiles programs with the build tree's wrappers, once per variant.

use crate::directives::{Program, Variant};
use crate::{launch, tree};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, LazyLock, Mutex, OnceLock};
use std::time::SystemTime;

type Made = Arc<OnceLock<Result<(), String>>>;

/// The executable of a program in a variant. Builds it if it is missing or older than its sources.
pub fn executable(program: &Program, variant: Variant) -> Result<PathBuf, String> {
    executable_in(program, variant, variant.name())
}

/// The same, in a separate folder for builds with other options.
pub fn executable_in(program: &Program, variant: Variant, folder: &str) -> Result<PathBuf, String> {
    static MADE: LazyLock<Mutex<HashMap<PathBuf, Made>>> = LazyLock::new(Mutex::default);
    let target = tree::scratch(folder).join(program.name());
    let made = {
        let mut made = MADE.lock().map_err(|error| error.to_string())?;
        Arc::clone(made.entry(target.clone()).or_default())
    };
    made.get_or_init(|| make(program, variant, &target)).clone()?;
    Ok(target)
}

/// The executable of a program without directives, built with the default options and these.
pub fn plain(source: &Path, options: &[&str]) -> Result<PathBuf, String> {
    plain_in(source, options, Variant::usual().name())
}

/// The same, in a separate folder, for programs that are built in several ways.
pub fn plain_in(source: &Path, options: &[&str], folder: &str) -> Result<PathBuf, String> {
    let program = Program {
        cflags: options.iter().map(|option| (*option).to_owned()).collect(),
        ..Program::of(source.to_owned())
    };
    executable_in(&program, Variant::usual(), folder)
}

fn make(program: &Program, variant: Variant, target: &Path) -> Result<(), String> {
    let compiler = tree::prefix(if program.is_cpp() { "bin/oshc++" } else { "bin/oshcc" });
    if !compiler.exists() {
        return Err(format!("{} is not there: run make first", compiler.display()));
    }
    let from = [
        program.source.clone(),
        compiler.clone(),
        tree::repository("tests/c/check.h"),
        tree::repository("tests/c/coll.h"),
        tree::prefix("include/shmem.h"),
        tree::prefix("include/shmem_inline.h"),
        tree::prefix("lib/libshmem.so"),
        tree::prefix("lib/libshmem.a"),
    ];
    let mut command = Command::new(compiler);
    command
        .args(["-O2", "-g", "-Wall", "-Wextra", "-Werror"])
        .arg("-I")
        .arg(tree::repository("tests/c"))
        .args(variant.options())
        .arg(&program.source)
        .args(&program.cflags)
        .arg("-o")
        .arg(target)
        .arg("-lm");
    made(target, &from, command)
}

/// Makes `target` by this compiler, if it is missing or older than what it is made from.
pub fn made(target: &Path, from: &[PathBuf], compiler: Command) -> Result<(), String> {
    if is_elsewhere() {
        let why = || format!("{} was not compiled for this machine", target.display());
        return target.is_file().then_some(()).ok_or_else(why);
    }
    let modified = |path: &Path| path.metadata().and_then(|data| data.modified()).ok();
    let newest = from.iter().filter_map(|path| modified(path)).max();
    if modified(target).is_some_and(|made| newest.unwrap_or(SystemTime::UNIX_EPOCH) < made) {
        return Ok(());
    }
    let folder = target.parent().ok_or("an executable lies in a folder")?;
    std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    launch::build(compiler)
}

/// Whether there is no compiler here, so that executables built elsewhere have to do.
pub fn is_elsewhere() -> bool {
    std::env::var_os("ONESHMEM_PREBUILT").is_some()
}
