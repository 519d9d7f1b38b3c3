//! Two emulated nodes, and how launchers start jobs over them.
//!
//! The nodes are network namespaces on one Ethernet, which share this machine's CPUs. The command
//! runs itself again where there are such namespaces.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

/// The number of nodes.
const NODES: usize = 2;
/// In the environment, this says that there are namespaces, and where the scripts for them are.
const INSIDE: &str = "OSHBENCH_INSIDE_NAMESPACES";
/// How Open MPI's launcher is started on a node, by a name of its own: its daemons keep their files in folders by the names
/// of hosts.
const ON_A_NODE: &str = "netns exec node0 unshare --uts sh -c";
const NAMED: &str = "hostname node0; exec \"$0\" \"$@\"";
/// Its settings. By its name, this machine is one host to UCX, too.
const OPEN_MPI: &str = "--mca plm_rsh_no_tree_spawn 1 --mca oob_tcp_if_include 10.77.0.0/24 \
    --mca btl_tcp_if_include 10.77.0.0/24 -x UCX_TLS=tcp,self --mca btl tcp,self --bind-to none";

/// Starts this command again among emulated nodes, which `script` makes, unless it already runs there. Returns why there are
/// none here, if there are none.
pub fn enter(script: &Path) -> anyhow::Result<Option<String>> {
    if std::env::var_os(INSIDE).is_some() {
        return Ok(None);
    }
    if !script.is_file() {
        return Ok(Some(format!("{} does not exist", script.display())));
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
        if self == Self::Oneshmem {
            let mut command = Command::new(launcher);
            command.args(["--host", "node0,node1", "--launch-agent", "ip netns exec"]);
            return command;
        }
        let each = pes / NODES;
        let scripts = std::env::var_os(INSIDE).map(PathBuf::from).unwrap_or_default();
        let mut command = Command::new("ip");
        command.args(ON_A_NODE.split(' ')).arg(NAMED).arg(launcher);
        command.args(OPEN_MPI.split_whitespace()).args(["--mca", "plm_rsh_agent"]);
        command.arg(scripts.join("namespace_shell.sh"));
        command.args(["-H", &format!("node0:{each},node1:{each}")]);
        command
    }

    /// Its launcher's options that bind PEs to cores, which they may share, or leave them unbound.
    pub fn binding(self, bound: bool) -> [&'static str; 2] {
        match (self, bound) {
            (_, false) => ["--bind-to", "none"],
            (Self::Oneshmem, true) => ["--bind-to", "core"],
            (Self::OpenMpi, true) => ["--bind-to", "core:overload-allowed"],
        }
    }
}
