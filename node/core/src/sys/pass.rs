//! Hands open files to another process over a socket (unix(7), `SCM_RIGHTS`).
#![allow(unsafe_code)]

use crate::error::Error;
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::pipe2;
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// The most files that are handed over at a time.
pub const MOST: usize = 4;

/// Room for one control message with that many descriptors, aligned as one.
#[repr(C, align(16))]
struct Control([u8; 64]);
// SAFETY: computes a size.
const _: () = assert!(unsafe { libc::CMSG_SPACE((MOST * size_of::<RawFd>()) as u32) } <= 64);

/// A message of one byte with this buffer for control messages.
fn message(byte: &mut libc::iovec, control: &mut Control) -> libc::msghdr {
    libc::msghdr {
        msg_name: std::ptr::null_mut(),
        msg_namelen: 0,
        msg_iov: byte,
        msg_iovlen: 1,
        msg_control: control.0.as_mut_ptr().cast(),
        msg_controllen: control.0.len() as _,
        msg_flags: 0,
    }
}

/// Hands `files` over, without waiting.
///
/// # Panics
/// If there are more than [`MOST`].
pub fn give(socket: &UnixStream, files: &[OwnedFd]) -> io::Result<()> {
    assert!(files.len() <= MOST);
    let (mut byte, mut control) = (0u8, Control([0; 64]));
    let mut part = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    let mut message = message(&mut part, &mut control);
    let bytes = size_of_val(files) as u32;
    // SAFETY: the buffer has room for one message with these descriptors (asserted above), and is
    // aligned as its head; all that the call reads lives until it returns.
    let sent = unsafe {
        message.msg_controllen = libc::CMSG_SPACE(bytes) as _;
        let head = libc::CMSG_FIRSTHDR(&message);
        (*head).cmsg_level = libc::SOL_SOCKET;
        (*head).cmsg_type = libc::SCM_RIGHTS;
        (*head).cmsg_len = libc::CMSG_LEN(bytes) as _;
        let data = libc::CMSG_DATA(head).cast::<RawFd>();
        for (index, file) in files.iter().enumerate() {
            data.add(index).write_unaligned(file.as_raw_fd());
        }
        libc::sendmsg(socket.as_raw_fd(), &message, libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL)
    };
    if sent == 1 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The files that the other side hands over; `None` if it has not done so yet.
///
/// # Errors
/// [`ErrorKind::UnexpectedEof`] if it has closed the connection.
pub fn take(socket: &UnixStream) -> io::Result<Option<Vec<OwnedFd>>> {
    let (mut byte, mut control) = (0u8, Control([0; 64]));
    let mut part = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    let mut message = message(&mut part, &mut control);
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
    let limit = limit.as_millis().min(i32::MAX as u128) as i32;
    // A failure ends the wait early.
    poll(&mut asked, PollTimeout::try_from(limit).unwrap_or(PollTimeout::MAX))
        .is_ok_and(|ready| ready > 0)
}

/// The number of the process that made the pair of connected sockets to which `socket` belongs, or
/// that listened there; 0 if it is in another PID namespace, or this is no such socket.
pub fn peer(socket: BorrowedFd) -> u32 {
    let mut peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut bytes = size_of_val(&peer) as libc::socklen_t;
    let (number, option) = (socket.as_raw_fd(), libc::SO_PEERCRED);
    // SAFETY: the call fills the local, of which it is told the size.
    let got = unsafe {
        let to = (&raw mut peer).cast();
        libc::getsockopt(number, libc::SOL_SOCKET, option, to, &mut bytes)
    };
    if got == 0 { peer.pid.max(0) as u32 } else { 0 }
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
