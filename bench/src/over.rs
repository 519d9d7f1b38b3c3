//! Two emulated nodes, and how launchers start jobs over them.
//!
//! The nodes are network namespaces on one Ethernet, which share this machine's CPUs. The command
//! runs itself again where there are such namespaces.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

/// The number of nodes.
pub const NODES: usize = 2;
/// In the environment, this says that there are namespaces, and where the scripts for them are.
const INSIDE: &str = "OSHBENCH_INSIDE_NAMESPACES";
/// The addresses of all nodes.
const NETWORK: &str = "10.77.0.0/24";

/// Starts this command again among emulated nodes, which `script` makes, unless it already runs there. Returns why there are
/// none here, if there are none.
pub fn enter(script: &Path) -> anyhow::Result<Option<String>> {
    if std::env::var_os(INSIDE).is_some() {
        return Ok(None);
    }
    if !script.is_file() {
        return Ok(Some(format!("{} does not exist (--script names it)", script.display())));
    }
    let output =
        Command::new("sh").arg(script).args(["1", "true"]).output().context("cannot run sh")?;
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr);
        return Ok(Some(format!("emulated nodes need network namespaces ({})", reason.trim())));
    }
    let mut command = Command::new("sh");
    command.arg(script).arg(NODES.to_string()).arg(std::env::current_exe()?);
    let scripts = std::fs::canonicalize(script)?.with_file_name("");
    command.args(std::env::args_os().skip(1)).env(INSIDE, scripts);
    // A user who makes namespaces is root in there, whoever that is outside.
    for variable in ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] {
        command.env(variable, "1");
    }
    Err(command.exec()).context("cannot run sh")
}

/// How an implementation's launcher starts jobs over the nodes, and binds PEs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// As ours.
    Oneshmem,
    /// As Open MPI's.
    OpenMpi,
}

impl Over {
    /// The kind of the launcher in this folder.
    pub fn of(bin: &Path) -> anyhow::Result<Self> {
        let launcher = bin.join("oshrun");
        let output = Command::new(&launcher).arg("--version").output();
        let output = output.with_context(|| format!("cannot run {}", launcher.display()))?;
        let text = String::from_utf8_lossy(&output.stdout);
        // Version 4 of Open MPI has the name of its runtime there.
        let open_mpi = ["Open MPI", "OpenRTE"].iter().any(|name| text.contains(name));
        match (text.contains("oneshmem"), open_mpi) {
            (true, _) => Ok(Self::Oneshmem),
            (_, true) => Ok(Self::OpenMpi),
            _ => bail!(
                "{} is neither oneshmem's nor Open MPI's: it is not known how it starts jobs over \
                 several hosts, and binds PEs",
                launcher.display()
            ),
        }
    }

    /// The beginning of a command that starts an equal share of these PEs on each node.
    pub fn command(self, launcher: &Path, pes: usize) -> Command {
        let names: Vec<_> = (0..NODES).map(|node| format!("node{node}")).collect();
        let pes_text = pes.to_string();
        match self {
            Self::Oneshmem => {
                let mut command = Command::new(launcher);
                command.args(["--host", &names.join(","), "--launch-agent", "ip netns exec"]);
                command.args(["-n", &pes_text]);
                command
            }
            Self::OpenMpi => {
                let each = pes / NODES;
                let hosts: Vec<_> = names.iter().map(|name| format!("{name}:{each}")).collect();
                let mut command = Command::new("ip");
                // Its daemons keep their files in folders by the names of hosts.
                let own = "hostname node0; exec \"$@\"";
                command.args(["netns", "exec", "node0", "unshare", "--uts"]);
                command.args(["sh", "-c", own, "sh"]).arg(launcher);
                let scripts = std::env::var_os(INSIDE).map(PathBuf::from).unwrap_or_default();
                command.args(["--mca", "plm_rsh_agent"]).arg(scripts.join("namespace_shell.sh"));
                command.args(["--mca", "plm_rsh_no_tree_spawn", "1"]);
                for layer in ["oob_tcp_if_include", "btl_tcp_if_include"] {
                    command.args(["--mca", layer, NETWORK]);
                }
                // By its name, this machine is one host to UCX, too.
                command.args(["-x", "UCX_TLS=tcp,self", "--mca", "btl", "tcp,self"]);
                command.args(["--bind-to", "none", "-H", &hosts.join(","), "-n", &pes_text]);
                command
            }
        }
    }

    /// Its launcher's options that bind PEs to cores, which they may share, or leave them unbound.
    pub fn binding(self, bound: bool) -> [&'static str; 2] {
        match (self, bound) {
            (_, false) => ["--bind-to", "none"],
            (Self::Oneshmem, true) => ["--bind-to", "core"],
            (Self::OpenMpi, true) => ["--bind-to", "core:overload-allowed"],
        }
    }

    /// Whether so many PEs can be started on the nodes.
    pub fn is_for(pes: usize) -> bool {
        pes >= NODES && pes % NODES == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_get_equal_numbers_of_pes() {
        assert_eq!([1, 2, 3, 4].map(Over::is_for), [false, true, false, true]);
    }
}
