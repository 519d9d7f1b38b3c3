//! Who started the job, and what that launcher can be asked to do.

use crate::sys::{launcher, pmix};
use oneshmem_job::sys::environment;

/// Who started the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launcher {
    /// This project's own launcher.
    Oshrun,
    /// MPICH's process manager and its relatives (PMI).
    Hydra,
    /// Open MPI's `mpirun`.
    OpenMpi,
    /// Slurm's `srun`.
    Slurm,
    /// The loader of the Kitten kernel.
    Kitten,
    /// None: one PE.
    Nobody,
}

impl Launcher {
    /// Its name, for users.
    pub fn name(self) -> &'static str {
        match self {
            Self::Oshrun => "oshrun",
            Self::Hydra => "Hydra (PMI)",
            Self::OpenMpi => "Open MPI mpirun",
            Self::Slurm => "Slurm",
            Self::Kitten => "Kitten's loader",
            Self::Nobody => "none",
        }
    }

    /// Asks the launcher to end the job with `status`, if it accepts such requests. `is_talking` says
    /// whether this process has a connection to it.
    pub(crate) fn abort(self, status: i32, is_talking: bool) {
        match self {
            Self::OpenMpi => launcher::abort_by_pmix(status),
            Self::Hydra => launcher::abort_by_pmi(status),
            Self::Slurm if environment::variable(pmix::VARIABLE).is_some() => {
                launcher::abort_by_pmix(status);
            }
            // It accepts no message from a process that has not introduced itself.
            Self::Slurm if is_talking => launcher::abort_by_pmi(status),
            _ => {}
        }
    }
}
