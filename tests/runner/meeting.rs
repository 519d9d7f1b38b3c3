//! How the PEs of launchers other than `oshrun` meet, whatever they lack, and what they leave.

use crate::containers::{can_unshare, nothing_stays};
use crate::launch::{self, Running, all_succeed};
use crate::launchers::{self, Launcher};
use crate::{Result, compile, tree};
use libtest_mimic::Trial;
use nix::sys::signal::{Signal, kill};
use std::collections::BTreeSet;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const LAUNCHERS: [Launcher; 3] = [Launcher::Hydra, Launcher::OpenMpi, Launcher::Slurm];

/// Surroundings in which each PE is started, as shell scripts that get the program as their arguments.
const SURROUNDINGS: [(&str, &str); 7] = [
    ("user-namespaces", "exec unshare --map-root-user \"$@\""),
    // There, the user has no number.
    ("unmapped-user-namespaces", "exec unshare --user \"$@\""),
    ("process-namespaces", "exec unshare --map-root-user --mount --pid --fork --mount-proc \"$@\""),
    (
        "read-only-dev-shm",
        "exec unshare --map-root-user --mount sh -c 'mount -t tmpfs -o ro none /dev/shm && exec \"$@\"' sh \"$@\"",
    ),
    (
        "a-dev-shm-each",
        "exec unshare --map-root-user --mount sh -c 'mount -t tmpfs none /dev/shm && exec \"$@\"' sh \"$@\"",
    ),
    (
        "without-proc",
        "exec unshare --map-root-user --mount sh -c 'mount -t tmpfs none /proc && exec \"$@\"' sh \"$@\"",
    ),
    ("without-runtime-directory", "XDG_RUNTIME_DIR=/run/user/nobody exec \"$@\""),
];

/// The trials.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for launcher in LAUNCHERS {
        for (name, script) in SURROUNDINGS {
            let impossible = script.contains("unshare") && !can_unshare();
            let run = move || surrounded(launcher, script);
            let trial = Trial::test(format!("meeting/{}/{name}", launcher.name()), run);
            trials.push(trial.with_ignored_flag(launcher.is_absent() || impossible));
        }
        for (what, run) in [
            ("closed-descriptors", closes as fn(Launcher) -> Result),
            ("nothing-left", nothing_left),
            ("without-randomisation", without_randomisation),
        ] {
            let name = format!("meeting/{}/{what}", launcher.name());
            trials.push(launcher.trial(name, move || run(launcher)));
        }
    }
    for what in ["killed", "stopped"] {
        trials.push(Trial::test(format!("meeting/first-{what}"), move || first(what)));
    }
    trials
}

fn program(name: &str) -> Result<PathBuf> {
    compile::plain(format!("tests/programs/{name}.c"), &[])
}

/// The PEs find each other.
fn surrounded(launcher: Launcher, script: &str) -> Result {
    let program = program("starter")?;
    let shown = program.to_string_lossy();
    let arguments = ["-c", script, "sh", &shown];
    let outcomes = launcher.run(4, Path::new("/bin/sh"), &arguments, &[])?;
    all_succeed(&outcomes)?;
    let lines: BTreeSet<_> = outcomes.iter().flat_map(|outcome| outcome.stdout.lines()).collect();
    outcomes[0].require(
        (0..4).all(|pe| lines.contains(format!("started: PE {pe} of 4").as_str())),
        "expected the four PEs of one job",
    )
}

/// The launcher's own addresses are not random, as in a debugger.
fn without_randomisation(launcher: Launcher) -> Result {
    let program = program("starter")?;
    let mut command = Command::new("setarch");
    command.arg("-R");
    match launcher {
        Launcher::Hydra => command.args(["mpiexec.hydra", "-n", "2"]),
        Launcher::OpenMpi => command.args(["mpirun.openmpi", "--oversubscribe", "-n", "2"]),
        _ => command.args(["sh", "-c", "SLURM_PROCID=0 \"$0\" & SLURM_PROCID=1 \"$0\" && wait $!"]),
    };
    launchers::prepare_mpirun(&mut command)?;
    if launcher == Launcher::Slurm {
        command = launchers::as_slurm(command, "100", 0, 2);
    }
    command.arg(program);
    let outcome = launch::run(command)?;
    outcome.success()?;
    outcome.require(outcome.stdout.matches(" of 2\n").count() == 2, "expected one job of two PEs")
}

/// PEs that close all descriptors as soon as they can are in nobody's way, while one keeps them.
fn closes(launcher: Launcher) -> Result {
    const RUNS: usize = 6;
    let program = program("closes")?;
    for _ in 0..RUNS {
        all_succeed(&launcher.run(4, &program, &[], &[])?)?;
    }
    Ok(())
}

/// The folders in which processes meet.
fn folders() -> BTreeSet<PathBuf> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    ["/dev/shm", "/tmp", "/run/user/0"]
        .into_iter()
        .map(PathBuf::from)
        .chain(runtime)
        .flat_map(|base| std::fs::read_dir(base).into_iter().flatten().flatten())
        .map(|entry| entry.path())
        .filter(|path| path.to_string_lossy().contains("/onenode-"))
        .collect()
}

/// After jobs that succeed and jobs that end early no folder is left.
fn nothing_left(launcher: Launcher) -> Result {
    let before = folders();
    let (program, late) = (program("starter")?, program("late")?);
    all_succeed(&launcher.run(3, &program, &[], &[])?)?;
    for how in ["0", "misuse", "exit"] {
        launcher.run(3, &late, &[how], &[])?;
    }
    nothing_stays(&before, folders)
}

/// The PE that came first is killed or stopped before all have come. The others say so. The next
/// job of that name meets none the less, and nothing is left.
fn first(what: &str) -> Result {
    let program = program("starter")?;
    let step = if what == "killed" { "101" } else { "102" };
    let runtime = tree::Folder::new(&format!("first-{what}"))?;
    std::fs::set_permissions(&*runtime, Permissions::from_mode(0o700))?;
    let shown = runtime.to_string_lossy().into_owned();
    let start = |pe: usize, limit: &str| {
        let mut command = Command::new(&program);
        command.env("XDG_RUNTIME_DIR", &shown).env("SHMEM_STARTUP_TIMEOUT", limit);
        Running::start(launchers::as_slurm(command, step, pe, 3))
    };
    let first = start(0, "60")?;
    launch::wait_until("the first PE listens", || sockets(&runtime) == 1)?;
    let (second, expected) = match what {
        "killed" => {
            let second = start(1, "60")?;
            // It has come once it has got the files, and waits for the third.
            launch::wait_until("the second has come", || waits(&second))?;
            kill(first.pid(), Signal::SIGKILL)?;
            (second, "ended before all had come")
        }
        _ => {
            kill(first.pid(), Signal::SIGSTOP)?;
            (start(1, "1")?, "is it stopped?")
        }
    };
    second.finish()?.ends(1, &[expected])?;
    if what == "stopped" {
        kill(first.pid(), Signal::SIGKILL)?;
    }
    first.finish()?;
    let next: Result<Vec<_>> = (0..3).map(|pe| start(pe, "60")).collect();
    next?.into_iter().try_for_each(|pe| pe.finish()?.success())?;
    match std::fs::read_dir(&*runtime)?.count() {
        0 => Ok(()),
        left => Err(format!("{left} folders are left in {shown}").into()),
    }
}

/// How many sockets are in the folders here.
fn sockets(runtime: &Path) -> usize {
    let inside = |path: PathBuf| std::fs::read_dir(path).map_or(0, Iterator::count);
    let folders = std::fs::read_dir(runtime).into_iter().flatten().flatten();
    folders.map(|folder| inside(folder.path())).sum()
}

/// Whether the PE has the job's file, but no connection any more.
fn waits(pe: &Running) -> bool {
    let files = std::fs::read_dir(format!("/proc/{}/fd", pe.pid())).into_iter().flatten().flatten();
    let names: Vec<_> = files
        .filter_map(|file| std::fs::read_link(file.path()).ok())
        .map(|target| target.to_string_lossy().into_owned())
        .collect();
    names.iter().any(|name| name.contains("memfd:oneshmem"))
        && !names.iter().any(|name| name.starts_with("socket:"))
}
