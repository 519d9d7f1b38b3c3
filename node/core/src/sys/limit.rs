//! The limit on the size of files (`ulimit -f`). It applies to memory files, too, although they are
//! sparse and not on disk.
#![allow(unsafe_code)]

use crate::error::Error;

/// Does `work`, which makes a file of `bytes` bytes or writes to it. Meanwhile the process's own
/// limit is raised as far as the hard limit allows; beyond the limit, the kernel would send
/// SIGXFSZ.
pub fn with_file_size<T>(bytes: u64, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the call fills the local.
    if unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) } != 0 {
        return Err(Error::last("getrlimit of the size of files"));
    }
    if limit.rlim_cur >= bytes {
        return work();
    }
    if limit.rlim_max < bytes {
        return Err(Error::FileSize { needed: bytes, limit: limit.rlim_max });
    }
    set(libc::rlimit { rlim_cur: bytes, ..limit })?;
    let done = work();
    set(limit)?;
    done
}

fn set(limit: libc::rlimit) -> Result<(), Error> {
    // SAFETY: the call reads the local.
    match unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &limit) } {
        0 => Ok(()),
        _ => Err(Error::last("setrlimit of the size of files")),
    }
}
