//! The on-node layer as other runtimes see it: its header, its libraries, and C programs that use
//! them without OpenSHMEM (`tests/node`), and the code that connects other runtimes to it (`node/integrations`),
//! as far as it can run without those. Also that it does not interfere with the process.

use crate::{Result, compile, conformance, interface, launch, tree};
use libtest_mimic::Trial;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compilers, with the oldest languages that the header supports and newer ones.
const COMPILERS: [(&str, &str); 8] = [
    ("gcc", "c99"),
    ("gcc", "gnu17"),
    ("g++", "c++11"),
    ("g++", "c++20"),
    ("clang", "c99"),
    ("clang", "gnu17"),
    ("clang++", "c++11"),
    ("clang++", "c++20"),
];

/// Ways to build a program with the library: a name, the compiler, its options.
const WAYS: [(&str, &str, &[&str]); 4] = [
    ("shared", "gcc", &[]),
    ("static", "gcc", &["-static"]),
    ("static-pie", "gcc", &["-static-pie"]),
    ("clang", "clang", &[]),
];

/// Numbers of PEs of another runtime in total and per node: all on one node, each on its own, and mixtures.
const JOBS: [(usize, usize); 6] = [(1, 1), (2, 2), (16, 16), (4, 1), (4, 2), (5, 3)];

/// Our C files in another runtime.
struct Integration {
    /// The folder in `node/integrations`.
    name: &'static str,
    /// The file beside `check.c`.
    source: &'static str,
    /// The language that the runtime is compiled as.
    language: &'static str,
}

const INTEGRATIONS: [Integration; 3] = [
    Integration { name: "sos", source: "transport_onenode.c", language: "c99" },
    Integration { name: "osss-ucx", source: "shmemc_onenode.c", language: "c11" },
    Integration { name: "opencoarrays", source: "caf_onenode.c", language: "c99" },
];

/// The trials.
pub fn trials() -> Vec<Trial> {
    let mut trials = vec![
        Trial::test("node/symbols/shared", || symbols("libonenode.so", &["-D"])),
        Trial::test("node/symbols/static", || symbols("libonenode.a", &[])),
        Trial::test("node/no-constructor", no_constructor),
    ];
    trials.extend(COMPILERS.map(|(compiler, language)| {
        Trial::test(format!("node/header/{compiler}/{language}"), move || {
            header(compiler, language)
        })
        .with_ignored_flag(tree::skip_without(compiler))
    }));
    for source in conformance::sources("tests/node") {
        let name = source.file_stem().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        // The program that loads libraries is not linked with any.
        let ways = if name == "loaded" { &WAYS[..1] } else { &WAYS };
        for &(way, compiler, options) in ways {
            let source = source.clone();
            let trial = Trial::test(format!("node/{name}/{way}"), move || {
                program(&source, way, compiler, options)
            });
            let made = tree::scratch(format!("node/{name}-{way}")).is_file();
            let skipped = tree::skip_without(compiler) && !(compile::is_elsewhere() && made);
            trials.push(trial.with_ignored_flag(skipped));
        }
    }
    for runtime in &INTEGRATIONS {
        trials.extend(JOBS.map(|(pes, near)| {
            let title = format!("integrations/{}/{pes}-by-{near}", runtime.name);
            Trial::test(title, move || integration(runtime, pes, near))
        }));
    }
    trials
}

/// The functions that the header declares.
fn declared() -> Result<BTreeSet<String>> {
    let mut command = Command::new("cc");
    command.args(["-E", "-P", "-xc"]).arg(tree::prefix("include/onenode.h"));
    let ran = launch::run(command)?;
    ran.success()?;
    // Declarations end in a semicolon. Inlined functions have a body.
    let names = ran.stdout.split(['{', '}', ';']).filter(|text| text.trim_end().ends_with(')'));
    let names =
        names.filter_map(|text| text.split_once('(')?.0.split([' ', '*', '\n']).next_back());
    let names: BTreeSet<String> = names
        .filter(|name| name.starts_with("onenode_") && !name.ends_with('_'))
        .map(String::from)
        .collect();
    if names.len() < 5 { Err(format!("only {names:?} were found").into()) } else { Ok(names) }
}

/// Checks that the library has the header's functions under its version, and no other symbols.
fn symbols(library: &str, options: &[&str]) -> Result {
    let mut command = Command::new("nm");
    command.args(["--extern-only", "--defined-only"]).args(options);
    command.arg(tree::prefix("lib").join(library));
    let ran = launch::run(command)?;
    ran.success()?;
    let is_shared = library.ends_with("so");
    let mut wrong = Vec::new();
    let mut found = BTreeSet::new();
    for line in ran.stdout.lines() {
        match line.split_whitespace().collect::<Vec<_>>()[..] {
            [_, "A", "ONENODE_1"] if is_shared => {}
            [_, "T", name] => {
                let plain = if is_shared { name.strip_suffix("@@ONENODE_1") } else { Some(name) };
                found.extend(plain.map(String::from));
                wrong.extend(plain.is_none().then(|| format!("{name} has not the version")));
            }
            [_, kind, name] => wrong.push(format!("{name} ({kind}) is not expected")),
            _ => {}
        }
    }
    let declared = declared()?;
    wrong.extend(declared.difference(&found).map(|name| format!("{name} is not there")));
    wrong.extend(found.difference(&declared).map(|name| format!("{name} is not declared")));
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// Checks that nothing runs when the library is loaded or unloaded.
fn no_constructor() -> Result {
    let found = interface::constructors("lib/libonenode.a")?;
    if found.is_empty() { Ok(()) } else { Err(format!("{found:?}").into()) }
}

/// Checks that the header compiles without warnings alone, first and twice, and its inlined
/// functions too.
fn header(compiler: &str, language: &str) -> Result {
    let cpp = language.contains("++");
    let source = tree::place(format!("node/header-{compiler}-{language}"))?.with_extension("c");
    let text = "#include <onenode.h>\n#include <onenode.h>\n\
        static ONENODE_TABLE(peers, 64);\n\
        int main(void)\n{\n    onenode_table *table = &peers.table;\n    onenode_view_t *none = NULL;\n\
        return onenode_at(table, &peers, 3) != NULL || onenode_at(table, &peers, 64) != NULL\n\
        || ONENODE_AT(table, none, &peers, 64) != NULL\n\
        || onenode_at_(table, 64, &peers, 3) != NULL || onenode_there(table, &peers, 3) != NULL\n\
        || table->capacity != 64 || onenode_table_bytes(64) != sizeof peers\n\
        || onenode_abi() != ONENODE_ABI || onenode_message() == NULL;\n}\n";
    std::fs::write(&source, text.replace("NULL", if cpp { "nullptr" } else { "NULL" }))?;
    let program = source.with_extension("");
    for level in ["-O0", "-O3"] {
        let mut command = Command::new(compiler);
        command.args(["-x", if cpp { "c++" } else { "c" }]).arg(format!("-std={language}"));
        command.args([
            level,
            "-Wall",
            "-Wextra",
            "-Wpedantic",
            "-Wshadow",
            "-Wconversion",
            "-Wsign-conversion",
            "-Wcast-qual",
            "-Werror",
        ]);
        if cpp {
            command.args(["-Wold-style-cast", "-Wzero-as-null-pointer-constant"]);
        }
        command.arg("-I").arg(tree::prefix("include")).arg(&source).arg("-o").arg(&program);
        command
            .args(["-x", "none"])
            .arg(tree::prefix("lib/libonenode.a"))
            .args(["-lpthread", "-ldl"]);
        launch::run(command)?.success()?;
        launch::run(Command::new(&program))?.success()?;
    }
    Ok(())
}

/// Runs a program of `tests/node`, which checks itself, linked in one of the ways.
fn program(source: &Path, way: &str, compiler: &str, options: &[&str]) -> Result {
    launch::run(Command::new(made(source, way, compiler, options)?))?.silent()
}

/// Compiles a program and returns its path.
fn made(source: &Path, way: &str, compiler: &str, options: &[&str]) -> Result<PathBuf> {
    let name = source.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    let target = tree::place(format!("node/{name}-{way}"))?;
    let mut command = Command::new(compiler);
    command.args(["-std=c99", "-D_GNU_SOURCE", "-O2", "-g"]);
    command.args(["-Wall", "-Wextra", "-Wpedantic", "-Werror"]);
    command.arg(format!("-DLIBRARY=\"{}\"", tree::prefix("lib/libonenode.so.1").display()));
    command.arg("-I").arg(tree::prefix("include")).args(options).arg(source).arg("-o").arg(&target);
    command.arg("-L").arg(tree::prefix("lib")).args(["-Wl,--as-needed", "-lonenode", "-ldl"]);
    // The C library does not allow a run path in static position-independent executables.
    if !options.iter().any(|option| option.starts_with("-static")) {
        command.arg(format!("-Wl,-rpath,{}", tree::prefix("lib").display()));
    }
    let mut from = vec![source.to_owned(), tree::prefix("include/onenode.h")];
    from.extend(["check.h", "job.h"].map(|name| tree::repository("tests/node").join(name)));
    from.extend(["so.1", "a"].map(|kind| tree::prefix("lib/libonenode").with_extension(kind)));
    compile::made(&target, &from, command)?;
    Ok(target)
}

/// A C part of another runtime, with its `check.c` instead of that runtime.
fn integration(runtime: &Integration, pes: usize, near: usize) -> Result {
    let mut command = Command::new(integration_program(runtime)?);
    command.args([pes.to_string(), near.to_string()]);
    let ran = launch::run(command)?;
    ran.success()?;
    ran.require(ran.stdout.is_empty() && ran.stderr.is_empty(), "it prints something")
}

fn integration_program(runtime: &Integration) -> Result<PathBuf> {
    let Integration { name, source, language } = runtime;
    let program = tree::scratch("integrations").join(name);
    let mut command = Command::new("cc");
    command.arg(format!("-std={language}"));
    command.args(["-O2", "-g", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]);
    command.arg("-I").arg(tree::prefix("include"));
    let folder = tree::repository("node/integrations").join(name);
    let sources = ["check.c", source].map(|source| folder.join(source));
    command.args(&sources);
    command.arg("-o").arg(&program).arg("-L").arg(tree::prefix("lib")).arg("-lonenode");
    command.arg(format!("-Wl,-rpath,{}", tree::prefix("lib").display()));
    let header = folder.join(source).with_extension("h");
    let own = ["include/onenode.h", "lib/libonenode.so.1"].map(tree::prefix);
    let from = [&sources[..], &own, &[header]].concat();
    compile::made(&program, &from, command)?;
    Ok(program)
}
