//! What a PE has as its standard output: a pipe, or a terminal of its own, from which the launcher
//! reads what the PE writes.
//!
//! Programs write line by line to a terminal, and adapt to its width. To a pipe, C programs write
//! when a buffer is full, unless the library is told which pipe is the launcher's.
#![allow(unsafe_code)]

use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl};
use nix::pty::{Winsize, openpty};
use nix::sys::stat::fstat;
use nix::sys::termios::{SetArg, cfmakeraw, tcgetattr, tcsetattr};
use nix::unistd::pipe2;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Both ends.
pub struct Stdout {
    /// The launcher's.
    pub ours: OwnedFd,
    /// The PE's.
    pub theirs: OwnedFd,
    /// The number (inode) of the pipe, if it is one.
    pub pipe: Option<u64>,
}

/// A pipe.
pub fn pipe() -> nix::Result<Stdout> {
    let (ours, theirs) = pipe2(OFlag::O_CLOEXEC)?;
    let pipe = Some(fstat(&ours)?.st_ino);
    Ok(Stdout { ours, theirs, pipe })
}

/// A terminal as large as the launcher's own. It hands on what is written as it is: the lines' ends
/// are for the launcher's terminal to change. It becomes nobody's controlling terminal.
pub fn terminal() -> nix::Result<Stdout> {
    let pty = openpty(own_size().as_ref(), None)?;
    for end in [&pty.master, &pty.slave] {
        fcntl(end, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
    }
    let mut raw = tcgetattr(&pty.slave)?;
    cfmakeraw(&mut raw);
    tcsetattr(&pty.slave, SetArg::TCSANOW, &raw)?;
    Ok(Stdout { ours: pty.master, theirs: pty.slave, pipe: None })
}

/// The size of the terminal that is the launcher's standard output, if it is one.
pub fn own_size() -> Option<Winsize> {
    let mut size = Winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the call fills the local.
    let rc = unsafe { libc::ioctl(libc::STDOUT_FILENO, libc::TIOCGWINSZ, &mut size) };
    (rc == 0).then_some(size)
}

/// Changes the size of a PE's terminal. Nothing happens if it is a pipe.
pub fn resize(ours: BorrowedFd, size: &Winsize) {
    // SAFETY: the call reads `size`.
    unsafe { libc::ioctl(ours.as_fd().as_raw_fd(), libc::TIOCSWINSZ, size) };
}
