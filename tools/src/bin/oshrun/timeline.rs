//! The output file of `--trace`. PE 0 writes it when all PEs finalise; if they do not, the launcher writes what the
//! PEs have recorded until then.

use super::failure::{Failure, OWN_FAILURE};
use oneshmem::job::control::Control;
use oneshmem::job::file::JobFile;
use oneshmem::timeline;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

/// The file.
pub struct Timeline<'a> {
    path: &'a Path,
}

impl<'a> Timeline<'a> {
    /// Creates the file, empty. Done before the job runs, so that a wrong path fails early.
    pub fn create(path: &'a Path) -> Result<Self, Failure> {
        match File::create(path) {
            Ok(_) => Ok(Self { path }),
            Err(error) => Err(Failure::own(format!("--trace {}: {error}", path.display()))),
        }
    }

    /// Sees to it that the timeline of a job that has ended with this status is written. Returns the status to
    /// exit with.
    pub fn finish(&self, job: &Arc<JobFile>, status: i32) -> i32 {
        if fs::metadata(self.path).is_ok_and(|data| data.len() > 0) {
            return status;
        }
        let programs = (0..job.npes()).map(|pe| job.programs(pe)).max().unwrap_or(0);
        let written = match programs.checked_sub(1) {
            None => Err("no PE has called shmem_init, so there is nothing to write".into()),
            Some(last) => Control::of(job.clone(), last)
                .map_err(|error| error.to_string())
                .and_then(|control| timeline::write_of(&control, self.path)),
        };
        match written {
            Ok(()) => status,
            Err(why) => {
                eprintln!("oshrun: --trace {}: {why}", self.path.display());
                if status == 0 { OWN_FAILURE.into() } else { status }
            }
        }
    }
}
