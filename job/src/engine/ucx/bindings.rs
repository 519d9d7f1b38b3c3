//! The parts of UCX's interface that we use, version 1.13, from `ucp/api/ucp.h` and
//! `ucs/type/status.h`. UCX keeps it stable: structures begin with a mask of the fields that the
//! caller has filled in, and grow only at the end.
#![allow(unsafe_code)]

use crate::error::Error;
use crate::sys::library::{Library, Text, typed};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::os::fd::BorrowedFd;
use std::ptr::{NonNull, null};

/// `ucs_status_t`: 0, or an error below 0.
pub type Status = i8;
pub const BUSY: Status = -15;
/// `UCS_ERR_LAST`: results from this value to -1 are errors.
pub const LAST_ERROR: isize = -100;

/// `ucp_context_h`, which is never cleaned up.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Context(NonNull<c_void>);

/// `ucp_worker_h`, which is never destroyed. Not `Send`: who moves one to another thread answers for it that
/// only one thread uses the worker at a time.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Worker(NonNull<c_void>);

/// `ucp_ep_h`, which is never closed.
pub type Endpoint = *mut c_void;

/// `ucp_config_t`, until it is released.
#[repr(C)]
pub struct Config([u8; 0]);

/// A request that UCX has completed, until it is released.
#[repr(transparent)]
pub struct Request(NonNull<c_void>);

pub const API_MAJOR: c_uint = 1;
pub const API_MINOR: c_uint = 13;

const FEATURE_WAKEUP: u64 = 1 << 4;
const FEATURE_AM: u64 = 1 << 6;
const PARAM_FEATURES: u64 = 1 << 0;

/// `ucp_params_t`.
#[repr(C)]
pub struct Params {
    field_mask: u64,
    features: u64,
    request_size: usize,
    request_init: *const c_void,
    request_cleanup: *const c_void,
    tag_sender_mask: u64,
    mt_workers_shared: c_int,
    estimated_num_eps: usize,
    estimated_num_ppn: usize,
    name: *const c_char,
}

impl Params {
    /// For active messages, and a descriptor to sleep on.
    pub const MESSAGES: Self = Self {
        field_mask: PARAM_FEATURES,
        features: FEATURE_AM | FEATURE_WAKEUP,
        request_size: 0,
        request_init: null(),
        request_cleanup: null(),
        tag_sender_mask: 0,
        mt_workers_shared: 0,
        estimated_num_eps: 0,
        estimated_num_ppn: 0,
        name: null(),
    };
}

const WORKER_THREAD_MODE: u64 = 1 << 0;
/// `UCS_THREAD_MODE_SERIALIZED`: any thread, one at a time.
const SERIALIZED: c_int = 1;

/// `ucp_worker_params_t`.
#[repr(C)]
pub struct WorkerParams {
    field_mask: u64,
    thread_mode: c_int,
    cpu_mask: [u64; 16],
    events: c_uint,
    user_data: *const c_void,
    event_fd: c_int,
    flags: u64,
    name: *const c_char,
    am_alignment: usize,
    client_id: u64,
}

impl WorkerParams {
    /// For any thread, one at a time.
    pub const SERIALIZED: Self = Self {
        field_mask: WORKER_THREAD_MODE,
        thread_mode: SERIALIZED,
        cpu_mask: [0; 16],
        events: 0,
        user_data: null(),
        event_fd: -1,
        flags: 0,
        name: null(),
        am_alignment: 0,
        client_id: 0,
    };
}

pub const EP_REMOTE_ADDRESS: u64 = 1 << 0;
pub const EP_ERR_HANDLING_MODE: u64 = 1 << 1;
pub const EP_ERR_HANDLER: u64 = 1 << 2;
/// `UCP_ERR_HANDLING_MODE_PEER`.
pub const ERR_MODE_PEER: c_int = 1;

/// `ucp_err_handler_t`.
#[repr(C)]
pub struct ErrHandler<T: 'static> {
    pub callback: extern "C" fn(arg: &'static T, ep: Endpoint, status: Status),
    pub arg: &'static T,
}

/// `ucs_sock_addr_t`.
#[repr(C)]
pub struct SockAddr {
    pub addr: *const c_void,
    pub addrlen: u32,
}

/// `ucp_ep_params_t`.
#[repr(C)]
pub struct EpParams<T: 'static> {
    pub field_mask: u64,
    pub address: *const c_void,
    pub err_mode: c_int,
    pub err_handler: ErrHandler<T>,
    pub user_data: *mut c_void,
    pub flags: c_uint,
    pub sockaddr: SockAddr,
    pub conn_request: *mut c_void,
    pub name: *const c_char,
    pub local_sockaddr: SockAddr,
}

pub const HANDLER_ID: u64 = 1 << 0;
pub const HANDLER_CALLBACK: u64 = 1 << 2;
pub const HANDLER_ARG: u64 = 1 << 3;

/// `ucp_am_recv_callback_t`.
pub type Receive<T> = unsafe extern "C" fn(
    arg: &'static T,
    header: *const c_void,
    header_length: usize,
    data: *mut c_void,
    length: usize,
    param: &RecvParam,
) -> Status;

/// `UCP_AM_RECV_ATTR_FIELD_REPLY_EP`.
pub const RECV_REPLY_EP: u64 = 1 << 0;

/// `ucp_am_recv_param_t`.
#[repr(C)]
pub struct RecvParam {
    pub recv_attr: u64,
    /// Valid with [`RECV_REPLY_EP`].
    pub reply_ep: Endpoint,
}

/// `ucp_am_handler_param_t`.
#[repr(C)]
pub struct HandlerParam<T: 'static> {
    pub field_mask: u64,
    pub id: c_uint,
    pub flags: u32,
    pub callback: Receive<T>,
    pub arg: &'static T,
}

/// `UCP_AM_SEND_FLAG_REPLY`.
pub const AM_REPLY: u32 = 1 << 0;
/// `UCP_AM_SEND_FLAG_EAGER`.
pub const AM_EAGER: u32 = 1 << 1;

pub const OP_CALLBACK: u32 = 1 << 1;
pub const OP_USER_DATA: u32 = 1 << 2;
pub const OP_FLAGS: u32 = 1 << 4;

/// `ucp_send_nbx_callback_t`, which takes the user data over.
pub type Sent<T> = extern "C" fn(request: Request, status: Status, user_data: Box<T>);

/// `ucp_request_param_t`.
#[repr(C)]
pub struct RequestParam<T> {
    pub op_attr_mask: u32,
    pub flags: u32,
    pub request: *mut c_void,
    pub callback: Sent<T>,
    pub datatype: u64,
    pub user_data: *mut T,
    pub reply_buffer: *mut c_void,
    pub memory_type: c_int,
    pub recv_info: *mut c_void,
    pub memh: *mut c_void,
}

/// A function's name, which ends with a zero byte.
const fn name(text: &str) -> &CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(name) => name,
        Err(_) => unreachable!(),
    }
}

/// Declares the functions, and how to find them in the library.
macro_rules! functions {
    (
        safe { $($name:ident($($arg:ty),*) $(-> $out:ty)?;)* }
        raw { $($raw:ident($($raw_arg:ty),*) $(-> $raw_out:ty)?;)* }
    ) => {
        /// The functions of the library.
        #[derive(Clone, Copy)]
        #[allow(non_snake_case)]
        pub struct Functions {
            $(pub $name: extern "C" fn($($arg),*) $(-> $out)?,)*
            $(pub $raw: unsafe extern "C" fn($($raw_arg),*) $(-> $raw_out)?,)*
        }

        impl Functions {
            /// Finds all of them.
            pub fn of(library: &Library) -> Result<Self, Error> {
                // SAFETY: the functions of these names have these types in UCX's headers. Those under `safe`
                // read the texts and structures, fill in what they get by reference, and keep none of these;
                // all handles stay valid, and what is released is handed over.
                unsafe {
                    Ok(Self {
                        $($name: typed(library.function(name(concat!(stringify!($name), "\0")))?),)*
                        $($raw: typed(library.function(name(concat!(stringify!($raw), "\0")))?),)*
                    })
                }
            }
        }
    };
}

functions! {
    safe {
        ucs_status_string(Status) -> Text<'static>;
        ucp_config_read(
            Option<Text<'_>>, Option<Text<'_>>, &mut Option<&'static mut Config>
        ) -> Status;
        ucp_config_modify(&mut Config, Text<'_>, Text<'_>) -> Status;
        ucp_config_release(&'static mut Config);
        ucp_init_version(c_uint, c_uint, &Params, &Config, &mut Option<Context>) -> Status;
        ucp_worker_create(Context, &WorkerParams, &mut Option<Worker>) -> Status;
        ucp_worker_get_address(Worker, &mut *mut c_void, &mut usize) -> Status;
        ucp_worker_get_efd(Worker, &mut Option<BorrowedFd<'static>>) -> Status;
        ucp_worker_arm(Worker) -> Status;
        ucp_worker_progress(Worker) -> c_uint;
        ucp_request_free(Request);
    }
    raw {
        ucp_worker_release_address(Worker, *mut c_void);
        ucp_worker_set_am_recv_handler(Worker, *const c_void) -> Status;
        ucp_am_send_nbx(
            Endpoint, c_uint, *const c_void, usize, *const c_void, usize, *const c_void
        ) -> *mut c_void;
        ucp_ep_create(Worker, *const c_void, *mut Endpoint) -> Status;
    }
}
