//! The library's symbols: every routine and its twin, nothing else, and programs can replace all of
//! them.

use crate::{Result, compile, launch, tree};
use libtest_mimic::Trial;
use oneshmem_interface::Interface;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::Command;

/// The trials.
pub fn trials() -> Vec<Trial> {
    vec![
        Trial::test("interface/symbols/shared", || symbols(&["-D"], "lib/libshmem.so")),
        Trial::test("interface/symbols/static", || symbols(&[], "lib/libshmem.a")),
        Trial::test("interface/initialisers", initialisers),
        Trial::test("interface/described-initialiser", described_initialiser),
        Trial::test("interface/override-all/shared", || override_all(false)),
        Trial::test("interface/override-all/static", || override_all(true)),
        Trial::test("interface/beside-another-rust-library", beside_another)
            .with_ignored_flag(tree::skip_without("rustc")),
    ]
}

/// The names of all routines.
fn routines() -> Vec<String> {
    Interface::openshmem().symbols().into_iter().map(|symbol| symbol.name).collect()
}

/// The names of all extensions, from their header.
fn extensions() -> Result<Vec<String>> {
    let path = tree::prefix("include/shmemx.h");
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let names: Vec<String> = text
        .lines()
        .filter(|line| !line.starts_with([' ', '/', '#']))
        .filter_map(|line| line.split_once('(')?.0.split([' ', '*']).next_back())
        // These are in a separate library.
        .filter(|name| *name != "shmemx_openmp_maps" && !name.starts_with("__tgt_"))
        .map(String::from)
        .collect();
    if names.is_empty() {
        return Err("no extension found".into());
    }
    // These are in shmem.h.
    let proposed = ["malloc", "align", "calloc", "free"].map(|it| format!("shmem_partition_{it}"));
    Ok(names.into_iter().chain(proposed).collect())
}

/// The handles that shmem.h declares.
fn handles() -> Result<Vec<String>> {
    let header = std::fs::read_to_string(tree::prefix("include/shmem.h"))?;
    let names = header.lines().filter_map(|line| line.strip_prefix("ONESHMEM_SYMBOL const "));
    let names: Vec<String> = names
        .filter_map(|line| Some(line.split_once(' ')?.1.strip_suffix(';')?.to_owned()))
        .collect();
    if names.is_empty() { Err("no handle found".into()) } else { Ok(names) }
}

/// The version of all symbols: see docs/src/abi.md.
const VERSION: &str = "ONESHMEM_1";

/// Checks that the library exports each routine weakly and its twin strongly, at one address.
fn symbols(options: &[&str], library: &str) -> Result {
    let mut command = Command::new("nm");
    command.args(["--extern-only", "--defined-only"]).args(options).arg(tree::prefix(library));
    let ran = launch::run(command)?;
    ran.success()?;
    let mut found: BTreeMap<String, (String, String)> = BTreeMap::new();
    let mut wrong = Vec::new();
    for line in ran.stdout.lines() {
        if let [address, kind, name] = line.split_whitespace().collect::<Vec<_>>()[..] {
            let (name, version) = name.split_once('@').unwrap_or((name, ""));
            // In the shared library each symbol has a version, whose name is itself a symbol.
            if library.ends_with(".so") && name == VERSION {
                continue;
            }
            let expected = if library.ends_with(".so") { format!("@{VERSION}") } else { "".into() };
            if version != expected {
                wrong.push(format!("{name}: version '{version}', expected '{expected}'"));
            }
            found.insert(name.into(), (kind.into(), address.into()));
        }
    }
    for name in routines().into_iter().chain(extensions()?) {
        let (weak, strong) = (found.remove(&name), found.remove(&format!("p{name}")));
        match (weak, strong) {
            (Some((w, at)), Some((t, twin_at))) if w == "W" && t == "T" && at == twin_at => {}
            other => wrong.push(format!("{name}: {other:?}")),
        }
    }
    // Handles are constants.
    for name in handles()? {
        match found.remove(&name) {
            Some((kind, _)) if kind == "R" => {}
            other => wrong.push(format!("{name}: {other:?}")),
        }
    }
    // This is data that inlined routines read.
    let data = "oneshmem_reach_2";
    match found.remove(data) {
        Some((kind, _)) if kind == "D" => {}
        other => wrong.push(format!("{data}: {other:?}")),
    }
    wrong.extend(found.keys().map(|name| format!("{name}: not expected")));
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// The sections of a static library whose functions run when a program is loaded or ends: their names
/// and sizes in bytes.
pub fn constructors(library: &str) -> Result<Vec<(String, u64)>> {
    let mut command = Command::new("readelf");
    command.args(["--wide", "--sections"]).arg(tree::prefix(library));
    let ran = launch::run(command)?;
    ran.success()?;
    if !ran.stdout.contains(".text") {
        return Err("no sections were listed".into());
    }
    let kinds = ["INIT_ARRAY", "FINI_ARRAY", "PREINIT_ARRAY"];
    let names = [".init", ".fini", ".ctors", ".dtors"];
    let sections = ran.stdout.lines().filter_map(|line| line.split_once("] ")).filter_map(|line| {
        match line.1.split_whitespace().collect::<Vec<_>>()[..] {
            [name, kind, _, _, bytes, ..] if kinds.contains(&kind) || names.contains(&name) => {
                Some((name.to_owned(), u64::from_str_radix(bytes, 16).ok()?))
            }
            _ => None,
        }
    });
    Ok(sections.collect())
}

/// Checks that only the library's own functions run when it is loaded or the program ends, none of
/// Rust's library: one in `src/pe/load.rs`, one in `src/sys/stdio.rs`; at the end, one in
/// `src/sys/ending.rs`.
fn initialisers() -> Result {
    let mut found = constructors("lib/libshmem.a")?;
    found.sort();
    let expected = [".fini_array.00101", ".init_array", ".init_array.00101"]
        .map(|section| (section.to_owned(), 8));
    if found == expected { Ok(()) } else { Err(format!("{found:?}; expected {expected:?}").into()) }
}

/// A library with an initialiser that must be left out, and two functions.
const DESCRIBED: &str = r#"
static int arguments;
static void keep(int count) { arguments = count; }
__attribute__((used, section(".init_array.00099"))) void (*initialiser)(int) = keep;
int kept(void) { return arguments; }
int dropped(void) { return 1; }
"#;

/// Checks that `packaging/relocatable.mk` leaves an initialiser out although debug information refers
/// to it, as in the build of Rust's library that Debian 13 has.
fn described_initialiser() -> Result {
    let folder = tree::place("interface/described")?;
    std::fs::create_dir_all(folder.join("obj"))?;
    tree::write(folder.join("described.c"), DESCRIBED)?;
    tree::write(folder.join("obj/described.exports"), "kept\n")?;
    let makefile = tree::repository("packaging/relocatable.mk");
    let script = r#"cd "$0"; rm -rf lib *.a
        cc -g -O1 -ffunction-sections -c described.c
        readelf --relocs described.o | sed -n '/debug_info/,/^$/p' | grep -w initialiser
        ar rcs libdescribed.a described.o
        env -u MAKEFLAGS -u MAKELEVEL make -f "$1" BUILD=. RELEASE=. lib/libdescribed.a
        readelf --wide --sections --symbols lib/libdescribed.a > shown
        grep kept shown; ! grep -e INIT_ARRAY -e dropped shown"#;
    let mut command = Command::new("sh");
    command.args(["-ec", script]).arg(&folder).arg(makefile);
    launch::run(command)?.success()
}

const OVERRIDE: &str = r#"
#define CHECK(name)                                                                      \
    if ((void *)name == (void *)p##name) { puts(#name ": the library's, not ours"); wrong++; } \
    CHECK_DYNAMIC(name)
#ifdef DYNAMIC
/* Ours comes first; next comes the library's, which is the twin. */
#define CHECK_DYNAMIC(name)                                                              \
    if (dlsym(RTLD_DEFAULT, #name) != (void *)name) { puts(#name ": not found first"); wrong++; } \
    if (dlsym(RTLD_NEXT, #name) != (void *)p##name) { puts(#name ": not its twin"); wrong++; }
#else
#define CHECK_DYNAMIC(name)
#endif
int main(void)
{
    int wrong = 0;
    ROUTINES(CHECK)
    return wrong != 0;
}
"#;

/// Checks that a program that defines every routine itself links, and has every twin.
fn override_all(is_static: bool) -> Result {
    let mut text = String::from("#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <stdio.h>\n");
    let names = routines();
    for name in &names {
        let _ = writeln!(text, "void {name}(void); void {name}(void) {{}} void p{name}(void);");
    }
    text += "#define ROUTINES(X)";
    names.iter().for_each(|name| text += &format!(" \\\n    X({name})"));
    text += OVERRIDE;
    let (source, options) = match is_static {
        true => (tree::place("interface/override_static.c")?, ["-static", "-O0"]),
        false => (tree::place("interface/override_shared.c")?, ["-DDYNAMIC", "-O0"]),
    };
    tree::write(&source, &text)?;
    // At a fixed address, too, let the linker look up a function's address instead of creating one.
    let options = [&options[..], &["-fPIC"]].concat();
    launch::run(Command::new(compile::plain(&source, &options)?))?.success()
}

const OTHER: &str = r#"
#[unsafe(no_mangle)]
pub extern "C" fn other_length(n: usize) -> usize {
    (0..n).map(|i| i.to_string()).collect::<Vec<_>>().join(",").len()
}
"#;
const BOTH: &str = r#"
#include <shmem.h>
size_t other_length(size_t n);
int main(void)
{
    shmem_init();
    int wrong = other_length(12) != 12 + 2 + 11 || shmem_n_pes() < 1;
    shmem_finalize();
    return wrong;
}
"#;

/// Checks that the static library and another Rust library fit into one program: only the routines
/// of the interface are global in it.
fn beside_another() -> Result {
    let (other, both) = (tree::place("interface/other.rs")?, tree::place("interface/both.c")?);
    let (library, program) = (tree::place("interface/libother.a")?, tree::place("interface/both")?);
    tree::write(&other, OTHER)?;
    tree::write(&both, BOTH)?;
    let mut rustc = Command::new("rustc");
    rustc.args(["--edition=2024", "--crate-type=staticlib", "-Cpanic=abort", "-o"]);
    launch::run({
        rustc.arg(&library).arg(&other);
        rustc
    })?
    .success()?;
    let mut oshcc = Command::new(tree::prefix("bin/oshcc"));
    oshcc.arg("-static").arg(&both).arg(&library).arg("-o").arg(&program);
    launch::run(oshcc)?.success()?;
    launch::run(launch::oshrun(2, &program))?.success()
}
