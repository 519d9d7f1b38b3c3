//! UCX's worker, created as our rules of order need it, and its connections.
#![allow(unsafe_code)]

use super::bindings::{self as ucx, Functions, Handle, Status};
use crate::atomics::{AtomicI32, Ordering};
use crate::engine::admission::{Guard, open_guarded};
use crate::engine::network::{self, Route};
use crate::error::Error;
use crate::sys::environment::{variable, with_variables};
use crate::sys::library::{self, Library};
use onenode_core::sys::{limit, pass};
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::os::fd::BorrowedFd;
use std::ptr::{null, null_mut};
use std::time::Duration;

/// The library's name.
const LIBRARY: &CStr = c"libucp.so.0";
/// UCX reads these variables when it is loaded: no signal handlers, no malloc hooks, and nothing on
/// the program's output.
const WHEN_LOADED: [(&str, &str); 5] = [
    ("UCX_HANDLE_ERRORS", "none"),
    ("UCX_MEM_EVENTS", "no"),
    ("UCX_LOG_LEVEL", "fatal"),
    ("UCX_LOG_FILE", "stderr"),
    ("UCX_WARN_UNUSED_ENV_VARS", "no"),
];
/// Names which transports the user allows: a list, or with `^` in front one of those not allowed.
const ALLOWED: &str = "UCX_TLS";

/// What UCX sends over. With each, operations on one PE stay in order, as [`Engine`](crate::engine::Engine)
/// promises: there is one lane to a process, and what is sent over it arrives in order.
struct Transport {
    name: &'static str,
    /// What UCX gets as its list of transports.
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
    /// Describes a status in words.
    status_string: unsafe extern "C" fn(Status) -> *const c_char,
    context: Handle,
    pub(super) worker: Handle,
    /// Readable when there is something to do, once [`arm`](Self::arm) has returned true.
    fd: c_int,
}

/// Another process's worker. It is never closed.
#[derive(Clone, Copy, Debug)]
pub struct Endpoint {
    pub(super) handle: Handle,
    /// The error with which the connection, or a message over it, failed; 0 until then. `None`: the
    /// connection is the other process's.
    pub(super) broken: Option<&'static AtomicI32>,
}

// SAFETY: a name, which UCX gets from a thread that has the worker.
unsafe impl Send for Endpoint {}

impl Endpoint {
    /// The error with which the connection failed, if it has.
    pub fn failure(&self) -> Option<Status> {
        match self.broken?.load(Ordering::Relaxed) {
            0 => None,
            status => Some(status as Status),
        }
    }
}

/// Notes that a connection has failed. UCX calls this.
extern "C" fn note_failure(broken: *mut c_void, _endpoint: Handle, status: Status) {
    // SAFETY: `connect` has passed this pointer to a number that stays for the life of the process.
    let broken = unsafe { &*broken.cast::<AtomicI32>() };
    broken.store(status.into(), Ordering::Relaxed);
}

impl RawWorker {
    /// Loads UCX and creates a worker that uses this route, unless the user chooses another network device.
    /// Nobody is admitted to it yet. UCX gets one device only: version 1.13 loses connections when several
    /// lead to the same node.
    ///
    /// # Errors
    /// If UCX is missing, too old, or does not work here; in words for the user.
    pub fn open(route: &Route) -> Result<(Self, Guard), Error> {
        let mut this = Self::without_worker(Transport::of(route.port.as_ref()))?;
        let start = || this.start(route).and_then(|()| this.address());
        // Its address has the ports, in the network's order of bytes.
        let has = |address: &Vec<u8>, port: u16| {
            address.windows(size_of::<u16>()).any(|it| it == port.to_be_bytes())
        };
        let guard = open_guarded(start, has).map_err(|error| match route.port {
            Some(_) => Error::Engine(format!("{error}{}", limit_told())),
            None => error,
        })?;
        Ok((this, guard))
    }

    /// UCX's functions, without a worker yet.
    fn without_worker(transport: &Transport) -> Result<Self, Error> {
        let library = load()?;
        transport.check(&version_of(&library)?)?;
        let ucx = Functions::of(&library)?;
        let status_string = library.function(c"ucs_status_string")?.as_ptr();
        // SAFETY: the function of this name has this type in UCX's header.
        let status_string = unsafe {
            std::mem::transmute::<*mut c_void, unsafe extern "C" fn(Status) -> *const c_char>(
                status_string,
            )
        };
        let (context, worker) = (null_mut(), null_mut());
        Ok(Self { ucx, status_string, context, worker, fd: -1 })
    }

    fn start(&mut self, route: &Route) -> Result<(), Error> {
        let config = self.configured(route)?;
        let params = ucx::Params {
            field_mask: ucx::PARAM_FEATURES,
            features: ucx::FEATURE_AM | ucx::FEATURE_WAKEUP,
            request_size: 0,
            request_init: null(),
            request_cleanup: null(),
            tag_sender_mask: 0,
            mt_workers_shared: 0,
            estimated_num_eps: 0,
            estimated_num_ppn: 0,
            name: null(),
        };
        let (major, minor) = (ucx::API_MAJOR, ucx::API_MINOR);
        // SAFETY: all structures are as in UCX's header. The configuration is released once, and
        // not used again.
        let status = unsafe {
            let context = &raw mut self.context;
            let status =
                (self.ucx.ucp_init_version)(major, minor, &raw const params, config, context);
            (self.ucx.ucp_config_release)(config);
            status
        };
        self.check("ucp_init", status)?;
        let params = ucx::WorkerParams {
            field_mask: ucx::WORKER_THREAD_MODE,
            thread_mode: ucx::SERIALIZED,
            cpu_mask: [0; 16],
            events: 0,
            user_data: null_mut(),
            event_fd: -1,
            flags: 0,
            name: null(),
            am_alignment: 0,
            client_id: 0,
        };
        // SAFETY: as above; the context exists.
        let status = unsafe {
            (self.ucx.ucp_worker_create)(self.context, &raw const params, &raw mut self.worker)
        };
        self.check("ucp_worker_create", status)?;
        // SAFETY: the worker exists, and `fd` is a number to write to.
        let status = unsafe { (self.ucx.ucp_worker_get_efd)(self.worker, &raw mut self.fd) };
        self.check("ucp_worker_get_efd", status)
    }

    /// UCX's configuration, from its own variables and from our rules of order.
    fn configured(&self, Route { device, port, .. }: &Route) -> Result<Handle, Error> {
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
        let mut config = null_mut();
        // SAFETY: null names, and a pointer to write to.
        let status = unsafe { (self.ucx.ucp_config_read)(null(), null(), &raw mut config) };
        self.check("ucp_config_read", status)?;
        let transports = ("TLS", transport.list.to_owned());
        for (name, value) in [transports].into_iter().chain(devices.map(|it| ("NET_DEVICES", it))) {
            let [name, value] =
                [name.to_owned(), value].map(|text| CString::new(text).unwrap_or_default());
            // SAFETY: a configuration, and two C strings.
            let status =
                unsafe { (self.ucx.ucp_config_modify)(config, name.as_ptr(), value.as_ptr()) };
            self.check("ucp_config_modify", status).inspect_err(|_| {
                // SAFETY: released once, and not used again.
                unsafe { (self.ucx.ucp_config_release)(config) }
            })?;
        }
        Ok(config)
    }

    pub(super) fn check(&self, call: &str, status: Status) -> Result<(), Error> {
        match status {
            0.. => Ok(()),
            _ => Err(Error::Engine(format!("{call} of UCX: {}", self.words(status)))),
        }
    }

    /// The same worker, for what UCX calls while it makes progress, in the same thread.
    pub(super) fn alias(&self) -> Self {
        Self { ..*self }
    }

    /// Describes a status in words.
    pub fn words(&self, status: Status) -> String {
        // SAFETY: the function returns a C string for any status.
        let text = unsafe { CStr::from_ptr((self.status_string)(status)) };
        text.to_string_lossy().into_owned()
    }

    /// The address with which others connect to this worker.
    ///
    /// # Errors
    /// If UCX reports none.
    pub fn address(&self) -> Result<Vec<u8>, Error> {
        let (mut address, mut bytes) = (null_mut(), 0);
        // SAFETY: the worker exists, and two words to write to.
        let status = unsafe {
            (self.ucx.ucp_worker_get_address)(self.worker, &raw mut address, &raw mut bytes)
        };
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
        let broken: &'static AtomicI32 = Box::leak(Box::default());
        let nowhere = || ucx::SockAddr { addr: null(), addrlen: 0 };
        let params = ucx::EpParams {
            field_mask: ucx::EP_REMOTE_ADDRESS | ucx::EP_ERR_HANDLING_MODE | ucx::EP_ERR_HANDLER,
            address: address.as_ptr().cast(),
            err_mode: ucx::ERR_MODE_PEER,
            err_handler: ucx::ErrHandler {
                callback: note_failure,
                arg: (&raw const *broken).cast_mut().cast(),
            },
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
        let status =
            unsafe { (self.ucx.ucp_ep_create)(self.worker, &raw const params, &raw mut handle) };
        self.check("ucp_ep_create", status)?;
        Ok(Endpoint { handle, broken: Some(broken) })
    }

    /// Makes progress; false if there was nothing to do.
    pub fn progress(&self) -> bool {
        // SAFETY: the worker exists.
        unsafe { (self.ucx.ucp_worker_progress)(self.worker) > 0 }
    }

    /// Prepares the descriptor for a sleep; false if there is already something to do.
    pub fn arm(&self) -> Result<bool, Error> {
        // SAFETY: the worker exists.
        match unsafe { (self.ucx.ucp_worker_arm)(self.worker) } {
            ucx::BUSY => Ok(false),
            status => self.check("ucp_worker_arm", status).map(|()| true),
        }
    }

    /// The descriptor to sleep on.
    pub fn doorbell(&self) -> Doorbell {
        Doorbell(self.fd)
    }
}

/// The limit on locked memory, for people, if there is one: UCX does not say that it was the cause.
pub fn limit_told() -> String {
    let told = |most: u64| {
        let most = most >> 10;
        format!(
            "; at most {most} kB of memory may be locked (ulimit -l), and RDMA needs some for its buffers"
        )
    };
    limit::locked_memory().map(told).unwrap_or_default()
}

/// Loads UCX, quietly.
pub(super) fn load() -> Result<Library, Error> {
    library::check_static(LIBRARY)?;
    with_variables(&WHEN_LOADED, || Library::load(LIBRARY)).map_err(|error| {
        let why = format!("{error}; UCX 1.13 or later is needed (package libucx0 or ucx)");
        Error::Engine(why)
    })
}

/// What a job over several nodes would run over by this route, for display.
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
    /// What a route with this RDMA port, or none, uses.
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

/// UCX's version, checked. This comes first: an old version lacks some of the functions.
fn version_of(library: &Library) -> Result<Version, Error> {
    type GetVersion = unsafe extern "C" fn(*mut c_uint, *mut c_uint, *mut c_uint);
    let function = library.function(c"ucp_get_version")?.as_ptr();
    let (mut major, mut minor, mut release) = (0, 0, 0);
    // SAFETY: the function of this name has this type in UCX's header, and gets three numbers to
    // write to.
    unsafe {
        let get_version = std::mem::transmute::<*mut c_void, GetVersion>(function);
        get_version(&raw mut major, &raw mut minor, &raw mut release);
    }
    if (major, minor) < (ucx::API_MAJOR, ucx::API_MINOR) || major > ucx::API_MAJOR {
        return Err(Error::Engine(format!(
            "libucp.so.0 is UCX {major}.{minor}.{release}; expected 1.13 or a later 1.x"
        )));
    }
    Ok(Version(major, minor, release))
}

/// The descriptor that an armed worker makes readable.
#[derive(Clone, Copy, Debug)]
pub struct Doorbell(c_int);

impl Doorbell {
    /// Returns when the worker has something to do, or after `most`.
    pub fn sleep(self, most: Duration) {
        // SAFETY: UCX's own, open as long as its worker, which is not destroyed while a thread waits for it.
        let readable = unsafe { BorrowedFd::borrow_raw(self.0) };
        pass::wait(std::iter::once(readable), most);
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
    fn rdma_needs_a_version_that_keeps_strangers_out() {
        for (minor, suffices) in [(13, false), (15, false), (16, true), (22, true)] {
            let version = Version(1, minor, 1);
            assert!(TCP.check(&version).is_ok());
            let checked = RDMA.check(&version).map_err(|error| error.to_string());
            assert_eq!(checked.is_ok(), suffices, "{checked:?}");
        }
    }
}
