//! What packagers use: the crates' manifests, and the files for distributions in `packaging/`.
//! `make test-packages` builds the packages themselves.

use crate::{launch, tree};
use libtest_mimic::Trial;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// The published crates, each after those it depends on.
const PUBLISHED: [&str; 5] =
    ["xpmem-sys", "oneshmem-kitten", "onenode", "oneshmem-derive", "oneshmem"];

/// The files that repeat the version, its date, or the version of Rust.
const REPEATED: [(&str, &str); 11] = [
    ("CHANGELOG.md", "\n## VERSION (DATE)\n"),
    ("packaging/debian/changelog", "oneshmem (VERSION-1)"),
    ("packaging/debian/control", "cargo-web (>= RUST) | cargo (>= RUST)"),
    ("packaging/debian/control", "rustc-web (>= RUST) | rustc (>= RUST)"),
    ("packaging/oneshmem.spec", "\nVersion:        VERSION\n"),
    ("packaging/oneshmem.spec", "\nBuildRequires:  cargo >= RUST\nBuildRequires:  rust >= RUST\n"),
    ("packaging/spack/packages/oneshmem/package.py", "version(\"VERSION\")"),
    ("packaging/spack/packages/oneshmem/package.py", "depends_on(\"rust@RUST:\""),
    ("packaging/guix/oneshmem.scm", "(version \"VERSION\")"),
    ("README.md", "Rust RUST or newer"),
    ("docs/src/installing.md", "Rust RUST or newer"),
];

/// The trials.
pub fn trials() -> Vec<Trial> {
    let needs = |name: &str, program: &'static str, check: fn() -> Result<(), String>| {
        Trial::test(format!("packages/{name}"), move || Ok(check()?))
            .with_ignored_flag(tree::skip_without(program))
    };
    vec![
        Trial::test("packages/manifests", || Ok(manifests()?)),
        Trial::test("packages/contents", || Ok(contents()?)),
        Trial::test("packages/versions", || Ok(versions()?)),
        Trial::test("packages/make", || Ok(make()?)),
        needs("rpm", "rpmlint", rpm),
        needs("debian", "dpkg-parsechangelog", debian),
        needs("spack", "flake8", spack),
        needs("guix", "guile", guix),
    ]
}

/// All packages of this workspace, from cargo's metadata.
fn metadata() -> Result<Vec<Value>, String> {
    let out = cargo(&["metadata", "--locked", "--offline", "--no-deps", "--format-version=1"])?;
    let mut metadata: Value = serde_json::from_str(&out).map_err(|error| error.to_string())?;
    match metadata["packages"].take() {
        Value::Array(packages) => Ok(packages),
        other => Err(format!("cargo metadata has no packages: {other}")),
    }
}

fn cargo(arguments: &[&str]) -> Result<String, String> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(tree::repository(".")).args(arguments);
    run(cargo)
}

fn run(command: Command) -> Result<String, String> {
    let outcome = launch::run(command)?;
    outcome.success()?;
    Ok(outcome.stdout)
}

fn read(path: &str) -> Result<String, String> {
    std::fs::read_to_string(tree::repository(path)).map_err(|error| format!("{path}: {error}"))
}

/// Checks that published crates have what crates.io requires and what makes them easy to find, and
/// that the others cannot be published by accident.
fn manifests() -> Result<(), String> {
    let packages = metadata()?;
    let mut problems = Vec::new();
    for package in &packages {
        let name = package["name"].as_str().unwrap_or_default();
        let mut want = |holds: bool, what: &str| {
            if !holds {
                problems.push(format!("{name}: {what}"));
            }
        };
        // `publish = false` is an empty list of registries.
        let is_published = package["publish"].is_null();
        let place = PUBLISHED.iter().position(|published| *published == name);
        want(is_published == place.is_some(), "publish = false, or a place among the published");
        let Some(place) = place else { continue };
        let folder = Path::new(package["manifest_path"].as_str().unwrap_or_default())
            .parent()
            .ok_or("a manifest lies in a folder")?;
        let count = |field: &str| package[field].as_array().map_or(0, Vec::len);
        want(package["description"].as_str().is_some_and(|text| text.len() > 20), "a description");
        want(package["license"] == "MIT OR Apache-2.0", "the license");
        want(package["rust_version"].is_string(), "rust-version");
        want((1..=5).contains(&count("keywords")), "1 to 5 keywords");
        want((1..=5).contains(&count("categories")), "1 to 5 categories");
        for file in ["README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
            want(folder.join(file).is_file(), file);
        }
        want(package["readme"] == "README.md", "readme = \"README.md\"");
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let other = dependency["name"].as_str().unwrap_or_default();
            if dependency["path"].is_null() {
                continue;
            }
            want(dependency["req"] == "^0.1.0", &format!("{other} with path and version"));
            let before = PUBLISHED[..place].contains(&other);
            want(before, &format!("{other}, which it depends on, published before it"));
        }
    }
    let missing = PUBLISHED.iter().filter(|name| packages.iter().all(|p| p["name"] != **name));
    problems.extend(missing.map(|name| format!("{name} is no package of the workspace")));
    none(problems)
}

/// Checks that a crate's archive has everything it is built from, and nothing of the tests or the
/// rest of the tree.
fn contents() -> Result<(), String> {
    let mut problems = Vec::new();
    for name in PUBLISHED {
        let list =
            cargo(&["package", "--locked", "--offline", "--allow-dirty", "--list", "-p", name])?;
        for file in ["Cargo.toml", "README.md", "LICENSE-MIT", "LICENSE-APACHE", "src/lib.rs"] {
            if !list.lines().any(|line| line == file) {
                problems.push(format!("{name} lacks {file}"));
            }
        }
        let tops = ["src/", "tests/", "examples/", "interface/templates/shmem_inline.h"];
        let files = ["build.rs", "CHANGELOG.md", "Cargo.lock", "Cargo.toml.orig"];
        for line in list.lines().filter(|line| line.contains('/') || line.ends_with(".rs")) {
            let belongs = tops.iter().any(|top| line.starts_with(top)) || files.contains(&line);
            if !belongs {
                problems.push(format!("{name} has {line}"));
            }
        }
    }
    none(problems)
}

/// Checks that versions match `Cargo.toml`.
fn versions() -> Result<(), String> {
    let manifest = read("Cargo.toml")?;
    let value = |key: &str| {
        let line = manifest.lines().find_map(|line| line.strip_prefix(&format!("{key} = \"")));
        line.and_then(|rest| rest.strip_suffix('"')).ok_or(format!("no {key} in Cargo.toml"))
    };
    let (version, rust, date) = (value("version")?, value("rust-version")?, value("date")?);
    let mut problems = Vec::new();
    for (path, text) in REPEATED {
        let expected = text.replace("VERSION", version).replace("RUST", rust).replace("DATE", date);
        if !read(path)?.contains(&expected) {
            problems.push(format!("{path} does not say {expected:?}"));
        }
    }
    none(problems)
}

/// Checks what `make` would run: cargo only with the lock file and with the linker flags, and
/// nothing that installs packages.
fn make() -> Result<(), String> {
    let mut make = Command::new("make");
    make.current_dir(tree::repository("."));
    make.args(["--dry-run", "--always-make", "BUILD=build/nowhere", "LDFLAGS=-Wl,-z,pack", "all"]);
    let plan = run(make)?.replace("\\\n", " ");
    let builds: Vec<&str> = plan.lines().filter(|line| line.contains(" build --release")).collect();
    let mut problems = Vec::new();
    if builds.len() < 3 {
        problems.push(format!("expected at least 3 calls of cargo, found {builds:?}"));
    }
    for line in &builds {
        for word in ["--locked", "-Clink-arg=-Wl,-z,pack"] {
            if !line.contains(word) {
                problems.push(format!("no {word} in: {line}"));
            }
        }
    }
    let shared: Vec<&str> = plan.lines().filter(|line| line.contains(" -shared ")).collect();
    if shared.len() < 3 || !shared.iter().all(|line| line.contains("-Wl,-z,pack")) {
        problems.push(format!("expected LDFLAGS in at least 3 links, found {shared:?}"));
    }
    if plan.contains("apt-get") {
        problems.push("make installs packages without being told".to_owned());
    }
    none(problems)
}

fn rpm() -> Result<(), String> {
    let mut rpmlint = Command::new("rpmlint");
    rpmlint.arg("-r").arg(tree::repository("packaging/oneshmem.rpmlintrc"));
    rpmlint.arg(tree::repository("packaging/oneshmem.spec"));
    let said = run(rpmlint)?;
    match said.contains(" 0 errors, 0 warnings") {
        true => Ok(()),
        false => Err(said),
    }
}

/// Checks that Debian's tools can read the changelog. `packaging/build-deb` reads the rest.
fn debian() -> Result<(), String> {
    let mut parse = Command::new("dpkg-parsechangelog");
    parse.arg("-l").arg(tree::repository("packaging/debian/changelog")).args(["-S", "Source"]);
    let source = run(parse)?;
    if source.trim() == "oneshmem" { Ok(()) } else { Err(format!("the source is {source:?}")) }
}

/// Checks that the recipe is Python without errors that a linter finds. Recipes import all names,
/// as Spack's rules require.
fn spack() -> Result<(), String> {
    let mut flake8 = Command::new("flake8");
    flake8.args(["--isolated", "--max-line-length=99", "--extend-ignore=F403,F405"]);
    flake8.arg(tree::repository("packaging/spack/packages/oneshmem/package.py"));
    run(flake8).map(drop)
}

/// Checks that the package is valid Scheme, with the fields that Guix requires.
fn guix() -> Result<(), String> {
    let mut guile = Command::new("guile");
    guile.arg("--no-auto-compile").arg(tree::repository("packaging/guix/check.scm"));
    let fields = run(guile)?;
    let names =
        ["name", "version", "source", "build-system", "home-page", "synopsis", "description"];
    let is_there = |name: &&str| fields.lines().any(|line| line.starts_with(&format!("{name}: ")));
    none(names.iter().filter(|name| !is_there(name)).map(|name| format!("no {name}")).collect())
}

fn none(problems: Vec<String>) -> Result<(), String> {
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}
