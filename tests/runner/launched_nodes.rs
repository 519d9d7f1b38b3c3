//! Jobs of each launcher over hosts that are network namespaces.

use crate::directives::{Program, Variant};
use crate::launch::{self, NO_WORDS, Outcome};
use crate::launchers::{self, Launcher};
use crate::nodes::{NAMESPACES, among_namespaces, no_namespaces, no_ucx, oshrun, program};
use crate::{Result, compile, tree};
use libtest_mimic::Trial;
use std::process::Command;

/// Launchers that start PEs on other hosts.
pub(crate) const LAUNCHERS: [Launcher; 3] = [Launcher::Oshrun, Launcher::Hydra, Launcher::OpenMpi];

/// The trials.
pub fn trials() -> Vec<Trial> {
    let nowhere = no_namespaces() || no_ucx();
    let mut trials = vec![Trial::test("nodes/srun-without-pmi", srun_without_pmi)];
    let mut add = |launcher: Launcher, what: String, run: Box<dyn FnOnce() -> Result + Send>| {
        let name = format!("nodes/namespaces/{}/{what}", launcher.name());
        let trial = Trial::test(name, run);
        trials.push(trial.with_ignored_flag(nowhere || launcher.is_absent()));
    };
    for launcher in LAUNCHERS {
        for (hosts, pes) in [(2, 2), (2, 4), (3, 7)] {
            let run = move || ring(launcher, hosts, pes, &[]);
            add(launcher, format!("ring/{pes}"), Box::new(run));
        }
    }
    for (launcher, protocol, disguise) in LIKE_SRUN {
        let run = move || ring(launcher, 2, 4, &["sh", "-c", disguise, "sh"]);
        add(launcher, format!("like-srun-{protocol}"), Box::new(run));
    }
    for launcher in [Launcher::Hydra, Launcher::OpenMpi] {
        add(launcher, "no-agent".to_string(), Box::new(move || no_agent(launcher, "")));
    }
    for (launcher, protocol, disguise) in LIKE_SRUN {
        let disguise = disguise.replace("exec \"$@\"", "");
        let run = move || no_agent(launcher, &disguise);
        add(launcher, format!("no-agent/like-srun-{protocol}"), Box::new(run));
    }
    for (launcher, what, status) in ENDS {
        let name = what.replace(' ', "-");
        add(launcher, name, Box::new(move || ends(launcher, what, status)));
    }
    add(Launcher::Hydra, "lost-3".to_string(), Box::new(lost_under_hydra));
    for launcher in LAUNCHERS {
        add(launcher, "last-words".to_string(), Box::new(move || last_words(launcher)));
        for transport in ["auto", "rdma"] {
            let run = move || without_rdma(launcher, transport);
            add(launcher, format!("no-{transport}"), Box::new(run));
        }
        add(launcher, "static".to_string(), Box::new(move || static_program(launcher)));
    }
    for (launcher, wrapper, ask) in launchers::MPI {
        for first in ["mpi-first", "shmem-first"] {
            for (hosts, pes) in [(2, 2), (2, 4)] {
                let run = move || {
                    let executable =
                        launchers::of_both_worlds(launchers::WITH_MPI, launcher, wrapper, ask)?;
                    let mut command = start(launcher, hosts, pes)?;
                    command.arg(executable).arg(first);
                    launch::run(command)?.success()
                };
                if !tree::skip_without(wrapper) {
                    add(launcher, format!("with-{first}/{pes}"), Box::new(run));
                }
            }
            if !tree::skip_without(wrapper) {
                let run = move || leaves_nothing(launcher, wrapper, ask, first);
                add(launcher, format!("leaves-nothing-{first}"), Box::new(run));
            }
        }
    }
    trials
}

/// The protocols of `srun`, and how to make its variables from those of another launcher with the
/// same protocol.
const LIKE_SRUN: [(Launcher, &str, &str); 2] = [
    (Launcher::Hydra, "pmi2", "export SLURM_PROCID=$PMI_RANK SLURM_STEP_NUM_TASKS=$PMI_SIZE SLURM_STEP_NUM_NODES=2 SLURM_STEP_ID=$PPID
         unset MPI_LOCALNRANKS
         exec \"$@\""),
    (
        Launcher::OpenMpi,
        "pmix",
        "export SLURM_PROCID=$PMIX_RANK SLURM_STEP_NUM_TASKS=$OMPI_COMM_WORLD_SIZE SLURM_STEP_NUM_NODES=2 SLURM_STEP_ID=$PPID
         unset OMPI_COMM_WORLD_RANK
         exec \"$@\"",
    ),
];

/// A PE that knows of two nodes but cannot reach the other says what to do.
fn srun_without_pmi() -> Result {
    let mut command = Command::new(program()?);
    command.env("SLURM_STEP_ID", "0").env("SLURM_PROCID", "0");
    command.env("SLURM_STEP_NUM_TASKS", "2").env("SLURM_STEP_NUM_NODES", "2");
    let words = ["neither PMI-1", "try srun --mpi=pmi2, srun --mpi=pmix, or oshrun --hostfile"];
    launch::run(command)?.ends(1, &words)
}

/// If the first PE of a node cannot start the node's agent, the others, which wait for it at the launcher, end.
/// `disguise`: commands before each PE.
fn no_agent(launcher: Launcher, disguise: &str) -> Result {
    let folder = tree::scratch("no-agent");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("libucp.so.0"), "no library")?;
    let path = folder.display();
    let start_pe = format!(
        "[ \"${{PMI_RANK:-$PMIX_RANK}}\" != 2 ] || export LD_LIBRARY_PATH='{path}'
         {disguise}
         exec \"$@\""
    );
    let mut command = start(launcher, 2, 4)?;
    command.args(["sh", "-c", &start_pe, "sh"]).arg(program()?).arg("ring");
    let outcome = launch::run(command)?;
    // Launchers have statuses of their own for a job that has been aborted.
    outcome.ends(outcome.status.max(1), &["UCX 1.13 or later is needed"])
}

/// How jobs end.
const ENDS: [(Launcher, &str, i32); 5] = [
    (Launcher::Hydra, "global_exit 2 5", 5),
    (Launcher::Hydra, "global_exit 0 6", 6),
    (Launcher::OpenMpi, "global_exit 2 5", 5),
    (Launcher::OpenMpi, "global_exit 0 6", 6),
    (Launcher::OpenMpi, "lost 3", 9),
];

fn ends(launcher: Launcher, what: &str, status: i32) -> Result {
    ended(launcher, what)?.ends(status, NO_WORDS)
}

/// When a PE ends the job, all PEs' output is flushed first, on all nodes, whether they wait or
/// compute.
fn last_words(launcher: Launcher) -> Result {
    let outcome = ended(launcher, "last_words 4")?;
    outcome.ends(4, NO_WORDS)?;
    let line = |pe: &usize| outcome.stdout.contains(&format!("last words of PE {pe}\n"));
    match (0..4).find(|pe| !line(pe)) {
        None => Ok(()),
        Some(pe) => Err(outcome.report(format!("the output of PE {pe} is lost"))),
    }
}

/// A static program cannot load the libraries that it needs, and says so.
fn static_program(launcher: Launcher) -> Result {
    let program = Program {
        cflags: vec!["-static".into()],
        ..Program::of(tree::repository("tests/programs/over_nodes.c"))
    };
    let executable = compile::executable_in(&program, Variant::usual(), "static")?;
    let run = || {
        let mut command = start(launcher, 2, 4)?;
        command.arg(&executable).arg("ring");
        launch::run(command)
    };
    let mut outcome = run()?;
    // Hydra sometimes fails before it prints this: when it answers a PE that has just ended.
    if launcher == Launcher::Hydra && outcome.stderr.contains("HYDU_sock_write") {
        outcome = run()?;
    }
    let library = if launcher == Launcher::OpenMpi { "libpmix.so.2" } else { "libucp.so.0" };
    let words = format!("a static program cannot load {library}; link it dynamically");
    // Hydra reports what its PEs report.
    outcome.ends(outcome.status.max(1), &[&words])
}

/// After a job that also uses MPI, no process is left on any node: agents do not wait for their
/// limit, which is longer than this test's.
fn leaves_nothing(launcher: Launcher, wrapper: &str, ask: &str, first: &str) -> Result {
    const LEFT: &str = "\"$@\" || exit
         for turn in $(seq 300); do
             left=$(ip netns pids node0; ip netns pids node1)
             [ -z \"$left\" ] && exit 0
             sleep 0.1
         done
         ps -fp $left >&2
         exit 1";
    let executable = launchers::of_both_worlds(launchers::WITH_MPI, launcher, wrapper, ask)?;
    let job = start(launcher, 2, 4)?;
    let inside = job.get_args().skip(2);
    let mut command = among_namespaces(2);
    command.args(["sh", "-c", LEFT, "sh"]).args(inside).arg(executable).arg(first);
    for (name, value) in job.get_envs() {
        value.map(|value| command.env(name, value));
    }
    launch::run(command)?.success()
}

/// Hydra usually goes on when it has lost a PE of another node, and ends the others of that node, so
/// the PEs here find it gone. If one of those is quicker, it ends the job everywhere. If Hydra's
/// connection to that node closes first, Hydra aborts the job, with a status and words of its own.
fn lost_under_hydra() -> Result {
    let outcome = ended(Launcher::Hydra, "lost 3")?;
    let gone = ["oneshmem: PE 0: node ", " with PEs 2 to 3 cannot be reached from node "];
    let seen = ["oneshmem: PE 2: PE 3 (pid ", ") ended without calling shmem_finalize"];
    let aborted = outcome.stdout.contains("BAD TERMINATION");
    let any_failure = outcome.status.max(1);
    if aborted && outcome.ends(any_failure, NO_WORDS).is_ok() {
        return Ok(());
    }
    outcome.ends(any_failure, &seen).or_else(|_| outcome.ends(1, &gone))
}

fn ended(launcher: Launcher, what: &str) -> Result<Outcome> {
    let mut command = start(launcher, 2, 4)?;
    command.arg(program()?).args(what.split(' '));
    launch::run(command)
}

/// The beginning of a command, up to its program, for this number of hosts.
pub(crate) fn start(launcher: Launcher, hosts: usize, pes: usize) -> Result<Command> {
    let each = pes.div_ceil(hosts);
    let names: Vec<_> = (0..hosts).map(|host| format!("node{host}")).collect();
    let mut command = among_namespaces(hosts);
    let shell = tree::repository("tests/programs/namespace_shell.sh");
    let (count, each) = (pes.to_string(), each.to_string());
    match launcher {
        Launcher::Hydra => {
            command.args(["ip", "netns", "exec", "node0", "mpiexec.hydra", "-launcher", "ssh"]);
            command.arg("-launcher-exec").arg(shell);
            command.args(["-localhost", "10.77.0.1", "-hosts", &names.join(",")]);
            command.args(["-ppn", &each, "-n", &count]);
        }
        Launcher::OpenMpi => {
            let hosts: Vec<_> = names.iter().map(|name| format!("{name}:{each}")).collect();
            // Its daemons keep their files in folders by the names of hosts.
            let named = "hostname node0; exec \"$@\"";
            command.args(["ip", "netns", "exec", "node0", "unshare", "--uts", "sh", "-c", named]);
            command.args(["sh", "mpirun.openmpi", "--bind-to", "none"]);
            command.args(["--mca", "plm_rsh_agent"]).arg(shell);
            // Exclude devices of this machine that exist on all hosts but connect nothing.
            for layer in ["oob_tcp_if_include", "btl_tcp_if_include"] {
                command.args(["--mca", layer, "10.77.0.0/24"]);
            }
            // Open MPI's shared memory must not be used: by its name, hosts on one machine are one
            // host.
            command.args(["--mca", "btl", "tcp,self", "--mca", "plm_rsh_no_tree_spawn", "1"]);
            command.args(["-H", &hosts.join(","), "-n", &count]);
            launchers::prepare_mpirun(&mut command)?;
        }
        _ => {
            let job = oshrun(&names.join(","), pes, NAMESPACES, &[]);
            command.arg(job.get_program()).args(job.get_args());
        }
    }
    Ok(command)
}

/// Where the hosts' network devices have no RDMA ports, a job does without, or ends with the reason.
fn without_rdma(launcher: Launcher, transport: &str) -> Result {
    let variables = [format!("SHMEM_TRANSPORT={transport}"), "SHMEM_INFO=1".into()];
    let mut command = start(launcher, 2, 2)?;
    if launcher == Launcher::Oshrun {
        variables.iter().for_each(|it| _ = command.args(["-x", it]));
    } else {
        command.arg("env").args(variables);
    }
    command.arg(program()?);
    command.arg("ring");
    let outcome = launch::run(command)?;
    let why = "no RDMA: on host node";
    match transport {
        "auto" => outcome
            .ends(0, &["2 nodes over TCP by eth0 (", why, ", eth0 has no RDMA port), backend"]),
        _ => outcome.fails(&[why, ", eth0 has no RDMA port; SHMEM_TRANSPORT=tcp"]),
    }
}

/// PEs run by `wrapper` on all hosts reach each other.
fn ring(launcher: Launcher, hosts: usize, pes: usize, wrapper: &[&str]) -> Result {
    let mut command = start(launcher, hosts, pes)?;
    command.args(wrapper).arg(program()?).arg("ring");
    let outcome = launch::run(command)?;
    outcome.success()?;
    let mut lines: Vec<&str> = outcome.stdout.lines().collect();
    lines.sort_unstable();
    let line = |pe| format!("PE {pe} of {pes}: word {}, count {pes}", 1000 + (pe + pes - 1) % pes);
    outcome.require(lines.iter().copied().eq((0..pes).map(line)), "a line is missing, or wrong")
}
