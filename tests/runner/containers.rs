//! Jobs in containers, as far as an ordinary user can create them: namespaces, a small `/dev/shm`,
//! an empty root.

use crate::directives::{Program, Variant};
use crate::{compile, launch, tree};
use libtest_mimic::Trial;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const NAMESPACES: [&str; 5] = ["--map-root-user", "--mount", "--pid", "--fork", "--mount-proc"];

/// The trials. Ignored where namespaces are not allowed.
pub fn trials() -> Vec<Trial> {
    let forbidden = !allowed();
    [
        // 4 PEs with 64 MiB of static data each.
        Trial::test("containers/small-dev-shm", || Ok(small("data_segment")?)),
        Trial::test("containers/one-for-each-pe", || Ok(one_each("data_segment")?)),
        Trial::test("containers/one-for-each-pe-reductions", || Ok(one_each("coll_reduce")?)),
        Trial::test("containers/empty-root", || Ok(empty_root("ptr")?)),
    ]
    .into_iter()
    .map(|trial| trial.with_ignored_flag(forbidden))
    .collect()
}

fn allowed() -> bool {
    let mut command = Command::new("unshare");
    command.args(NAMESPACES).arg("true").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn program(name: &str, variant: Variant) -> Result<PathBuf, String> {
    let source = tree::repository(&format!("tests/c/{name}.c"));
    compile::executable(&Program::read(&source)?, variant)
}

/// The whole job in a container with the usual 64 MiB of `/dev/shm`.
fn small(name: &str) -> Result<(), String> {
    let script = "mount -t tmpfs -o size=64m tmpfs /dev/shm && exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(NAMESPACES).args(["sh", "-c", script, "sh"]).arg(tree::prefix("bin/oshrun"));
    command.args(["-n", "4"]).arg(program(name, Variant::usual())?);
    launch::run(command)?.success()
}

/// Each PE in its own container, where it sees no other process.
fn one_each(name: &str) -> Result<(), String> {
    let mut command = Command::new(tree::prefix("bin/oshrun"));
    command.args(["-n", "4", "unshare"]).args(NAMESPACES).arg(program(name, Variant::usual())?);
    launch::run(command)?.success()
}

/// Each PE in its own root, which contains only the program: no `/proc`, no `/dev`.
fn empty_root(name: &str) -> Result<(), String> {
    let root = tree::scratch(&format!("root-{}", std::process::id()));
    std::fs::create_dir_all(&root).map_err(|error| error.to_string())?;
    std::fs::copy(program(name, Variant::Static)?, root.join(name))
        .map_err(|error| error.to_string())?;
    let mut command = Command::new(tree::prefix("bin/oshrun"));
    command.args(["-n", "4", "unshare", "-r", "chroot"]).arg(&root);
    command.arg(format!("/{name}"));
    let outcome = launch::run(command);
    let _ = std::fs::remove_dir_all(&root);
    outcome?.success()
}
