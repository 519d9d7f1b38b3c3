//! Signs of life: each PE holds a lock on one byte of the job's file. The kernel releases it when
//! the process ends, for whatever reason, or executes another program.
//!
//! The lock belongs to an open file description of its own (fcntl(2), "Open file description
//! locks") that only a mapping keeps open, so it lasts as long as the program's memory. Closing
//! descriptors does not end it, a forked child does not prolong it, and `exec` ends it. Where a
//! file cannot be opened again because there is no `/proc`, a traditional record lock replaces it;
//! that one also ends when the process closes any descriptor of the file.

use crate::error::Error;
use crate::sys::map::{self, OwnMapping};
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use std::fs::File;
use std::io::ErrorKind;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::time::{Duration, Instant};

/// How long the lock of a process that has just ended may outlive it, for example because another
/// process (such as `ps`) was reading its memory.
const LINGERING: Duration = Duration::from_secs(1);

/// Who holds the lock on a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// Nobody.
    Nobody,
    /// A process whose number the kernel does not report.
    Somebody,
    /// The process with this number; 0 if it is in another PID namespace.
    Process(i32),
}

fn byte_lock(byte: u64) -> libc::flock {
    libc::flock {
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: byte as libc::off_t,
        l_len: 1,
        l_pid: 0,
    }
}

/// Locks byte `byte` of `file` until this program ends.
pub fn show(file: BorrowedFd, byte: u64) -> Result<(), Error> {
    const WHAT: &str = "locking this PE's sign of life (is another process this PE?)";
    match sign(file, byte, WHAT) {
        Ok(sign) => {
            std::mem::forget(sign);
            Ok(())
        }
        Err(Error::System { source, .. }) if source.kind() == ErrorKind::NotFound => {
            lock(file, byte, |lock| FcntlArg::F_SETLK(lock), WHAT)
        }
        Err(error) => Err(error),
    }
}

/// A lock on one byte, until it is dropped or this program ends.
#[derive(Debug)]
pub struct Sign {
    /// Keeps the open file description. Nobody accesses it.
    _kept: OwnMapping,
}

/// Locks byte `byte` of `file`. `call` describes the operation in errors.
pub fn sign(file: BorrowedFd, byte: u64, call: &'static str) -> Result<Sign, Error> {
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let own = File::options()
        .read(true)
        .write(true)
        .open(path)
        .map_err(Error::of("opening the memory file anew"))?;
    lock(own.as_fd(), byte, |lock| FcntlArg::F_OFD_SETLK(lock), call)?;
    let kept = OwnMapping::shared(own.as_fd(), 0, map::page_size())?;
    kept.withhold();
    Ok(Sign { _kept: kept })
}

fn lock(
    file: BorrowedFd,
    byte: u64,
    kind: impl for<'l> Fn(&'l libc::flock) -> FcntlArg<'l>,
    call: &'static str,
) -> Result<(), Error> {
    let lock = byte_lock(byte);
    let until = Instant::now() + LINGERING;
    while let Err(error) = fcntl(file, kind(&lock)) {
        if error != Errno::EAGAIN || Instant::now() >= until {
            return Err(Error::of(call)(error));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

/// The holder of the lock on a byte. A lock that this process took with [`show`] counts if it is an
/// open file description lock.
pub fn holder(file: BorrowedFd, byte: u64) -> Result<Holder, Error> {
    let mut lock = byte_lock(byte);
    fcntl(file, FcntlArg::F_OFD_GETLK(&mut lock))
        .map_err(Error::of("looking for a PE's sign of life"))?;
    Ok(match lock.l_pid {
        _ if lock.l_type == libc::F_UNLCK as libc::c_short => Holder::Nobody,
        -1 => Holder::Somebody,
        pid => Holder::Process(pid),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::fd;

    #[test]
    fn the_sign_outlives_every_descriptor() {
        let file = fd::memfd(c"life").expect("a memory file");
        fd::resize_and_seal(file.as_fd(), 1 << 20).expect("its size");
        assert_eq!(holder(file.as_fd(), 7).expect("asked"), Holder::Nobody);
        show(file.as_fd(), 7).expect("shown");
        assert_eq!(holder(file.as_fd(), 7).expect("asked"), Holder::Somebody);
        assert_eq!(holder(file.as_fd(), 6).expect("asked"), Holder::Nobody);
        // This would end a traditional record lock: closing another descriptor of the file.
        drop(file.try_clone().expect("a copy"));
        let again = format!("/proc/self/fd/{}", file.as_raw_fd());
        drop(File::open(again).expect("opened again"));
        assert_eq!(holder(file.as_fd(), 7).expect("asked"), Holder::Somebody);
        assert!(show(file.as_fd(), 7).is_err(), "a second process of that PE is refused");

        let sign = sign(file.as_fd(), 9, "a lock").expect("signed");
        assert_eq!(holder(file.as_fd(), 9).expect("asked"), Holder::Somebody);
        drop(sign);
        assert_eq!(holder(file.as_fd(), 9).expect("asked"), Holder::Nobody);
    }
}
