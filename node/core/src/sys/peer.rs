//! Opens a file that another process has open. The file is identified before it is opened, so that
//! no device or pipe is ever touched.

use crate::error::Error;
use crate::sys::{fd, process};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};

/// Why a file cannot be opened.
#[derive(Debug)]
pub enum Unreachable {
    /// The process or its descriptor of the file no longer exists.
    Gone,
    /// The system refuses access.
    Refused,
    /// The file can shrink, or belongs to another user.
    Unsealed,
    /// Something else.
    System(Error),
}

impl From<Error> for Unreachable {
    fn from(error: Error) -> Self {
        Self::System(error)
    }
}

/// Opens the file with that inode for which process `pid` has a descriptor, for reading and
/// writing, if it belongs to this user and can no longer shrink.
pub fn open(pid: u32, descriptor: i32, inode: u64) -> Result<OwnedFd, Unreachable> {
    let failed = |source: io::Error| match source.kind() {
        ErrorKind::PermissionDenied => Unreachable::Refused,
        // /proc is that of another PID namespace, or missing, or does not show the process.
        ErrorKind::NotFound if process::exists(pid as i32) && !is_listed(pid) => {
            Unreachable::Refused
        }
        ErrorKind::NotFound => Unreachable::Gone,
        _ => Unreachable::System(Error::System { call: "opening a peer's memory file", source }),
    };
    if pid == 0 || pid > i32::MAX as u32 {
        return Err(Unreachable::Gone);
    }
    let path = format!("/proc/{pid}/fd/{descriptor}");
    let seen = File::options().read(true).custom_flags(libc::O_PATH).open(path).map_err(failed)?;
    let status = seen.metadata().map_err(failed)?;
    if status.ino() != inode || !status.is_file() {
        return Err(Unreachable::Gone);
    }
    if status.uid() != process::user() {
        return Err(Unreachable::Unsealed);
    }
    let path = format!("/proc/self/fd/{}", seen.as_raw_fd());
    let file: OwnedFd = File::options().read(true).write(true).open(path).map_err(failed)?.into();
    match fd::is_sealed(file.as_fd()) {
        Ok(true) => Ok(file),
        // A kind of file that has no seals.
        Ok(false) | Err(_) => Err(Unreachable::Unsealed),
    }
}

/// Whether `/proc` shows the process at all.
fn is_listed(pid: u32) -> bool {
    std::fs::metadata(format!("/proc/{pid}")).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_sealed_file_that_is_meant_is_opened() {
        let file = fd::memfd(c"peer").expect("a memory file");
        let inode = fd::inode(file.as_fd()).expect("its inode");
        let own = |number, inode| open(process::pid(), number, inode);
        let number = file.as_raw_fd();
        assert!(matches!(own(number, inode), Err(Unreachable::Unsealed)));
        fd::resize_and_seal(file.as_fd(), 4096).expect("sealed");
        assert_eq!(fd::inode(own(number, inode).expect("opened").as_fd()).ok(), Some(inode));
        assert!(matches!(own(number, inode + 1), Err(Unreachable::Gone)));
        assert!(matches!(own(9999, inode), Err(Unreachable::Gone)));
        assert!(matches!(own(-1, inode), Err(Unreachable::Gone)));
        assert!(matches!(open(u32::MAX, number, inode), Err(Unreachable::Gone)));
        let device = File::open("/dev/null").expect("a device");
        let inode = device.metadata().expect("its status").ino();
        assert!(matches!(own(device.as_raw_fd(), inode), Err(Unreachable::Gone)));
    }
}
