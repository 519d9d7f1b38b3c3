//! A PE's standard output: a pipe, or a pseudo-terminal, from which the launcher reads what the PE
//! writes.
//!
//! Programs write to a terminal line by line, and adapt to its width. C programs write to a pipe
//! when a buffer is full, unless the library knows which pipe is the launcher's.
#![allow(unsafe_code)]

use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl};
use nix::pty::{Winsize, openpty};
use nix::sys::stat::fstat;
use nix::sys::termios::{SetArg, cfmakeraw, tcgetattr, tcsetattr};
use nix::unistd::pipe2;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Both ends.
pub struct Stdout {
    /// The launcher's end.
    pub ours: OwnedFd,
    /// The PE's end.
    pub theirs: OwnedFd,
    /// The inode number of the pipe, if it is one.
    pub pipe: Option<u64>,
}

/// A pipe.
pub fn pipe() -> nix::Result<Stdout> {
    let (ours, theirs) = pipe2(OFlag::O_CLOEXEC)?;
    let pipe = Some(fstat(&ours)?.st_ino);
    Ok(Stdout { ours, theirs, pipe })
}

/// A terminal as large as the launcher's own. It passes output on unchanged: the launcher's
/// terminal converts line ends. It is never a controlling terminal.
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

/// The size of the terminal on the launcher's standard output, if there is one.
pub fn own_size() -> Option<Winsize> {
    let mut size = Winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the call fills the local variable.
    let rc = unsafe { libc::ioctl(libc::STDOUT_FILENO, libc::TIOCGWINSZ, &mut size) };
    (rc == 0).then_some(size)
}

/// Resizes a PE's terminal. Does nothing to a pipe.
pub fn resize(ours: BorrowedFd, size: &Winsize) {
    // SAFETY: the call reads `size`.
    unsafe { libc::ioctl(ours.as_fd().as_raw_fd(), libc::TIOCSWINSZ, size) };
}
