//! Other ways to start a job: other launchers, a launcher's environment set by hand, or no
//! launcher. Also several jobs at once, and a job that does not start completely.

use crate::directives::{Program, Variant};
use crate::launch::{self, NO_WORDS, Outcome, Running, all_succeed};
use crate::{Result, compile, far, nodes, tree};
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

    /// A trial that needs it.
    pub fn trial(self, name: String, run: impl FnOnce() -> Result + Send + 'static) -> Trial {
        Trial::test(name, run).with_ignored_flag(self.is_absent())
    }

    /// The most PEs to test with it, but not more than four.
    pub fn some_pes(self) -> usize {
        self.pes().last().map_or(1, |pes| (*pes).min(4))
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
    ) -> Result<Vec<Running>> {
        let mut commands = match self {
            Self::Oshrun => vec![launch::oshrun(pes, program)],
            Self::Hosts => {
                let variables: Vec<String> =
                    environment.iter().map(|(name, value)| format!("{name}={value}")).collect();
                vec![far::on_hosts("node0,node1", program, pes, &variables, NO_WORDS)]
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
    ) -> Result<Vec<Outcome>> {
        launch::finish(self.start(pes, program, arguments, environment)?)
    }
}

/// Sets the environment that `mpirun` needs here.
pub fn prepare_mpirun(command: &mut Command) -> Result {
    // It does not run as root, as in containers, unless both are set.
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    command.env("OMPI_MCA_orte_tmpdir_base", session_folder()?);
    Ok(())
}

/// A separate session folder for each `mpirun`. By default all of a user share one, which an
/// `mpirun` removes when it ends, so that another that is about to use it fails.
pub fn session_folder() -> Result<PathBuf> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let folder = tree::scratch(format!("mpirun/{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
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
            trials.push(launcher.trial(name, move || {
                let program = compile::plain(format!("tests/c/{program}.c"), &[])?;
                all_succeed(&launcher.run(pes, &program, &[], &[])?)
            }));
        }
    }
    for launcher in Launcher::ALL {
        let name = |what: &str| format!("launchers/{}/{what}", launcher.name());
        trials.push(launcher.trial(name("side-by-side"), move || side_by_side(launcher)));
        trials.push(launcher.trial(name("global-exit"), move || global_exit(launcher)));
        let closed_files = Trial::test(name("closed-files"), move || closed_files(launcher));
        trials.push(closed_files.with_ignored_flag(launcher.is_absent() || tree::is_xpmem()));
    }
    trials.push(Trial::test("launchers/half-started", half_started));
    trials.push(Trial::test("launchers/ended-at-start", ended_at_start));
    for (launcher, wrapper, ask) in MPI {
        for first in ["mpi-first", "shmem-first"] {
            let name = format!("launchers/{}/with-{first}", launcher.name());
            let absent = launcher.is_absent() || tree::skip_without(wrapper);
            let trial = Trial::test(name, move || with_mpi(launcher, wrapper, ask, first));
            trials.push(trial.with_ignored_flag(absent));
        }
        let name = format!("launchers/oshrun/with-mpi-of-{}", launcher.name());
        let trial = Trial::test(name, move || without_launcher_of_mpi(launcher, wrapper, ask));
        trials.push(trial.with_ignored_flag(tree::skip_without(wrapper)));
        for how in ["wait", "test", "barrier", "lock", "thread", "finalize"] {
            // MPICH is driven by its main thread only.
            if how == "thread" && launcher == Launcher::Hydra {
                continue;
            }
            let name = format!("launchers/{}/mpi-progress/{how}", launcher.name());
            let absent = launcher.is_absent() || tree::skip_without(wrapper);
            let trial = Trial::test(name, move || mpi_progress(launcher, wrapper, ask, how));
            trials.push(trial.with_ignored_flag(absent));
        }
    }
    trials
}

/// All PEs close all descriptors, which they then have from no other process.
fn closed_files(launcher: Launcher) -> Result {
    let pes = launcher.pes()[launcher.pes().len() - 1];
    let program = compile::plain("tests/c/closed_files.c", &[])?;
    all_succeed(&launcher.run(pes, &program, &["everybody"], &[])?)
}

/// Three jobs at once do not interfere: each counts only its own PEs.
fn side_by_side(launcher: Launcher) -> Result {
    let executable = compile::plain("tests/c/amo_contended.c", &[])?;
    let pes = launcher.pes()[0];
    let mut running = Vec::new();
    for _ in 0..3 {
        running.extend(launcher.start(pes, &executable, &[], &[])?);
    }
    all_succeed(&launch::finish(running)?)
}

/// The status given to `shmem_global_exit` is the one that the launcher returns.
fn global_exit(launcher: Launcher) -> Result {
    let executable = compile::plain("tests/c/global_exit.c", &[])?;
    let pes = launcher.pes()[0];
    let outcomes = launcher.run(pes, &executable, &["wait"], &[])?;
    let worst = outcomes.iter().max_by_key(|outcome| (outcome.hung, outcome.status));
    worst.ok_or("a job of no process")?.ends(3, NO_WORDS)
}

/// A program that uses MPI and OpenSHMEM.
pub const WITH_MPI: &str = "tests/programs/with_mpi.c";

/// The MPI implementations of launchers: the compiler wrapper, and the option that prints its
/// flags.
pub const MPI: [(Launcher, &str, &str); 2] =
    [(Launcher::Hydra, "mpicc.mpich", "-show"), (Launcher::OpenMpi, "mpicc.openmpi", "--showme")];

/// A program that uses both MPI and OpenSHMEM, built with the flags printed by MPI's compiler
/// wrapper.
pub fn of_both_worlds(
    source: &str,
    launcher: Launcher,
    wrapper: &str,
    ask: &str,
) -> Result<PathBuf> {
    let mut question = Command::new(wrapper);
    question.arg(ask);
    let answer = launch::run(question)?;
    answer.success()?;
    let options: Vec<&str> = answer.stdout.split_whitespace().skip(1).collect();
    // The two executables differ, so each has its own folder.
    let program = Program {
        cflags: options.iter().map(|option| (*option).to_owned()).collect(),
        ..Program::of(tree::repository(source))
    };
    compile::executable_in(&program, Variant::usual(), launcher.name())
}

fn with_mpi(launcher: Launcher, wrapper: &str, ask: &str, first: &str) -> Result {
    let executable = of_both_worlds(WITH_MPI, launcher, wrapper, ask)?;
    all_succeed(&launcher.run(2, &executable, &[first], &[])?)
}

/// Under `oshrun` each PE is alone in MPI's eyes, and one says so.
fn without_launcher_of_mpi(mpi: Launcher, wrapper: &str, ask: &str) -> Result {
    let executable = of_both_worlds(WITH_MPI, mpi, wrapper, ask)?;
    let mut job = launch::oshrun(2, &executable);
    job.arg("mpi-first");
    launch::run(job)?
        .fails_once(&["PE 0: MPI_COMM_WORLD has 1 process in each of the 2 PEs", "size"])
}

/// A PE that waits in OpenSHMEM sends what it has begun to send by MPI. Open MPI keeps it back over TCP only:
/// between processes of a host the receiver copies it.
fn mpi_progress(launcher: Launcher, wrapper: &str, ask: &str, how: &str) -> Result {
    let executable = of_both_worlds("tests/programs/mpi_progress.c", launcher, wrapper, ask)?;
    let settings = [("OMPI_MCA_pml", "ob1"), ("OMPI_MCA_btl", "self,tcp")];
    all_succeed(&launcher.run(2, &executable, &[how], &settings)?)
}

/// Without a launcher that ends jobs, a PE that ends the job at once also ends PEs that are about
/// to join.
fn ended_at_start() -> Result {
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
            process.finish_within(Duration::from_secs(20))?.ends(5, NO_WORDS)?;
        }
    }
    Ok(())
}

/// One of three PEs never joins: the others end with a message, after the time set.
fn half_started() -> Result {
    let executable = compile::plain("examples/ring.c", &[])?;
    let mut commands = slurm_steps(2, 3, &executable);
    for command in &mut commands {
        command.env("SHMEM_STARTUP_TIMEOUT", "1");
    }
    let running: Result<_> = commands.into_iter().map(Running::start).collect();
    let outcomes = launch::finish(running?)?;
    outcomes.iter().try_for_each(|outcome| outcome.fails(NO_WORDS))?;
    // The first PE to notice reports it, which ends the other.
    let is_told = outcomes.iter().any(|it| it.stderr.contains("SHMEM_STARTUP_TIMEOUT"));
    outcomes[0].require(is_told, "expected a message that names SHMEM_STARTUP_TIMEOUT")
}
