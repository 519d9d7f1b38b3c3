//! Who am I, who are my peers, and is the job still alive?

pub mod abort;
mod attachments;
pub mod control;
mod fault;
pub mod file;
mod fork;
pub mod health;
#[cfg(feature = "smartmap")]
mod kitten;
pub mod launch;
pub mod launcher;
mod life;
mod load;
mod meet;
mod point;
pub mod query;
pub mod session;
pub mod waiting;
pub mod words;

use crate::atomics::{AtomicU32, AtomicUsize, Ordering};
use crate::backend::Choice;
use crate::error::{self, Error, Routine};
use crate::memory::heap::Heap;
use crate::memory::layout::Layout;
use crate::memory::pages;
use crate::memory::segment::DataSegment;
use crate::pause::Pause;
use crate::translate::{ALL_OR_NONE, TABLE};
use attachments::Attachments;
use control::{Control, Stage};
use launcher::Launcher;
use point::Point;
use std::sync::{Mutex, OnceLock};
use waiting::About;

/// This process as a PE of its job. Made by the first initialisation and kept for
/// the life of the process, because peers may map its memory even after it has
/// finalised.
pub struct Job {
    pe: usize,
    npes: usize,
    launcher: Launcher,
    control: Control,
    choice: Choice,
    layout: Layout,
    data: DataSegment,
    /// The symmetric heap's allocator, new with each session.
    pub heap: Mutex<Heap>,
    /// How many sessions (first init to last finalize) have begun.
    session: AtomicU32,
    /// Where PEs that have not come yet will look for the job.
    meeting: Option<Point>,
    /// How many peers have been looked at: see `health`.
    looked: AtomicUsize,
    attachments: Attachments,
    /// What the heap is to be made of, and what it is made of in this session.
    pages: pages::Wanted,
    heap_pages: Mutex<Option<pages::Got>>,
}

static JOB: OnceLock<Job> = OnceLock::new();

/// Whether this process is a forked child of a PE, and so none itself.
pub(crate) fn is_child() -> bool {
    fork::is_child()
}

/// The job, for a routine that may be called only between init and finalize.
pub fn job(routine: Routine) -> &'static Job {
    match JOB.get() {
        Some(job) if TABLE.ready() => job,
        Some(_) if fork::is_child() => error::misuse(
            routine,
            "called in a child of fork",
            "only the process that called shmem_init is a PE",
        ),
        Some(_) => error::misuse(
            routine,
            "called after shmem_finalize",
            "expected a call between shmem_init and shmem_finalize",
        ),
        None => error::misuse(
            routine,
            "called before shmem_init",
            "expected a call between shmem_init and shmem_finalize",
        ),
    }
}

/// The job if this process has ever been initialised.
pub fn existing() -> Option<&'static Job> {
    JOB.get()
}

impl Job {
    /// This PE's number, 0 to [`npes`](Self::npes) - 1.
    pub fn pe(&self) -> usize {
        self.pe
    }
    /// Number of PEs.
    pub fn npes(&self) -> usize {
        self.npes
    }
    /// The control area.
    pub fn control(&self) -> &Control {
        &self.control
    }
    /// Who started the job.
    pub fn launcher(&self) -> &Launcher {
        &self.launcher
    }
    /// The backend in use, by name.
    pub fn backend(&self) -> &'static str {
        self.choice.backend.name()
    }
    /// Why that backend was chosen.
    pub fn backend_reason(&self) -> &str {
        &self.choice.reason
    }
    /// What the symmetric heap is made of, in words.
    pub fn heap_pages(&self) -> String {
        let got = self.heap_pages.lock().unwrap_or_else(|e| e.into_inner());
        got.as_ref().map_or_else(String::new, ToString::to_string)
    }
    /// Where slot and mirrors lie.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }
    /// Address of the symmetric heap's first byte.
    pub fn heap_base(&self) -> usize {
        self.layout.heap.start
    }

    /// Makes sure PE `pe`'s mirror is there and returns where it starts. The first
    /// use of a peer waits until that peer has initialised.
    pub fn mirror(&self, pe: usize) -> usize {
        if pe == self.pe {
            return self.layout.start();
        }
        let mut pause = Pause::about(About::Initialisation(pe));
        while !self.has_begun(pe) {
            pause.step();
        }
        self.attach_once(pe);
        if ALL_OR_NONE {
            // Who is there now need not be attached one by one later.
            for peer in (0..self.npes).filter(|peer| *peer != self.pe && self.has_begun(*peer)) {
                self.attach_once(peer);
            }
        }
        self.layout.mirror(pe)
    }

    /// Whether PE `pe` has begun the session that this PE is in.
    fn has_begun(&self, pe: usize) -> bool {
        self.control.pe(pe).session() >= self.session.load(Ordering::Relaxed)
    }

    fn attach_once(&self, pe: usize) {
        let attach = || {
            if let Err(error) = self.attach(pe) {
                error::fatal(format_args!("attaching PE {pe} failed: {error}"));
            }
            TABLE.set_mirror(pe, self.layout.mirror(pe));
        };
        let mut pause = Pause::new();
        self.attachments.ensure(pe, attach, || pause.step());
    }

    fn attach(&self, pe: usize) -> Result<(), Error> {
        let record = self.control.pe(pe);
        let data_bytes = record.data_bytes.load(Ordering::Relaxed) as usize;
        let heap_bytes = record.heap_bytes.load(Ordering::Relaxed) as usize;
        let image = record.image.load(Ordering::Relaxed);
        if data_bytes != self.layout.data.len() || image != self.data.fingerprint {
            return Err(Error::Slot(format!(
                "it runs another program: its data segment has {data_bytes} bytes and layout \
                 {image:#x}, this PE's {} bytes and layout {:#x}; all PEs must run one executable",
                self.layout.data.len(),
                self.data.fingerprint
            )));
        }
        if heap_bytes != self.layout.heap.len() {
            return Err(Error::Slot(format!(
                "its symmetric heap has {heap_bytes} bytes, this PE's {}; \
                 SHMEM_SYMMETRIC_SIZE must be the same on all PEs",
                self.layout.heap.len()
            )));
        }
        if record.backend.load(Ordering::Relaxed) != backend_word(self.backend()) {
            return Err(Error::Slot(format!(
                "it does not use the backend {}; SHMEM_BACKEND must be the same on all PEs",
                self.backend()
            )));
        }
        self.choice.backend.attach(&self.control, pe, &self.layout)
    }

    /// PEs whose stage is `stage`.
    fn at_stage(&self, stage: Stage) -> impl Iterator<Item = usize> + '_ {
        (0..self.npes).filter(move |pe| self.control.pe(*pe).stage() == stage)
    }
}

/// A backend's name as one word of a PE's record.
fn backend_word(name: &str) -> u64 {
    let mut bytes = [0; 8];
    bytes.iter_mut().zip(name.bytes()).for_each(|(to, from)| *to = from);
    u64::from_le_bytes(bytes)
}
