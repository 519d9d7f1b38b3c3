//! The rank of this process and the number of ranks: from the environment if the loader has set it,
//! otherwise from the process ID and the CPUs assigned to the job.

use crate::addressing::MAX_RANKS;
use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::Pid;
use std::ffi::OsString;

/// Loaders number a job's processes from this ID (`user/*/loader.c`, `user/runtime2/pct/pct.c`).
const BASE: u32 = 0x1000;

/// The variable with a process's rank.
pub const RANK: &str = "PMI_RANK";
/// The variable with the number of ranks.
pub const SIZE: &str = "PMI_SIZE";

/// A process's place in its job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobRank {
    /// Its rank.
    pub rank: usize,
    /// The number of ranks.
    pub size: usize,
}

/// Why a process has no valid place in a job.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A variable is not a number.
    #[error("{name}={value}: expected a number")]
    Variable {
        /// The variable.
        name: &'static str,
        /// Its value.
        value: String,
    },
    /// There are more ranks than slots, or none.
    #[error("{size} ranks, by {source_of}; expected 1 to {MAX_RANKS}")]
    Size {
        /// The number of ranks.
        size: usize,
        /// The source of the number.
        source_of: String,
    },
    /// The rank does not exist in the job.
    #[error("rank {rank}, by {rank_from}, of {size}, by {size_from}")]
    Rank {
        /// The rank.
        rank: usize,
        /// The source of the rank.
        rank_from: String,
        /// The number of ranks.
        size: usize,
        /// The source of the number.
        size_from: String,
    },
}

/// The place of this process.
pub fn find() -> Result<JobRank, Error> {
    from(|name| std::env::var_os(name), std::process::id(), usable_cpus())
}

fn from(
    variable: impl Fn(&str) -> Option<OsString>,
    pid: u32,
    cpus: usize,
) -> Result<JobRank, Error> {
    let number = |name| match variable(name).map(|value| value.to_string_lossy().into_owned()) {
        None => Ok(None),
        Some(value) => match value.trim().parse() {
            Ok(number) => Ok(Some((number, format!("{name}={value}")))),
            Err(_) => Err(Error::Variable { name, value }),
        },
    };
    let (rank, rank_from) = number(RANK)?.unwrap_or_else(|| by_pid(pid));
    let (size, size_from) =
        number(SIZE)?.unwrap_or_else(|| (cpus, format!("the {cpus} CPUs of the affinity mask")));
    if size == 0 || size > MAX_RANKS {
        return Err(Error::Size { size, source_of: size_from });
    }
    if rank >= size {
        return Err(Error::Rank { rank, rank_from, size, size_from });
    }
    Ok(JobRank { rank, size })
}

fn by_pid(pid: u32) -> (usize, String) {
    let rank = pid.checked_sub(BASE).unwrap_or(pid);
    (rank as usize, format!("process number {pid:#x}"))
}

/// The CPUs in this process's affinity mask.
pub fn usable_cpus() -> usize {
    sched_getaffinity(Pid::from_raw(0))
        .map_or(0, |set| (0..CpuSet::count()).filter(|cpu| set.is_set(*cpu) == Ok(true)).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(variables: &[(&str, &str)], pid: u32, cpus: usize) -> Result<JobRank, Error> {
        let find = |wanted: &str| {
            variables.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value.into())
        };
        from(find, pid, cpus)
    }

    #[test]
    fn the_environment_wins() {
        let both = [(RANK, "3"), (SIZE, "4")];
        assert_eq!(place(&both, 0x1001, 2), Ok(JobRank { rank: 3, size: 4 }));
        assert_eq!(place(&both[1..], 0x1001, 2), Ok(JobRank { rank: 1, size: 4 }));
        assert_eq!(place(&[(RANK, "1")], 0x1000, 2), Ok(JobRank { rank: 1, size: 2 }));
    }

    #[test]
    fn loaders_number_from_the_base() {
        for (pid, rank) in [(0x1000, 0), (0x1003, 3), (2, 2)] {
            assert_eq!(place(&[], pid, 4), Ok(JobRank { rank, size: 4 }), "{pid:#x}");
        }
    }

    #[test]
    fn what_does_not_fit_is_told() {
        for (variables, pid, cpus, words) in [
            (&[(RANK, "one")][..], 0x1000, 2, "PMI_RANK=one: expected a number"),
            (&[], 0x1002, 2, "rank 2, by process number 0x1002, of 2, by the 2 CPUs"),
            (&[(SIZE, "255")], 0x1000, 2, "255 ranks, by PMI_SIZE=255; expected 1 to 254"),
            (&[(SIZE, "0")], 0x1000, 2, "0 ranks"),
            (&[(RANK, "4"), (SIZE, "4")], 0x1000, 2, "rank 4, by PMI_RANK=4, of 4"),
        ] {
            let error = place(variables, pid, cpus).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
