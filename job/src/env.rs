//! Every environment variable that the library reads, in one table. The library, the info tool,
//! `SHMEM_INFO` and the documentation all use it.
//!
//! Names are `SHMEM_*` as in the specification (section 8). The historical `SMA_*` name is also
//! read where one exists, and so are a few names of other implementations; the current name takes
//! precedence.

mod entries;
pub mod partitions;
mod unknown;

use crate::error::Error;
use crate::sys::environment;
pub use entries::{Entry, entries};
use onenode_core::collectives::algorithm::Operation;
use std::ffi::OsString;
use std::fmt::Write;
use std::sync::OnceLock;
pub use unknown::complaints;

/// The variable in which `oshrun` passes `pe:npes:descriptor:launcher pid` to a PE, and the descriptor of
/// the file of huge pages if there is one.
pub const PASSED_PE: &str = "ONESHMEM_PE";
/// The variable in which `oshrun` passes the inode number of the pipe that it reads. Standard
/// output may be a different pipe: a PE can be a script with a pipe of its own.
pub const PASSED_STDOUT: &str = "ONESHMEM_STDOUT";

/// The syntax of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// A switch: on if set to anything except 0, no, off or false.
    Switch,
    /// Whether statistics are on, and their format: a switch, or a format.
    Statistics,
    /// A number with an optional fraction and k, m, g or t (specification, 8.1).
    Size,
    /// Seconds, with an optional fraction.
    Seconds,
    /// One of a few words.
    Word(&'static [&'static str]),
    /// An algorithm of the operation.
    Algorithm(Operation),
    /// A whole number within these bounds, inclusive.
    Count(usize, usize),
    /// The path of a file that is read.
    Path,
    /// The path of a file that is written, or off.
    File,
}

/// One variable.
#[derive(Debug)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// Its other names: the historical one, and those of other implementations.
    pub others: &'static [&'static str],
    /// The syntax of its value.
    pub kind: ValueKind,
    /// The default, in words.
    pub default: &'static str,
    /// Its effect, in one sentence.
    pub help: &'static str,
}

macro_rules! variables {
    ($($ident:ident = $name:literal $(or $other:literal)*, $kind:expr, $default:literal, $help:literal;)*) => {
        $(#[doc = $help]
        pub static $ident: Variable = Variable {
            name: $name,
            others: &[$($other),*],
            kind: $kind,
            default: $default,
            help: $help,
        };)*
        /// All variables, in the order of display.
        pub static ALL: &[&Variable] = &[$(&$ident),*];
    };
}

variables! {
    VERSION = "SHMEM_VERSION" or "SMA_VERSION", ValueKind::Switch, "not set",
        "Print the library's version at start-up.";
    INFO = "SHMEM_INFO" or "SMA_INFO", ValueKind::Switch, "not set",
        "Print these variables, with their values and meaning, at start-up.";
    SYMMETRIC_SIZE = "SHMEM_SYMMETRIC_SIZE" or "SMA_SYMMETRIC_SIZE" or "SHMEM_SYMMETRIC_HEAP_SIZE",
        ValueKind::Size,
        "the memory of the node, or of the control group, / PEs",
        "Maximum size of the symmetric heap of each PE; pages are allocated on first touch.";
    SYMMETRIC_HEAP_USE_HUGE_PAGES = "SHMEM_SYMMETRIC_HEAP_USE_HUGE_PAGES",
        ValueKind::Word(&["no", "yes", "explicit", "transparent", "0", "off", "false", "1", "on", "true"]), "no",
        "Huge pages for the symmetric heap: explicit (from the system's pool), transparent (made by \
         the kernel), or yes: explicit if available, otherwise transparent.";
    SYMMETRIC_HEAP_PAGE_SIZE = "SHMEM_SYMMETRIC_HEAP_PAGE_SIZE", ValueKind::Size,
        "the system's default",
        "Size of explicit huge pages. If it is set, yes means explicit pages only.";
    SYMMETRIC_HEAP_POPULATE = "SHMEM_SYMMETRIC_HEAP_POPULATE", ValueKind::Size, "0",
        "Number of bytes at the start of the symmetric heap whose pages are allocated at \
         initialisation instead of on first touch.";
    MAX_PARTITIONS = "SHMEM_MAX_PARTITIONS", ValueKind::Count(1, 64), "16",
        "Maximum number of partitions: SHMEM_SYMMETRIC_PARTITION0, SHMEM_SYMMETRIC_PARTITION1 and so on.";
    DEBUG = "SHMEM_DEBUG" or "SMA_DEBUG", ValueKind::Switch, "not set",
        "Report why a call failed or had no effect. Check that all PEs allocate and free alike, that \
         no transfer exceeds its segment, that nothing is written past a block, that no collective's \
         dest and source overlap in part, who calls, and which active sets use a pSync.";
    STATS = "SHMEM_STATS", ValueKind::Statistics, "not set",
        "Print statistics at the end: calls, bytes, time blocked, peers and heap of each PE; as data, \
         also of each routine.";
    TRACE = "SHMEM_TRACE", ValueKind::File, "not set",
        "Write what each PE does, and when, to this file at the end, for Perfetto's viewer.";
    BACKEND = "SHMEM_BACKEND", ValueKind::Word(&["auto", "memfd", "xpmem", "smartmap"]), "auto",
        "How PEs map each other's memory.";
    ATTACH = "SHMEM_ATTACH", ValueKind::Word(&["demand", "eager"]), "demand",
        "When to attach the memory of peers and to connect to other nodes: each when it is first used, or, \
         eagerly, all in shmem_init, which then waits for all PEs.";
    TRANSPORT = "SHMEM_TRANSPORT", ValueKind::Word(&["tcp", "rdma", "auto"]), "tcp",
        "What carries messages between hosts: TCP, RDMA, or, automatically, RDMA if it works on all hosts, else TCP.";
    WAIT = "SHMEM_WAIT", ValueKind::Word(&["auto", "spin", "yield", "sleep"]), "auto",
        "What waits do once their first steps are over: spin until they end, yield the CPU to other processes, \
         sleep, or auto: what suits the CPUs and their other users.";
    LOCK_ORDER = "SHMEM_LOCK_ORDER", ValueKind::Word(&["auto", "arrival"]), "auto",
        "Order in which PEs get a lock: that of their arrival, or auto: where PEs share CPUs, a running \
         PE may take a free lock ahead of the line, until the first in it has waited for 1 ms.";
    MPI_PROGRESS = "SHMEM_MPI_PROGRESS", ValueKind::Word(&["auto", "off"]), "auto",
        "Whether long waits let MPI make progress, too, if the process uses it: auto, where its level of threads \
         allows that, or off.";
    STARTUP_TIMEOUT = "SHMEM_STARTUP_TIMEOUT", ValueKind::Seconds, "60",
        "How long a PE waits for others to call shmem_init before it ends the job, under launchers other than \
         oshrun, which sees PEs end; and how long oshrun waits for hosts to answer.";
    TUNING = "SHMEM_TUNING", ValueKind::Path, "oneshmem/tuning in the user's config folder",
        "Tuning file, written by oshtune, that selects algorithms of collectives and methods of copying.";
    BARRIER_ALGORITHM = "SHMEM_BARRIER_ALGORITHM", ValueKind::Algorithm(Operation::Barrier), "auto",
        "Algorithm of barrier and sync.";
    BROADCAST_ALGORITHM = "SHMEM_BROADCAST_ALGORITHM" or "SHMEM_BCAST_ALGORITHM",
        ValueKind::Algorithm(Operation::Broadcast), "auto", "Algorithm of broadcast.";
    COLLECT_ALGORITHM = "SHMEM_COLLECT_ALGORITHM", ValueKind::Algorithm(Operation::Collect), "auto",
        "Algorithm of collect.";
    FCOLLECT_ALGORITHM = "SHMEM_FCOLLECT_ALGORITHM", ValueKind::Algorithm(Operation::Fcollect), "auto",
        "Algorithm of fcollect.";
    ALLTOALL_ALGORITHM = "SHMEM_ALLTOALL_ALGORITHM", ValueKind::Algorithm(Operation::Alltoall), "auto",
        "Algorithm of alltoall.";
    ALLTOALLS_ALGORITHM = "SHMEM_ALLTOALLS_ALGORITHM", ValueKind::Algorithm(Operation::Alltoalls), "auto",
        "Algorithm of alltoalls.";
    REDUCE_ALGORITHM = "SHMEM_REDUCE_ALGORITHM", ValueKind::Algorithm(Operation::Reduce), "auto",
        "Algorithm of reductions.";
    SCAN_ALGORITHM = "SHMEM_SCAN_ALGORITHM", ValueKind::Algorithm(Operation::Scan), "auto",
        "Algorithm of scans.";
    TREE_DEGREE = "SHMEM_TREE_DEGREE", ValueKind::Count(2, 64), "4",
        "Number of children of each node in the kary and knomial trees.";
}

impl Variable {
    /// The possible values and their unit, in words.
    pub fn values(&self) -> String {
        match self.kind {
            ValueKind::Switch => "0, no, off or false: off; anything else: on".into(),
            ValueKind::Statistics => "json or csv: data on standard error; json:FILE or csv:FILE: data \
                                      in a file; heap: a table, and symmetric memory by the calls that \
                                      allocate it; 0, no, off or false: off; anything else: a table \
                                      on standard error"
                .into(),
            ValueKind::Size => {
                "a number of bytes, with an optional fraction and suffix k, m, g or t (powers of 1024)"
                    .into()
            }
            ValueKind::Seconds => "a number of seconds, 0 or more, with an optional fraction".into(),
            ValueKind::Word(words) => words.join(", "),
            ValueKind::Algorithm(operation) => operation.algorithms().join(", "),
            ValueKind::Count(least, most) => format!("an integer from {least} to {most}"),
            ValueKind::Path => "the path of a file; empty: the built-in table".into(),
            ValueKind::File => "the path of a file; 0, no, off or false: off".into(),
        }
    }

    /// All its names, the current one first.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.name).chain(self.others.iter().copied())
    }

    /// The value that is set, under any name, and the name it was found under.
    pub fn raw(&self) -> Option<(&'static str, OsString)> {
        self.names().find_map(|name| environment::variable(name).map(|value| (name, value)))
    }

    /// Name and value as the user wrote them; a long value is cut.
    pub fn shown(&self) -> String {
        let (name, value) = self.raw().unwrap_or((self.name, OsString::new()));
        let value = value.to_string_lossy();
        let start: String = value.chars().take(200).collect();
        let rest = if start.len() < value.len() { "..." } else { "" };
        format!("{name}={start}{rest}")
    }

    /// Whether a switch is on.
    pub fn is_on(&self) -> bool {
        self.raw().is_some_and(|(_, value)| !is_off(&value.to_string_lossy()))
    }

    fn text(&self) -> Result<Option<String>, Error> {
        let value = self.raw().map(|(_, value)| value.into_string());
        value.transpose().map_err(|_| self.invalid())
    }

    /// The error for a value that is not valid.
    pub fn invalid(&self) -> Error {
        self.refused(match self.kind {
            ValueKind::Switch => "expected 0, no, off or false, or anything else".into(),
            ValueKind::Statistics => {
                "expected 1, heap, json, csv, json:FILE or csv:FILE, or 0, no, off or false".into()
            }
            ValueKind::Size => {
                "expected a size: a number with an optional fraction, then k, m, g or t \
                           for powers of 1024, for example 512m or 1.5g"
                    .into()
            }
            ValueKind::Seconds => "expected seconds, for example 60 or 0.5".into(),
            ValueKind::Word(words) => format!("expected one of {}", words.join(", ")),
            ValueKind::Algorithm(operation) => {
                format!("expected one of {}", operation.algorithms().join(", "))
            }
            ValueKind::Count(least, most) => format!("expected a number from {least} to {most}"),
            ValueKind::Path | ValueKind::File => "expected a path".into(),
        })
    }

    /// The error for a value that is not valid, with the value as the user wrote it.
    pub fn refused(&self, expected: String) -> Error {
        Error::Environment { setting: self.shown(), expected }
    }

    /// The value of a [`ValueKind::Size`], in bytes.
    pub fn bytes(&self) -> Result<Option<u64>, Error> {
        let Some(value) = self.text()? else { return Ok(None) };
        parse_size(&value).map(Some).ok_or_else(|| self.invalid())
    }

    /// The value of a [`ValueKind::Seconds`].
    pub fn seconds(&self) -> Result<Option<f64>, Error> {
        let Some(value) = self.text()? else { return Ok(None) };
        match value.trim().parse::<f64>() {
            Ok(seconds) if seconds.is_finite() && seconds >= 0.0 => Ok(Some(seconds)),
            _ => Err(self.invalid()),
        }
    }

    /// The value of a [`ValueKind::Count`].
    pub fn count(&self) -> Result<Option<usize>, Error> {
        let Some(value) = self.text()? else { return Ok(None) };
        match (self.kind, value.trim().parse()) {
            (ValueKind::Count(least, most), Ok(count)) if (least..=most).contains(&count) => {
                Ok(Some(count))
            }
            _ => Err(self.invalid()),
        }
    }

    /// The value of a [`ValueKind::Word`].
    pub fn word(&self) -> Result<Option<&'static str>, Error> {
        let Some(value) = self.text()? else { return Ok(None) };
        let words = match self.kind {
            ValueKind::Word(words) => words,
            ValueKind::Algorithm(operation) => operation.algorithms(),
            _ => return Err(self.invalid()),
        };
        words
            .iter()
            .find(|word| word.eq_ignore_ascii_case(value.trim()))
            .map(|word| Some(*word))
            .ok_or_else(|| self.invalid())
    }
}

/// Whether a value means "off".
pub fn is_off(word: &str) -> bool {
    ["0", "no", "off", "false"].iter().any(|off| off.eq_ignore_ascii_case(word.trim()))
}

/// Whether `SHMEM_DEBUG` is on.
pub fn debugging() -> bool {
    static ON: OnceLock<bool> = OnceLock::new();
    *ON.get_or_init(|| DEBUG.is_on())
}

/// All variables as text: name, current value, default and meaning.
pub fn table() -> String {
    let mut text = String::new();
    for variable in ALL {
        let value = match variable.raw() {
            Some((name, value)) => format!("{} (from {name})", value.to_string_lossy()),
            None => format!("[{}]", variable.default),
        };
        let (name, help, values) = (variable.name, variable.help, variable.values());
        let _ = writeln!(text, "  {name:<24} {value}\n      {help}\n      Values: {values}.");
    }
    text + &partitions::table()
}

/// Parses a size in the specification's syntax: a non-negative number, possibly with a fraction,
/// and one of k, m, g, t in either case. Anything after the suffix is ignored. The result is
/// rounded up to whole bytes.
pub fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, suffix) = text.split_at(digits);
    let number: f64 = number.parse().ok()?;
    let shift = match suffix.chars().next().map(|c| c.to_ascii_lowercase()) {
        None => 0,
        Some('k') => 10,
        Some('m') => 20,
        Some('g') => 30,
        Some('t') => 40,
        Some(_) => return None,
    };
    let bytes = (number * (1u64 << shift) as f64).ceil();
    (bytes < (1u64 << 62) as f64).then_some(bytes as u64)
}

#[cfg(test)]
mod tests {
    use super::{is_off, parse_size};

    #[test]
    fn words_that_switch_off() {
        for word in ["0", "no", "No", "OFF", "false", " off "] {
            assert!(is_off(word), "{word}");
        }
        for word in ["1", "yes", "on", "true", "2", "00", ""] {
            assert!(!is_off(word), "{word}");
        }
    }

    #[test]
    fn sizes_as_the_specification_writes_them() {
        for (text, bytes) in [
            ("20m", 20971520),
            ("20kk", 20480),
            ("3.1M", 3250586),
            (".5m", 524288),
            ("0", 0),
            ("4096", 4096),
            ("1.5g", 1610612736),
            ("1T", 1 << 40),
        ] {
            assert_eq!(parse_size(text), Some(bytes), "{text}");
        }
        for text in ["", "m", "-1", "1x", "1..2", ".", "1e400", "99999999999999t"] {
            assert_eq!(parse_size(text), None, "{text}");
        }
    }
}
