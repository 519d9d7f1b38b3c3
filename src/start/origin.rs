//! Finds the process that launched a job. It identifies the job where the launcher's variables do not, or
//! may be inherited from another job.

use onenode_core::sys::{pass, process};
use oneshmem_job::sys::environment;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;

/// Hydra's processes inherit a socket of the one that launches them.
const INHERITED: &str = "HYDI_CONTROL_FD";

/// A number of the process that launched this one, whose environment has `variable`; all PEs of the
/// node find the same. The channel of PMI says it, in its PID namespace. In others, processes have the
/// same socket. Without either (a script has closed them), it is the nearest ancestor that does not
/// carry the launcher's variable itself (those that do are scripts around the PE).
pub(super) fn launching_process(variable: &str) -> u64 {
    let by_channel = environment::socket("PMI_FD").map_or(0, |channel| pass::peer(channel.as_fd()));
    if by_channel != 0 {
        return by_channel.into();
    }
    let inherited = environment::socket(INHERITED).and_then(|socket| socket.metadata().ok());
    inherited.map_or_else(|| nearest_without(variable).into(), |status| status.ino())
}

/// Slurm's job and step that this process belongs to, as the title of the daemon says that Slurm has
/// started for them: the nearest ancestor of that kind. `None` if there is none in this PID namespace.
pub(super) fn slurm_step() -> Option<(String, String)> {
    let mut pid = process::parent();
    loop {
        let title = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        if let Some(found) = step_of(&String::from_utf8_lossy(&title)) {
            return Some(found);
        }
        match process::status(pid)?.parent {
            0 => return None,
            parent => pid = parent,
        }
    }
}

/// The job and the step in a title such as `slurmstepd: [7.batch]`, or `[7.0+1]` in a heterogeneous job.
fn step_of(title: &str) -> Option<(String, String)> {
    let (inside, _) = title.strip_prefix("slurmstepd: [")?.split_once(']')?;
    let (job, step) = inside.split_once('.')?;
    let step = step.split('+').next().unwrap_or(step);
    Some((job.to_owned(), step.to_owned()))
}

fn nearest_without(variable: &str) -> u32 {
    let mut pid = process::parent();
    loop {
        let carries = std::fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environment| {
            environment
                .split(|byte| *byte == 0)
                .any(|entry| entry.starts_with(variable.as_bytes()) && entry.contains(&b'='))
        });
        match process::status(pid).map_or(0, |status| status.parent) {
            parent @ 1.. if carries => pid = parent,
            _ => return pid,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_title_of_slurms_daemon_names_job_and_step() {
        let pair = |job: &str, step: &str| Some((job.to_owned(), step.to_owned()));
        assert_eq!(step_of("slurmstepd: [7.batch]"), pair("7", "batch"));
        assert_eq!(step_of("slurmstepd: [12.0]\0\0\0"), pair("12", "0"));
        assert_eq!(step_of("slurmstepd: [12.3+1]"), pair("12", "3"));
        for title in ["", "slurmstepd", "slurmstepd: [7]", "/bin/sh slurmstepd: [7.0]"] {
            assert_eq!(step_of(title), None, "{title}");
        }
    }

    #[test]
    fn the_nearest_ancestor_without_the_variable_is_found() {
        assert_eq!(nearest_without("NO_SUCH_VARIABLE"), process::parent());
    }
}
