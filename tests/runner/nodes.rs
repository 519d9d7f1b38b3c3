//! Jobs over several nodes, emulated on this machine: the remote shell is a command that runs the
//! launcher here.

use crate::launch::{self, Running};
use crate::{Result, compile, tree};
use libtest_mimic::Trial;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// A remote shell that executes the command in its own place.
pub(crate) const DIRECT: &str = "sh -c 'shift; exec \"$@\"' agent";
/// The remote shell for hosts that are network namespaces.
pub(crate) const NAMESPACES: &str = "ip netns exec";

/// The trials. For a library with SMARTMAP's addresses there is just one: that it supports only one
/// node. `tests/transcripts/nodes.md` has what the launcher does.
pub fn trials() -> Vec<Trial> {
    if tree::is_smartmap() {
        return vec![Trial::test("nodes/refused", || {
            let mut command = oshrun("a,b", 2, DIRECT, &[]);
            command.arg(program()?).arg("near");
            launch::run(command)?.ends(1, &["the feature smartmap serves jobs on one node only"])
        })];
    }
    let packets = |pes| Trial::test(format!("nodes/packets/{pes}"), move || packets(pes));
    [2, 4].map(|pes| packets(pes).with_ignored_flag(no_namespaces())).into()
}

pub(crate) fn program() -> Result<PathBuf> {
    compile::plain("tests/programs/over_nodes.c", &[])
}

pub(crate) fn oshrun(hosts: &str, pes: usize, agent: &str, options: &[&str]) -> Command {
    let mut command = Command::new(tree::prefix("bin/oshrun"));
    command.args(["--host", hosts, "-n", &pes.to_string(), "--launch-agent", agent]).args(options);
    command.env("SHMEM_STARTUP_TIMEOUT", "60");
    command
}

/// A command to run among emulated hosts node0, node1 and so on.
pub(crate) fn among_namespaces(count: usize) -> Command {
    let mut command = Command::new("sh");
    command.arg(tree::repository("tests/programs/namespaces.sh")).arg(count.to_string());
    command
}

/// Whether to skip trials over several nodes for lack of UCX. Prints a message if so.
pub(crate) fn no_ucx() -> bool {
    static NONE: LazyLock<bool> = LazyLock::new(|| {
        let path = "/usr/sbin:/sbin:/usr/bin:/bin";
        let known = Command::new("ldconfig").arg("-p").env("PATH", path).output();
        let none = tree::may_be_absent()
            && known.is_ok_and(|known| {
                known.status.success()
                    && !String::from_utf8_lossy(&known.stdout).contains("libucp.so.0")
            });
        if none {
            eprintln!("tests over several nodes are skipped: no libucp.so.0 (package libucx0)");
        }
        none
    });
    *NONE
}

/// Whether to skip trials among network namespaces for lack of namespaces or UCX. Prints a message
/// if so.
pub(crate) fn no_namespaces() -> bool {
    static NONE: LazyLock<bool> = LazyLock::new(|| {
        if no_ucx() {
            return true;
        }
        let why = match among_namespaces(2).arg("true").output() {
            Ok(output) if output.status.success() => return false,
            Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            Err(error) => error.to_string(),
        };
        // Missing programs can be installed, missing privileges cannot.
        let absent = ["ip", "unshare"].into_iter().find(|name| tree::find(name).is_none());
        let skipped = absent.is_none_or(tree::skip_without);
        if skipped {
            eprintln!("tests among network namespaces are skipped: there are none here: {why}");
        }
        skipped
    });
    *NONE
}

/// Collectives of few bytes take few packets: data travels with the steps.
fn packets(pes: usize) -> Result {
    /// A message in each direction; where PEs wait for a CPU, up to three have been seen.
    const MOST: &str = "3.5";
    let mut command = among_namespaces(2);
    command.arg(tree::prefix("bin/oshrun"));
    command.args(oshrun("node0,node1", pes, NAMESPACES, &[]).get_args());
    command.arg(compile::plain("tests/programs/packets.c", &[])?).arg(MOST);
    launch::run(command)?.success()
}

/// Waits until PEs have made these files, and removes them.
pub(crate) fn await_files(files: &[PathBuf]) -> Result {
    let until = Instant::now() + launch::LIMIT;
    while !files.iter().all(|file| file.exists()) {
        if Instant::now() > until {
            return Err("the PEs do not start".into());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    for file in files {
        let _ = std::fs::remove_file(file);
    }
    Ok(())
}

/// Kills the launcher of the last node.
pub(crate) fn kill_last_node(running: &Running) -> Result {
    let launchers = running.descendants().into_iter().filter(|pid| name_of(*pid) == "oshrun");
    let last = launchers.max_by_key(|pid| pid.as_raw()).ok_or("no launcher on node b")?;
    Ok(kill(last, Signal::SIGKILL)?)
}

pub(crate) fn name_of(pid: Pid) -> String {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    name.trim().into()
}
