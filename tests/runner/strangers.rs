//! Another user cannot prevent, delay or join a job that a foreign launcher starts, nor disturb one over
//! several hosts.

use crate::launch::{self, Running};
use crate::launchers::{Launcher, as_slurm};
use crate::{Result, compile, nodes, tree};
use libtest_mimic::Trial;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A user without jobs: the folders in which it attacks others would serve its own.
const STRANGER: u32 = 65532;
/// Another one, whose PEs do not take the stranger's folders for their own.
const OTHER: u32 = 65533;

/// The trials. Only root can act as another user.
pub fn trials() -> Vec<Trial> {
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    let possible = is_root && !tree::skip_without("setpriv");
    let one_node = nodes::no_namespaces();
    vec![
        Trial::test("strangers/attack", attack).with_ignored_flag(!possible),
        Trial::test("strangers/launched-by-another", launched_by_another)
            .with_ignored_flag(!possible),
        Trial::test("strangers/network/agent", || network("node0:2,node1:2", 4))
            .with_ignored_flag(one_node),
        Trial::test("strangers/network/alone", || network("node0:1,node1:1", 2))
            .with_ignored_flag(one_node),
        Trial::test("strangers/flood/agent", || flood("node0:2,node1:2", 4))
            .with_ignored_flag(one_node),
        Trial::test("strangers/flood/alone", || flood("node0:1,node1:1", 2))
            .with_ignored_flag(one_node),
    ]
}

/// A stranger on a third host, who holds as many connections as it gets to the ports of a job that starts,
/// neither ends it nor delays it for long.
fn flood(hosts: &str, pes: usize) -> Result {
    /// In seconds: far longer than the PEs need, and shorter than they would wait for a place in a full queue.
    const LONG: u64 = 8;
    let program = compile::plain("tests/programs/ports.c", &[])?;
    let flooded = tree::scratch(format!("flooded-{pes}"));
    let _ = std::fs::remove_file(&flooded);
    let job = nodes::oshrun(hosts, pes, nodes::NAMESPACES, &[]);
    let mut command = nodes::among_namespaces(3);
    let together = r#""$@" late "$FLOODED" & job=$!
        ports=$(ip netns exec node1 "$PORTS" list | sort -u)
        ip netns exec node2 "$PORTS" flood "$FLOODED" 10.77.0.2 $ports & flood=$!
        wait $job; status=$?; kill $flood; exit $status"#;
    command.args(["sh", "-c", together, "sh"]).arg(job.get_program()).args(job.get_args());
    command.arg(&program).env("PORTS", &program).env("FLOODED", &flooded);
    let outcome = launch::run(command)?;
    let _ = std::fs::remove_file(&flooded);
    outcome.success()?;
    let seconds = |line: &str| line.strip_prefix("met after ")?.strip_suffix(" s")?.parse().ok();
    let all: Option<Vec<u64>> = outcome.stdout.lines().map(seconds).collect();
    outcome.require(
        all.is_some_and(|all| all.len() == pes && all.iter().all(|it| *it < LONG)),
        format!("expected {pes} PEs that meet within {LONG} s"),
    )
}

/// A stranger who can connect to the ports of a job over two hosts, on one of them, neither reaches
/// its memory nor ends it.
fn network(hosts: &str, pes: usize) -> Result {
    let program = compile::plain("tests/programs/ports.c", &[])?;
    let job = nodes::oshrun(hosts, pes, nodes::NAMESPACES, &[]);
    let mut command = nodes::among_namespaces(2);
    let together = "\"$@\" job & sleep 0.3; ip netns exec node1 \"$PORTS\" attack; wait $!";
    command.args(["sh", "-c", together, "sh"]).arg(job.get_program()).args(job.get_args());
    command.arg(&program).env("PORTS", &program);
    let outcome = launch::run(command)?;
    outcome.success()?;
    let attacked = outcome.stdout.contains("many connections");
    outcome.require(
        outcome.stdout.contains("nothing changed") && attacked,
        "expected a job that goes on, and many connections to its ports",
    )
}

/// Runs `program` as another user.
fn by(user: u32, program: &Path) -> Command {
    let mut command = Command::new("setpriv");
    let user = user.to_string();
    command.args(["--reuid", &user, "--regid", &user, "--clear-groups"]).arg(program);
    command
}

/// A copy of a program that another user can execute.
fn public(program: &str) -> Result<PathBuf> {
    let built = compile::plain(format!("tests/programs/{program}.c"), &[])?;
    let name = format!("public-{program}-{}", std::process::id());
    let public = std::env::temp_dir().join(name);
    std::fs::copy(&built, &public).map_err(|error| format!("{}: {error}", public.display()))?;
    Ok(public)
}

/// Jobs run normally during another user's attacks.
fn attack() -> Result {
    let stranger = public("stranger")?;
    let late = compile::plain("tests/programs/row.c", &[])?;
    let mut command = by(STRANGER, &stranger);
    command.arg("6");
    let attacker = Running::start(command)?;
    let mut outcome = Ok(());
    for _ in 0..8 {
        for job in Launcher::Slurm.run(4, &late, &["quickly"], &[])? {
            outcome = outcome.and(job.success());
        }
    }
    let attacker = attacker.finish()?;
    let _ = std::fs::remove_file(&stranger);
    outcome?;
    attacker.success()?;
    attacker.require(
        !attacker.stdout.starts_with("seen 0 ") && attacker.stdout.ends_with("done 0\n"),
        "expected a stranger that saw jobs and could do nothing",
    )
}

/// PEs started by a launcher of another user meet like all others, whether their user has a directory of
/// its own, none, or names one that is open to all, and whatever the umask takes.
fn launched_by_another() -> Result {
    let program = public("row")?;
    let private = std::env::temp_dir().join(format!("private-{}", std::process::id()));
    let run = |directory: Option<&Path>, step: &str, umask: &str| -> Result {
        let start = |pe: usize| {
            let mut command = by(OTHER, Path::new("/bin/sh"));
            command.args(["-c", "umask $0 && exec \"$@\"", umask]).arg(&program);
            command.arg("quickly").env_remove("XDG_RUNTIME_DIR");
            command.envs(directory.map(|path| ("XDG_RUNTIME_DIR", path)));
            Running::start(as_slurm(command, step, pe, 2))
        };
        let running: Result<Vec<_>> = (0..2).map(start).collect();
        running?.into_iter().try_for_each(|pe| pe.finish()?.success())
    };
    let outcome: Result = (|| {
        for (step, umask) in [("9", "022"), ("12", "0777"), ("13", "0277")] {
            run(None, step, umask)?;
        }
        std::fs::create_dir(&private)?;
        chown(&private, Some(OTHER), Some(OTHER))?;
        for (step, mode) in [("10", 0o777), ("11", 0o700)] {
            let mode = PermissionsExt::from_mode(mode);
            std::fs::set_permissions(&private, mode)?;
            run(Some(&private), step, "022")?;
        }
        Ok(())
    })();
    let _ = std::fs::remove_file(&program);
    let empty = std::fs::remove_dir(&private);
    outcome?;
    empty.map_err(|error| format!("something was left in {}: {error}", private.display()).into())
}
