//! Partitions: symmetric memory beside the heap, of a kind that a variable of the environment
//! asks for. What they are to be is read here; `job` lays them.

pub mod order;
mod parse;

use crate::env::{self, partitions};
use crate::error::Error;
use crate::sys::{environment, loaded};
use onenode::pages::{Bytes, Pages};
use onenode::sys::{map, program};
use std::collections::BTreeMap;
use std::ffi::{CStr, OsString};
use std::fmt;
use std::path::PathBuf;

/// Partitions must fit their place in the job's file, all together.
const LIMIT: usize = 1 << 40;
/// The most that `SHMEM_MAX_PARTITIONS` can allow.
pub const MOST: usize = 64;
/// How many numbers there are if it does not say.
const USUAL: usize = 16;

/// What LLVM's libomptarget defines, and no other runtime of OpenMP.
const OFFLOADING: &CStr = c"__tgt_register_lib";

/// What a partition's memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Memory like the heap's.
    Normal,
    /// The machine's quickest memory, if there is a choice.
    Fast,
    /// The same, and no other will do.
    Hbm,
    /// A file for each PE, which outlives the job.
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
    /// From these nodes, or not at all.
    Mandatory,
    /// From these nodes while they have any.
    Preferred,
    /// Page by page from each in turn.
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
    /// The one that OpenMP uses if nobody says.
    Default,
    /// Another one for each PE, in turn.
    Spread,
    /// This one.
    Number(u32),
}

/// A partition as its variable asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// Its number.
    pub id: usize,
    /// Its size as it is asked for.
    pub bytes: usize,
    /// What it is.
    pub kind: Kind,
    /// What its memory is made of.
    pub pages: Pages,
    /// How it is spread over the nodes.
    pub policy: Policy,
    /// The nodes, ascending, if they are named.
    pub nodes: Vec<usize>,
    /// The device.
    pub device: Option<Device>,
    /// The file's path, in which `%p` stands for the PE's number.
    pub path: Option<String>,
}

impl Spec {
    /// Its size in the slot: whole pages.
    pub fn whole_pages(&self) -> usize {
        self.bytes.next_multiple_of(self.pages.size())
    }

    /// Whether its memory starts as zeros.
    pub fn is_zero(&self) -> bool {
        !matches!(self.kind, Kind::File | Kind::Cuda)
    }

    /// PE `pe`'s file, of a partition of files.
    pub fn file_of(&self, pe: usize) -> Option<PathBuf> {
        Some(self.path.as_ref()?.replace("%p", &pe.to_string()).into())
    }

    /// The variable as the user has written it, for messages.
    pub fn shown(&self) -> String {
        partitions::shown(self.id)
    }

    /// The error that it cannot be, for this reason.
    pub fn refused(&self, why: impl fmt::Display) -> Error {
        Error::Environment { setting: self.shown(), expected: why.to_string() }
    }
}

/// The partition in one line, alike for all PEs that ask for the same.
impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SIZE={}:KIND={}", self.bytes, self.kind.name())?;
        match self.pages {
            Pages::Normal => {}
            Pages::Transparent => f.write_str(":PGSIZE=THP")?,
            Pages::Explicit(size) => write!(f, ":PGSIZE={size}")?,
        }
        write!(f, ":POLICY={}", self.policy.name())?;
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

/// The partitions that the environment of this job of `npes` PEs asks for, by number.
///
/// # Errors
/// If a variable cannot be understood.
pub fn from_environment(npes: usize) -> Result<Vec<Spec>, Error> {
    let ids = partitions::ids();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let most = env::MAX_PARTITIONS.count()?.unwrap_or(USUAL);
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

/// What a partition cannot be in this job.
fn check(spec: &Spec, npes: usize) -> Result<(), String> {
    match spec.kind {
        Kind::Normal | Kind::Fast | Kind::Hbm | Kind::File => {}
        Kind::OpenMp if spec.device == Some(Device::Spread) => {
            return Err("DEVICE=spread is for KIND=CUDA; expected a number or default".into());
        }
        Kind::OpenMp if !loaded::exists(OFFLOADING) => {
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

/// The size of the explicit huge pages that partitions of these variables need, if they can be
/// understood: the PEs will say if not.
pub fn explicit_page(value_of: impl Fn(&str) -> Option<OsString>) -> Option<usize> {
    (0..MOST).find_map(|id| {
        let value = partitions::value_by(id, &value_of)?;
        match parse::spec(id, value.to_str()?).ok()?.pages {
            Pages::Explicit(size) => Some(size),
            _ => None,
        }
    })
}

/// All partitions in one text, alike for all PEs that ask for the same; empty for none.
pub fn text(specs: &[Spec]) -> String {
    specs.iter().map(|spec| format!("{} {spec}\n", spec.id)).collect()
}

/// A number for such a text: 0 if it is empty, and hardly ever the same for two (FNV-1a).
pub fn number(text: &str) -> u64 {
    if text.is_empty() {
        return 0;
    }
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step).max(1)
}

/// In what two such texts differ first, in words: the other PE's, then this one's.
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

/// What the memory of a partition is to be made of, if `size` bytes are its pages.
fn pages_of(size: usize) -> Pages {
    if size == map::page_size() { Pages::Normal } else { Pages::Explicit(size) }
}

#[cfg(test)]
mod tests;
