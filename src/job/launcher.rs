//! Who started the job, and what can be asked of it.

use crate::sys::launcher;

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
    /// Its name, for people.
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

    /// Asks the launcher to end the job with `status`, after `before`, if it is one that can be
    /// asked.
    pub(super) fn abort(self, status: i32, before: impl FnOnce()) {
        match self {
            Self::Hydra | Self::Slurm => launcher::abort_by_pmi(status, before),
            Self::OpenMpi => launcher::abort_by_pmix(status, before),
            _ => {}
        }
    }

    /// Whether a PE that ends the job has to see to it that the others end, too. On Kitten
    /// it may not send signals; there they see the abort word when they wait.
    pub(super) fn leaves_ending_to_pes(self) -> bool {
        !matches!(self, Self::Oshrun | Self::Kitten)
    }
}
