//! The environment's settings for this job, checked before anything is made of them. All PEs usually
//! have the same environment, and so find the same errors.

use crate::atomics::Ordering;
use crate::collectives;
use crate::pe::backend::{self, ChosenBackend};
use crate::pe::launcher::Launcher;
use crate::pe::partitions;
use onenode_core::layout::{Layout, Sizes};
use onenode_core::pause::WaitMode;
use onenode_core::segment::{self, DataSegment};
use onenode_core::sys::map;
use oneshmem_job::env;
use oneshmem_job::error::Error;
use oneshmem_job::jobfile::JobFile;
use oneshmem_job::pages;
use oneshmem_job::partition::Spec;

/// Heaps must fit into their place in the job's file.
const HEAP_LIMIT: u64 = 1 << 40;

/// The backend, and the memory that this PE will have.
pub(super) struct Settings {
    pub choice: ChosenBackend,
    pub data: DataSegment,
    /// The pages of the heap.
    pub pages: pages::RequestedPages,
    /// All partitions.
    pub specs: Vec<Spec>,
    /// Partitions in the slot.
    pub in_slot: Vec<Spec>,
    /// Partitions on devices.
    pub on_devices: Vec<Spec>,
    pub layout: Layout,
    pub habits: JobSettings,
}

/// Settings that hold throughout the job.
#[derive(Clone, Copy)]
pub(super) struct JobSettings {
    /// How waits pass the time.
    pub wait: WaitMode,
    /// Whether PEs get locks in the order of their arrival, even if they share CPUs.
    pub locks_in_order: bool,
    /// Whether long waits let MPI make progress.
    pub drives_mpi: bool,
    /// Whether to attach all peers at once.
    pub eager: bool,
}

impl Settings {
    /// Reads the environment, and reserves the addresses.
    pub fn read(file: &JobFile, launcher: Launcher) -> Result<Self, Error> {
        let npes = file.npes();
        let data = segment::find(map::page_size())?;
        let choice = backend::choose(launcher, file.nodes().is_some())?;
        let pages = pages::RequestedPages::from_environment()?;
        let default = match file.header().default_heap.load(Ordering::Relaxed) {
            0 => choice.default_heap(npes),
            agreed => agreed,
        };
        let heap = heap_bytes(default, pages.unit())?;
        pages.check(heap)?;
        let specs = partitions::wanted(file)?;
        let (on_devices, in_slot): (Vec<Spec>, Vec<Spec>) =
            specs.iter().cloned().partition(|spec| !spec.is_in_slot());
        let sizes = Sizes {
            heap,
            partitions: in_slot.iter().map(Spec::whole_pages).collect(),
            unit: in_slot.iter().map(|spec| spec.pages.size()).fold(pages.unit(), usize::max),
        };
        let layout = choice.layout(&data, &sizes, npes, file.chance());
        let layout = layout.map_err(|error| no_room(error, !sizes.partitions.is_empty()))?;
        let habits = JobSettings::read()?;
        env::TRANSPORT.word()?;
        env::STARTUP_TIMEOUT.seconds()?;
        collectives::select::read_environment()?;
        Ok(Self { choice, data, pages, specs, in_slot, on_devices, layout, habits })
    }
}

impl JobSettings {
    fn read() -> Result<Self, Error> {
        let wait = match env::WAIT.word()? {
            Some("spin") => WaitMode::Spin,
            Some("yield") => WaitMode::Yield,
            Some("sleep") => WaitMode::Sleep,
            _ => WaitMode::Auto,
        };
        let locks_in_order = env::LOCK_ORDER.word()? == Some("arrival");
        let eager = env::ATTACH.word()? == Some("eager");
        let drives_mpi = env::MPI_PROGRESS.word()? != Some("off");
        Ok(Self { wait, locks_in_order, drives_mpi, eager })
    }
}

/// The size of the heap, in whole pages of `unit` bytes.
fn heap_bytes(default: u64, unit: usize) -> Result<usize, Error> {
    let bytes = match env::SYMMETRIC_SIZE.bytes()? {
        None => default.min(HEAP_LIMIT),
        Some(bytes) if bytes <= HEAP_LIMIT => bytes,
        Some(_) => {
            let expected = format!("expected at most {}g", HEAP_LIMIT >> 30);
            return Err(env::SYMMETRIC_SIZE.refused(expected));
        }
    };
    Ok((bytes as usize).max(1).next_multiple_of(unit))
}

/// Names the variables to reduce when there is not enough memory.
fn no_room(error: onenode_core::Error, has_partitions: bool) -> Error {
    let (what, variables) = match has_partitions {
        false => ("a symmetric heap", "SHMEM_SYMMETRIC_SIZE"),
        true => ("heap and partitions", "SHMEM_SYMMETRIC_SIZE, SHMEM_SYMMETRIC_PARTITION<id>"),
    };
    match error {
        onenode_core::Error::NoRoom { peers, bytes, why } => Error::Slot(format!(
            "no address space for {peers} PEs with {what} of {bytes} bytes each: {why}; lower \
             {variables} or raise the limit (ulimit -v)"
        )),
        other => other.into(),
    }
}
