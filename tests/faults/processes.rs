//! The processes of a trial, wherever they have moved: all carry its mark in their
//! environment.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::path::PathBuf;

/// The variable that marks them.
pub const MARK: &str = "ONESHMEM_FAULTS_TRIAL";

/// A process of a trial.
#[derive(Debug)]
pub struct Member {
    /// Its number.
    pub pid: Pid,
    /// What it runs.
    pub program: PathBuf,
    /// Its PE number, as its launcher has told it.
    pub pe: Option<usize>,
}

/// Those that carry a mark and have not ended.
pub fn marked(mark: &str) -> Vec<Member> {
    let entry = format!("{MARK}={mark}");
    let Ok(folder) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = folder.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid: i32| {
        // Empty for one that has ended and was not waited for.
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

/// Ends what is left of a trial.
pub fn end(mark: &str) {
    for member in marked(mark) {
        let _ = kill(member.pid, Signal::SIGKILL);
    }
}
