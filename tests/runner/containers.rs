//! Jobs in containers, as far as an ordinary user can create them: namespaces, a small `/dev/shm`,
//! an empty root. And what jobs leave behind, which is nothing.

use crate::directives::{Program, Variant};
use crate::{Result, compile, launch, tree};
use libtest_mimic::Trial;
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const NAMESPACES: [&str; 5] = ["--map-root-user", "--mount", "--pid", "--fork", "--mount-proc"];

/// The trials. Ignored where namespaces are not allowed.
pub fn trials() -> Vec<Trial> {
    let forbidden = !allowed();
    let mut trials: Vec<Trial> = [
        // 4 PEs with 64 MiB of static data each.
        Trial::test("containers/small-dev-shm", || small("data_segment")),
        Trial::test("containers/one-for-each-pe", || one_each("data_segment")),
        Trial::test("containers/one-for-each-pe-reductions", || one_each("coll_reduce")),
        Trial::test("containers/empty-root", || empty_root("ptr")),
        Trial::test("containers/without-proc", without_proc),
    ]
    .into_iter()
    .map(|trial| trial.with_ignored_flag(forbidden))
    .collect();
    trials.push(Trial::test("bystanders/no-file-left", no_file_left));
    let without_dev_shm = Trial::test("bystanders/without-dev-shm", without_dev_shm);
    trials.push(without_dev_shm.with_ignored_flag(!can_unshare()));
    trials
}

fn allowed() -> bool {
    let mut command = Command::new("unshare");
    command.args(NAMESPACES).arg("true").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn program(name: &str, variant: Variant) -> Result<PathBuf> {
    let source = tree::repository(format!("tests/c/{name}.c"));
    compile::executable(&Program::read(&source)?, variant)
}

/// The whole job in a container with the usual 64 MiB of `/dev/shm`.
fn small(name: &str) -> Result {
    let script = "mount -t tmpfs -o size=64m tmpfs /dev/shm && exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(NAMESPACES).args(["sh", "-c", script, "sh"]).arg(tree::prefix("bin/oshrun"));
    command.args(["-n", "4"]).arg(program(name, Variant::usual())?);
    launch::run(command)?.success()
}

/// Each PE in its own container, where it sees no other process.
fn one_each(name: &str) -> Result {
    let mut command = Command::new(tree::prefix("bin/oshrun"));
    command.args(["-n", "4", "unshare"]).args(NAMESPACES).arg(program(name, Variant::usual())?);
    launch::run(command)?.success()
}

/// Each PE in its own root, which contains only the program: no `/proc`, no `/dev`.
fn empty_root(name: &str) -> Result {
    let root = tree::Folder::new("root")?;
    std::fs::copy(program(name, Variant::Static)?, root.join(name))?;
    let mut command = Command::new(tree::prefix("bin/oshrun"));
    command.args(["-n", "4", "unshare", "-r", "chroot"]).arg(&*root).arg(format!("/{name}"));
    launch::run(command)?.success()
}

/// Without `/proc` the commands find their installation by the path that they are run by.
fn without_proc() -> Result {
    let folder = tree::Folder::new("without-proc")?;
    let source = tree::repository("examples/hello.c");
    // A program without a run path: the launcher tells it where the library is.
    let link = Variant::usual().options().join(" ");
    let script = format!(
        "mount -t tmpfs tmpfs /proc && cd \"$1\" && PATH=$2:$PATH && oshcc {link} -c \"$3\" -o hello.o && \
         cc {link} hello.o -L\"$2/../lib\" -lshmem -o hello && \"$2/oshrun\" -n 2 ./hello && oshrun -n 2 ./hello"
    );
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", &script, "sh"]).arg(&*folder);
    command.arg(tree::prefix("bin")).arg(source);
    launch::run(command)?.prints(&["of 2"])
}

fn listing() -> BTreeSet<String> {
    ["/dev/shm", "/tmp", "/run", "/var/tmp"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten())
        .filter_map(|entry| Some(entry.ok()?.path().to_string_lossy().into_owned()))
        .filter(|path| path.to_lowercase().contains("shmem"))
        .collect()
}

/// Named sockets and shared memory segments would show up in these places.
fn no_file_left() -> Result {
    let die = compile::plain("tests/c/die.c", &[])?;
    let before = listing();
    for how in ["kill", "exit-7"] {
        let mut command = launch::oshrun(3, &die);
        command.args(["wait", how]);
        launch::run(command)?;
    }
    nothing_stays(&before, listing)
}

/// Checks that what is listed now and was not before goes away. Jobs of other tests come and go: only what
/// stays counts.
pub fn nothing_stays<T: Clone + Ord + Debug>(
    before: &BTreeSet<T>,
    listing: impl Fn() -> BTreeSet<T>,
) -> Result {
    let mut left: BTreeSet<T> = listing().difference(before).cloned().collect();
    launch::wait_until("all files are removed", || {
        left = listing().intersection(&left).cloned().collect();
        left.is_empty()
    })
    .map_err(|_| format!("left behind: {left:?}").into())
}

/// Whether this machine allows tests to have their own mount namespace.
pub fn can_unshare() -> bool {
    let mut command = Command::new("unshare");
    command.args(["--mount", "--map-root-user", "true"]);
    command.output().is_ok_and(|output| output.status.success())
}

/// Checks that jobs work where `/dev/shm` has no space and no write permission.
fn without_dev_shm() -> Result {
    let program = compile::plain("tests/c/rma_sized.c", &[])?;
    let mut command = Command::new("unshare");
    command.args(["--mount", "--map-root-user", "sh", "-c"]);
    command.arg("mount -t tmpfs -o size=4k,mode=000 none /dev/shm && exec \"$0\" -n 4 \"$1\"");
    command.arg(tree::prefix("bin/oshrun")).arg(program);
    launch::run(command)?.success()
}
