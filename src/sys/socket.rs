//! This process's sockets: the addresses it listens at, its connections, how soon a cut one is noticed,
//! and sending without a signal.
#![allow(unsafe_code)]

use libc::{c_int, c_void, sockaddr, socklen_t};
use nix::errno::Errno;
use nix::sys::eventfd::{EfdFlags, EventFd};
use std::fs::{self, File};
use std::io;
use std::mem::MaybeUninit;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
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

/// The folder of this process's descriptors.
const DESCRIPTORS: &str = "/proc/self/fd";

/// Checks that this process's sockets can be found.
///
/// # Errors
/// In words, if they cannot: without `/proc`.
pub fn check_listed() -> Result<(), String> {
    match fs::read_dir(DESCRIPTORS) {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("{DESCRIPTORS}: {error}; expected /proc to be mounted")),
    }
}

/// The sockets of this process that listen for connections, with their addresses.
pub fn listening() -> Vec<(RawFd, SocketAddr)> {
    let listens = |fd: &c_int| option(*fd, libc::SOL_SOCKET, libc::SO_ACCEPTCONN) == Some(1);
    let addressed = |fd: c_int| Some((fd, address(fd, libc::getsockname)?));
    descriptors().filter(listens).filter_map(addressed).collect()
}

/// This process's connections to one of these addresses, with their own.
pub fn connected(to: &[SocketAddr]) -> Vec<(RawFd, SocketAddr)> {
    ends().filter(|(_, _, other)| to.contains(other)).map(|(fd, own, _)| (fd, own)).collect()
}

/// This process's connections, with both addresses.
fn ends() -> impl Iterator<Item = (RawFd, SocketAddr, SocketAddr)> {
    descriptors().filter_map(|fd| {
        Some((fd, address(fd, libc::getsockname)?, address(fd, libc::getpeername)?))
    })
}

/// A connection that waits at a listening socket, if there is one and the socket does not block.
pub fn accept(listener: BorrowedFd) -> Option<(OwnedFd, SocketAddr)> {
    let (address, bytes) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: writes no address.
    let fd = unsafe { libc::accept4(listener.as_raw_fd(), address, bytes, libc::SOCK_CLOEXEC) };
    // SAFETY: the kernel just returned this descriptor to us alone.
    let connection = (fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd) })?;
    self::address(fd, libc::getpeername).map(|address| (connection, address))
}

/// Hands a connection to a caller of `accept`, in the way of accept(2).
///
/// # Safety
/// `place` is null or writable for `*bytes` bytes, and then `bytes` may be read and written.
pub unsafe fn hand_over(connection: OwnedFd, place: *mut sockaddr, bytes: *mut socklen_t) -> c_int {
    if !place.is_null() {
        // SAFETY: the caller guarantees the room.
        unsafe { libc::getpeername(connection.as_raw_fd(), place, bytes) };
    }
    connection.into_raw_fd()
}

/// `accept` where there is nothing to accept: -1, and the reason in `errno`.
pub fn nothing_to_accept() -> c_int {
    Errno::EAGAIN.set();
    -1
}

/// Closes a socket that another part of the process goes on to use: its descriptor becomes one that is
/// never ready.
///
/// # Errors
/// If there is no descriptor left.
pub fn close_for_good(socket: BorrowedFd) -> io::Result<()> {
    let nothing = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?;
    let (from, to) = (nothing.as_fd().as_raw_fd(), socket.as_raw_fd());
    // SAFETY: takes no memory. Both numbers stay open, and their owners go on to use them.
    match unsafe { libc::dup3(from, to, libc::O_CLOEXEC) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

// States of a TCP socket, as in `<netinet/tcp.h>`.
const ESTABLISHED: u8 = 1;
const SYN_SENT: u8 = 2;

/// Whether a TCP connection of this process is open on both sides.
pub fn is_connected() -> bool {
    descriptors().any(is_open)
}

/// Whether a TCP socket of this process connects, so that its other side's address is not known yet.
pub fn is_connecting() -> bool {
    descriptors().any(|fd| info(fd).is_some_and(|info| info.tcpi_state == SYN_SENT))
}

fn is_open(fd: c_int) -> bool {
    info(fd).is_some_and(|info| info.tcpi_state == ESTABLISHED)
}

/// What the kernel tells of a TCP socket.
fn info(fd: c_int) -> Option<libc::tcp_info> {
    option(fd, libc::IPPROTO_TCP, libc::TCP_INFO)
}

/// Lets this process's connections to these addresses fail when the other side has acknowledged
/// neither data nor probes for `limit`.
pub fn limit_silence(peers: &[SocketAddr], limit: Duration) {
    const QUESTIONS: c_int = 3;
    let seconds = (limit.as_secs() as c_int / (QUESTIONS + 1)).max(1);
    for (fd, ..) in ends().filter(|(_, _, other)| peers.contains(other)) {
        set(fd, libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT, limit.as_millis() as c_int);
        set(fd, libc::IPPROTO_TCP, libc::TCP_KEEPIDLE, seconds);
        set(fd, libc::IPPROTO_TCP, libc::TCP_KEEPINTVL, seconds);
        set(fd, libc::IPPROTO_TCP, libc::TCP_KEEPCNT, QUESTIONS);
        set(fd, libc::SOL_SOCKET, libc::SO_KEEPALIVE, 1);
    }
}

/// The descriptors of this process that are sockets.
fn descriptors() -> impl Iterator<Item = c_int> {
    let names = fs::read_dir(DESCRIPTORS).into_iter().flatten().flatten();
    let is_socket = |link: std::path::PathBuf| link.to_string_lossy().starts_with("socket:");
    names
        .filter(move |entry| fs::read_link(entry.path()).is_ok_and(is_socket))
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

type NameOf = unsafe extern "C" fn(c_int, *mut libc::sockaddr, *mut socklen_t) -> c_int;

/// An IP socket's address: this side's or the peer's.
fn address(fd: c_int, name_of: NameOf) -> Option<SocketAddr> {
    let mut place = MaybeUninit::<libc::sockaddr_storage>::zeroed();
    let start: *mut sockaddr = place.as_mut_ptr().cast();
    let mut bytes = size_of_val(&place) as socklen_t;
    // SAFETY: room for any address, aligned; afterwards one of the family that it names.
    unsafe {
        (name_of(fd, start, &raw mut bytes) == 0).then_some(())?;
        // Both families have the port in the same place.
        let port = u16::from_be((*start.cast::<libc::sockaddr_in>()).sin_port);
        ip(start).map(|ip| SocketAddr::new(ip, port))
    }
}

/// The IP address in a socket's address; `None` for other families.
///
/// # Safety
/// `address` is null, or that of a socket's address of the family that it names.
pub(super) unsafe fn ip(address: *const sockaddr) -> Option<IpAddr> {
    // SAFETY: as for this function.
    unsafe {
        match c_int::from(address.as_ref()?.sa_family) {
            libc::AF_INET => {
                let it = address.cast::<libc::sockaddr_in>().read_unaligned();
                Some(Ipv4Addr::from(u32::from_be(it.sin_addr.s_addr)).into())
            }
            libc::AF_INET6 => {
                let it = address.cast::<libc::sockaddr_in6>().read_unaligned();
                Some(Ipv6Addr::from(it.sin6_addr.s6_addr).into())
            }
            _ => None,
        }
    }
}

/// What an option of a socket may be.
///
/// # Safety
/// It consists of numbers, for which all bytes are a value, zeros too.
unsafe trait Value: Copy {}
// SAFETY: a number.
unsafe impl Value for c_int {}
// SAFETY: a record of numbers.
unsafe impl Value for libc::tcp_info {}

/// An option of a socket. `None` if it has none of this name, or if its owner has closed it meanwhile.
fn option<V: Value>(fd: c_int, level: c_int, name: c_int) -> Option<V> {
    let mut value = MaybeUninit::<V>::zeroed();
    let mut bytes = size_of::<V>() as socklen_t;
    // SAFETY: there is room for so many bytes. Older kernels write fewer, and the rest are zeros.
    unsafe {
        let place = value.as_mut_ptr().cast();
        let answer = libc::getsockopt(fd, level, name, place, &raw mut bytes);
        (answer == 0).then(|| value.assume_init())
    }
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
    use onenode_core::sys::pass;
    use std::net::{TcpListener, TcpStream};

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
        let of = |listener: &TcpListener| (listener.as_raw_fd(), listener.local_addr().unwrap());
        assert!([&asked, &other].iter().all(|listener| known.contains(&of(listener))));
        let [limited, free] = [&asked, &other]
            .map(|listener| TcpStream::connect(listener.local_addr().unwrap()).unwrap());
        limit_silence(&[of(&asked).1], Duration::from_secs(12));
        let limit = |stream: &TcpStream| {
            option::<c_int>(stream.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT)
        };
        assert_eq!((limit(&limited), limit(&free)), (Some(12_000), Some(0)));
    }

    #[test]
    fn a_connection_is_handed_over_with_its_address() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        assert!(accept(listener.as_fd()).is_none());
        assert_eq!(
            (nothing_to_accept(), io::Error::last_os_error().kind()),
            (-1, io::ErrorKind::WouldBlock)
        );
        let at = listener.local_addr().unwrap();
        let theirs = TcpStream::connect(at).unwrap();
        assert!(pass::wait([listener.as_fd()].into_iter(), Duration::from_secs(20)));
        let (ours, other) = accept(listener.as_fd()).expect("a connection");
        assert_eq!(Ok(other), theirs.local_addr().map_err(|_| ()));
        assert_eq!(connected(&[at]), [(theirs.as_raw_fd(), other)]);
        let mut place = MaybeUninit::<libc::sockaddr_in>::zeroed();
        let mut bytes = size_of::<libc::sockaddr_in>() as socklen_t;
        // SAFETY: room for an address.
        let fd = unsafe { hand_over(ours, place.as_mut_ptr().cast(), &raw mut bytes) };
        // SAFETY: this test's own descriptor; numbers only.
        let (_, port) = unsafe { (OwnedFd::from_raw_fd(fd), place.assume_init().sin_port) };
        assert_eq!(u16::from_be(port), other.port());
    }

    #[test]
    fn nobody_connects_to_what_is_closed_for_good() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        close_for_good(listener.as_fd()).unwrap();
        assert!(TcpStream::connect(at).is_err());
        assert!(listener.accept().is_err());
    }
}
