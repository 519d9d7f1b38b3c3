//! Abstract Unix sockets as meeting points: a name that lives exactly as long as
//! the process that bound it.
#![allow(unsafe_code)]

use crate::error::Error;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};

/// Binds the abstract name, or says that another process has it already.
pub fn listen(name: &str) -> Result<Option<OwnedFd>, Error> {
    match UnixListener::bind_addr(&address(name)?) {
        Ok(listener) => Ok(Some(listener.into())),
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => Ok(None),
        Err(source) => Err(Error::System { call: "binding the job's meeting point", source }),
    }
}

/// The process and user that bound the abstract name; `None` if nobody has.
pub fn owner(name: &str) -> Result<Option<(i32, u32)>, Error> {
    let Ok(stream) = UnixStream::connect_addr(&address(name)?) else { return Ok(None) };
    let mut credentials = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut bytes = size_of_val(&credentials) as libc::socklen_t;
    // SAFETY: the local is as large as the length passed.
    let failed = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut credentials).cast(),
            &mut bytes,
        )
    };
    if failed != 0 {
        return Err(Error::last("SO_PEERCRED at the job's meeting point"));
    }
    Ok(Some((credentials.pid, credentials.uid)))
}

fn address(name: &str) -> Result<SocketAddr, Error> {
    SocketAddr::from_abstract_name(name)
        .map_err(|source| Error::System { call: "naming the job's meeting point", source })
}
