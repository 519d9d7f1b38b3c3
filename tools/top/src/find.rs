//! The job to watch, found by its processes' open files.

use anyhow::{Context, Result, bail};
use nix::unistd::getuid;
use oneshmem_job::jobfile::JobFile;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The first part of a link in /proc to a job's file.
const LINK: &str = "/memfd:oneshmem";

/// A job.
pub struct Found {
    /// Its file.
    pub file: JobFile,
    /// The process that has it open.
    pub pid: u32,
}

/// The job of the process `pid`, or else the only job of this user's `oshrun`.
pub fn job(pid: Option<u32>) -> Result<Found> {
    if let Some(pid) = pid {
        let Some(file) = file_of(pid)? else {
            bail!(
                "process {pid} has no job's file open: expected the PID of a job's oshrun or of a PE"
            );
        };
        return Ok(Found { file, pid });
    }
    let mut jobs = Vec::new();
    for pid in launchers().context("cannot read /proc")? {
        // Launchers end at any time, and some have no job (yet).
        jobs.extend(file_of(pid).ok().flatten().map(|file| Found { file, pid }));
    }
    match jobs.len() {
        0 => bail!("no oshrun of yours runs a job here; name the PID of a PE for other launchers"),
        1 => Ok(jobs.remove(0)),
        _ => {
            let list: String =
                jobs.iter().map(|job| format!("\n{:8}  {}", job.pid, command(job.pid))).collect();
            bail!("several jobs run here: name the PID of one of their oshrun:{list}")
        }
    }
}

/// The processes of this user that are called oshrun.
fn launchers() -> Result<Vec<u32>> {
    let mut launchers = Vec::new();
    for entry in fs::read_dir("/proc")?.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        let own = entry.metadata().is_ok_and(|data| data.uid() == getuid().as_raw());
        let name = fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
        // A process of `oshrun` that only keeps watch over the others is called the same.
        if own && name.trim_end() == "oshrun" {
            launchers.push(pid);
        }
    }
    launchers.sort_unstable();
    Ok(launchers)
}

/// The command line of a process, in a line.
fn command(pid: u32) -> String {
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&words).replace('\0', " ");
    line.trim_end().replace(char::is_control, "?")
}

/// The job's file that a process has open, if it has one.
fn file_of(pid: u32) -> Result<Option<JobFile>> {
    let folder = format!("/proc/{pid}/fd");
    let files = fs::read_dir(&folder).with_context(|| format!("cannot read {folder}"))?;
    for file in files.flatten() {
        let is_one = fs::read_link(file.path()).is_ok_and(|to| is_link(&to));
        if let Some(file) = is_one.then(|| File::options().read(true).write(true).open(file.path()))
        {
            let file =
                file.with_context(|| format!("cannot open the job's file of process {pid}"))?;
            return JobFile::open(file.into()).map(Some).with_context(|| format!("process {pid}"));
        }
    }
    Ok(None)
}

/// Whether a process's descriptor of this target is that of a job's file.
fn is_link(target: &Path) -> bool {
    target.to_str().is_some_and(|to| to.split(' ').next() == Some(LINK))
}
