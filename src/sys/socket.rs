//! This process's sockets: the addresses it listens at, how soon a cut connection is noticed, and
//! sending without a signal.
#![allow(unsafe_code)]

use libc::{c_int, c_void, sockaddr_storage, socklen_t};
use std::fs::{self, File};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::time::Duration;

/// Sends all of `bytes`. If the other side has gone, that is an error and not a signal, which the
/// program may not expect.
pub fn send(socket: &File, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let start = bytes.as_ptr().cast();
        // SAFETY: the slice is readable for its length.
        let sent =
            unsafe { libc::send(socket.as_raw_fd(), start, bytes.len(), libc::MSG_NOSIGNAL) };
        match usize::try_from(sent) {
            Ok(sent) => bytes = &bytes[sent..],
            Err(_) => match io::Error::last_os_error() {
                error if error.kind() == io::ErrorKind::Interrupted => {}
                error => return Err(error),
            },
        }
    }
    Ok(())
}

/// A socket's address as bytes, for comparison.
pub type Address = Vec<u8>;

/// The addresses at which this process listens for connections.
pub fn listening() -> Vec<Address> {
    let listens = |fd: &c_int| option(*fd, libc::SOL_SOCKET, libc::SO_ACCEPTCONN) == Some(1);
    descriptors().filter(listens).filter_map(|fd| address(fd, libc::getsockname)).collect()
}

/// Whether a TCP connection of this process is open on both sides.
pub fn is_connected() -> bool {
    descriptors().any(is_open)
}

fn is_open(fd: c_int) -> bool {
    // As in tcp(7): the first byte of `struct tcp_info`.
    const ESTABLISHED: u8 = 1;
    let mut state: u8 = 0;
    let mut bytes = size_of::<u8>() as socklen_t;
    let place: *mut c_void = (&raw mut state).cast();
    // SAFETY: `place` has room for one byte, and the call writes no more.
    let asked =
        unsafe { libc::getsockopt(fd, libc::IPPROTO_TCP, libc::TCP_INFO, place, &raw mut bytes) };
    asked == 0 && state == ESTABLISHED
}

/// Lets this process's connections to these addresses fail when the other side has acknowledged
/// neither data nor probes for `limit`.
pub fn limit_silence(peers: &[Address], limit: Duration) {
    const QUESTIONS: c_int = 3;
    let seconds = (limit.as_secs() as c_int / (QUESTIONS + 1)).max(1);
    let to_a_peer = |fd: &c_int| {
        address(*fd, libc::getpeername).is_some_and(|address| peers.contains(&address))
    };
    for fd in descriptors().filter(to_a_peer) {
        set(fd, libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT, limit.as_millis() as c_int);
        set(fd, libc::IPPROTO_TCP, libc::TCP_KEEPIDLE, seconds);
        set(fd, libc::IPPROTO_TCP, libc::TCP_KEEPINTVL, seconds);
        set(fd, libc::IPPROTO_TCP, libc::TCP_KEEPCNT, QUESTIONS);
        set(fd, libc::SOL_SOCKET, libc::SO_KEEPALIVE, 1);
    }
}

/// The descriptors of this process that are sockets.
fn descriptors() -> impl Iterator<Item = c_int> {
    let names = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let is_socket = |link: std::path::PathBuf| link.to_string_lossy().starts_with("socket:");
    names
        .filter(move |entry| fs::read_link(entry.path()).is_ok_and(is_socket))
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

type NameOf = unsafe extern "C" fn(c_int, *mut libc::sockaddr, *mut socklen_t) -> c_int;

/// An IP socket's address: this side's or the peer's.
fn address(fd: c_int, name_of: NameOf) -> Option<Address> {
    let mut storage = MaybeUninit::<sockaddr_storage>::zeroed();
    let mut bytes = size_of::<sockaddr_storage>() as socklen_t;
    // SAFETY: room for any address, all of it initialised.
    let (found, family) = unsafe {
        let found = name_of(fd, storage.as_mut_ptr().cast(), &raw mut bytes) == 0;
        (found, c_int::from(storage.assume_init_ref().ss_family))
    };
    (found && [libc::AF_INET, libc::AF_INET6].contains(&family)).then(|| {
        let bytes = (bytes as usize).min(size_of::<sockaddr_storage>());
        // SAFETY: this many bytes are initialised above.
        unsafe { std::slice::from_raw_parts(storage.as_ptr().cast::<u8>(), bytes) }.to_vec()
    })
}

fn option(fd: c_int, level: c_int, name: c_int) -> Option<c_int> {
    let mut value: c_int = 0;
    let mut bytes = size_of::<c_int>() as socklen_t;
    let place: *mut c_void = (&raw mut value).cast();
    // SAFETY: `place` has room for an integer.
    (unsafe { libc::getsockopt(fd, level, name, place, &raw mut bytes) } == 0).then_some(value)
}

/// Options that the system does not have are ignored.
fn set(fd: c_int, level: c_int, name: c_int, value: c_int) {
    let place: *const c_void = (&raw const value).cast();
    // SAFETY: passes one integer.
    unsafe { libc::setsockopt(fd, level, name, place, size_of::<c_int>() as socklen_t) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd;

    #[test]
    fn a_connection_lasts_until_the_other_side_ends_it() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let theirs = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let ours = listener.accept().unwrap().0;
        assert!(is_open(ours.as_raw_fd()) && is_connected());
        assert!(!is_open(listener.as_raw_fd()));
        drop(theirs);
        while is_open(ours.as_raw_fd()) {
            std::thread::yield_now();
        }
    }

    #[test]
    fn only_connections_to_the_address_get_a_limit() {
        let [asked, other] = [0, 1].map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
        let known = listening();
        let of = |listener: &TcpListener| {
            address(listener.as_raw_fd(), libc::getsockname).expect("an address")
        };
        assert!([&asked, &other].iter().all(|listener| known.contains(&of(listener))));
        let [limited, free] = [&asked, &other]
            .map(|listener| TcpStream::connect(listener.local_addr().unwrap()).unwrap());
        limit_silence(&[of(&asked)], Duration::from_secs(12));
        let limit = |stream: &TcpStream| {
            option(stream.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT)
        };
        assert_eq!((limit(&limited), limit(&free)), (Some(12_000), Some(0)));
    }
}
