//! This process's sockets: the addresses it listens at, its connections, how soon a cut one is noticed,
//! and sending without a signal.
#![allow(unsafe_code)]

use super::chooser;
use libc::{c_int, sockaddr, socklen_t};
use nix::errno::Errno;
use nix::sys::socket::{
    self, Backlog, MsgFlags, SetSockOpt, SockFlag, SockType, SockaddrLike, SockaddrStorage, sockopt,
};
use onenode_core::Error;
use std::fs::{self, File};
use std::io;
use std::mem::MaybeUninit;
use std::net::{IpAddr, SocketAddr, SocketAddrV4, TcpListener};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::time::Duration;

/// Sends all of `bytes`. If the other side has gone, that is an error and not a signal, which the
/// program may not expect.
pub fn send(socket: &File, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match socket::send(socket.as_raw_fd(), bytes, MsgFlags::MSG_NOSIGNAL) {
            Ok(sent) => bytes = &bytes[sent..],
            Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
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
    let listens = |fd: &RawFd| socket::getsockopt(&listed(*fd), sockopt::AcceptConn) == Ok(true);
    descriptors().filter(listens).filter_map(|fd| Some((fd, own(fd)?))).collect()
}

/// This process's connections to one of these addresses, with their own.
pub fn connected(to: &[SocketAddr]) -> Vec<(RawFd, SocketAddr)> {
    ends().filter(|(_, _, other)| to.contains(other)).map(|(fd, own, _)| (fd, own)).collect()
}

/// This process's connections, with both addresses.
fn ends() -> impl Iterator<Item = (RawFd, SocketAddr, SocketAddr)> {
    descriptors().filter_map(|fd| Some((fd, own(fd)?, other(fd)?)))
}

/// A connection that waits at a listening socket, if there is one and the socket does not block. The connection
/// may have failed by now, or the network: then there is none.
///
/// # Errors
/// If the system does not let this process have it, or has not enough memory or descriptors.
pub fn accept(listener: BorrowedFd) -> Result<Option<(OwnedFd, SocketAddr)>, Error> {
    let fd = match socket::accept4(listener.as_raw_fd(), SockFlag::SOCK_CLOEXEC) {
        Ok(fd) => fd,
        Err(error) if NO_CONNECTION.contains(&error) => return Ok(None),
        Err(error) => return Err(Error::of("accept4")(error)),
    };
    // SAFETY: the kernel just returned this descriptor to us alone.
    let connection = unsafe { OwnedFd::from_raw_fd(fd) };
    Ok(other(fd).map(|address| (connection, address)))
}

/// Why there is no connection, though `accept4` is allowed: none waits, or one has failed (accept(2)).
const NO_CONNECTION: [Errno; 11] = [
    Errno::EAGAIN,
    Errno::EINTR,
    Errno::ECONNABORTED,
    Errno::EPROTO,
    Errno::ENOPROTOOPT,
    Errno::EOPNOTSUPP,
    Errno::ENETDOWN,
    Errno::ENETUNREACH,
    Errno::ENONET,
    Errno::EHOSTDOWN,
    Errno::EHOSTUNREACH,
];

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

/// Lets as many connections wait at a listener as the system allows.
///
/// # Errors
/// If it is no listener.
pub fn lengthen_queue(listener: &impl AsFd) -> io::Result<()> {
    Ok(socket::listen(listener, Backlog::MAXCONN)?)
}

/// Opens a second listener beside one that is prepared by [`share_port`]. From now on that one gets
/// connections from its own address and from `first` only, and the new one, which does not block, all others.
/// Each has a queue of its own, so those who fill the second one keep nobody out of the first.
///
/// # Errors
/// If there is no descriptor left, or the system does not choose between listeners.
pub fn divide(listener: BorrowedFd, first: &[IpAddr]) -> io::Result<TcpListener> {
    let at = own(listener.as_raw_fd()).ok_or(Errno::EAFNOSUPPORT)?.ip();
    let (second, address) = beside(listener)?;
    socket::bind(second.as_raw_fd(), &address)?;
    lengthen_queue(&second)?;
    let mut program = chooser::by_source(at, first.iter().copied().chain([at]));
    let program = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    socket::setsockopt(&listener, sockopt::AttachReusePortCbpf, &program)?;
    let second = TcpListener::from(second);
    second.set_nonblocking(true)?;
    Ok(second)
}

/// A new socket that may share the port of a listener, and that one's address.
fn beside(listener: BorrowedFd) -> io::Result<(OwnedFd, SockaddrStorage)> {
    let at: SockaddrStorage = socket::getsockname(listener.as_raw_fd())?;
    let family = at.family().ok_or(Errno::EAFNOSUPPORT)?;
    let new = socket::socket(family, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)?;
    socket::setsockopt(&new, sockopt::ReusePort, &true)?;
    Ok((new, at))
}

/// Lets another socket of this user have a listener's port, too: for [`divide`], and for [`stop_listening`],
/// also while connections to it are open that have come from now on.
///
/// # Errors
/// If the system does not let sockets share a port.
pub fn share_port(listener: BorrowedFd) -> io::Result<()> {
    Ok(socket::setsockopt(&listener, sockopt::ReusePort, &true)?)
}

/// Ends a listener whose port may be shared, and that another part of the process goes on to use: its
/// descriptor becomes a socket that nobody can connect to and that keeps the port, so that no other process
/// listens there.
///
/// # Errors
/// If there is no descriptor left, or the port cannot be kept.
pub fn stop_listening(listener: BorrowedFd) -> io::Result<()> {
    // The port belongs to both for a moment.
    let (kept, at) = beside(listener)?;
    let bound = socket::bind(kept.as_raw_fd(), &at);
    // A function of the C library, with a type that leaves nothing to promise: both stay open.
    unsafe extern "C" {
        safe fn dup3(of: BorrowedFd<'_>, to: BorrowedFd<'_>, flags: c_int) -> c_int;
    }
    if dup3(kept.as_fd(), listener, libc::O_CLOEXEC) == -1 {
        return Err(io::Error::last_os_error());
    }
    // Connections that had come before it was prepared have ended with the listener.
    Ok(bound.or_else(|_| socket::bind(kept.as_raw_fd(), &at))?)
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

fn is_open(fd: RawFd) -> bool {
    info(fd).is_some_and(|info| info.tcpi_state == ESTABLISHED)
}

/// The kernel's facts of a TCP socket.
fn info(fd: RawFd) -> Option<libc::tcp_info> {
    let mut info = MaybeUninit::<libc::tcp_info>::zeroed();
    let mut bytes = size_of_val(&info) as socklen_t;
    // SAFETY: there is room for so many bytes. Older kernels write fewer, and the rest are zeros, which
    // are numbers, too.
    unsafe {
        let place = info.as_mut_ptr().cast();
        let answer = libc::getsockopt(fd, libc::IPPROTO_TCP, libc::TCP_INFO, place, &raw mut bytes);
        (answer == 0).then(|| info.assume_init())
    }
}

/// Lets this process's connections to these addresses fail when the other side has acknowledged
/// neither data nor probes for `limit`.
pub fn limit_silence(peers: &[SocketAddr], limit: Duration) {
    const QUESTIONS: u32 = 3;
    let seconds = (limit.as_secs() as u32 / (QUESTIONS + 1)).max(1);
    for (fd, ..) in ends().filter(|(_, _, other)| peers.contains(other)) {
        set(fd, sockopt::TcpUserTimeout, &(limit.as_millis() as u32));
        set(fd, sockopt::TcpKeepIdle, &seconds);
        set(fd, sockopt::TcpKeepInterval, &seconds);
        set(fd, sockopt::TcpKeepCount, &QUESTIONS);
        set(fd, sockopt::KeepAlive, &true);
    }
}

/// The descriptors of this process that are sockets.
fn descriptors() -> impl Iterator<Item = RawFd> {
    let names = fs::read_dir(DESCRIPTORS).into_iter().flatten().flatten();
    let is_socket = |link: std::path::PathBuf| link.to_string_lossy().starts_with("socket:");
    names
        .filter(move |entry| fs::read_link(entry.path()).is_ok_and(is_socket))
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// An IP socket's address, this side's or the peer's, from what tells it.
fn address(storage: nix::Result<SockaddrStorage>) -> Option<SocketAddr> {
    let storage = storage.ok()?;
    let v4 = storage.as_sockaddr_in().map(|it| SocketAddrV4::from(*it).into());
    // Without scope and flow, which addresses from elsewhere lack.
    v4.or_else(|| storage.as_sockaddr_in6().map(|it| SocketAddr::new(it.ip().into(), it.port())))
}

fn own(fd: RawFd) -> Option<SocketAddr> {
    address(socket::getsockname(fd))
}

fn other(fd: RawFd) -> Option<SocketAddr> {
    address(socket::getpeername(fd))
}

/// A number of the list as a descriptor, for a call. The call fails if its owner has closed it meanwhile.
fn listed<'f>(fd: RawFd) -> BorrowedFd<'f> {
    // SAFETY: an option of whatever socket has the number now is asked for or set, no more.
    unsafe { BorrowedFd::borrow_raw(fd) }
}

/// Options that the system does not have are ignored.
fn set<O: SetSockOpt>(fd: RawFd, option: O, value: &O::Val) {
    let _ = socket::setsockopt(&listed(fd), option, value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use onenode_core::sys::pass;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;

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
        let limit = |stream: &TcpStream| socket::getsockopt(stream, sockopt::TcpUserTimeout);
        assert_eq!((limit(&limited), limit(&free)), (Ok(12_000), Ok(0)));
    }

    #[test]
    fn a_connection_is_handed_over_with_its_address() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        assert!(accept(listener.as_fd()).expect("allowed").is_none());
        assert_eq!(
            (nothing_to_accept(), io::Error::last_os_error().kind()),
            (-1, io::ErrorKind::WouldBlock)
        );
        let at = listener.local_addr().unwrap();
        let theirs = TcpStream::connect(at).unwrap();
        assert!(pass::wait([listener.as_fd()].into_iter(), Duration::from_secs(20)));
        let (ours, other) = accept(listener.as_fd()).expect("allowed").expect("a connection");
        assert_eq!(Ok(other), theirs.local_addr().map_err(|_| ()));
        assert_eq!(connected(&[at]), [(theirs.as_raw_fd(), other)]);
        let mut place = MaybeUninit::<libc::sockaddr_in>::zeroed();
        let mut bytes = size_of::<libc::sockaddr_in>() as socklen_t;
        // SAFETY: room for an address, of numbers only, and this test's own descriptor.
        let (_, port) = unsafe {
            let fd = hand_over(ours, place.as_mut_ptr().cast(), &raw mut bytes);
            (OwnedFd::from_raw_fd(fd), place.assume_init().sin_port)
        };
        assert_eq!(u16::from_be(port), other.port());
    }

    #[test]
    fn each_queue_gets_those_from_its_addresses() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        share_port(listener.as_fd()).unwrap();
        let others = divide(listener.as_fd(), &["127.0.0.7".parse().unwrap()]).unwrap();
        let connect = |from: &str| {
            let client = socket::socket(
                socket::AddressFamily::Inet,
                SockType::Stream,
                SockFlag::SOCK_CLOEXEC,
                None,
            );
            let client = client.unwrap();
            let address = |at: SocketAddr| SockaddrStorage::from(at);
            socket::bind(client.as_raw_fd(), &address(SocketAddr::new(from.parse().unwrap(), 0)))
                .unwrap();
            socket::connect(client.as_raw_fd(), &address(at)).unwrap();
            client
        };
        for _ in 0..8 {
            let clients = ["127.0.0.1", "127.0.0.7"].map(connect);
            for client in clients {
                let (_, from) = listener.accept().unwrap();
                assert_eq!(Some(from), own(client.as_raw_fd()));
            }
            let stranger = connect("127.0.0.8");
            assert!(pass::wait([others.as_fd()].into_iter(), Duration::from_secs(20)));
            assert_eq!(Some(others.accept().unwrap().1), own(stranger.as_raw_fd()));
        }
    }

    #[test]
    fn nobody_connects_to_what_stopped_listening_or_gets_its_port() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let _early = TcpStream::connect(at).unwrap();
        share_port(listener.as_fd()).unwrap();
        let _late = TcpStream::connect(at).unwrap();
        stop_listening(listener.as_fd()).unwrap();
        assert_eq!(TcpStream::connect(at).unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
        assert!(listener.accept().is_err());
        assert_eq!(TcpListener::bind(at).unwrap_err().kind(), io::ErrorKind::AddrInUse);
    }
}
