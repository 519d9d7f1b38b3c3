//! The place of this process in its job, as given by the launcher.

use crate::exchange::Exchange;
use crate::pe::launcher::Launcher;
use oneshmem_job::jobfile::JobFile;

/// This process's place in its job.
pub(super) struct Membership {
    pub launcher: Launcher,
    pub pe: usize,
    pub job: JobFile,
    /// How the nodes synchronise, if there are several and the launcher is not `oshrun`.
    pub exchange: Option<Exchange>,
}
