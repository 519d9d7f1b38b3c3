//! UCX's worker, created as our rules of order need it, and its connections.
#![allow(unsafe_code)]

use super::bindings::{self as ucx, Functions, Status};
use crate::atomics::{AtomicI32, AtomicU64, Ordering};
use crate::engine::admission::{Guard, open_guarded};
use crate::error::Error;
use crate::remote::network::{self, Route};
use crate::sys::environment::{variable, with_variables};
use crate::sys::library::{self, Library, typed};
use crate::sys::signal::without_signals_but_held;
use onenode_core::sys::{limit, pass};
use std::ffi::{CStr, CString, c_uint};
use std::os::fd::BorrowedFd;
use std::ptr::{null, null_mut};
use std::time::Duration;

/// The library's name.
const LIBRARY: &CStr = c"libucp.so.0";
/// UCX reads these variables when it is loaded: no signal handlers, neither for errors nor for debugging (SIGHUP),
/// no malloc hooks, and nothing on the program's output.
const WHEN_LOADED: [(&str, &str); 6] = [
    ("UCX_HANDLE_ERRORS", "none"),
    ("UCX_DEBUG_SIGNO", "0"),
    ("UCX_MEM_EVENTS", "no"),
    ("UCX_LOG_LEVEL", "fatal"),
    ("UCX_LOG_FILE", "stderr"),
    ("UCX_WARN_UNUSED_ENV_VARS", "no"),
];
/// Names which transports the user allows: a list, or with `^` in front one of those not allowed.
const ALLOWED: &str = "UCX_TLS";

/// Transports of UCX. With each, operations on one PE stay in order, as [`Engine`](crate::remote::Engine)
/// promises: there is one lane to a process, and what is sent over it arrives in order.
struct Transport {
    name: &'static str,
    /// The list of transports as UCX takes it.
    list: &'static str,
    /// By which names a user's list allows each of them.
    allowed_by: &'static [&'static [&'static str]],
}

/// One stream of bytes.
const TCP: Transport = Transport { name: "tcp", list: "tcp", allowed_by: &[&["tcp"]] };
/// One pair of queues, reliably connected, at one port. UCX sets these up over TCP, where strangers are kept
/// out. Its other way is datagrams (`ud`), which whoever shares the fabric can send. `dc`, several ports and
/// adaptive routing would keep no order.
const RDMA: Transport = Transport {
    name: "rdma",
    list: "rc_verbs,tcp:aux",
    allowed_by: &[&["rc_verbs", "rc_v", "rc", "ib"], &["tcp", "tcp:aux"]],
};
/// The first version, 1.x, that can set up RDMA over TCP.
const RDMA_MINOR: c_uint = 16;

/// A worker, for as long as the process lives. Only one thread may use it at a time: there is one value for
/// it, which no other thread can share.
pub struct RawWorker {
    pub(super) ucx: Functions,
    pub(super) worker: ucx::Worker,
    /// Readable when there is something to do, once [`arm`](Self::arm) has returned true.
    doorbell: Doorbell,
}

/// Another process's worker. It is never closed.
#[derive(Clone, Copy, Debug)]
pub struct Endpoint {
    pub(super) handle: ucx::Endpoint,
    /// `None`: the connection is the other process's.
    pub(super) fate: Option<&'static ConnectionState>,
}

/// Facts of a connection as UCX reports them.
#[derive(Debug, Default)]
pub(super) struct ConnectionState {
    /// The error with which the connection, or a message over it, failed; 0 until then.
    failure: AtomicI32,
    /// How many messages have been sent later than at once.
    sent: AtomicU64,
}

impl ConnectionState {
    fn fail(&self, status: Status) {
        self.failure.store(status.into(), Ordering::Relaxed);
    }

    /// Notes that a message has been sent, or with which error not.
    pub(super) fn note_sent(&self, status: Status) {
        match status {
            0.. => _ = self.sent.fetch_add(1, Ordering::Relaxed),
            _ => self.fail(status),
        }
    }
}

// SAFETY: a name, which UCX gets from a thread that has the worker.
unsafe impl Send for Endpoint {}

impl Endpoint {
    /// The error with which the connection failed, if it has.
    pub fn failure(&self) -> Option<Status> {
        match self.fate?.failure.load(Ordering::Relaxed) {
            0 => None,
            status => Some(status as Status),
        }
    }

    /// How many messages UCX has sent over the connection later than at once: it grows as long as some that
    /// wait leave.
    pub fn sent(&self) -> u64 {
        self.fate.map_or(0, |fate| fate.sent.load(Ordering::Relaxed))
    }
}

/// Notes that a connection has failed. UCX calls this.
extern "C" fn note_failure(fate: &'static ConnectionState, _: ucx::Endpoint, status: Status) {
    fate.fail(status);
}

impl RawWorker {
    /// Loads UCX and creates a worker that uses this route, unless the user chooses another network device.
    /// Nobody is admitted to it yet. UCX gets one device only: version 1.13 loses connections when several
    /// lead to the same node.
    ///
    /// # Errors
    /// If UCX is missing, too old, or does not work here; in words for the user.
    pub fn open(route: &Route) -> Result<(Self, Guard), Error> {
        let library = load()?;
        let version = version_of(&library)?;
        Transport::of(route.port.as_ref()).check(&version)?;
        let ucx = Functions::of(&library)?;
        // UCX starts a thread. The program's signals are for the program's threads.
        let start = || {
            let this = without_signals_but_held(|| Self::start(ucx, &version, route))?;
            Ok((this.address()?, this))
        };
        // Its address has the ports, in the network's order of bytes.
        let has = |(address, _): &(Vec<u8>, Self), port: u16| {
            address.windows(size_of::<u16>()).any(|it| it == port.to_be_bytes())
        };
        let ((_, this), guard) = open_guarded(start, has).map_err(|error| match route.port {
            Some(_) => Error::Engine(format!("{error}{}", limit_note())),
            None => error,
        })?;
        Ok((this, guard))
    }

    fn start(ucx: Functions, version: &Version, route: &Route) -> Result<Self, Error> {
        let config = ucx.configured(version, route)?;
        let (major, minor) = (ucx::API_MAJOR, ucx::API_MINOR);
        let (mut context, mut worker, mut fd) = (None, None, None);
        let status =
            (ucx.ucp_init_version)(major, minor, &ucx::Params::MESSAGES, config, &mut context);
        (ucx.ucp_config_release)(config);
        let context = ucx.made("ucp_init", status, context)?;
        let status = (ucx.ucp_worker_create)(context, &ucx::WorkerParams::SERIALIZED, &mut worker);
        let worker = ucx.made("ucp_worker_create", status, worker)?;
        let status = (ucx.ucp_worker_get_efd)(worker, &mut fd);
        let doorbell = Doorbell(ucx.made("ucp_worker_get_efd", status, fd)?);
        Ok(Self { ucx, worker, doorbell })
    }

    pub(super) fn check(&self, call: &str, status: Status) -> Result<(), Error> {
        self.ucx.check(call, status)
    }

    /// The same worker, for what UCX calls while it makes progress, in the same thread.
    pub(super) fn alias(&self) -> Self {
        Self { ..*self }
    }

    /// Describes a status in words.
    pub fn words(&self, status: Status) -> String {
        (self.ucx.ucs_status_string)(status).to_string()
    }

    /// The address with which others connect to this worker.
    ///
    /// # Errors
    /// If UCX reports none.
    pub fn address(&self) -> Result<Vec<u8>, Error> {
        let (mut address, mut bytes) = (null_mut(), 0);
        let status = (self.ucx.ucp_worker_get_address)(self.worker, &mut address, &mut bytes);
        self.check("ucp_worker_get_address", status)?;
        // SAFETY: the address has `bytes` bytes, and is released once.
        unsafe {
            let copy = std::slice::from_raw_parts(address.cast::<u8>(), bytes).to_vec();
            (self.ucx.ucp_worker_release_address)(self.worker, address);
            Ok(copy)
        }
    }

    /// Connects to the worker with this address. The connection is established when it is first used.
    ///
    /// # Errors
    /// If the address is invalid, or cannot be reached from here.
    pub(super) fn connect(&self, address: &[u8]) -> Result<Endpoint, Error> {
        // Endpoints are never closed, so UCX may report a failure for as long as the process lives.
        let fate = Box::leak(Box::<ConnectionState>::default());
        let nowhere = || ucx::SockAddr { addr: null(), addrlen: 0 };
        let params = ucx::EpParams {
            field_mask: ucx::EP_REMOTE_ADDRESS | ucx::EP_ERR_HANDLING_MODE | ucx::EP_ERR_HANDLER,
            address: address.as_ptr().cast(),
            err_mode: ucx::ERR_MODE_PEER,
            err_handler: ucx::ErrHandler { callback: note_failure, arg: fate },
            user_data: null_mut(),
            flags: 0,
            sockaddr: nowhere(),
            conn_request: null_mut(),
            name: null(),
            local_sockaddr: nowhere(),
        };
        let mut handle = null_mut();
        // SAFETY: the structure is as in UCX's header. UCX takes the address for one of its own and
        // checks little; it comes from an agent of this job.
        let status = unsafe {
            (self.ucx.ucp_ep_create)(self.worker, (&raw const params).cast(), &raw mut handle)
        };
        self.check("ucp_ep_create", status)?;
        Ok(Endpoint { handle, fate: Some(fate) })
    }

    /// Makes progress; false if there was nothing to do.
    pub fn progress(&self) -> bool {
        (self.ucx.ucp_worker_progress)(self.worker) > 0
    }

    /// Prepares the descriptor for a sleep; false if there is already something to do.
    pub fn arm(&self) -> Result<bool, Error> {
        match (self.ucx.ucp_worker_arm)(self.worker) {
            ucx::BUSY => Ok(false),
            status => self.check("ucp_worker_arm", status).map(|()| true),
        }
    }

    /// The descriptor to sleep on.
    pub fn doorbell(&self) -> Doorbell {
        self.doorbell
    }
}

impl Functions {
    fn check(&self, call: &str, status: Status) -> Result<(), Error> {
        match status {
            0.. => Ok(()),
            _ => Err(Error::Engine(format!("{call} of UCX: {}", (self.ucs_status_string)(status)))),
        }
    }

    /// The object that a call has made, if its status is a good one.
    fn made<T>(&self, call: &str, status: Status, made: Option<T>) -> Result<T, Error> {
        self.check(call, status)?;
        made.ok_or_else(|| Error::Engine(format!("{call} of UCX: no result")))
    }

    /// UCX's configuration, from its own variables and from our rules of order.
    fn configured(
        &self,
        version: &Version,
        Route { device, port, .. }: &Route,
    ) -> Result<&'static mut ucx::Config, Error> {
        let devices = match (port, variable(network::VARIABLE)) {
            (Some(port), _) => Some(format!("{port},{device}")),
            (None, Some(_)) => None,
            (None, None) if device.is_empty() => {
                return Err(Error::Engine(format!(
                    "no device leads to all hosts, and {} is set for other processes of the job only",
                    network::VARIABLE
                )));
            }
            (None, None) => Some(device.clone()),
        };
        let transport = Transport::of(port.as_ref());
        let mut config = None;
        let status = (self.ucp_config_read)(None, None, &mut config);
        let config = self.made("ucp_config_read", status, config)?;
        let settings = [
            ("TLS", transport.list.to_owned()),
            // UCX connects again where a handshake is cut off. If it waited for that, nobody would notice meanwhile
            // that other connections have failed.
            (version.nonblocking_connect(), "y".to_owned()),
        ];
        for (name, value) in settings.into_iter().chain(devices.map(|it| ("NET_DEVICES", it))) {
            let [name, value] =
                [name.to_owned(), value].map(|text| CString::new(text).unwrap_or_default());
            let modify = self.ucp_config_modify;
            let status = modify(config, name.as_c_str().into(), value.as_c_str().into());
            if let Err(error) = self.check("ucp_config_modify", status) {
                (self.ucp_config_release)(config);
                return Err(error);
            }
        }
        Ok(config)
    }
}

/// A limit on locked memory with which UCX would try for ever to get the buffers of an RDMA port. It may need
/// more than this.
const TOO_LITTLE: u64 = 8 << 20;

/// The limit on locked memory, for people, if there is one: UCX does not say that it was the cause.
pub fn limit_note() -> String {
    let told = |most| format!("; {}, and RDMA needs some for its buffers", limit_of(most));
    limit::locked_memory().map(told).unwrap_or_default()
}

/// Checks that this process may lock enough memory for RDMA to be tried.
///
/// # Errors
/// In words, if it may not.
pub fn check_limit() -> Result<(), String> {
    check_locked(limit::locked_memory().filter(|_| !limit::may_lock_more()))
}

fn check_locked(most: Option<u64>) -> Result<(), String> {
    let too_little = most.filter(|most| *most <= TOO_LITTLE);
    let told = |most| format!("{}, and RDMA needs more for its buffers", limit_of(most));
    too_little.map_or(Ok(()), |most| Err(told(most)))
}

fn limit_of(most: u64) -> String {
    format!("at most {} kB of memory may be locked (ulimit -l)", most >> 10)
}

/// Loads UCX, quietly.
pub(super) fn load() -> Result<Library, Error> {
    library::check_static(LIBRARY)?;
    with_variables(&WHEN_LOADED, || Library::load(LIBRARY)).map_err(|error| {
        let why = format!("{error}; UCX 1.13 or later is needed (package libucx0 or ucx)");
        Error::Engine(why)
    })
}

/// The network of a job over several nodes by this route, for display.
///
/// # Errors
/// If such jobs cannot run here; in words for the user.
pub fn about(route: &Route) -> Result<String, Error> {
    let version = version_of(&load()?)?;
    let transport = Transport::of(route.port.as_ref());
    transport.check(&version)?;
    let allowed =
        variable(ALLOWED).map(|it| format!(", allowed by {ALLOWED}={}", it.to_string_lossy()));
    let port = route.port.as_ref().map(|port| format!(", port {port}")).unwrap_or_default();
    let (Version(major, minor, release), name) = (version, transport.name);
    let why = route.reason();
    Ok(format!(
        "UCX {major}.{minor}.{release} over {name}{port}{}{why}",
        allowed.unwrap_or_default()
    ))
}

impl Transport {
    /// The transports of a route with this RDMA port, or without one.
    fn of(port: Option<&String>) -> &'static Self {
        if port.is_some() { &RDMA } else { &TCP }
    }

    /// Checks that this version of UCX has the transport, and that the user allows it.
    fn check(&self, version: &Version) -> Result<(), Error> {
        if self.name == RDMA.name && version.1 < RDMA_MINOR {
            let Version(major, minor, release) = version;
            return Err(Error::Engine(format!(
                "this is UCX {major}.{minor}.{release}; RDMA needs 1.{RDMA_MINOR} or later: earlier \
                 versions set up its connections by datagrams that strangers could send, too"
            )));
        }
        match variable(ALLOWED).filter(|list| !self.is_allowed_by(&list.to_string_lossy())) {
            None => Ok(()),
            Some(list) => Err(Error::Engine(format!(
                "{ALLOWED}={}: operations on a PE stay in order over {}; expected a list with {} or all, or \
                 no such variable",
                list.to_string_lossy(),
                self.name,
                self.list.replace(',', " and ")
            ))),
        }
    }

    /// Whether a value of `UCX_TLS` allows the transport. A name may begin with a backslash, which keeps UCX
    /// from taking it for an alias. `tcp:aux` allows it for connecting only.
    fn is_allowed_by(&self, list: &str) -> bool {
        let (denies, list) = list.strip_prefix('^').map_or((false, list), |list| (true, list));
        let items: Vec<_> = list.split(',').map(|it| it.trim().trim_start_matches('\\')).collect();
        let names =
            |names: &&[&str]| items.iter().any(|item| names.contains(item) || *item == "all");
        match denies {
            false => self.allowed_by.iter().all(names),
            true => !self.allowed_by.iter().any(names),
        }
    }
}

/// A version of UCX.
struct Version(c_uint, c_uint, c_uint);

impl Version {
    /// The option with which TCP connects without waiting. Before 1.17, UCX knows a transport's options by their
    /// names alone, and ignores others.
    fn nonblocking_connect(&self) -> &'static str {
        if self.1 < 17 { "CONN_NB" } else { "TCP_CONN_NB" }
    }
}

/// UCX's version, checked. This comes first: an old version lacks some of the functions.
fn version_of(library: &Library) -> Result<Version, Error> {
    type GetVersion = extern "C" fn(&mut c_uint, &mut c_uint, &mut c_uint);
    // SAFETY: the function of this name has this type in UCX's header, and writes the three numbers.
    let get_version: GetVersion = unsafe { typed(library.function(c"ucp_get_version")?) };
    let (mut major, mut minor, mut release) = (0, 0, 0);
    get_version(&mut major, &mut minor, &mut release);
    if (major, minor) < (ucx::API_MAJOR, ucx::API_MINOR) || major > ucx::API_MAJOR {
        return Err(Error::Engine(format!(
            "libucp.so.0 is UCX {major}.{minor}.{release}; expected 1.13 or a later 1.x"
        )));
    }
    Ok(Version(major, minor, release))
}

/// The descriptor that an armed worker makes readable.
#[derive(Clone, Copy, Debug)]
pub struct Doorbell(BorrowedFd<'static>);

impl Doorbell {
    /// Returns when the worker has something to do, or after `most`.
    pub fn sleep(self, most: Duration) {
        pass::wait(std::iter::once(self.0), most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_transports_allow_what_ucx_would_take() {
        for list in ["tcp", "tcp,self", "self, tcp", "all", "\\tcp", "^sm", "^rc,ud", "rc,all"] {
            assert!(TCP.is_allowed_by(list), "{list}");
        }
        for list in ["", "sm", "rc,self", "^tcp", "^rc,tcp", "^all", "tcpx", "tcp:aux"] {
            assert!(!TCP.is_allowed_by(list), "{list}");
        }
        for list in ["rc,tcp", "all", "rc_verbs, tcp:aux", "ib,tcp,self", "^ud", "^sm,dc"] {
            assert!(RDMA.is_allowed_by(list), "{list}");
        }
        for list in ["", "rc", "rc_verbs,ud:aux", "tcp", "^tcp", "^rc", "^ib", "dc,tcp"] {
            assert!(!RDMA.is_allowed_by(list), "{list}");
        }
    }

    #[test]
    fn rdma_is_not_tried_with_little_locked_memory() {
        for most in [None, Some(TOO_LITTLE + 1), Some(64 << 20)] {
            assert_eq!(check_locked(most), Ok(()));
        }
        for (most, told) in [(0, "at most 0 kB"), (TOO_LITTLE, "at most 8192 kB")] {
            assert!(check_locked(Some(most)).unwrap_err().starts_with(told));
        }
    }

    #[test]
    fn rdma_needs_a_version_that_keeps_strangers_out() {
        for (minor, suffices) in [(13, false), (15, false), (16, true), (22, true)] {
            let version = Version(1, minor, 1);
            assert!(TCP.check(&version).is_ok());
            let checked = RDMA.check(&version).map_err(|error| error.to_string());
            assert_eq!(checked.is_ok(), suffices, "{checked:?}");
        }
    }
}
