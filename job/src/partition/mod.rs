//! Partitions: symmetric memory beside the heap, of a kind that an environment variable selects.
//! This module reads the variables; the library maps the partitions.

pub mod order;
mod parse;

use crate::env::{self, partitions};
use crate::error::Error;
use crate::sys::{environment, library};
use onenode_core::pages::{Bytes, Pages};
use onenode_core::sys::hash::fnv1a;
use onenode_core::sys::{map, program};
use std::collections::BTreeMap;
use std::ffi::{CStr, OsString};
use std::fmt;
use std::fs::File;
use std::path::PathBuf;

/// All partitions together must fit into their place in the job's file.
const LIMIT: usize = 1 << 40;
/// The upper limit for `SHMEM_MAX_PARTITIONS`.
pub const MOST: usize = 64;
/// How many partition numbers there are if `SHMEM_MAX_PARTITIONS` is not set.
const USUAL: usize = 16;

/// A symbol that LLVM's libomptarget defines, and no other OpenMP runtime.
const OFFLOADING: &CStr = c"__tgt_register_lib";

/// The kind of a partition's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Memory like the heap's.
    Normal,
    /// The machine's fastest memory, if there is a choice.
    Fast,
    /// The machine's fastest memory, with no fallback.
    Hbm,
    /// A file per PE, which outlives the job.
    File,
    /// Memory of the device that OpenMP offloads to.
    OpenMp,
    /// Memory of a CUDA device.
    Cuda,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 6] =
        [Self::Normal, Self::Fast, Self::Hbm, Self::File, Self::OpenMp, Self::Cuda];

    /// Its name in the variables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Normal => "NORMALMEM",
            Self::Fast => "FASTMEM",
            Self::Hbm => "HBM",
            Self::File => "FILE",
            Self::OpenMp => "LIBOMP",
            Self::Cuda => "CUDA",
        }
    }
}

/// How the memory is spread over the machine's NUMA nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// From these nodes only.
    Mandatory,
    /// From these nodes while they have free memory.
    Preferred,
    /// From each node in turn, page by page.
    Interleaved,
}

impl Policy {
    /// All policies.
    pub const ALL: [Self; 3] = [Self::Mandatory, Self::Preferred, Self::Interleaved];

    /// Its name in the variables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mandatory => "MANDATORY",
            Self::Preferred => "PREFERRED",
            Self::Interleaved => "INTERLEAVED",
        }
    }
}

/// Which device a partition's memory is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Device {
    /// OpenMP's default device.
    Default,
    /// A different device for each PE, in turn.
    Spread,
    /// The device with this number.
    Number(u32),
}

/// A partition as its variable asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// Its number.
    pub id: usize,
    /// The requested size.
    pub bytes: usize,
    /// Its kind.
    pub kind: Kind,
    /// The pages its memory is made of.
    pub pages: Pages,
    /// How it is spread over the NUMA nodes.
    pub policy: Policy,
    /// The nodes in ascending order, if they are named.
    pub nodes: Vec<usize>,
    /// The device, if it is named.
    pub device: Option<Device>,
    /// The path of the file, where `%p` stands for the PE's number.
    pub path: Option<String>,
}

impl Spec {
    /// Its size in its slot: whole pages.
    pub fn whole_pages(&self) -> usize {
        self.bytes.next_multiple_of(self.pages.size())
    }

    /// PE `pe`'s file, open, if the partition is a file of its own.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open_file(&self, pe: usize) -> Result<Option<File>, onenode_core::Error> {
        let Some(path) = self.file_of(pe) else { return Ok(None) };
        let failed = |error| onenode_core::Error::NoWay(format!("{}: {error}", path.display()));
        File::options().read(true).write(true).open(&path).map(Some).map_err(failed)
    }

    /// Whether its memory starts as zeros.
    pub fn is_zero(&self) -> bool {
        !matches!(self.kind, Kind::File | Kind::Cuda)
    }

    /// Whether it lies in the PE's slot, where the processor reaches it.
    pub fn is_in_slot(&self) -> bool {
        self.kind != Kind::Cuda
    }

    /// Whether POLICY can be chosen.
    fn has_policy(&self) -> bool {
        !matches!(self.kind, Kind::File | Kind::Cuda)
    }

    /// The file of PE `pe`, for a partition of files.
    pub fn file_of(&self, pe: usize) -> Option<PathBuf> {
        Some(self.path.as_ref()?.replace("%p", &pe.to_string()).into())
    }

    /// The variable as the user wrote it, for messages.
    pub fn shown(&self) -> String {
        partitions::shown(self.id)
    }

    /// The error that this partition is impossible, for this reason.
    pub fn refused(&self, why: impl fmt::Display) -> Error {
        Error::Environment { setting: self.shown(), expected: why.to_string() }
    }
}

/// The partition in one line, the same for all PEs that request the same.
impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SIZE={}:KIND={}", self.bytes, self.kind.name())?;
        match self.pages {
            Pages::Normal => {}
            Pages::Transparent => f.write_str(":PGSIZE=THP")?,
            Pages::Explicit(size) => write!(f, ":PGSIZE={size}")?,
        }
        if self.has_policy() {
            write!(f, ":POLICY={}", self.policy.name())?;
        }
        if !self.nodes.is_empty() {
            let nodes: Vec<_> = self.nodes.iter().map(usize::to_string).collect();
            write!(f, ":NODES={}", nodes.join(","))?;
        }
        match self.device {
            None => {}
            Some(Device::Default) => f.write_str(":DEVICE=default")?,
            Some(Device::Spread) => f.write_str(":DEVICE=spread")?,
            Some(Device::Number(number)) => write!(f, ":DEVICE={number}")?,
        }
        if let Some(path) = &self.path {
            write!(f, ":PATH={path}")?;
        }
        Ok(())
    }
}

/// The partitions that the environment requests in this job of `npes` PEs, by number.
///
/// # Errors
/// If a variable has an invalid value.
pub fn from_environment(npes: usize) -> Result<Vec<Spec>, Error> {
    if let Some(setting) = partitions::malformed() {
        let expected = format!(
            "expected the partition's number at the end of the name, from 0 to {} and without \
             sign or leading zeros",
            MOST - 1
        );
        return Err(Error::Environment { setting, expected });
    }
    let most = env::MAX_PARTITIONS.count()?.unwrap_or(USUAL);
    let ids = partitions::ids();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut specs = Vec::new();
    for id in ids {
        let refused =
            |expected: String| Error::Environment { setting: partitions::shown(id), expected };
        if id >= most {
            let variable = env::MAX_PARTITIONS.name;
            return Err(refused(format!("partitions are 0 to {} ({variable})", most - 1)));
        }
        let Some(value) = partitions::value_by(id, environment::variable) else { continue };
        let text = value.into_string().map_err(|_| refused("expected text in UTF-8".into()))?;
        let spec = parse::spec(id, &text).map_err(&refused)?;
        check(&spec, npes).map_err(&refused)?;
        specs.push(spec);
    }
    let bytes = specs.iter().try_fold(0usize, |sum, spec| sum.checked_add(spec.whole_pages()));
    match (bytes.filter(|bytes| *bytes <= LIMIT), specs.last()) {
        (None, Some(last)) => Err(last.refused(format!(
            "partitions 0 to {} have more than {} in all, the most that is possible",
            last.id,
            Bytes(LIMIT)
        ))),
        _ => Ok(specs),
    }
}

/// Checks that the partition is possible in this job.
fn check(spec: &Spec, npes: usize) -> Result<(), String> {
    match spec.kind {
        Kind::Normal | Kind::Fast | Kind::Hbm | Kind::File => {}
        Kind::OpenMp if spec.device == Some(Device::Spread) => {
            return Err("DEVICE=spread is for KIND=CUDA; expected a number or default".into());
        }
        Kind::OpenMp if !library::is_defined(OFFLOADING) => {
            return Err(
                "KIND=LIBOMP, but this program has no OpenMP offloading (compile with clang \
                        -fopenmp -fopenmp-targets=..., not statically)"
                    .into(),
            );
        }
        Kind::OpenMp => {}
        Kind::Cuda if program::is_static() => {
            return Err("KIND=CUDA is not for static programs, which cannot load the driver".into());
        }
        Kind::Cuda => {}
    }
    match &spec.path {
        Some(path) if npes > 1 && !path.contains("%p") => Err(format!(
            "PATH is \"{path}\"; expected a %p in it, for the PE's number: each PE needs a file of \
             its own"
        )),
        _ => Ok(()),
    }
}

/// The size of the explicit huge pages that the partitions in these variables need. Invalid
/// variables are ignored here: the PEs report them.
pub fn explicit_page(value_of: impl Fn(&str) -> Option<OsString>) -> Option<usize> {
    (0..MOST).find_map(|id| {
        let value = partitions::value_by(id, &value_of)?;
        match parse::spec(id, value.to_str()?).ok()?.pages {
            Pages::Explicit(size) => Some(size),
            _ => None,
        }
    })
}

/// All partitions in one text, the same for all PEs that request the same; empty for none.
pub fn text(specs: &[Spec]) -> String {
    specs.iter().map(|spec| format!("{} {spec}\n", spec.id)).collect()
}

/// The partitions that such a text describes; `None` if it is none.
pub fn specs_of(text: &str) -> Option<Vec<Spec>> {
    let spec = |line: &str| {
        let (id, traits) = line.split_once(' ')?;
        parse::spec(id.parse().ok()?, traits).ok()
    };
    text.lines().map(spec).collect()
}

/// A hash of such a text: 0 if it is empty, and almost never the same for two.
pub fn number(text: &str) -> u64 {
    if text.is_empty() { 0 } else { (fnv1a(text.bytes()) as u64).max(1) }
}

/// Describes the first difference between two such texts: the other PE's, then this one's.
pub fn difference(theirs: &str, ours: &str) -> String {
    let lines = |text: &str| -> BTreeMap<usize, String> {
        let line = |line: &str| {
            let (id, rest) = line.split_once(' ')?;
            Some((id.parse().ok()?, rest.to_owned()))
        };
        text.lines().filter_map(line).collect()
    };
    let (theirs, ours) = (lines(theirs), lines(ours));
    let differs = |id: &&usize| theirs.get(id) != ours.get(id);
    match theirs.keys().chain(ours.keys()).filter(differs).min() {
        None => "they differ".into(),
        Some(id) => {
            let of = |lines: &BTreeMap<usize, String>| {
                lines.get(id).cloned().unwrap_or_else(|| "not there".into())
            };
            format!("partition {id} is {}, this PE's is {}", of(&theirs), of(&ours))
        }
    }
}

/// The pages that a partition is made of, if they have `size` bytes.
fn pages_of(size: usize) -> Pages {
    if size == map::page_size() { Pages::Normal } else { Pages::Explicit(size) }
}

#[cfg(test)]
mod tests;
