//! Jobs of a real Slurm, of Debian's packages, which the tests set up in namespaces of their own.

use crate::{Result, compile, launch, tree};
use libtest_mimic::Trial;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The user "nobody", of whom Slurm finds a name.
const NOBODY: u32 = 65534;
/// The programs that it consists of.
const PROGRAMS: [&str; 4] = ["slurmctld", "slurmd", "srun", "munged"];

/// The trials. Only root can set it up.
pub fn trials() -> Vec<Trial> {
    let missing = PROGRAMS.iter().any(|program| tree::skip_without(program));
    let ignored = missing || !can_set_up();
    [("root", 0), ("user", NOBODY)]
        .map(|(name, user)| {
            let trial = Trial::test(format!("slurm/{name}"), move || under_slurm(name, user));
            trial.with_ignored_flag(ignored)
        })
        .into()
}

/// Whether this process is root, may make namespaces, and sees control groups, without which Slurm does
/// not start.
fn can_set_up() -> bool {
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    let mut command = Command::new("unshare");
    command.args(["--net", "--mount", "--pid", "--fork", "--mount-proc"]);
    command.args(["mount", "-t", "tmpfs", "none", "/run"]);
    let groups = std::fs::read_dir("/sys/fs/cgroup").is_ok_and(|mut all| all.next().is_some());
    is_root && groups && command.output().is_ok_and(|output| output.status.success())
}

/// Starts jobs of all kinds as this user.
fn under_slurm(name: &str, user: u32) -> Result {
    let starter = compile::plain("tests/programs/starter.c", &[])?;
    // Not in /tmp: there, nodes have their own folders.
    let folder = PathBuf::from(format!("/var/tmp/slurm-{name}-{}", std::process::id()));
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    std::fs::DirBuilder::new().mode(0o755).create(&folder).map_err(failed)?;
    let outcome = (|| {
        let program = folder.join("starter");
        std::fs::copy(&starter, &program).map_err(failed)?;
        launch::run(command(&folder, user, &program))
    })();
    let logs = ["slurmctld.log", "node0.log", "node1.log", "munged.err"].map(|log| {
        let text = std::fs::read_to_string(folder.join(log)).unwrap_or_default();
        let last: Vec<_> = text.lines().rev().take(10).collect();
        format!("{log}:\n{}\n", last.into_iter().rev().collect::<Vec<_>>().join("\n"))
    });
    let _ = std::fs::remove_dir_all(&folder);
    outcome?.success().map_err(|report| {
        format!("{}\n{}", report.message().unwrap_or_default(), logs.join("")).into()
    })
}

fn command(folder: &Path, user: u32, program: &Path) -> Command {
    let mut command = Command::new(tree::repository("tests/programs/slurm.sh"));
    command.arg(folder).arg("2").args(["setpriv", "--reuid", &user.to_string()]);
    command.args(["--regid", &user.to_string(), "--clear-groups"]);
    command.arg(tree::repository("tests/programs/under_slurm.sh"));
    command.arg(tree::prefix("bin")).arg(program).current_dir("/var/tmp");
    command
}
