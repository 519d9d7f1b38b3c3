//! How the PEs of a foreign launcher find their job's file.
//!
//! The PEs of a node meet at a place that is their user's alone (`onenode_core::sys::point`), by a name that
//! follows from what the launcher has told them. The first to come creates the file and hands it to
//! the others. The last to come removes the name, and until then all wait: so no PE ends, ends the job
//! or closes its descriptors (closefrom) while another still needs it. Each PE that waits has one end
//! of a pipe, whose other end is open in the first PE only, as long as it waits, too.

use crate::atomics::Ordering;
use crate::pause::liveness::{absent, limit};
use crate::pe::launcher::Launcher;
use onenode_core::sys::hash::fnv1a;
use onenode_core::sys::point::{Guest, Rendezvous};
use onenode_core::sys::{fd, pass, process};
use oneshmem_job::error::Error;
use oneshmem_job::jobfile::JobFile;
use oneshmem_job::jobfile::abort::{self, AbortKind};
use oneshmem_job::jobfile::nodes::NodeOf;
use oneshmem_job::pages;
use oneshmem_job::sys::environment;
use std::io::ErrorKind;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

/// How often a waiting PE looks whether the job has ended.
const LOOK: Duration = Duration::from_millis(100);
/// How long a PE waits for another one that has locked the place, each time.
const AGAIN: Duration = Duration::from_micros(200);

/// Creates a new job's files, on node `own` of these nodes.
pub(super) fn create(own: usize, nodes: &[NodeOf]) -> Result<JobFile, Error> {
    let job = JobFile::create_on_nodes(own, nodes)?;
    match pages::file(environment::variable) {
        Some(file) => job.create_huge(file),
        None => Ok(job),
    }
}

/// Joins the job that `told` distinguishes from all others of this user on this machine, as PE `pe`,
/// on node `own` of these nodes. Returns when all PEs of the node have come, or the job has ended.
pub(super) fn join(
    launcher: Launcher,
    told: &str,
    pe: usize,
    (own, nodes): (usize, &[NodeOf]),
) -> Result<JobFile, Error> {
    if nodes[own].pes == 1 {
        return create(own, nodes);
    }
    let npes = nodes.iter().map(|node| node.pes).sum();
    let text = format!("oneshmem {} {told} {npes} {own}", launcher.name());
    let name = format!("{:016x}", fnv1a(text.bytes()) as u64);
    let until = Duration::try_from_secs_f64(limit()).ok();
    let until = until.and_then(|limit| Instant::now().checked_add(limit));
    let meeting = Meeting { launcher, name, pe, npes, until };
    loop {
        let place = meeting.lock()?;
        let Some(guest) = place.guest()? else {
            let job = create(own, nodes)?;
            meeting.host(place, &job)?;
            return Ok(job);
        };
        drop(place);
        // It may have ended since.
        if let Some(files) = meeting.files_from(&guest)? {
            return meeting.come(guest, files);
        }
    }
}

/// A PE that comes to the meeting of its job.
struct Meeting {
    launcher: Launcher,
    name: String,
    pe: usize,
    npes: usize,
    /// When PEs that have not come are given up; `None` for never.
    until: Option<Instant>,
}

impl Meeting {
    fn failed(&self, why: String) -> Error {
        Error::Launcher { launcher: self.launcher.name(), why }
    }

    fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Locks the place.
    fn lock(&self) -> Result<Rendezvous, Error> {
        let runtime = environment::variable("XDG_RUNTIME_DIR");
        loop {
            let place = Rendezvous::lock(&self.name, runtime.as_deref().map(Path::new));
            match place.map_err(|error| self.failed(error.to_string()))? {
                Some(place) => return Ok(place),
                None if self.is_over() => {
                    return Err(self.failed(format!(
                        "another process of user {} has the place to meet locked (is it stopped?)",
                        process::user()
                    )));
                }
                None => std::thread::sleep(AGAIN),
            }
        }
    }

    /// As the first PE, hands out the job's files until all have come.
    fn host(&self, place: Rendezvous, job: &JobFile) -> Result<(), Error> {
        let [theirs, _ours] = pass::pipe()?;
        let mut files = vec![theirs, fd::duplicate(job.file()?)?];
        if let Some(huge) = job.huge_file()? {
            files.push(fd::duplicate(huge)?);
        }
        let mut host = place.host(files)?;
        self.enter(job, &place)?;
        drop(place);
        while !self.is_complete(job)? {
            host.serve();
            host.wait(LOOK);
        }
        Ok(())
    }

    /// The files that the first PE hands out; `None` if it has ended.
    fn files_from(&self, first: &Guest) -> Result<Option<Vec<OwnedFd>>, Error> {
        let failed =
            |why: &dyn std::fmt::Display| self.failed(format!("the PE that came first {why}"));
        loop {
            match first.files() {
                Ok(None) if self.is_over() => {
                    return Err(failed(&"does not answer (is it stopped?)"));
                }
                Ok(None) => first.wait(LOOK),
                Ok(files) => return Ok(files),
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
                Err(error) => {
                    return Err(failed(&format_args!("cannot hand out its files: {error}")));
                }
            }
        }
    }

    /// As another PE, opens these files of the first one, and waits until all have come.
    fn come(&self, first: Guest, files: Vec<OwnedFd>) -> Result<JobFile, Error> {
        let mut files = files.into_iter();
        let (Some(pipe), Some(file)) = (files.next(), files.next()) else {
            return Err(self.failed("the PE that came first hands out no file".into()));
        };
        let mut job = JobFile::open(file)?;
        if let Some(huge) = files.next() {
            job = job.open_huge(huge)?;
        }
        if job.npes() != self.npes || !job.near().contains(&self.pe) {
            let (pe, npes, of, near) = (self.pe, self.npes, job.npes(), job.near());
            return Err(self.failed(format!(
                "this is PE {pe} of {npes}, and PEs {near:?} of {of} meet on this node"
            )));
        }
        self.enter(&job, &self.lock()?)?;
        // Tells the first PE to look.
        drop(first);
        let mut is_closed = false;
        while !self.is_complete(&job)? {
            if is_closed && abort::raise(&job, AbortKind::PeerDied, self.pe, 1) {
                let why = "the PE that came first ended before all had come";
                return Err(self.failed(why.into()));
            }
            is_closed = pass::wait(std::iter::once(pipe.as_fd()), LOOK);
        }
        Ok(job)
    }

    /// Takes part. The last to come removes the name first.
    fn enter(&self, job: &JobFile, place: &Rendezvous) -> Result<(), Error> {
        if job.member(self.pe).pid.load(Ordering::Relaxed) != 0 {
            return Err(self.failed(format!("another process is PE {} already", self.pe)));
        }
        job.sign_as_member(self.pe);
        let joined = &job.header().joined;
        if joined.load(Ordering::Relaxed) as usize + 1 == job.near().len() {
            place.remove();
        }
        joined.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }

    /// Whether all PEs of this node have come, or the job has ended. Ends the job if that takes too
    /// long.
    fn is_complete(&self, job: &JobFile) -> Result<bool, Error> {
        let header = job.header();
        if header.joined.load(Ordering::Acquire) as usize >= job.near().len()
            || header.abort.load(Ordering::Acquire) != 0
        {
            return Ok(true);
        }
        if !self.is_over() || !abort::raise(job, AbortKind::Fatal, self.pe, 1) {
            return Ok(false);
        }
        let has_come = |pe: &usize| job.member(*pe).pid.load(Ordering::Relaxed) != 0;
        let missing: Vec<_> = job.near().filter(|pe| !has_come(pe)).collect();
        Err(Error::Absent(absent(&missing, job.npes())))
    }
}
