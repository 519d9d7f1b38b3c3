//! Jobs leave nothing behind, and work without what the machine may lack.

use crate::{compile, launch, tree};
use libtest_mimic::Trial;
use std::collections::BTreeSet;
use std::process::Command;
use std::time::{Duration, Instant};

/// The trials.
pub fn trials() -> Vec<Trial> {
    vec![
        Trial::test("bystanders/no-file-left", || Ok(no_file_left()?)),
        Trial::test("bystanders/without-dev-shm", || Ok(without_dev_shm()?))
            .with_ignored_flag(!can_unshare()),
    ]
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
fn no_file_left() -> Result<(), String> {
    let die = compile::plain(&tree::repository("tests/c/die.c"), &[])?;
    let before = listing();
    for how in ["kill", "exit-7"] {
        let mut command = launch::oshrun(3, &die);
        command.args(["wait", how]);
        launch::run(command)?;
    }
    let mut left: BTreeSet<String> = listing().difference(&before).cloned().collect();
    // Jobs of other tests come and go: only what stays counts.
    let deadline = Instant::now() + launch::LIMIT;
    while !left.is_empty() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
        left = listing().intersection(&left).cloned().collect();
    }
    if left.is_empty() { Ok(()) } else { Err(format!("left behind: {left:?}")) }
}

/// Whether this machine allows tests to have their own mount namespace.
pub fn can_unshare() -> bool {
    let mut command = Command::new("unshare");
    command.args(["--mount", "--map-root-user", "true"]);
    command.output().is_ok_and(|output| output.status.success())
}

/// Checks that jobs work where `/dev/shm` has no space and no write permission.
fn without_dev_shm() -> Result<(), String> {
    let program = compile::plain(&tree::repository("tests/c/rma_sized.c"), &[])?;
    let mut command = Command::new("unshare");
    command.args(["--mount", "--map-root-user", "sh", "-c"]);
    command.arg("mount -t tmpfs -o size=4k,mode=000 none /dev/shm && exec \"$0\" -n 4 \"$1\"");
    command.arg(tree::prefix("bin/oshrun")).arg(program);
    launch::run(command)?.success()
}
