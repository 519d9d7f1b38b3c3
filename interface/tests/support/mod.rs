//! Shared by the tests: the specification as data, and C compilers.
#![allow(dead_code)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

/// A row of a file of `spec/`: column name to value.
pub type Row = BTreeMap<String, String>;

/// The rows of a file of `spec/`.
pub fn rows(file: &str) -> Vec<Row> {
    let path = format!("{}/spec/{file}", env!("CARGO_MANIFEST_DIR"));
    let mut reader = csv::Reader::from_path(&path).expect(&path);
    reader.deserialize().collect::<Result<_, _>>().expect(&path)
}

/// The TYPENAMEs of each table of types.
pub fn tables() -> BTreeMap<String, Vec<String>> {
    let names = |row: &Row| row["TYPENAMEs"].split(' ').map(String::from).collect();
    rows("types.csv").iter().map(|row| (row["table"].clone(), names(row))).collect()
}

/// The C type of each TYPENAME.
pub fn ctypes() -> BTreeMap<String, String> {
    let rows = rows("typenames.csv").into_iter();
    rows.map(|row| (row["TYPENAME"].clone(), row["C type"].clone())).collect()
}

/// All routines. Rows of `functions.csv` with a table stand for one routine of each of its types.
pub fn functions() -> Vec<Row> {
    let (tables, ctypes) = (tables(), ctypes());
    let mut all = Vec::new();
    for row in rows("functions.csv") {
        if row["table"].is_empty() {
            all.push(row);
            continue;
        }
        all.extend(tables[&row["table"]].iter().map(|typename| {
            let mut row = row.clone();
            for value in row.values_mut() {
                *value = value.replace("TYPENAME", typename).replace("TYPE", &ctypes[typename]);
            }
            row
        }));
    }
    all
}

/// The folder with the headers, which the first call writes.
pub fn include() -> &'static Path {
    static WRITTEN: LazyLock<PathBuf> = LazyLock::new(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(concat!("include-", env!("CARGO_CRATE_NAME")));
        oneshmem_interface::headers::write(&folder).expect("the folder for tests can be written");
        folder
    });
    &WRITTEN
}

/// A C or C++ compiler and the standards to try it with.
pub struct Compiler {
    /// Its command.
    pub command: &'static str,
    /// Values of `-std=`.
    pub standards: &'static [&'static str],
}

const C: &[&str] = &["c99", "c11", "c17"];
const CPP: &[&str] = &["c++98", "c++11", "c++17"];
/// All of them; those that are absent are skipped unless ONESHMEM_TEST_ALL is set.
const COMPILERS: [Compiler; 4] = [
    Compiler { command: "gcc", standards: C },
    Compiler { command: "clang", standards: C },
    Compiler { command: "g++", standards: CPP },
    Compiler { command: "clang++", standards: CPP },
];

/// The compilers of this machine, with each of their standards; in `make test`, with the oldest and the newest.
pub fn compilers() -> Vec<(&'static str, &'static str)> {
    let [all, few] = ["ONESHMEM_TEST_ALL", "ONESHMEM_TEST_FEW"]
        .map(|variable| std::env::var_os(variable).is_some());
    let present = |c: &&Compiler| {
        all || Command::new(c.command).arg("--version").output().is_ok_and(|o| o.status.success())
    };
    let found: Vec<_> = COMPILERS
        .iter()
        .filter(present)
        .flat_map(|c| c.standards.iter().map(|standard| (c.command, *standard)))
        .filter(|(_, standard)| !few || !standard.ends_with("11"))
        .collect();
    assert!(!found.is_empty(), "there is no C compiler");
    found
}

/// Compiles `source` (a file name with its text) with all warnings as errors.
/// `to` is the executable, or nothing to check only.
pub fn compile(compiler: &str, standard: &str, source: &Path, to: Option<&Path>) {
    let mut command = Command::new(compiler);
    command.arg(format!("-std={standard}"));
    command.args(["-Wall", "-Wextra", "-pedantic", "-Wno-long-long", "-Werror"]);
    if to.is_none() && standard.starts_with("c++") {
        command.arg("-Wold-style-cast");
    }
    command.arg("-I").arg(include()).arg(source);
    match to {
        Some(executable) => command.arg("-o").arg(executable),
        None => command.arg("-fsyntax-only"),
    };
    let output = command.output().unwrap_or_else(|e| panic!("{compiler}: {e}"));
    let text = String::from_utf8_lossy(&output.stderr);
    let some: String = text.lines().take(30).map(|l| format!("{l}\n")).collect();
    assert!(output.status.success(), "{compiler} -std={standard} {}:\n{some}", source.display());
}

/// The optimised assembly code of `source`.
pub fn assembly(compiler: &str, standard: &str, source: &Path) -> String {
    let mut command = Command::new(compiler);
    command.arg(format!("-std={standard}")).args(["-w", "-O2", "-S", "-o", "-", "-I"]);
    let output = command.arg(include()).arg(source).output();
    let output = output.unwrap_or_else(|e| panic!("{compiler}: {e}"));
    assert!(output.status.success(), "{compiler} -O2 {}", source.display());
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What a compiler says of `source`, warnings aside: all errors.
fn checked(compiler: &str, standard: &str, source: &Path) -> Output {
    let mut command = Command::new(compiler);
    command.arg(format!("-std={standard}")).args(["-w", "-fsyntax-only", "-I"]).arg(include());
    if compiler.starts_with("clang") {
        command.arg("-ferror-limit=0");
    }
    command.arg(source).output().unwrap_or_else(|e| panic!("{compiler}: {e}"))
}

/// Whether `source` compiles, warnings aside.
pub fn accepts(compiler: &str, standard: &str, source: &Path) -> bool {
    checked(compiler, standard, source).status.success()
}

/// The lines of `source` of which a compiler finds that they are wrong.
pub fn lines_with_errors(compiler: &str, standard: &str, source: &Path) -> BTreeSet<usize> {
    let output = checked(compiler, standard, source);
    let text = String::from_utf8_lossy(&output.stderr);
    let place = format!("{}:", source.display());
    let number = |after: &str| after.split(':').next()?.parse().ok();
    text.split(&place).skip(1).filter_map(number).collect()
}

/// Writes a generated source into the tests' folder of this build.
pub fn generated(name: &str, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).expect("the folder for tests can be written");
    path
}

/// A source of `tests/c`.
pub fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c").join(name)
}

/// A C type, ready to be followed by a name.
pub fn declarator(ctype: &str) -> String {
    if ctype.ends_with('*') { ctype.into() } else { format!("{ctype} ") }
}
