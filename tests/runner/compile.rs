//! Compiles programs with the build tree's wrappers, once per variant.

use crate::directives::{Program, Variant};
use crate::{Result, launch, tree};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, LazyLock, Mutex, OnceLock};
use std::time::SystemTime;

type CompileOutcome = Arc<OnceLock<Result>>;

/// The executable of a program in a variant. Builds it if it is missing or older than its sources.
pub fn executable(program: &Program, variant: Variant) -> Result<PathBuf> {
    // The environment says where a partition lies.
    let variant = if variant == Variant::Device { Variant::Partition } else { variant };
    executable_in(program, variant, variant.name())
}

/// The same, in a separate folder for builds with other options.
pub fn executable_in(program: &Program, variant: Variant, folder: &str) -> Result<PathBuf> {
    let target = tree::scratch(folder).join(program.name());
    match variant.code() {
        Some(code) if folder == variant.name() => make_of_object(program, variant, code, &target),
        _ => made(&target, &from(program)?, command(program, variant, &program.source, &target)),
    }?;
    Ok(target)
}

/// Makes a file the first time that it is asked for, while other trials that ask wait.
pub fn once(target: &Path, make: impl FnOnce() -> Result) -> Result {
    static MADE: LazyLock<Mutex<HashMap<PathBuf, CompileOutcome>>> = LazyLock::new(Mutex::default);
    let made = Arc::clone(MADE.lock()?.entry(target.to_owned()).or_default());
    made.get_or_init(make).clone()
}

/// The executable of a program without directives, built with the default options and these.
pub fn plain(source: impl AsRef<Path>, options: &[&str]) -> Result<PathBuf> {
    plain_in(source, options, Variant::usual().name())
}

/// The same, in a separate folder, for programs that are built in several ways.
pub fn plain_in(source: impl AsRef<Path>, options: &[&str], folder: &str) -> Result<PathBuf> {
    let program = Program {
        cflags: options.iter().map(|option| (*option).to_owned()).collect(),
        ..Program::of(tree::repository(source))
    };
    executable_in(&program, Variant::usual(), folder)
}

/// The files that a program's executables are made from.
fn from(program: &Program) -> Result<Vec<PathBuf>> {
    let compiler = compiler(program);
    if !compiler.exists() {
        return Err(format!("{} is not there: run make first", compiler.display()).into());
    }
    let headers = ["check.h", "coll.h", "forked.h", "neighbour.h"];
    let installed =
        ["include/shmem.h", "include/shmem_inline.h", "lib/libshmem.so", "lib/libshmem.a"];
    let headers = headers.map(|name| tree::repository("tests/c").join(name));
    let own = [program.source.clone(), compiler];
    Ok(own.into_iter().chain(headers).chain(installed.map(tree::prefix)).collect())
}

fn compiler(program: &Program) -> PathBuf {
    tree::prefix(if program.is_cpp() { "bin/oshc++" } else { "bin/oshcc" })
}

/// The command that makes `target` of a source or object.
fn command(program: &Program, variant: Variant, of: &Path, target: &Path) -> Command {
    let mut command = Command::new(compiler(program));
    // Compiling takes most of the time of short tests. How a program is linked, where its partition lies and what
    // SMARTMAP's addresses change is not in its code; with the library's routines compiled in, it is optimised.
    let is_smartmap = tree::is_smartmap();
    let is_plain = match variant {
        Variant::Inline => tree::is_few() && !is_smartmap,
        // What shares an object is compiled alike.
        _ => {
            tree::is_few()
                || is_smartmap
                || program.variants.contains(&Variant::Inline)
                || variant.code() != Variant::usual().code()
        }
    };
    let optimisation = match variant {
        _ if is_plain => "-O0",
        Variant::Inline if !is_smartmap => "-O2",
        _ => "-O1",
    };
    command.args([optimisation, "-g", "-Wall", "-Wextra", "-Werror"]);
    command.arg("-I").arg(tree::repository("tests/c")).args(variant.options());
    // That a program says -O1 saves time, too.
    let cflags = program.cflags.iter().filter(|flag| !is_plain || *flag != "-O1");
    command.arg(of).args(cflags).arg("-o").arg(target).arg("-lm");
    command
}

/// Variants that only differ in how they are linked are compiled once.
fn make_of_object(program: &Program, variant: Variant, code: &str, target: &Path) -> Result {
    let object = tree::scratch("objects").join(&code[1..]).join(program.name()).with_extension("o");
    let mut from = from(program)?;
    if !is_elsewhere() {
        let mut compile = command(program, variant, &program.source, &object);
        compile.arg("-c");
        made(&object, &from, compile)?;
        from.push(object.clone());
    }
    made(target, &from, command(program, variant, &object, target))
}

/// Makes `target` by this compiler, [once], if it is missing or older than what it is made from.
pub fn made(target: &Path, from: &[PathBuf], compiler: Command) -> Result {
    once(target, || make(target, from, compiler))
}

fn make(target: &Path, from: &[PathBuf], compiler: Command) -> Result {
    if is_elsewhere() {
        let why = || format!("{} was not compiled for this machine", target.display());
        return target.is_file().then_some(()).ok_or_else(|| why().into());
    }
    let modified = |path: &Path| path.metadata().and_then(|data| data.modified()).ok();
    let newest = from.iter().filter_map(|path| modified(path)).max();
    if modified(target).is_some_and(|made| newest.unwrap_or(SystemTime::UNIX_EPOCH) < made) {
        return Ok(());
    }
    let folder = target.parent().ok_or("an executable lies in a folder")?;
    std::fs::create_dir_all(folder)?;
    launch::build(compiler)
}

/// Whether there is no compiler here, so that executables built elsewhere have to do.
pub fn is_elsewhere() -> bool {
    std::env::var_os("ONESHMEM_PREBUILT").is_some()
}
