//! Finds out who started this process, and which PE of how many it is.
//!
//! `oshrun` passes this in one variable, and the job's file as a descriptor. Under other launchers,
//! PE number and job size come from their variables, and the PEs find each other (`super::meet`). A
//! process without a launcher is a job of one PE, and so is one that a PE has started.

use crate::exchange::Exchange;
use crate::failure::ending;
use crate::message;
use crate::pe::launcher::Launcher;
use crate::start::claim::Assignment;
use crate::start::place::Membership;
use crate::start::{meet, origin, several};
use crate::sys;
use onenode_core::sys::{process, program};
use oneshmem_job::env::PASSED_PE;
use oneshmem_job::error::Error;
use oneshmem_job::jobfile::JobFile;
use oneshmem_job::jobfile::MAX_PES;
use oneshmem_job::jobfile::nodes::NodeOf;
use oneshmem_job::sys::environment::{self, PassedNumbers};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;

/// A foreign launcher's variables.
struct Foreign {
    launcher: Launcher,
    rank: &'static [&'static str],
    size: &'static [&'static str],
    local_size: &'static [&'static str],
    /// A variable that names the job. Without it, the launching process distinguishes jobs.
    named: &'static [&'static str],
    /// Variables that distinguish jobs of that name or process.
    job: &'static [&'static str],
    /// Variables of this process's channel to the launcher, which it has with no other.
    channel: &'static [&'static str],
}

/// Slurm's number of a job step: of what one `srun` has started. A batch script and a shell of `salloc`
/// have the variables of their allocation, but are none; or they have a number from here on.
const SLURM_STEP: &str = "SLURM_STEP_ID";
const SPECIAL_STEPS: u32 = 0xffff_fff0;

/// In the order in which they are tried: `srun` and `mpirun` can both set `PMI_*`.
const FOREIGN: [Foreign; 3] = [
    Foreign {
        launcher: Launcher::OpenMpi,
        rank: &["OMPI_COMM_WORLD_RANK"],
        size: &["OMPI_COMM_WORLD_SIZE"],
        local_size: &["OMPI_COMM_WORLD_LOCAL_SIZE"],
        named: &["PMIX_NAMESPACE"],
        // Namespaces are numbered by each server.
        job: &["PMIX_SERVER_URI41", "PMIX_SERVER_URI4", "PMIX_SERVER_URI2"],
        channel: &[],
    },
    Foreign {
        launcher: Launcher::Hydra,
        rank: &["PMI_RANK"],
        size: &["PMI_SIZE"],
        local_size: &["MPI_LOCALNRANKS"],
        named: &[],
        job: &["PMI_JOBID", "SLURM_JOB_ID", "SLURM_STEP_ID"],
        channel: &["PMI_FD", "PMI_PORT", "PMI_ID"],
    },
    Foreign {
        launcher: Launcher::Slurm,
        rank: &["SLURM_PROCID"],
        size: &["SLURM_STEP_NUM_TASKS"],
        local_size: &[],
        named: &[SLURM_STEP],
        job: &["SLURM_JOB_ID", "SLURM_RESTART_COUNT", "SLURM_CLUSTER_NAME"],
        channel: &[],
    },
];

/// The launcher that this process's environment shows. Does not join its job.
pub fn detect() -> Launcher {
    if environment::variable(PASSED_PE).is_some() {
        return Launcher::Oshrun;
    }
    Foreign::find().map_or(Launcher::Nobody, |foreign| foreign.launcher)
}

/// Finds this process's place and joins its job.
pub(super) fn join() -> Result<Membership, Error> {
    explain_privilege();
    // Children of this PE must not take themselves for this PE, nor for the process of another launcher
    // that runs `oshrun`. That one may not start the next program in this process.
    if let Some(passed) = PassedNumbers::take(PASSED_PE) {
        Foreign::claim_all((0, 0));
        return from_oshrun(passed);
    }
    #[cfg(feature = "smartmap")]
    if let Some(place) = super::kitten::join()? {
        return Ok(place);
    }
    match Foreign::find() {
        Some(foreign) => {
            Foreign::claim_all((process::pid(), process::own_start()));
            foreign.join()
        }
        None => {
            let job = meet::create(0, &NodeOf::unnamed(&[1]))?;
            Ok(Membership { launcher: Launcher::Nobody, pe: 0, job, exchange: None })
        }
    }
}

/// Reports that a privileged program is a job of one PE, if a launcher has started it. The control
/// area would be shared with other processes, possibly those of the unprivileged user who started
/// it.
fn explain_privilege() {
    let mut variables = FOREIGN.iter().flat_map(|foreign| foreign.rank).chain([&PASSED_PE]);
    if let Some(name) = variables.find(|name| environment::is_hidden(name)) {
        message::say(format_args!(
            "{name} is ignored, and this process is a job of one PE: the program may have rights \
             that its user lacks (set-user-ID, set-group-ID or file capabilities)"
        ));
        environment::set_variable(PASSED_PE, None);
    }
}

fn text_of(variable: &str) -> Option<String> {
    environment::variable(variable)?.into_string().ok()
}

fn from_oshrun(mut passed: PassedNumbers) -> Result<Membership, Error> {
    const FILE: usize = 2;
    const HUGE_FILE: usize = 4;
    let text = passed.text().to_owned();
    let bad = |why: String| Error::Launcher { launcher: PASSED_PE, why };
    let numbers = passed.numbers().to_vec();
    let [pe, npes, _, launcher, ref huge @ ..] = numbers[..] else {
        return Err(bad(format!("{text}: expected at least four numbers, pe:npes:descriptor:pid")));
    };
    // A program that has closed all descriptors (closefrom) gets the files from the launcher.
    let mut take = |index: usize| {
        let again = || descriptor_of(launcher, numbers[index]).ok();
        passed.memory_file(index).or_else(|error| again().ok_or(error))
    };
    let mut job = JobFile::open(take(FILE)?)?;
    if huge.len() == 1 {
        job = job.open_huge(take(HUGE_FILE)?)?;
    }
    if npes != job.npes() as i64 || !usize::try_from(pe).is_ok_and(|pe| job.near().contains(&pe)) {
        let why =
            format!("{text}: of the job's {} PEs, {:?} are on this node", job.npes(), job.near());
        return Err(bad(why));
    }
    // The parent is a script or a tool: the launcher's own precaution applied to that process.
    if i64::from(process::parent()) != launcher {
        sys::ending::die_with_parent();
    }
    Ok(Membership { launcher: Launcher::Oshrun, pe: pe as usize, job, exchange: None })
}

/// Whether Slurm has started this process as part of the job step that its variables name. What `sbatch`
/// or `salloc` starts from a step inherits the variables of that step.
fn is_in_step() -> bool {
    let Some(named) = text_of(SLURM_STEP) else { return false };
    let is_step = named.parse::<u32>().is_ok_and(|step| step < SPECIAL_STEPS);
    is_step
        && origin::slurm_step().is_none_or(|(job, step)| {
            // The parts of a heterogeneous job have numbers of their own.
            let is_het = text_of("SLURM_HET_SIZE").is_some();
            step == named && (is_het || text_of("SLURM_JOB_ID").is_none_or(|named| named == job))
        })
}

/// Opens descriptor `number` of process `pid` again.
fn descriptor_of(pid: i64, number: i64) -> std::io::Result<OwnedFd> {
    let file = File::options().read(true).write(true).open(format!("/proc/{pid}/fd/{number}"))?;
    match file.metadata()?.uid() == process::user() {
        true => Ok(file.into()),
        false => Err(std::io::ErrorKind::PermissionDenied.into()),
    }
}

impl Foreign {
    /// This process's launcher, if it is one of these.
    fn find() -> Option<&'static Self> {
        let found = FOREIGN.iter().find(|foreign| foreign.present())?;
        let is_slurms = |it: &&Self| it.launcher == Launcher::Slurm && it.present();
        match FOREIGN.iter().find(is_slurms) {
            // `srun --mpi=pmi2` sets Hydra's variables, too, except this one.
            Some(slurm) if Self::variable(found.local_size).is_none() => Some(slurm),
            _ => Some(found),
        }
    }

    fn variable(names: &[&'static str]) -> Option<(&'static str, String)> {
        names.iter().find_map(|name| Some((*name, text_of(name)?)))
    }

    fn present(&self) -> bool {
        Self::variable(self.rank).is_some()
            && Self::variable(self.size).is_some()
            && (self.launcher != Launcher::Slurm || is_in_step())
            && !self.assignment().is_anothers()
    }

    fn assignment(&self) -> Assignment {
        Assignment::by(
            [self.rank, self.size, self.named, self.job, self.channel]
                .into_iter()
                .flatten()
                .copied(),
        )
    }

    /// Claims what launchers have given this process for the process `owner`.
    fn claim_all(owner: (u32, u64)) {
        FOREIGN
            .iter()
            .filter(|foreign| foreign.present())
            .for_each(|it| it.assignment().claim(owner));
    }

    fn number(&self, names: &[&'static str]) -> Result<Option<usize>, Error> {
        let Some((name, value)) = Self::variable(names) else { return Ok(None) };
        match value.parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(Error::Environment {
                setting: format!("{name}={value}"),
                expected: "expected a number, as the launcher sets it".into(),
            }),
        }
    }

    fn join(&self) -> Result<Membership, Error> {
        let bad = |why: String| Error::Launcher { launcher: self.launcher.name(), why };
        let rank = self.number(self.rank)?.unwrap_or(0);
        let size = self.number(self.size)?.unwrap_or(1);
        if size == 0 || size > MAX_PES || rank >= size {
            return Err(bad(format!("rank {rank} of {size}; expected 1 to {MAX_PES} PEs")));
        }
        if size == 1 {
            let job = meet::create(0, &NodeOf::unnamed(&[1]))?;
            return Ok(Membership { launcher: self.launcher, pe: rank, job, exchange: None });
        }
        // Slurm's own variables give the number of nodes, not of PEs on this one.
        let local = self.number(self.local_size)?;
        let slurm_nodes = self.number(&["SLURM_STEP_NUM_NODES"])?;
        let is_spread = local.map_or(slurm_nodes.is_some_and(|nodes| nodes > 1), |pes| pes != size);
        if !is_spread {
            let job = self.meet(rank, &[size], local)?;
            return Ok(Membership { launcher: self.launcher, pe: rank, job, exchange: None });
        }
        let mut exchange = Exchange::open().map_err(|why| bad(self.advise(why)))?;
        let joined = exchange.nodes(size).map_err(bad).and_then(|sizes| {
            let job = self.meet(rank, &sizes, local)?;
            several::introduce(&job, self.launcher, &mut exchange, rank)?;
            Ok(job)
        });
        match joined {
            Ok(job) => {
                Ok(Membership { launcher: self.launcher, pe: rank, job, exchange: Some(exchange) })
            }
            Err(error) => Err(self.give_up(error)),
        }
    }

    /// Ends a job over several nodes that this PE cannot join: the others wait for it at the launcher.
    fn give_up(&self, error: Error) -> Error {
        if !matches!(error, Error::Reported) {
            message::say(&error);
        }
        ending::ask_launcher(self.launcher, 1, true);
        Error::Reported
    }

    /// Meets the PEs of this node in a job with so many PEs on each node. `local`: how many the launcher
    /// says are on this one.
    fn meet(&self, rank: usize, sizes: &[usize], local: Option<usize>) -> Result<JobFile, Error> {
        let mut end = 0;
        let own = sizes.iter().take_while(|pes| {
            end += **pes;
            end <= rank
        });
        let own = own.count();
        if let Some(local) = local.filter(|local| *local != sizes[own]) {
            let near = sizes[own];
            let why =
                format!("{local} PEs are on this node by its variables, {near} by what it answers");
            return Err(Error::Launcher { launcher: self.launcher.name(), why });
        }
        let nodes = NodeOf::unnamed(sizes);
        meet::join(self.launcher, &self.job_identity(), rank, (own, &nodes))
    }

    /// The name that distinguishes the job from all others of this user on this machine.
    fn job_identity(&self) -> String {
        let is_named = Self::variable(self.named).is_some();
        let process = if is_named { 0 } else { origin::launching_process(self.rank[0]) };
        let values: Vec<_> =
            self.named.iter().chain(self.job).filter_map(|it| text_of(it)).collect();
        format!("{process} {}", values.join(" "))
    }

    /// Adds advice for the user to an error: PEs on several nodes cannot find each other.
    fn advise(&self, why: String) -> String {
        match self.launcher {
            Launcher::Slurm => format!(
                "{why}; try srun --mpi=pmi2, srun --mpi=pmix, or oshrun --hostfile FILE \
                 --launch-agent \"srun -N1 -n1 -w\""
            ),
            _ if program::is_static() => why,
            _ => format!("{why}; start them all on one node, or with oshrun --host"),
        }
    }
}
