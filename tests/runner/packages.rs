//! The files that repeat the version: for distributions, and for people.

use crate::{Result, tree};
use libtest_mimic::Trial;

/// The files that repeat the version, its date, or the version of Rust.
const REPEATED: [(&str, &str); 13] = [
    ("CHANGELOG.md", "\n## VERSION (DATE)\n"),
    ("packaging/debian/changelog", "oneshmem (VERSION-1)"),
    ("packaging/debian/control", "cargo-web (>= RUST) | cargo (>= RUST)"),
    ("packaging/debian/control", "rustc-web (>= RUST) | rustc (>= RUST)"),
    ("packaging/oneshmem.spec", "\nVersion:        VERSION\n"),
    ("packaging/oneshmem.spec", "\nBuildRequires:  cargo >= RUST\nBuildRequires:  rust >= RUST\n"),
    ("packaging/spack/packages/oneshmem/package.py", "version(\"VERSION\")"),
    ("packaging/spack/packages/oneshmem/package.py", "depends_on(\"rust@RUST:\""),
    ("packaging/guix/oneshmem.scm", "(version \"VERSION\")"),
    ("packaging/conda/recipe.yaml", "version: \"VERSION\""),
    // Its name has the version, too.
    ("packaging/easybuild/oneshmem-0.1.0-GCCcore-14.3.0.eb", "version = 'VERSION'"),
    ("README.md", "Rust RUST or newer"),
    ("docs/src/installing.md", "Rust RUST or newer"),
];

/// The trials.
pub fn trials() -> Vec<Trial> {
    vec![Trial::test("packages/versions", versions)]
}

/// Checks that versions match `Cargo.toml`.
fn versions() -> Result {
    let manifest = tree::read(tree::repository("Cargo.toml"))?;
    let value = |key: &str| {
        let line = manifest.lines().find_map(|line| line.strip_prefix(&format!("{key} = \"")));
        line.and_then(|rest| rest.strip_suffix('"')).ok_or(format!("no {key} in Cargo.toml"))
    };
    let (version, rust, date) = (value("version")?, value("rust-version")?, value("date")?);
    let mut problems = Vec::new();
    for (path, text) in REPEATED {
        let expected = text.replace("VERSION", version).replace("RUST", rust).replace("DATE", date);
        if !tree::read(tree::repository(path))?.contains(&expected) {
            problems.push(format!("{path} does not say {expected:?}"));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n").into()) }
}
