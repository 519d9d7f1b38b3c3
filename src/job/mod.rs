//! Who am I, who are my peers, and is the job still alive?

pub mod abort;
pub mod about;
mod backend;
pub mod control;
mod current;
pub mod ending;
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
pub mod nodes;
pub mod partitions;
mod peers;
mod place;
mod pmi;
mod point;
pub mod query;
pub mod setup;
mod several;
pub mod threads;
pub mod waiting;

use crate::atomics::{AtomicU32, AtomicUsize, Ordering};
use crate::engine::{self, DeviceMemory, Engine, Far};
use crate::memory::pages;
use crate::memory::space::Space;
use backend::ChosenBackend;
use control::{Control, Stage};
use launcher::Launcher;
use nodes::Nodes;
use onenode::attachments::Attachments;
use onenode::layout::Layout;
use onenode::segment::DataSegment;
use partitions::Partition;
use pmi::Pmi;
use point::Point;
use std::ops::Range;
use std::sync::{Mutex, OnceLock};

/// This process as a PE of its job. Made by the first initialisation and kept for
/// the life of the process, because peers may map its memory even after it has
/// finalised.
pub struct Job {
    pe: usize,
    npes: usize,
    /// The PEs of this node.
    near: Range<usize>,
    launcher: Launcher,
    control: Control,
    choice: ChosenBackend,
    layout: Layout,
    data: DataSegment,
    heap: Space,
    partitions: Vec<Partition>,
    /// How many lifetimes (first init to last finalize) have begun.
    lifetime: AtomicU32,
    /// Where PEs that have not come yet will look for the job.
    meeting: Option<Point>,
    /// How its nodes wait for each other, if they are several and not `oshrun`'s.
    pmi: Option<Mutex<Pmi>>,
    /// How many peers have been looked at: see `health`.
    looked: AtomicUsize,
    attachments: Attachments,
    /// The way to PEs of other nodes.
    engine: Option<Box<dyn Engine>>,
    /// The way to partitions on devices.
    devices: Option<Box<dyn DeviceMemory>>,
    /// What the heap is to be made of, and what it is made of in this lifetime.
    pages: pages::Wanted,
    heap_pages: Mutex<Option<pages::Got>>,
}

pub use current::{at_once, job};

static JOB: OnceLock<Job> = OnceLock::new();

/// Whether this process is a forked child of a PE, and so none itself.
pub(crate) fn is_child() -> bool {
    fork::is_child()
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
    /// The PEs of this node: all, if the job is on one.
    pub fn near(&self) -> Range<usize> {
        self.near.clone()
    }
    /// Whether PE `pe` is on this node.
    #[inline]
    pub fn is_near(&self, pe: usize) -> bool {
        self.near.contains(&pe)
    }
    /// The job's nodes; `None` if it is on one.
    pub fn nodes(&self) -> Option<&Nodes> {
        self.control.job().nodes()
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
    /// The way to PEs of other nodes, if there are any.
    pub fn engine(&self) -> Option<&dyn Engine> {
        self.engine.as_deref()
    }
    /// Completes what engines have under way.
    pub fn complete(&self) {
        if let Some(engine) = self.engine() {
            engine.quiet();
        }
        if let Some(devices) = self.devices() {
            devices.quiet();
        }
    }
    /// The way to PE `pe`, if it is on another node.
    #[inline]
    pub fn engine_to(&self, pe: usize) -> Option<&dyn Engine> {
        if self.is_near(pe) { None } else { self.engine() }
    }
    /// What the own symmetric address `addr` is on PE `pe` of another node.
    pub fn far(&self, pe: usize, addr: usize) -> Far {
        let Layout { data, heap, .. } = &self.layout;
        let offset = match heap.contains(&addr) {
            true => engine::HEAP + (addr - heap.start) as u64,
            false => (addr - data.start) as u64,
        };
        Far { pe, offset }
    }
    /// How many programs of the job this PE has begun, and how many lifetimes in this one.
    pub fn life(&self) -> (u32, u32) {
        (self.control.generation() + 1, self.lifetime.load(Ordering::Relaxed))
    }
    /// Address of the symmetric heap's first byte.
    pub fn heap_base(&self) -> usize {
        self.layout.heap.start
    }

    /// PEs of this node whose stage is `stage`.
    fn at_stage(&self, stage: Stage) -> impl Iterator<Item = usize> + '_ {
        self.near().filter(move |pe| self.control.pe(*pe).stage() == stage)
    }
}
