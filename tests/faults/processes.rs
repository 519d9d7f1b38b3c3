//! Finds the processes of a trial, whatever group they have moved to: their environment contains
//! the trial's mark.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::path::PathBuf;

/// The variable that contains the mark.
pub const MARK: &str = "ONESHMEM_FAULTS_TRIAL";

/// A process of a trial.
#[derive(Debug)]
pub struct Member {
    /// Its process ID.
    pub pid: Pid,
    /// Its executable.
    pub program: PathBuf,
    /// Its PE number, from its launcher.
    pub pe: Option<usize>,
}

/// The running processes with this mark.
pub fn marked(mark: &str) -> Vec<Member> {
    let entry = format!("{MARK}={mark}");
    let Ok(folder) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = folder.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid: i32| {
        // Empty for a process that has ended but has not been waited for.
        let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
        let mut variables = environment.split(|byte| *byte == 0);
        variables.clone().find(|variable| *variable == entry.as_bytes())?;
        let pe = variables.find_map(|variable| {
            let (name, value) = std::str::from_utf8(variable).ok()?.split_once('=')?;
            match name {
                "ONESHMEM_PE" => value.split(':').next()?.parse().ok(),
                "OMPI_COMM_WORLD_RANK" | "PMI_RANK" | "SLURM_PROCID" => value.parse().ok(),
                _ => None,
            }
        });
        let program = fs::read_link(format!("/proc/{pid}/exe")).ok()?;
        Some(Member { pid: Pid::from_raw(pid), program, pe })
    })
    .collect()
}

/// Kills the remaining processes of a trial.
pub fn end(mark: &str) {
    for member in marked(mark) {
        let _ = kill(member.pid, Signal::SIGKILL);
    }
}
