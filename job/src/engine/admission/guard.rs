//! Which connections UCX gets. It accepts them by `accept`, in a thread of its own, and has no way to
//! refuse one. So its call is redirected, as its own memory hooks are (`Library::redirect`): at the sockets
//! of a [`Guard`], UCX accepts only what has been admitted. At all other sockets, such as those of
//! an MPI library that uses the same UCX, the call stays the system's `accept`.
#![allow(unsafe_code)]

use super::{Queue, TURN};
use crate::error::Error;
use crate::sys::library::Library;
use crate::sys::socket;
use libc::{c_int, sockaddr, socklen_t};
use onenode_core::Error as System;
use onenode_core::sys::mutex;
use std::collections::VecDeque;
use std::ffi::CStr;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

/// UCX's libraries; some versions accept in one, some in another.
const LIBRARIES: [&CStr; 3] = [c"libucs.so.0", c"libuct.so.0", c"libucp.so.0"];

/// How long it may take to make UCX look.
const RING: Duration = Duration::from_millis(100);
/// The most own connections that may be on their way for that.
const RINGS: usize = 16;

/// The sockets at which one UCX worker listens.
#[derive(Clone, Default)]
pub struct Guard(Arc<Mutex<GuardState>>);

#[derive(Default)]
struct GuardState {
    listeners: Vec<(BorrowedFd<'static>, SocketAddr)>,
    /// Whether connections are to be kept until they are admitted, instead of closed.
    keeps: bool,
    /// Connections that UCX's listeners have accepted and that are not yet admitted.
    waiting: Vec<Waiting>,
    /// Where those come from that clients have announced and that have not come.
    expected: Vec<SocketAddr>,
    /// The hosts of clients that may have connected without having announced it.
    clients: Vec<IpAddr>,
    /// Connections that UCX's next calls of `accept` return.
    admitted: VecDeque<OwnedFd>,
    /// Own connections that only make UCX look.
    rings: Vec<SocketAddr>,
    /// Why some could not be taken in.
    refused: Option<System>,
}

/// A connection that nobody has announced.
struct Waiting {
    connection: OwnedFd,
    from: SocketAddr,
    queue: Queue,
    /// The server's time when it first saw the connection.
    since: Option<Duration>,
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
    let guard = Guard(Arc::new(Mutex::new(GuardState { listeners, ..GuardState::default() })));
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
    let is_ours = guard.is_some() || is_new;
    let connection = guard.and_then(|(guard, listener)| guard.accept(listener));
    // SAFETY: the caller guarantees that `address` is null or writable for `*bytes` bytes.
    unsafe {
        match connection {
            Some(connection) => socket::hand_over(connection, address, bytes),
            None if is_ours => socket::nothing_to_accept(),
            None => libc::accept(fd, address, bytes),
        }
    }
}

impl GuardState {
    fn listener(&self, number: RawFd) -> Option<BorrowedFd<'static>> {
        self.listeners.iter().map(|it| it.0).find(|fd| fd.as_raw_fd() == number)
    }

    /// Keeps a connection that has come. Returns one to be closed: this one, or the oldest one in a full queue.
    /// A stranger's is among those when there are more than clients may have made.
    fn keep(&mut self, new: Waiting) -> Option<Waiting> {
        if let Some(ring) = self.rings.iter().position(|ring| *ring == new.from) {
            self.rings.swap_remove(ring);
            return Some(new);
        }
        if !self.keeps {
            return Some(new);
        }
        let alike = |it: &Waiting| it.queue == new.queue && !self.expected.contains(&it.from);
        let is_full = self.waiting.iter().filter(|it| alike(it)).count()
            >= new.queue.room() + self.clients.len();
        let oldest = self.waiting.iter().position(alike).filter(|_| is_full);
        let oldest = oldest.map(|at| self.waiting.remove(at));
        self.waiting.push(new);
        oldest
    }
}

impl Guard {
    fn door(&self) -> MutexGuard<'_, GuardState> {
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

    /// Keeps the connections that come from now on for [`admit`](Self::admit). Those that do not come from
    /// `hosts` come to the listeners that this returns, one at each of UCX's ports, and not to UCX's.
    ///
    /// # Errors
    /// If the system has no second queue for a port.
    pub(super) fn keep(&self, hosts: &[IpAddr]) -> io::Result<Vec<TcpListener>> {
        let listeners = {
            let mut door = self.door();
            door.keeps = true;
            door.listeners.clone()
        };
        let others = listeners.iter().map(|(fd, _)| socket::divide(*fd, hosts)).collect();
        // Some may wait since before.
        self.ring();
        others
    }

    /// Takes in some of what has come. Returns a connection for UCX.
    fn accept(&self, listener: BorrowedFd) -> Option<OwnedFd> {
        self.take_in(listener, Queue::Hosts);
        self.door().admitted.pop_front()
    }

    /// Takes in some of what has come, and returns how many. The door stays open to others meanwhile.
    pub(super) fn take_in(&self, listener: BorrowedFd, queue: Queue) -> usize {
        let come = || self.accept_from(listener);
        let keep = |(connection, from)| {
            let closed = self.door().keep(Waiting { connection, from, queue, since: None });
            drop(closed);
        };
        std::iter::from_fn(come).take(TURN).map(keep).count()
    }

    /// The next connection that waits there. Notes why, if the system refuses it.
    pub(super) fn accept_from(&self, listener: BorrowedFd) -> Option<(OwnedFd, SocketAddr)> {
        socket::accept(listener).unwrap_or_else(|error| {
            self.door().refused = Some(error);
            None
        })
    }

    /// Why the system has refused a connection, if it has since the last call.
    pub(super) fn refused(&self) -> Option<System> {
        self.door().refused.take()
    }

    /// Hands the connections from these addresses to UCX, if they have come, and returns their addresses.
    /// The others are expected. More clients, on the hosts `clients`, may have connected.
    pub(super) fn admit(
        &self,
        announced: Vec<SocketAddr>,
        clients: Vec<IpAddr>,
    ) -> Vec<SocketAddr> {
        let mut door = self.door();
        let (mut come, mut expected) = (Vec::new(), Vec::new());
        for address in announced {
            // An earlier one from there has ended.
            match door.waiting.iter().rposition(|it| it.from == address) {
                Some(at) => {
                    let Waiting { connection, .. } = door.waiting.remove(at);
                    door.admitted.push_back(connection);
                    come.push(address);
                }
                None => expected.push(address),
            }
        }
        (door.expected, door.clients) = (expected, clients);
        let rings = !door.admitted.is_empty();
        drop(door);
        if rings {
            self.ring();
        }
        come
    }

    /// Whether UCX has not yet got all that have been admitted.
    pub(super) fn is_behind(&self) -> bool {
        !self.door().admitted.is_empty()
    }

    /// Makes UCX look: it accepts when its socket becomes readable. If too many others wait, it looks without
    /// this, too.
    fn ring(&self) {
        let Some((_, address)) = self.door().listeners.first().copied() else { return };
        let Ok(ring) = TcpStream::connect_timeout(&address, RING) else { return };
        let Ok(from) = ring.local_addr() else { return };
        let mut door = self.door();
        match door.waiting.iter().position(|it| it.from == from) {
            Some(at) => drop(door.waiting.remove(at)),
            // It has not been accepted; or an earlier one has been lost, and others need its place.
            None => {
                let more = door.rings.len().saturating_sub(RINGS - 1);
                door.rings.drain(..more);
                door.rings.push(from);
            }
        }
    }

    /// Closes the connections that nobody has announced for so long, when it is `now`. Those that may be a
    /// client's stay: it may be stopped for a while.
    pub(super) fn drop_strangers(&self, now: Duration, patience: Duration) {
        let mut door = self.door();
        let GuardState { waiting, expected, clients, .. } = &mut *door;
        waiting.retain_mut(|it| {
            now - *it.since.get_or_insert(now) < patience
                || expected.contains(&it.from)
                || clients.contains(&it.from.ip())
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    fn come(port: u16, queue: Queue) -> Waiting {
        let connection = File::open("/dev/null").expect("a file").into();
        Waiting { connection, from: ([10, 0, 0, 1], port).into(), queue, since: None }
    }

    #[test]
    fn however_many_strangers_come_what_is_announced_stays() {
        let from = |port| come(port, Queue::Hosts).from;
        let mut door = GuardState {
            keeps: true,
            expected: vec![from(1)],
            clients: vec![[10, 0, 0, 2].into(); 3],
            ..GuardState::default()
        };
        assert!(door.keep(come(1, Queue::Hosts)).is_none());
        // Clients that have not yet announced themselves have room beside the strangers.
        let room = Queue::Hosts.room() as u16 + 3;
        assert!((0..room).all(|i| door.keep(come(100 + i, Queue::Hosts)).is_none()));
        // Strangers from elsewhere take nobody's place but their own.
        let closed = (0..1000).filter_map(|i| door.keep(come(2000 + i, Queue::Others)));
        assert!(
            closed.map(|it| it.queue).eq([Queue::Others].repeat(1000 - Queue::Others.room() - 3))
        );
        for i in 0..1000 {
            let closed = door.keep(come(4000 + i, Queue::Hosts)).expect("too many");
            assert_eq!(closed.queue, Queue::Hosts);
            assert_ne!(closed.from, from(1));
        }
        let guard = Guard(Arc::new(Mutex::new(door)));
        guard.drop_strangers(Duration::ZERO, Duration::from_secs(5));
        guard.drop_strangers(Duration::from_secs(5), Duration::from_secs(5));
        assert_eq!(guard.admit(vec![from(1), from(2)], Vec::new()), [from(1)]);
        assert!(guard.is_behind());
        let door = guard.door();
        assert_eq!((door.waiting.len(), &door.expected[..]), (0, &[from(2)][..]));
    }
}
