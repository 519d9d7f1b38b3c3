//! The limits on the size of files (`ulimit -f`), which applies to memory files, too, although they are
//! sparse and not on disk, on locked memory (`ulimit -l`), and on open files (`ulimit -n`).

use crate::error::Error;
use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit, setrlimit};

/// How many bytes of memory this process may lock; `None`: as many as there are.
pub fn locked_memory() -> Option<u64> {
    getrlimit(Resource::RLIMIT_MEMLOCK).ok().map(|it| it.0).filter(|most| *most != RLIM_INFINITY)
}

/// How many files this process may have open: the numbers of descriptors are below it.
pub fn open_files() -> u64 {
    getrlimit(Resource::RLIMIT_NOFILE).map_or(0, |(own, _)| own)
}

/// Whether this process may lock more than [`locked_memory`] says: it has `CAP_IPC_LOCK`, as root's have.
pub fn may_lock_more() -> bool {
    may_exceed(&std::fs::read_to_string("/proc/self/status").unwrap_or_default())
}

fn may_exceed(status: &str) -> bool {
    /// The number of `CAP_IPC_LOCK`.
    const IPC_LOCK: u32 = 14;
    let set = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let set = set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok());
    set.is_some_and(|set| set >> IPC_LOCK & 1 == 1)
}

/// Does `work`, which makes a file of `bytes` bytes or writes to it. Meanwhile the process's own
/// limit is raised as far as the hard limit allows; beyond the limit, the kernel would send
/// SIGXFSZ.
pub fn with_file_size<T>(bytes: u64, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    let (own, hard) =
        getrlimit(Resource::RLIMIT_FSIZE).map_err(Error::of("getrlimit of the size of files"))?;
    if own >= bytes {
        return work();
    }
    if hard < bytes {
        return Err(Error::FileSize { needed: bytes, limit: hard });
    }
    let set = |own| {
        setrlimit(Resource::RLIMIT_FSIZE, own, hard)
            .map_err(Error::of("setrlimit of the size of files"))
    };
    set(bytes)?;
    let done = work();
    set(own)?;
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capability_is_found_among_others() {
        for (status, is_exempt) in [
            ("Name:\tx\nCapPrm:\tffffffffffffffff\nCapEff:\t0000000000004000\nCapBnd:\t0\n", true),
            ("CapEff:\t000001ffffffffff\n", true),
            ("CapPrm:\t000001ffffffffff\nCapEff:\tffffffffffffbfff\n", false),
            ("CapEff:\t\n", false),
            ("", false),
        ] {
            assert_eq!(may_exceed(status), is_exempt, "{status:?}");
        }
    }
}
