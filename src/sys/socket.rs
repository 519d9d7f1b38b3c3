//! The sockets of this process that a library has made: which addresses it listens at, and how soon
//! a connection that is cut is noticed.
#![allow(unsafe_code)]

use libc::{c_int, c_void, sockaddr_storage, socklen_t};
use std::fs;
use std::mem::MaybeUninit;
use std::time::Duration;

/// A socket's address as bytes, to compare.
pub type Address = Vec<u8>;

/// The addresses at which this process listens for connections.
pub fn listening() -> Vec<Address> {
    let listens = |fd: &c_int| option(*fd, libc::SOL_SOCKET, libc::SO_ACCEPTCONN) == Some(1);
    descriptors().filter(listens).filter_map(|fd| address(fd, libc::getsockname)).collect()
}

/// Lets the connections of this process to these addresses break down when the other side has
/// acknowledged nothing for `limit`, though there was something to say, or it was asked.
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

/// An IP socket's address, of this side or the other.
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
        // SAFETY: so many bytes, initialised above.
        unsafe { std::slice::from_raw_parts(storage.as_ptr().cast::<u8>(), bytes) }.to_vec()
    })
}

fn option(fd: c_int, level: c_int, name: c_int) -> Option<c_int> {
    let mut value: c_int = 0;
    let mut bytes = size_of::<c_int>() as socklen_t;
    let place: *mut c_void = (&raw mut value).cast();
    // SAFETY: room for a number.
    (unsafe { libc::getsockopt(fd, level, name, place, &raw mut bytes) } == 0).then_some(value)
}

/// What the system does not have stays as it is.
fn set(fd: c_int, level: c_int, name: c_int, value: c_int) {
    let place: *const c_void = (&raw const value).cast();
    // SAFETY: a number.
    unsafe { libc::setsockopt(fd, level, name, place, size_of::<c_int>() as socklen_t) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd;

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
