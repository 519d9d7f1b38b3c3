//! Other ways to start a job: other launchers, a launcher's environment set by hand, or no
//! launcher. Also several jobs at once, and a job that does not start completely.

use crate::directives::{Program, Variant};
use crate::launch::{self, Outcome, Running};
use crate::{compile, far, nodes, tree};
use libtest_mimic::Trial;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// A way to start a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launcher {
    /// The build tree's own.
    Oshrun,
    /// The same, over two emulated hosts.
    Hosts,
    /// MPICH's, which speaks PMI-1.
    Hydra,
    /// Open MPI's.
    OpenMpi,
    /// The environment of `srun --mpi=none`, without Slurm.
    Slurm,
    /// None: the program alone is a job of one PE.
    None,
}

impl Launcher {
    /// All launchers on one host.
    pub const ALL: [Self; 5] = [Self::Oshrun, Self::Hydra, Self::OpenMpi, Self::Slurm, Self::None];

    /// Its name in test names.
    pub fn name(self) -> &'static str {
        match self {
            Self::Oshrun => "oshrun",
            Self::Hosts => "hosts",
            Self::Hydra => "hydra",
            Self::OpenMpi => "openmpi",
            Self::Slurm => "slurm",
            Self::None => "none",
        }
    }

    fn program(self) -> Option<&'static str> {
        match self {
            Self::Hydra => Some("mpiexec.hydra"),
            Self::OpenMpi => Some("mpirun.openmpi"),
            _ => None,
        }
    }

    /// Whether to skip its tests.
    pub fn is_absent(self) -> bool {
        match self {
            Self::Hosts => tree::is_smartmap() || nodes::no_namespaces() || nodes::no_ucx(),
            _ => self.program().is_some_and(tree::skip_without),
        }
    }

    /// Whether it is available here.
    pub fn is_present(self) -> bool {
        self.program().is_none_or(|program| tree::find(program).is_some())
    }

    /// The job sizes to test with it.
    pub fn pes(self) -> &'static [usize] {
        match self {
            Self::Oshrun => &[1, 2, 4, 7, 16],
            Self::None => &[1],
            _ => &[2, 4],
        }
    }

    /// Starts a job. Returns several commands if there is no launcher to start the PEs.
    pub fn start(
        self,
        pes: usize,
        program: &Path,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> Result<Vec<Running>, String> {
        let mut commands = match self {
            Self::Oshrun => vec![launch::oshrun(pes, program)],
            Self::Hosts => {
                let variables: Vec<String> =
                    environment.iter().map(|(name, value)| format!("{name}={value}")).collect();
                vec![far::on_hosts("node0,node1", program, pes, &variables, &[] as &[&str])]
            }
            Self::None => vec![Command::new(program)],
            Self::Hydra => {
                let mut command = Command::new("mpiexec.hydra");
                command.args(["-n", &pes.to_string()]).arg(program);
                vec![command]
            }
            Self::OpenMpi => {
                let mut command = Command::new("mpirun.openmpi");
                command
                    .args(["--oversubscribe", "--bind-to", "none", "-n", &pes.to_string()])
                    .arg(program);
                prepare_mpirun(&mut command)?;
                vec![command]
            }
            Self::Slurm => slurm_steps(pes, pes, program),
        };
        for command in &mut commands {
            // Options come before the program, which is the last argument so far.
            command.args(arguments).envs(environment.iter().copied());
        }
        commands.into_iter().map(Running::start).collect()
    }

    /// Runs a job to its end.
    pub fn run(
        self,
        pes: usize,
        program: &Path,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> Result<Vec<Outcome>, String> {
        let running = self.start(pes, program, arguments, environment)?;
        running.into_iter().map(Running::finish).collect()
    }
}

/// Sets the environment that `mpirun` needs here.
pub fn prepare_mpirun(command: &mut Command) -> Result<(), String> {
    // It does not run as root, as in containers, unless both are set.
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    command.env("OMPI_MCA_orte_tmpdir_base", session_folder()?);
    Ok(())
}

/// A separate session folder for each `mpirun`. By default all of a user share one, which an
/// `mpirun` removes when it ends, so that another that is about to use it fails.
pub fn session_folder() -> Result<PathBuf, String> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let folder = tree::scratch(&format!("mpirun/{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}

/// Commands for `started` processes of a Slurm job step with `pes` tasks. Each call is a new step.
fn slurm_steps(started: usize, pes: usize, program: &Path) -> Vec<Command> {
    static STEP: AtomicU32 = AtomicU32::new(0);
    let step = STEP.fetch_add(1, Ordering::Relaxed).to_string();
    (0..started).map(|pe| as_slurm(Command::new(program), &step, pe, pes)).collect()
}

/// `command` as a task of a Slurm job step.
pub fn as_slurm(mut command: Command, step: &str, pe: usize, pes: usize) -> Command {
    let (pe, pes) = (pe.to_string(), pes.to_string());
    // A job number that no other run of these tests on this machine has at the same time.
    command.env("SLURM_JOB_ID", std::process::id().to_string()).env("SLURM_STEP_ID", step);
    for name in ["SLURM_PROCID", "SLURM_LOCALID"] {
        command.env(name, &pe);
    }
    for name in
        ["SLURM_NPROCS", "SLURM_NTASKS", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_TASKS_PER_NODE"]
    {
        command.env(name, &pes);
    }
    command.env("SLURM_NODEID", "0").env("SLURM_NNODES", "1").env("SLURM_STEP_NUM_NODES", "1");
    command
}

/// Conformance under each launcher, jobs side by side, and an incomplete job.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for launcher in Launcher::ALL.into_iter().filter(|launcher| *launcher != Launcher::Oshrun) {
        for program in ["rma_random", "amo_contended", "coll_sync", "init", "contexts"] {
            let pes = launcher.pes()[launcher.pes().len() - 1];
            if pes == 1 && program == "rma_random" {
                continue; // needs two
            }
            let name = format!("launchers/{}/{program}", launcher.name());
            let trial = Trial::test(name, move || {
                let source = tree::repository(&format!("tests/c/{program}.c"));
                for outcome in launcher.run(pes, &compile::plain(&source, &[])?, &[], &[])? {
                    outcome.success()?;
                }
                Ok(())
            });
            trials.push(trial.with_ignored_flag(launcher.is_absent()));
        }
    }
    for launcher in Launcher::ALL {
        let name = format!("launchers/{}/side-by-side", launcher.name());
        let trial = Trial::test(name, move || Ok(side_by_side(launcher)?));
        trials.push(trial.with_ignored_flag(launcher.is_absent()));
        let name = format!("launchers/{}/closed-files", launcher.name());
        let trial = Trial::test(name, move || Ok(closed_files(launcher)?));
        let is_xpmem = std::env::var("SHMEM_BACKEND").is_ok_and(|backend| backend == "xpmem");
        trials.push(trial.with_ignored_flag(launcher.is_absent() || is_xpmem));
        let name = format!("launchers/{}/global-exit", launcher.name());
        let trial = Trial::test(name, move || Ok(global_exit(launcher)?));
        trials.push(trial.with_ignored_flag(launcher.is_absent()));
    }
    trials.push(Trial::test("launchers/half-started", || Ok(half_started()?)));
    trials.push(Trial::test("launchers/ended-at-start", || Ok(ended_at_start()?)));
    for (launcher, wrapper, ask) in MPI {
        for first in ["mpi-first", "shmem-first"] {
            let name = format!("launchers/{}/with-{first}", launcher.name());
            let trial = Trial::test(name, move || Ok(with_mpi(launcher, wrapper, ask, first)?));
            trials
                .push(trial.with_ignored_flag(launcher.is_absent() || tree::skip_without(wrapper)));
        }
    }
    trials
}

/// All PEs close all descriptors, which they then have from no other process.
fn closed_files(launcher: Launcher) -> Result<(), String> {
    let pes = launcher.pes()[launcher.pes().len() - 1];
    let program = compile::plain(&tree::repository("tests/c/closed_files.c"), &[])?;
    for outcome in launcher.run(pes, &program, &["everybody"], &[])? {
        outcome.success()?;
    }
    Ok(())
}

/// Three jobs at once do not interfere: each counts only its own PEs.
fn side_by_side(launcher: Launcher) -> Result<(), String> {
    let source = tree::repository("tests/c/amo_contended.c");
    let executable = compile::plain(&source, &[])?;
    let pes = launcher.pes()[0];
    let mut running = Vec::new();
    for _ in 0..3 {
        running.extend(launcher.start(pes, &executable, &[], &[])?);
    }
    for job in running {
        job.finish()?.success()?;
    }
    Ok(())
}

/// The status given to `shmem_global_exit` is the one that the launcher returns.
fn global_exit(launcher: Launcher) -> Result<(), String> {
    let executable = compile::plain(&tree::repository("tests/c/global_exit.c"), &[])?;
    let pes = launcher.pes()[0];
    let outcomes = launcher.run(pes, &executable, &["wait"], &[])?;
    let worst = outcomes.iter().max_by_key(|outcome| (outcome.hung, outcome.status));
    match worst {
        Some(outcome) if outcome.hung || outcome.status != 3 => {
            Err(outcome.report("expected status 3"))
        }
        _ => Ok(()),
    }
}

/// The MPI implementations of launchers: the compiler wrapper, and the option that prints its
/// flags.
pub const MPI: [(Launcher, &str, &str); 2] =
    [(Launcher::Hydra, "mpicc.mpich", "-show"), (Launcher::OpenMpi, "mpicc.openmpi", "--showme")];

/// A program that uses both MPI and OpenSHMEM, built with the flags printed by MPI's compiler
/// wrapper.
pub fn of_both_worlds(launcher: Launcher, wrapper: &str, ask: &str) -> Result<PathBuf, String> {
    let mut question = Command::new(wrapper);
    question.arg(ask);
    let answer = launch::run(question)?;
    answer.success()?;
    let options: Vec<&str> = answer.stdout.split_whitespace().skip(1).collect();
    // The two executables differ, so each has its own folder.
    let program = Program {
        cflags: options.iter().map(|option| (*option).to_owned()).collect(),
        ..Program::of(tree::repository("tests/programs/with_mpi.c"))
    };
    compile::executable_in(&program, Variant::usual(), launcher.name())
}

fn with_mpi(launcher: Launcher, wrapper: &str, ask: &str, first: &str) -> Result<(), String> {
    let executable = of_both_worlds(launcher, wrapper, ask)?;
    for outcome in launcher.run(2, &executable, &[first], &[])? {
        outcome.success()?;
    }
    Ok(())
}

/// Without a launcher that ends jobs, a PE that ends the job at once also ends PEs that are about
/// to join.
fn ended_at_start() -> Result<(), String> {
    const JOBS: usize = 25;
    let program = nodes::program()?;
    for _ in 0..JOBS {
        let mut running = Vec::new();
        // It may join first, in between or last, depending on how fast its process is.
        for mut command in slurm_steps(4, 4, &program) {
            command.args(["global_exit", "2", "5"]);
            running.push(Running::start(command)?);
        }
        for process in running {
            let outcome = process.finish_within(Duration::from_secs(20))?;
            if outcome.hung || outcome.status != 5 {
                return Err(outcome.report("expected status 5"));
            }
        }
    }
    Ok(())
}

/// One of three PEs never joins: the others end with a message, after the time set.
fn half_started() -> Result<(), String> {
    let executable = compile::plain(&tree::repository("examples/ring.c"), &[])?;
    let commands = slurm_steps(2, 3, &executable);
    let running: Result<Vec<Running>, String> = commands
        .into_iter()
        .map(|mut command| {
            command.env("SHMEM_STARTUP_TIMEOUT", "1");
            Running::start(command)
        })
        .collect();
    let outcomes: Result<Vec<Outcome>, String> =
        running?.into_iter().map(Running::finish).collect();
    let outcomes = outcomes?;
    if let Some(outcome) = outcomes.iter().find(|outcome| outcome.hung || outcome.status == 0) {
        return Err(outcome.report("expected an end with an error"));
    }
    // The first PE to notice reports it, which ends the other.
    if !outcomes.iter().any(|outcome| outcome.stderr.contains("SHMEM_STARTUP_TIMEOUT")) {
        return Err(outcomes[0].report("expected a message that names SHMEM_STARTUP_TIMEOUT"));
    }
    Ok(())
}
