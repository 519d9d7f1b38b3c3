//! This process as a PE of its job, with its memory and what it knows of its peers.

pub mod about;
pub(crate) mod backend;
pub(crate) mod fork;
pub mod launcher;
mod load;
pub mod partitions;
pub(crate) mod slot;
pub mod threads;

use crate::atomics::{AtomicU32, AtomicUsize, Ordering};
use crate::exchange::Exchange;
use crate::memory::space::Space;
use backend::ChosenBackend;
use launcher::Launcher;
use onenode_core::attachments::Attachments;
use onenode_core::layout::Layout;
use onenode_core::segment::DataSegment;
use onenode_core::sys::{mutex, process};
use oneshmem_job::jobfile::control::{Control, Stage};
use oneshmem_job::jobfile::nodes::Nodes;
use oneshmem_job::pages;
use oneshmem_job::remote::{self, DeviceMemory, Engine, Far, Network};
use partitions::Partition;
use std::ops::Range;
use std::sync::{Mutex, OnceLock};

/// This process as a PE of its job. Created by the first initialisation and kept for the life of
/// the process, because peers may map its memory even after it has finalised.
pub struct Job {
    pub(crate) pe: usize,
    pub(crate) npes: usize,
    /// The PEs of this node.
    pub(crate) near: Range<usize>,
    pub(crate) launcher: Launcher,
    pub(crate) control: Control,
    pub(crate) choice: ChosenBackend,
    pub(crate) resources: Mutex<slot::Resources>,
    pub(crate) layout: Layout,
    pub(crate) data: DataSegment,
    pub(crate) heap: Space,
    pub(crate) partitions: Vec<Partition>,
    /// How many lifetimes (first initialisation to last finalisation) have begun.
    pub(crate) lifetime: AtomicU32,
    /// How many calls each PE makes at a time in the current lifetime: see `collectives::levels`.
    pub(crate) calls: AtomicU32,
    pub(crate) comparisons: Mutex<threads::Comparisons>,
    /// How the nodes synchronise, if there are several and the launcher is not `oshrun`.
    pub(crate) exchange: Option<Mutex<Exchange>>,
    /// How many peers have been checked: see `pause::liveness`.
    pub(crate) looked: AtomicUsize,
    pub(crate) attachments: Attachments,
    /// The engine for PEs on other nodes.
    pub(crate) network: Option<Box<dyn Network>>,
    /// The engine for partitions on devices.
    pub(crate) devices: Option<Box<dyn DeviceMemory>>,
    /// The pages that the heap should have, and those it has in this lifetime.
    pub(crate) pages: pages::RequestedPages,
    pub(crate) heap_pages: Mutex<Option<pages::HeapPages>>,
}

pub(crate) static JOB: OnceLock<Job> = OnceLock::new();

/// Whether this process is a forked child of a PE, and so not a PE itself.
pub(crate) fn is_child() -> bool {
    fork::is_child()
}

/// The job, if this process has ever been initialised.
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
    /// The PEs of this node: all of them, if the job is on one node.
    pub fn near(&self) -> Range<usize> {
        self.near.clone()
    }
    /// Whether PE `pe` is on this node.
    #[inline]
    pub fn is_near(&self, pe: usize) -> bool {
        self.near.contains(&pe)
    }
    /// The job's nodes; `None` if it is on one node.
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
    /// The name of the backend in use.
    pub fn backend(&self) -> &'static str {
        self.choice.backend.name()
    }
    /// Why that backend was chosen.
    pub fn backend_reason(&self) -> &str {
        &self.choice.reason
    }
    /// The pages of the symmetric heap, in words.
    pub fn heap_pages(&self) -> String {
        let got = mutex::lock(&self.heap_pages);
        got.as_ref().map_or_else(String::new, ToString::to_string)
    }
    /// Where this PE has its heap, in words. The others have it there, too, if they can.
    pub fn heap_place(&self) -> String {
        let what =
            if self.layout.is_common() { "the job's address" } else { "an address of its own" };
        format!("at {what}, {:#x}", self.layout.heap().start)
    }
    /// Where slot and mirrors lie.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }
    /// The engine for PEs on other nodes, if there are any.
    pub fn network(&self) -> Option<&dyn Network> {
        self.network.as_deref()
    }
    /// Completes all outstanding operations of engines.
    pub fn complete(&self) {
        if let Some(network) = self.network() {
            network.quiet();
        }
        if let Some(devices) = self.devices() {
            devices.quiet();
        }
    }
    /// The engine for PE `pe`, if it is on another node.
    #[inline]
    pub fn engine_to(&self, pe: usize) -> Option<&dyn Engine> {
        if self.is_near(pe) { None } else { self.network().map(Network::engine) }
    }
    /// The word at this offset of the record of PE `pe`, which is on another node.
    pub(crate) fn far_record(&self, pe: usize, within: usize) -> Far {
        let record = remote::CONTROL + self.control.record_offset(pe);
        Far { pe, offset: record + within as u64 }
    }
    /// Notes in this PE's record on which CPU it is.
    pub(crate) fn note_cpu(&self) {
        let cpu = process::cpu().map_or(0, |cpu| cpu + 1);
        self.control.pe(self.pe).cpu.store(cpu, Ordering::Relaxed);
    }
    /// How many programs of the job this PE has begun, and how many lifetimes in the current one.
    pub fn life(&self) -> (u32, u32) {
        (self.control.generation() + 1, self.lifetime.load(Ordering::Relaxed))
    }

    /// The PEs of this node that are at this stage.
    pub(crate) fn at_stage(&self, stage: Stage) -> impl Iterator<Item = usize> + '_ {
        self.near().filter(move |pe| self.control.pe(*pe).stage() == stage)
    }
}
