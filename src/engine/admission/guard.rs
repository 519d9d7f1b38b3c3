//! Which connections UCX gets. It accepts them by `accept`, in a thread of its own, and has no way to
//! refuse one. So its call is redirected, as its own memory hooks are (`Library::redirect`): at the sockets
//! of a [`Guard`], UCX accepts only what has been admitted. At all other sockets, such as those of
//! an MPI library that uses the same UCX, it is `accept` as ever.
#![allow(unsafe_code)]

use crate::error::Error;
use crate::sys::library::Library;
use crate::sys::socket;
use libc::{c_int, sockaddr, socklen_t};
use onenode_core::sys::mutex;
use std::collections::VecDeque;
use std::ffi::CStr;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

/// UCX's libraries; some versions accept in one, some in another.
const LIBRARIES: [&CStr; 3] = [c"libucs.so.0", c"libuct.so.0", c"libucp.so.0"];

/// The most connections that wait to be admitted. If more come, the oldest makes room.
const MOST: usize = 256;
/// How long it may take to make UCX look.
const RING: Duration = Duration::from_millis(100);

/// The sockets at which one UCX worker listens.
#[derive(Clone)]
pub struct Guard(Arc<Mutex<Door>>);

#[derive(Default)]
struct Door {
    listeners: Vec<(BorrowedFd<'static>, SocketAddr)>,
    /// Whether connections are to be kept until they are admitted, instead of closed.
    keeps: bool,
    /// Those that have come, with the other side's address and the server's time when it first saw them.
    waiting: Vec<(OwnedFd, SocketAddr, Option<Duration>)>,
    /// Those that UCX may have.
    admitted: VecDeque<OwnedFd>,
    /// Own connections that only make UCX look.
    rings: Vec<SocketAddr>,
}

/// All guards. `opening`: a worker opens sockets just now; these listened before.
#[derive(Default)]
struct Guards {
    doors: Vec<Guard>,
    opening: Option<Vec<(RawFd, SocketAddr)>>,
}

/// UCX's call has no other argument, so it has to look here.
fn guards() -> MutexGuard<'static, Guards> {
    static GUARDS: OnceLock<Mutex<Guards>> = OnceLock::new();
    mutex::lock(GUARDS.get_or_init(Mutex::default))
}

/// Opens a UCX worker, which gets no connection but those that its guard admits. Its sockets are told from
/// the program's own, which other threads may open meanwhile, by their ports: `has_port` says whether a
/// port is the worker's, by what `open` has returned.
///
/// # Errors
/// If `open` fails, or this UCX accepts connections in another way.
pub fn open_guarded<R>(
    open: impl FnOnce() -> Result<R, Error>,
    has_port: impl Fn(&R, u16) -> bool,
) -> Result<(R, Guard), Error> {
    socket::check_listed()
        .map_err(|why| Error::Engine(format!("strangers cannot be kept from UCX: {why}")))?;
    redirect()?;
    let before = socket::listening();
    guards().opening = Some(before.clone());
    let opened = open();
    let mut all = guards();
    all.opening = None;
    let opened = opened?;
    let mut listeners = socket::listening();
    listeners.retain(|it| !before.contains(it) && has_port(&opened, it.1.port()));
    // SAFETY: UCX keeps its listeners open as long as the worker, which is never closed.
    let ours = |(fd, at): (RawFd, _)| (unsafe { BorrowedFd::borrow_raw(fd) }, at);
    let listeners: Vec<_> = listeners.into_iter().map(ours).collect();
    // Nothing that UCX listens at may be left unguarded.
    if listeners.is_empty() {
        return Err(Error::Engine(
            "strangers cannot be kept from UCX: its sockets are not found".into(),
        ));
    }
    for (fd, _) in &listeners {
        socket::share_port(*fd)
            .map_err(|error| Error::Engine(format!("keeping a port of UCX: {error}")))?;
    }
    let guard = Guard(Arc::new(Mutex::new(Door { listeners, ..Door::default() })));
    all.doors.push(guard.clone());
    Ok((opened, guard))
}

/// Makes UCX accept by [`accept`].
fn redirect() -> Result<(), Error> {
    static REDIRECTED: OnceLock<bool> = OnceLock::new();
    let redirected = *REDIRECTED.get_or_init(|| {
        let loaded = LIBRARIES.iter().filter_map(|name| Library::loaded(name));
        // SAFETY: `accept` has the type of accept(2) and does as it does, at other times or with other
        // connections.
        loaded.fold(false, |any, it| unsafe { it.redirect(c"accept", accept as *mut _) } | any)
    });
    match redirected {
        true => Ok(()),
        false => Err(Error::Engine(
            "strangers cannot be kept from this UCX: it accepts connections in an unknown way"
                .into(),
        )),
    }
}

/// Accepts a connection for UCX.
///
/// # Safety
/// As for accept(2): `address` is null or writable for `*bytes` bytes.
unsafe extern "C" fn accept(fd: c_int, address: *mut sockaddr, bytes: *mut socklen_t) -> c_int {
    let (guard, is_new) = {
        let all = guards();
        let is_new = all.opening.as_ref().is_some_and(|before| before.iter().all(|it| it.0 != fd));
        let of = |door: &Guard| Some((door.clone(), door.door().listener(fd)?));
        (all.doors.iter().find_map(of), is_new)
    };
    match guard {
        Some((guard, listener)) => match guard.door().accept(listener) {
            // SAFETY: the caller guarantees the room for the address.
            Some(connection) => unsafe { socket::hand_over(connection, address, bytes) },
            None => socket::nothing_to_accept(),
        },
        None if is_new => socket::nothing_to_accept(),
        // SAFETY: as for this function.
        None => unsafe { libc::accept(fd, address, bytes) },
    }
}

impl Door {
    fn listener(&self, number: RawFd) -> Option<BorrowedFd<'static>> {
        self.listeners.iter().map(|it| it.0).find(|fd| fd.as_raw_fd() == number)
    }

    /// Takes in what has come. Returns a connection for UCX.
    fn accept(&mut self, listener: BorrowedFd) -> Option<OwnedFd> {
        while let Some((connection, address)) = socket::accept(listener) {
            if let Some(ring) = self.rings.iter().position(|ring| *ring == address) {
                self.rings.swap_remove(ring);
            } else if self.keeps {
                if self.waiting.len() >= MOST {
                    self.waiting.remove(0);
                }
                self.waiting.push((connection, address, None));
            }
        }
        self.admitted.pop_front()
    }
}

impl Guard {
    fn door(&self) -> MutexGuard<'_, Door> {
        mutex::lock(&self.0)
    }

    /// Where UCX listens.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.door().listeners.iter().map(|it| it.1).collect()
    }

    /// Closes UCX's ports: nobody can connect any more. UCX tells processes of a host from one another by
    /// their ports, so these stay taken as long as the worker.
    ///
    /// # Errors
    /// If there is no descriptor left, or a port cannot be kept.
    pub fn close(&self) -> Result<(), Error> {
        let mut door = self.door();
        for (fd, _) in door.listeners.drain(..) {
            socket::stop_listening(fd)
                .map_err(|error| Error::Engine(format!("closing a port of UCX: {error}")))?;
        }
        Ok(())
    }

    /// Keeps the connections that come from now on for [`admit`](Self::admit).
    pub(super) fn keep(&self) {
        self.door().keeps = true;
        // Some may wait since before.
        self.ring();
    }

    /// Hands the connection from this address to UCX; false if it has not come.
    pub(super) fn admit(&self, from: SocketAddr) -> bool {
        let mut door = self.door();
        // An earlier one from there has ended.
        let Some(at) = door.waiting.iter().rposition(|it| it.1 == from) else { return false };
        let (connection, ..) = door.waiting.remove(at);
        door.admitted.push_back(connection);
        drop(door);
        self.ring();
        true
    }

    /// Makes UCX look: it accepts when its socket becomes readable.
    fn ring(&self) {
        // The address is known before UCX can accept: the door is locked.
        let mut door = self.door();
        let Some((_, address)) = door.listeners.first().copied() else { return };
        // If too many others wait, UCX looks without this, too.
        if let Ok(ring) = TcpStream::connect_timeout(&address, RING) {
            door.rings.extend(ring.local_addr());
        }
    }

    /// Closes the connections that `are_strange`, by their number, address, and how long they have been here
    /// when it is `now`.
    pub(super) fn drop_strangers(
        &self,
        now: Duration,
        are_strange: impl Fn(usize, SocketAddr, Duration) -> bool,
    ) {
        let mut door = self.door();
        let count = door.waiting.len();
        door.waiting.retain_mut(|(_, address, since)| {
            !are_strange(count, *address, now - *since.get_or_insert(now))
        });
    }
}
