//! How the PEs of a foreign launcher find each other's job file.
//!
//! The job is named by the user, the process that launched it, and what the
//! launcher says of the job. Whoever comes first creates the file and binds an
//! abstract Unix socket of that name; whoever comes later learns from the socket
//! which process that was (the kernel vouches for it and its user), and opens the
//! file through `/proc`. Nobody serves, nobody waits, and nothing is left behind:
//! the name ends with the process.

use crate::error::Error;
use crate::job::control::Control;
use crate::job::launch::Launcher;
use crate::memory::pages;
use crate::sys::{process, socket};
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::fd::{IntoRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;

/// A new job's files.
pub(super) fn create(npes: usize) -> Result<Control, Error> {
    let control = Control::create(npes)?;
    match pages::file(process::variable) {
        Some(file) => control.create_huge(file),
        None => Ok(control),
    }
}

/// The control area of the job called `job` under `launcher`, whose processes carry
/// `variable`.
pub(super) fn control(
    launcher: Launcher,
    variable: &str,
    job: &str,
    npes: usize,
) -> Result<Control, Error> {
    let bad = |why: String| Error::Launcher { launcher: launcher.name(), why };
    let user = process::user();
    let mut hash = DefaultHasher::new();
    (job, launching_process(variable), npes).hash(&mut hash);
    let name = format!("oneshmem-{user}-{:016x}", hash.finish());

    for _ in 0..1000 {
        // The file must be complete before its owner can be found.
        let control = create(npes)?;
        let huge = control.huge_file().is_some();
        if let Some(listener) = socket::listen(&name)? {
            // Kept open for as long as this process lives.
            let _ = listener.into_raw_fd();
            return Ok(control);
        }
        drop(control);
        let Some((pid, owner)) = socket::owner(&name)? else {
            continue; // It has just ended; the name is free again.
        };
        if owner != user {
            return Err(bad(format!("the job's meeting point belongs to user {owner}")));
        }
        let file = |name| {
            job_file(pid, name).map_err(|source| {
                bad(format!("the job's file cannot be reached in /proc/{pid}/fd: {source}"))
            })
        };
        let mut control = Control::open(file("oneshmem")?)?;
        if huge && let Ok(file) = file("oneshmem-huge") {
            control = control.open_huge(file)?;
        }
        if control.npes() != npes {
            return Err(bad(format!("this PE expects {npes} PEs, the job has {}", control.npes())));
        }
        return Ok(control);
    }
    Err(bad("the process at the job's meeting point keeps ending".into()))
}

/// Opens the job's memory file called `name` of process `pid`.
fn job_file(pid: i32, name: &str) -> std::io::Result<OwnedFd> {
    let links_to = format!("/memfd:{name} (deleted)");
    let mut candidates: Vec<_> = fs::read_dir(format!("/proc/{pid}/fd"))?
        .flatten()
        .filter(|entry| {
            fs::read_link(entry.path()).is_ok_and(|target| target.to_string_lossy() == links_to)
        })
        .collect();
    candidates.sort_by_key(std::fs::DirEntry::file_name);
    let Some(entry) = candidates.first() else {
        return Err(std::io::Error::other("the process has none open"));
    };
    let file = File::options().read(true).write(true).open(entry.path())?;
    if file.metadata()?.uid() != process::user() {
        return Err(std::io::Error::other("it belongs to another user"));
    }
    Ok(file.into())
}

/// The process that launched the job: the nearest ancestor that does not carry the
/// launcher's variable itself (those that do are scripts around the PE), with its
/// start time, so that a reused number is not mistaken for it.
fn launching_process(variable: &str) -> (u32, u64) {
    let mut pid = process::parent();
    loop {
        let (parent, started) = ancestry(pid);
        let carries = fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environment| {
            environment
                .split(|byte| *byte == 0)
                .any(|entry| entry.starts_with(variable.as_bytes()) && entry.contains(&b'='))
        });
        if !carries || parent == 0 {
            return (pid, started);
        }
        pid = parent;
    }
}

/// Parent and start time of a process, from `/proc/pid/stat` (proc(5), fields 4 and 22).
fn ancestry(pid: u32) -> (u32, u64) {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name in parentheses may hold anything; fields count from its end.
    let after = stat.rfind(')').map_or("", |at| &stat[at + 1..]);
    let field = |n: usize| after.split_whitespace().nth(n).and_then(|f| f.parse().ok());
    (field(1).unwrap_or(0) as u32, field(19).unwrap_or(0))
}
