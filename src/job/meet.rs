//! How the PEs of a foreign launcher find their job's file.
//!
//! The first PE creates the file and announces it at the job's meeting point, a symbolic link whose
//! text names the process and its descriptor; later PEs open that descriptor in `/proc`. The last
//! one removes the link. Creating a link with its text is atomic and fails if it exists, so exactly
//! one PE is first, and no PE sees an incomplete text. There is no server and no waiting, and no
//! socket's backlog limits the number of PEs.
//!
//! A job that ends before all its PEs have joined leaves a notice for each missing PE, and only
//! then removes the link: a late PE removes its notice and ends, too. A PE that finds neither link
//! nor notice is the first one.

use super::file::JobFile;
use super::nodes::NodeOf;
use super::point::{Host, Point};
use crate::atomics::Ordering;
use crate::error::Error;
use crate::job::launcher::Launcher;
use crate::memory::pages;
use crate::sys::environment;
use onenode::sys::process;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

/// How long the link of a finished job may remain, and how often a PE checks.
const REMOVAL: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(5);

/// Creates a new job's files, on node `own` of these nodes.
pub(super) fn create(own: usize, nodes: &[NodeOf]) -> Result<JobFile, Error> {
    let job = JobFile::create_on_nodes(own, nodes)?;
    match pages::file(environment::variable) {
        Some(file) => job.create_huge(file),
        None => Ok(job),
    }
}

/// The job that a PE has joined.
pub(super) struct Joined {
    pub job: JobFile,
    /// Where missing PEs of this node will look for it.
    pub meeting: Option<Point>,
}

/// Joins the job called `name` under `launcher`, whose processes carry `variable`, as PE `pe`, on
/// node `own` of these nodes. It is an error if the job is over.
pub(super) fn join(
    launcher: Launcher,
    variable: &str,
    name: &str,
    pe: usize,
    (own, nodes): (usize, &[NodeOf]),
) -> Result<Joined, Error> {
    let npes = nodes.iter().map(|node| node.pes).sum();
    let failed = |why| Error::Launcher { launcher: launcher.name(), why };
    let point = Point::find(variable, name, npes).map_err(failed)?;
    let mut is_first = false;
    let job = loop {
        let host = point.read().map_err(failed)?;
        if let Some(word) = host.is_none().then(|| point.take_notice(pe)).flatten() {
            return Err(Error::Over(word));
        }
        let Some(host) = host else {
            let job = create(own, nodes)?;
            point.sweep();
            let (pid, files) = (process::pid(), job.own_files());
            let started = process::own_start();
            if point.host(Host { pid, started, files }).map_err(failed)? {
                is_first = true;
                break job;
            }
            continue; // Another PE was quicker.
        };
        match open(&host, npes) {
            Ok(job) => break job,
            // The job has just ended, or all its PEs have joined and this PE belongs to the next
            // job.
            Err(_) if is_removed(&point, &host).map_err(failed)? => {}
            Err(why) => return Err(failed(why)),
        }
    };
    if let word @ 1.. = job.header().abort.load(Ordering::Acquire) {
        point.take_notice(pe);
        return Err(Error::Over(word));
    }
    // The job may have ended, and its link gone, since this PE last looked for both. Then this is
    // another job, made by PEs that have not seen their notices yet.
    if let Some(word) = point.take_notice(pe) {
        if is_first {
            point.remove();
        }
        return Err(Error::Over(word));
    }
    let joined = job.header().joined.fetch_add(1, Ordering::AcqRel) + 1;
    if joined as usize == nodes[own].pes {
        point.remove();
        return Ok(Joined { job, meeting: None });
    }
    Ok(Joined { job, meeting: Some(point) })
}

/// Whether the link to this host is gone or disappears soon. The PE that ends a job removes it, and
/// PEs that see the end may be quicker.
fn is_removed(point: &Point, host: &Host) -> Result<bool, String> {
    let until = Instant::now() + REMOVAL;
    while point.read()?.as_ref() == Some(host) {
        if Instant::now() > until {
            return Ok(false);
        }
        std::thread::sleep(LOOK);
    }
    Ok(true)
}

/// Opens the files of `host`.
fn open(host: &Host, npes: usize) -> Result<JobFile, String> {
    let pid = host.pid;
    if !process::is_running(pid, host.started) {
        return Err(format!(
            "the job is over: the PE that began it (pid {pid}) ended before this one came"
        ));
    }
    let [file, huge] = host.files.map(|file| (file > 0).then(|| descriptor(pid, file - 1)));
    let file = file.ok_or("the job has no file")??;
    let mut job = JobFile::open(file).map_err(|error| error.to_string())?;
    if let Some(huge) = huge {
        job = job.open_huge(huge?).map_err(|error| error.to_string())?;
    }
    if job.npes() != npes {
        return Err(format!("this PE expects {npes} PEs, the job has {}", job.npes()));
    }
    Ok(job)
}

/// Opens descriptor `number` of process `pid` again.
pub(super) fn descriptor(pid: u32, number: i32) -> Result<OwnedFd, String> {
    let path = format!("/proc/{pid}/fd/{number}");
    let file = File::options().read(true).write(true).open(&path);
    let file = file.map_err(|error| format!("the job's file cannot be opened: {path}: {error}"))?;
    match file.metadata() {
        Ok(status) if status.uid() == process::user() => Ok(file.into()),
        _ => Err(format!("the job's file, {path}, belongs to another user")),
    }
}

/// Leaves notices for the missing PEs of the job, which is over. The first PE that ends the job
/// does this.
pub(super) fn close(job: &JobFile, point: &Point) {
    let header = job.header();
    if header.joined.load(Ordering::Acquire) as usize == job.near().len()
        || header.closed.swap(1, Ordering::AcqRel) != 0
    {
        return;
    }
    let word = header.abort.load(Ordering::Acquire);
    for pe in job.near().filter(|pe| job.member(*pe).pid.load(Ordering::Acquire) == 0) {
        point.leave_notice(pe, word);
    }
    point.remove();
}
