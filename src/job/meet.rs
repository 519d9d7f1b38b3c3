//! How the PEs of a foreign launcher find each other's job file.
//!
//! Whoever comes first creates the file and says so at the job's meeting point, a symbolic
//! link whose text names the process and its descriptor; whoever comes later opens that
//! descriptor in `/proc`. The last one to come removes the link. Making a link with its text
//! is one step, and fails if there is one, so exactly one PE is first, and nobody sees half a
//! text. Nobody serves, nobody waits, and no socket's backlog bounds the job.
//!
//! A job that ends before all its PEs have come leaves a notice for each missing PE, and only
//! then removes the link: a PE that comes late takes its notice away and ends, too. A PE that
//! finds neither link nor notice is the first one.

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

/// A new job's files, on number `own` of these nodes.
pub(super) fn create(own: usize, nodes: &[NodeOf]) -> Result<JobFile, Error> {
    let job = JobFile::create_on_nodes(own, nodes)?;
    match pages::file(environment::variable) {
        Some(file) => job.create_huge(file),
        None => Ok(job),
    }
}

/// A PE that has joined its job.
pub(super) struct Joined {
    pub job: JobFile,
    /// Where PEs of this node that have not come yet will look for it.
    pub meeting: Option<Point>,
    /// Whether no other PE of this node came before.
    pub is_first: bool,
}

/// Joins the job called `name` under `launcher`, whose processes carry `variable`, as PE `pe`, on
/// number `own` of these nodes. It is an error if the job is over.
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
            // The job has just come to its end, or all have come and this is the next job.
            Err(_) if point.read().map_err(failed)? != Some(host) => {}
            Err(why) => return Err(failed(why)),
        }
    };
    if let word @ 1.. = job.header().abort.load(Ordering::Acquire) {
        point.take_notice(pe);
        return Err(Error::Over(word));
    }
    let joined = job.header().joined.fetch_add(1, Ordering::AcqRel) + 1;
    if joined as usize == nodes[own].pes {
        point.remove();
        return Ok(Joined { job, meeting: None, is_first });
    }
    Ok(Joined { job, meeting: Some(point), is_first })
}

/// Opens the files that `host` has.
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

/// Opens descriptor `number` of process `pid` once more.
pub(super) fn descriptor(pid: u32, number: i32) -> Result<OwnedFd, String> {
    let path = format!("/proc/{pid}/fd/{number}");
    let file = File::options().read(true).write(true).open(&path);
    let file = file.map_err(|error| format!("the job's file cannot be opened: {path}: {error}"))?;
    match file.metadata() {
        Ok(status) if status.uid() == process::user() => Ok(file.into()),
        _ => Err(format!("the job's file, {path}, belongs to another user")),
    }
}

/// Leaves notices for the PEs that have not come to the job, which is over. The first PE to
/// end the job does this.
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
