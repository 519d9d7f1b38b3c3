//! Hands open files to another process over a socket (unix(7), `SCM_RIGHTS`).
#![allow(unsafe_code)]

use crate::error::Error;
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::sockopt::PeerCredentials;
use nix::sys::socket::{ControlMessage, MsgFlags, getsockopt, sendmsg};
use nix::unistd::pipe2;
use std::io::{self, ErrorKind, IoSlice};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// The most files that are handed over at a time.
pub const MOST: usize = 4;

/// Room for one control message with that many descriptors, aligned as one.
#[repr(C, align(16))]
struct Control([u8; 64]);
// Padding takes less than another head.
const _: () = assert!(2 * size_of::<libc::cmsghdr>() + MOST * size_of::<RawFd>() <= 64);

/// Hands `files` over, without waiting.
///
/// # Panics
/// If there are more than [`MOST`].
pub fn give(socket: &UnixStream, files: &[OwnedFd]) -> io::Result<()> {
    assert!(files.len() <= MOST);
    let numbers: Vec<RawFd> = files.iter().map(AsRawFd::as_raw_fd).collect();
    let (byte, files) = ([IoSlice::new(&[0])], [ControlMessage::ScmRights(&numbers)]);
    let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL;
    sendmsg::<()>(socket.as_raw_fd(), &byte, &files, flags, None)?;
    Ok(())
}

/// The files that the other side hands over; `None` if it has not done so yet.
///
/// # Errors
/// [`ErrorKind::UnexpectedEof`] if it has closed the connection.
pub fn take(socket: &UnixStream) -> io::Result<Option<Vec<OwnedFd>>> {
    let (mut byte, mut control) = (0u8, Control([0; 64]));
    let mut part = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    let mut message = libc::msghdr {
        msg_name: std::ptr::null_mut(),
        msg_namelen: 0,
        msg_iov: &mut part,
        msg_iovlen: 1,
        msg_control: control.0.as_mut_ptr().cast(),
        msg_controllen: control.0.len() as _,
        msg_flags: 0,
    };
    let flags = libc::MSG_DONTWAIT | libc::MSG_CMSG_CLOEXEC;
    // SAFETY: all that the call reads and fills lives until it returns.
    let got = unsafe { libc::recvmsg(socket.as_raw_fd(), &mut message, flags) };
    if got < 0 {
        return match io::Error::last_os_error() {
            error if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                Ok(None)
            }
            error if error.kind() == ErrorKind::ConnectionReset => {
                Err(ErrorKind::UnexpectedEof.into())
            }
            error => Err(error),
        };
    }
    let mut files = Vec::new();
    // SAFETY: the kernel has filled the buffer with whole messages, which these macros find; each
    // descriptor in one was just given to this process alone.
    unsafe {
        let mut head = libc::CMSG_FIRSTHDR(&message);
        while let Some(found) = head.as_ref() {
            if (found.cmsg_level, found.cmsg_type) == (libc::SOL_SOCKET, libc::SCM_RIGHTS) {
                let bytes = found.cmsg_len - libc::CMSG_LEN(0) as usize;
                let data = libc::CMSG_DATA(head).cast::<RawFd>();
                for index in 0..bytes / size_of::<RawFd>() {
                    files.push(OwnedFd::from_raw_fd(data.add(index).read_unaligned()));
                }
            }
            head = libc::CMSG_NXTHDR(&message, head);
        }
    }
    // Without room in this process's table of descriptors the kernel leaves some out.
    if message.msg_flags & libc::MSG_CTRUNC != 0 {
        return Err(io::Error::from_raw_os_error(libc::EMFILE));
    }
    if got == 0 { Err(ErrorKind::UnexpectedEof.into()) } else { Ok(Some(files)) }
}

/// A pipe, its read end first. Both close on exec.
pub fn pipe() -> Result<[OwnedFd; 2], Error> {
    pipe2(OFlag::O_CLOEXEC).map(<[OwnedFd; 2]>::from).map_err(Error::of("pipe"))
}

/// Waits until one of these can be read or is closed at the other end, but no longer than `limit`.
/// Whether one is.
pub fn wait<'f>(files: impl Iterator<Item = BorrowedFd<'f>>, limit: Duration) -> bool {
    let mut asked: Vec<_> = files.map(|file| PollFd::new(file, PollFlags::POLLIN)).collect();
    // A failure ends the wait early.
    poll(&mut asked, PollTimeout::try_from(limit).unwrap_or(PollTimeout::MAX))
        .is_ok_and(|ready| ready > 0)
}

/// The number of the process that made the pair of connected sockets to which `socket` belongs, or
/// that listened there; 0 if it is in another PID namespace, or this is no such socket.
pub fn peer(socket: BorrowedFd) -> u32 {
    getsockopt(&socket, PeerCredentials).map_or(0, |peer| peer.pid().max(0) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::{fd, process};
    use std::os::fd::AsFd;

    #[test]
    fn files_are_handed_over() {
        let (ours, theirs) = UnixStream::pair().expect("a pair");
        assert!(take(&theirs).expect("asked").is_none());
        let files: Vec<_> = (0..MOST).map(|_| fd::memfd(c"passed").expect("a file")).collect();
        give(&ours, &files).expect("given");
        let taken = take(&theirs).expect("taken").expect("there");
        let inodes = |files: &[OwnedFd]| -> Vec<_> {
            files.iter().map(|file| fd::inode(file.as_fd()).expect("its inode")).collect()
        };
        assert_eq!(inodes(&taken), inodes(&files));
        assert_eq!(peer(theirs.as_fd()), process::pid());
        drop(ours);
        let error = take(&theirs).expect_err("closed");
        assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
    }

    #[test]
    fn a_wait_ends_when_the_other_end_is_closed() {
        let [read, write] = pipe().expect("a pipe");
        let closer = std::thread::spawn(move || drop(write));
        assert!(wait([read.as_fd()].into_iter(), Duration::from_secs(60)));
        closer.join().expect("closed");
        assert!(!wait(std::iter::empty(), Duration::ZERO));
    }
}
