//! This PE's partitions, and what of its memory an address lies in.

use super::Job;
use super::control::Control;
use super::file::JobFile;
use crate::error::Error;
use crate::memory::pages;
use crate::memory::partition::{self, Policy, Spec};
use crate::memory::pool::Pool;
use crate::memory::space::Space;
use onenode::pages::Pages;
use onenode::sys::{map, numa};
use std::fmt;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// A partition: what it was to be, where it is, and what it is made of in this lifetime.
pub struct Partition {
    spec: Spec,
    space: Space,
    made: Mutex<Made>,
}

/// What a partition is made of.
#[derive(Clone, Debug, Default)]
struct Made {
    /// Where its pages are, in words.
    nodes: String,
}

impl Partition {
    pub(super) fn new(spec: Spec, range: Range<usize>) -> Self {
        let pool = Pool::of_partition(range.len(), spec.is_zero());
        Self { spec, space: Space::new(range, pool), made: Mutex::default() }
    }

    /// What its variable asks for.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Its memory.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// A new lifetime's memory, for which `map` maps it.
    pub(super) fn lay(
        &self,
        map: impl FnOnce() -> Result<(), onenode::Error>,
    ) -> Result<(), Error> {
        let range = self.space.range();
        map().map_err(|error| {
            let why = pages::why_not(self.spec.pages, range.len(), &error);
            self.spec.refused(format!("{why}; lower its SIZE or choose another PGSIZE"))
        })?;
        let nodes = self.place(range)?;
        *self.made.lock().unwrap_or_else(PoisonError::into_inner) = Made { nodes };
        *self.space.pool() = Pool::of_partition(range.len(), self.spec.is_zero());
        self.space.extent.begin(range, self.spec.pages.size(), 0);
        Ok(())
    }

    /// Has the pages made on the nodes that were asked for; tells which, if there is a choice.
    fn place(&self, range: &Range<usize>) -> Result<String, Error> {
        let Spec { policy, nodes, pages, .. } = &self.spec;
        let allowed = numa::allowed_nodes();
        if let Some(absent) = nodes.iter().find(|node| !allowed.contains(node)) {
            let allowed = list(&allowed);
            return Err(self.spec.refused(format!(
                "NODES has {absent}; this process may use the memory of nodes {allowed}"
            )));
        }
        let chosen = match (nodes.is_empty(), policy) {
            (false, _) => nodes.clone(),
            (true, Policy::Interleaved) => allowed,
            (true, Policy::Mandatory) => numa::nearest_node().into_iter().collect(),
            (true, Policy::Preferred) => numa::own_node().into_iter().collect(),
        };
        if chosen.is_empty() {
            return Ok(String::new());
        }
        let placed = match policy {
            Policy::Mandatory => numa::bind(range, &chosen),
            Policy::Preferred => numa::prefer_any(range, &chosen),
            Policy::Interleaved => numa::interleave(range, &chosen),
        };
        let is_asked = !nodes.is_empty() || *policy != Policy::Preferred;
        match placed {
            // The kernel does not keep a policy with a file of explicit pages, so whoever touches
            // them first must be this PE.
            Ok(()) if is_asked && matches!(pages, Pages::Explicit(_)) => {
                map::populate(range.start, range.len())
            }
            placed => placed,
        }
        .map(|()| format!(", nodes {} ({})", list(&chosen), policy.name()))
        .or_else(|error| match is_asked {
            true => Err(self.spec.refused(format!(
                "its pages cannot be made on nodes {} (mbind: {error})",
                list(&chosen)
            ))),
            false => Ok(format!(", any node (mbind: {error})")),
        })
    }
}

/// The partition in words, without its number.
impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let (bytes, kind) =
            (onenode::pages::Bytes(self.space.range().len()), self.spec.kind.name());
        write!(f, "{bytes} {kind}, {}{}", self.spec.pages, made.nodes)
    }
}

fn list(nodes: &[usize]) -> String {
    nodes.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

/// The partitions that the environment asks for.
pub(super) fn wanted(job: &JobFile) -> Result<Vec<Spec>, Error> {
    let specs = partition::from_environment(job.npes())?;
    match specs.first() {
        Some(spec) if job.nodes().is_some() => {
            Err(spec.refused("partitions are for jobs on one node in this version"))
        }
        _ => Ok(specs),
    }
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

    /// Partition number `id`.
    pub fn partition(&self, id: usize) -> Option<&Partition> {
        self.partitions.iter().find(|partition| partition.spec.id == id)
    }

    /// The partition that an address lies in.
    pub fn partition_of(&self, address: usize) -> Option<&Partition> {
        self.partitions.iter().find(|partition| partition.space.range().contains(&address))
    }

    /// What an address lies in: a partition, or else the heap.
    pub fn space_of(&self, address: usize) -> &Space {
        self.partition_of(address).map_or(&self.heap, Partition::space)
    }

    /// The partitions in words: a line for each.
    pub fn partitions_told(&self) -> String {
        let line = |it: &Partition| format!("partition {}: {it}\n", it.spec.id);
        self.partitions.iter().map(line).collect()
    }

    /// The segment that a symmetric address lies in, and its name.
    pub fn segment_of(&self, address: usize) -> (Segment, &Range<usize>) {
        match self.partition_of(address) {
            Some(it) => (Segment::Partition(it.spec.id), it.space.range()),
            None if self.layout.heap.contains(&address) => (Segment::Heap, &self.layout.heap),
            None => (Segment::Data, &self.layout.data),
        }
    }

    /// What is symmetric, in words. Safe in a signal handler.
    pub fn segments(&self) -> Segments<'_> {
        Segments(self)
    }
}

/// A part of the slot, by name.
pub enum Segment {
    /// The data segment.
    Data,
    /// The symmetric heap.
    Heap,
    /// The partition of this number.
    Partition(usize),
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Data => f.write_str("the data segment"),
            Self::Heap => f.write_str("the symmetric heap"),
            Self::Partition(id) => write!(f, "partition {id}"),
        }
    }
}

/// Data segment, heap and partitions, with "or" before the last.
pub struct Segments<'j>(&'j Job);

impl fmt::Display for Segments<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (data, heap) = (&self.0.layout.data, &self.0.layout.heap);
        let (heap_after, or) = match self.0.partitions.is_empty() {
            true => (" or", ""),
            false => (",", " or"),
        };
        write!(
            f,
            "the data segment {:#x}..{:#x}{heap_after} the symmetric heap {:#x}..{:#x}",
            data.start, data.end, heap.start, heap.end
        )?;
        for (index, partition) in self.0.partitions.iter().enumerate() {
            let range = partition.space.range();
            let before = if index + 1 == self.0.partitions.len() { or } else { "," };
            write!(
                f,
                "{before} partition {} {:#x}..{:#x}",
                partition.spec.id, range.start, range.end
            )?;
        }
        Ok(())
    }
}

/// How PE `pe`'s partitions differ from this PE's, in words; `None` if they do not.
pub(super) fn difference(control: &Control, pe: usize, own: usize) -> Option<String> {
    let number = |pe: usize| control.pe(pe).partitions.load(crate::atomics::Ordering::Relaxed);
    if number(pe) == number(own) {
        return None;
    }
    let text = |pe: usize| control.partitions_text(pe).unwrap_or_default();
    Some(partition::difference(&text(pe), &text(own)))
}
