//! This PE's partitions, and which part of its memory an address lies in.

use super::Job;
use crate::memory::pool::Pool;
use crate::memory::space::Space;
use onenode_core::layout::Layout;
use onenode_core::pages::Pages;
use onenode_core::sys::mutex;
use onenode_core::sys::persistent::Persistent;
use onenode_core::sys::{fd, map, numa, tiers};
use oneshmem_job::error::Error;
use oneshmem_job::jobfile::JobFile;
use oneshmem_job::jobfile::control::Control;
use oneshmem_job::jobfile::waiting::SlotPart;
use oneshmem_job::pages;
use oneshmem_job::partition::{self, Kind, Policy, Spec};
use oneshmem_job::remote::DeviceMemory;
use std::fmt;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Mutex;

/// A partition: its specification, its place, and its memory in this lifetime.
pub struct Partition {
    spec: Spec,
    space: Space,
    made: Mutex<PartitionMemory>,
    /// The index of its part of the devices' memory, and a description.
    device: Option<(usize, String)>,
}

/// A partition's memory in one lifetime.
#[derive(Debug, Default)]
struct PartitionMemory {
    /// Where its pages are, in words, after a comma.
    nodes: String,
    /// This PE's file, if the partition is a file.
    file: Option<PartitionFile>,
}

/// A file of a partition.
#[derive(Debug)]
struct PartitionFile {
    /// Stays open, which keeps it locked.
    _file: File,
    /// The memory that it lies in, if it lies in persistent memory.
    memory: Option<Persistent>,
}

impl Partition {
    pub(super) fn new(spec: Spec, range: Range<usize>) -> Self {
        let pool = Pool::of_partition(range.len(), spec.is_zero());
        Self { spec, space: Space::new(range, pool), made: Mutex::default(), device: None }
    }

    /// A partition on a device: a part of the devices' memory.
    pub(super) fn on_device(spec: Spec, devices: &dyn DeviceMemory, part: usize) -> Self {
        let device = Some((part, devices.description(part)));
        Self { device, ..Self::new(spec, devices.range(part)) }
    }

    /// Whether the processor can load from it and store to it.
    pub fn is_mapped(&self) -> bool {
        self.device.is_none()
    }

    /// Replaces the allocator for a new lifetime, for memory that stays.
    pub(crate) fn clear(&self) {
        *self.space.pool() = Pool::of_partition(self.space.range().len(), self.spec.is_zero());
    }

    /// The request of its variable.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Its memory.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// Prepares its memory for a new lifetime; `map` maps it. Returns a complaint if the result
    /// differs from the request.
    pub(crate) fn lay(
        &self,
        layout: &Layout,
        pe: usize,
        map: impl FnOnce() -> Result<(), onenode_core::Error>,
    ) -> Result<Option<String>, Error> {
        let range = self.space.range();
        // Closes the file of the previous lifetime, which unlocks it.
        *mutex::lock(&self.made) = PartitionMemory::default();
        let file = self.spec.file_of(pe).map(|path| self.prepare(&path)).transpose()?;
        let file =
            file.map(|file| PartitionFile { memory: Persistent::of(file.as_fd()), _file: file });
        map().map_err(|error| {
            let why = pages::why_not(self.spec.pages, range.len(), &error);
            self.spec.refused(why)
        })?;
        // The file system decides where the pages of a file are.
        let placed = match &file {
            Some(PartitionFile { memory: Some(_), .. }) => Ok(", persistent memory (DAX)".into()),
            Some(PartitionFile { memory: None, .. }) => Ok(", through the page cache".into()),
            None => self.place(range)?,
        };
        let instead =
            |why: &String| format!("{}: memory as the heap's instead: {why}", self.spec.shown());
        let complaint = placed.as_ref().err().map(instead);
        let nodes = placed.unwrap_or_else(|why| format!(", memory as the heap's: {why}"));
        *mutex::lock(&self.made) = PartitionMemory { nodes, file };
        *self.space.pool() = Pool::of_partition(range.len(), self.spec.is_zero());
        self.space.begin(layout, self.spec.pages.size(), 0);
        Ok(complaint)
    }

    /// Opens this PE's file. Creates it if it is missing, and extends it to at least the
    /// partition's size. No other job can use the file while it is open.
    fn prepare(&self, path: &Path) -> Result<File, Error> {
        let failed = |what: &str, error: &dyn fmt::Display| {
            self.spec.refused(format!("{what} {}: {error}", path.display()))
        };
        let open = || File::options().read(true).write(true).open(path);
        let (opened, is_new) = match open() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                match File::options().read(true).write(true).create_new(true).open(path) {
                    // Another PE or job was quicker.
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (open(), false),
                    made => (made, true),
                }
            }
            opened => (opened, false),
        };
        let file = opened.map_err(|error| failed("cannot open", &error))?;
        if !fd::try_lock(file.as_fd()).map_err(|error| failed("cannot lock", &error))? {
            return Err(failed("another job has", &"expected a file of its own"));
        }
        let bytes = self.space.range().len() as u64;
        let missing = file.metadata().map(|data| data.len() < bytes);
        if missing.map_err(|error| failed("cannot read the size of", &error))? {
            // Allocates blocks, so that no access finds the file system full.
            if let Err(error) = fd::extend(file.as_fd(), bytes) {
                if is_new {
                    let _ = std::fs::remove_file(path);
                }
                return Err(failed("cannot extend", &error));
            }
        }
        Ok(file)
    }

    /// Makes these bytes durable in the partition's file; `false` if it has none.
    pub(crate) fn persist(&self, bytes: &Range<usize>) -> io::Result<bool> {
        let made = mutex::lock(&self.made);
        let Some(PartitionFile { memory, .. }) = made.file else { return Ok(false) };
        drop(made);
        let page = map::page_size();
        match memory {
            Some(memory) => memory.flush(bytes)?,
            None => {
                map::write_back(&(bytes.start / page * page..bytes.end.next_multiple_of(page)))?
            }
        }
        Ok(true)
    }

    /// The NUMA nodes that the pages should be on, and whether they are mandatory; empty if the
    /// kernel may choose.
    fn nodes(&self) -> Result<(Vec<usize>, bool), Error> {
        let Spec { kind, policy, nodes, .. } = &self.spec;
        let allowed = numa::allowed_nodes();
        if let Some(absent) = nodes.iter().find(|node| !allowed.contains(node)) {
            let allowed = list(&allowed);
            return Err(self.spec.refused(format!(
                "NODES has {absent}; this process may use the memory of nodes {allowed}"
            )));
        }
        if matches!(kind, Kind::Fast | Kind::Hbm) {
            let quick = tiers::quickest(numa::nearest_node().unwrap_or(0), &allowed);
            if !quick.is_empty() || *policy == Policy::Preferred {
                return Ok((quick, *policy != Policy::Preferred));
            }
            return Err(self.spec.refused(format!(
                "all memory that this process may use is of one kind (nodes {}); POLICY=PREFERRED \
                 would take it",
                list(&allowed)
            )));
        }
        Ok(match (nodes.is_empty(), policy) {
            (false, _) => (nodes.clone(), true),
            (true, Policy::Interleaved) => (allowed, true),
            (true, Policy::Mandatory) => (numa::nearest_node().into_iter().collect(), true),
            (true, Policy::Preferred) => (numa::own_node().into_iter().collect(), false),
        })
    }

    /// Places the pages on the requested NUMA nodes. Returns a description if there is a choice, or
    /// why faster memory was not available.
    fn place(&self, range: &Range<usize>) -> Result<Result<String, String>, Error> {
        let Spec { kind, policy, pages, .. } = &self.spec;
        let (chosen, is_asked) = self.nodes()?;
        let is_quick = matches!(kind, Kind::Fast | Kind::Hbm);
        if chosen.is_empty() {
            let one_kind = "all memory that this process may use is of one kind".into();
            return Ok(if is_quick { Err(one_kind) } else { Ok(String::new()) });
        }
        let placed = match policy {
            Policy::Mandatory => numa::bind(range, &chosen),
            Policy::Preferred => numa::prefer_any(range, &chosen),
            Policy::Interleaved => numa::interleave(range, &chosen),
        };
        let placed = match placed {
            // The kernel keeps no memory policy for a file of explicit pages, so this PE must be
            // the first to touch them.
            Ok(()) if is_asked && matches!(pages, Pages::Explicit(_)) => {
                map::populate(range.start, range.len())
            }
            placed => placed,
        };
        let failed =
            |error| format!("its pages cannot be made on nodes {} (mbind: {error})", list(&chosen));
        match placed {
            Ok(()) => Ok(Ok(format!(", nodes {} ({})", list(&chosen), policy.name()))),
            Err(error) if is_asked => Err(self.spec.refused(failed(error))),
            Err(error) if is_quick => Ok(Err(failed(error))),
            Err(error) => Ok(Ok(format!(", any node (mbind: {error})"))),
        }
    }
}

/// The partition in words, without its number.
impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let made = mutex::lock(&self.made);
        let (bytes, kind) =
            (onenode_core::pages::Bytes(self.space.range().len()), self.spec.kind.name());
        match (&self.spec.path, &self.device) {
            (Some(path), _) => write!(f, "{bytes} {kind} {path}{}", made.nodes),
            (None, Some((_, told))) => write!(f, "{bytes} {kind}, {told}"),
            (None, None) => write!(f, "{bytes} {kind}, {}{}", self.spec.pages, made.nodes),
        }
    }
}

fn list(nodes: &[usize]) -> String {
    nodes.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

/// The partitions that the environment requests.
pub(crate) fn wanted(job: &JobFile) -> Result<Vec<Spec>, Error> {
    let specs = partition::from_environment(job.npes())?;
    if job.nodes().is_some() {
        specs.iter().try_for_each(check_over_nodes)?;
    }
    Ok(specs)
}

/// Checks that a partition is possible in a job over several nodes.
fn check_over_nodes(spec: &Spec) -> Result<(), Error> {
    match &spec.path {
        _ if !spec.is_in_slot() => {
            Err(spec.refused("partitions on devices are for jobs on one node in this version"))
        }
        // The node's agent, which opens the file, too, may be in another directory.
        Some(path) if !path.starts_with('/') => Err(spec.refused(format!(
            "PATH is \"{path}\"; expected one that begins with /, because the job is over several \
             nodes"
        ))),
        _ => Ok(()),
    }
}

/// The partitions of a PE: those in the slot, at these addresses, then those on devices.
pub(crate) fn laid(
    in_slot: Vec<Spec>,
    ranges: &[Range<usize>],
    on_devices: Vec<Spec>,
    devices: Option<&dyn DeviceMemory>,
) -> Vec<Partition> {
    let mapped = in_slot.into_iter().zip(ranges);
    let mapped = mapped.map(|(spec, range)| Partition::new(spec, range.clone()));
    let parts = on_devices.into_iter().enumerate().zip(std::iter::repeat(devices));
    let parts = parts
        .filter_map(|((part, spec), devices)| Some(Partition::on_device(spec, devices?, part)));
    mapped.chain(parts).collect()
}

impl Job {
    /// The symmetric heap.
    pub fn heap(&self) -> &Space {
        &self.heap
    }

    /// The partitions, by number.
    pub fn partitions(&self) -> &[Partition] {
        &self.partitions
    }

    /// The partitions in the slot: all except those on devices, which come last.
    pub fn mapped_partitions(&self) -> &[Partition] {
        let mapped = self.partitions.iter().take_while(|partition| partition.is_mapped()).count();
        &self.partitions[..mapped]
    }

    /// The partitions on devices, if there are any.
    pub fn devices(&self) -> Option<&dyn DeviceMemory> {
        self.devices.as_deref()
    }

    /// Partition number `id`.
    pub fn partition(&self, id: usize) -> Option<&Partition> {
        self.partitions.iter().find(|partition| partition.spec.id == id)
    }

    /// The partition that an address lies in.
    pub fn partition_of(&self, address: usize) -> Option<&Partition> {
        self.partitions.iter().find(|partition| partition.space.range().contains(&address))
    }

    /// The space that an address lies in: a partition, otherwise the heap.
    pub fn space_of(&self, address: usize) -> &Space {
        self.partition_of(address).map_or(&self.heap, Partition::space)
    }

    /// The partitions in words, one line each.
    pub fn partitions_description(&self) -> String {
        let line = |it: &Partition| format!("partition {}: {it}\n", it.spec.id);
        self.partitions.iter().map(line).collect()
    }

    /// The segment that a symmetric address lies in, and its name.
    pub fn segment_of(&self, address: usize) -> (SlotPart, &Range<usize>) {
        match self.partition_of(address) {
            Some(it) => (SlotPart::Partition(it.spec.id), it.space.range()),
            None if self.layout.heap().contains(&address) => (SlotPart::Heap, self.layout.heap()),
            None => (SlotPart::Data, self.layout.data()),
        }
    }

    /// The symmetric segments in words. Safe in a signal handler.
    pub fn segments(&self) -> Segments<'_> {
        Segments(self)
    }
}

/// Data segment, heap and partitions, with "or" before the last.
pub struct Segments<'j>(&'j Job);

impl fmt::Display for Segments<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (data, heap) = (self.0.layout.data(), self.0.layout.heap());
        let partitions = self.0.mapped_partitions();
        let (heap_after, or) = match partitions.is_empty() {
            true => (" or", ""),
            false => (",", " or"),
        };
        write!(
            f,
            "the data segment {:#x}..{:#x}{heap_after} the symmetric heap {:#x}..{:#x}",
            data.start, data.end, heap.start, heap.end
        )?;
        for (index, partition) in partitions.iter().enumerate() {
            let range = partition.space.range();
            let before = if index + 1 == partitions.len() { or } else { "," };
            write!(
                f,
                "{before} partition {} {:#x}..{:#x}",
                partition.spec.id, range.start, range.end
            )?;
        }
        Ok(())
    }
}

/// Describes how PE `pe`'s partitions differ from this PE's; `None` if they do not.
pub(crate) fn difference(control: &Control, pe: usize, own: usize) -> Option<String> {
    let number = |pe: usize| control.pe(pe).partitions.load(crate::atomics::Ordering::Relaxed);
    if number(pe) == number(own) {
        return None;
    }
    let text = |pe: usize| control.partitions_text(pe).unwrap_or_default();
    Some(partition::difference(&text(pe), &text(own)))
}
