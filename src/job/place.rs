//! Where this process is in its job, as its launcher has it.

use super::file::JobFile;
use super::launcher::Launcher;
use super::pmi::Pmi;
use super::point::Point;

/// This process's place in its job.
pub(super) struct Place {
    pub launcher: Launcher,
    pub pe: usize,
    pub job: JobFile,
    /// Where PEs that have not come yet will look for it.
    pub meeting: Option<Point>,
    /// How its nodes wait for each other, if they are several and not `oshrun`'s.
    pub pmi: Option<Pmi>,
}
