//! The parts of UCX's interface that we use, version 1.13, from `ucp/api/ucp.h` and
//! `ucs/type/status.h`. UCX keeps it stable: structures begin with a mask of the fields that the
//! caller has filled in, and grow only at the end.
#![allow(unsafe_code)]

use crate::error::Error;
use crate::sys::library::Library;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

/// `ucs_status_t`: 0, or an error below 0.
pub type Status = i8;
pub const BUSY: Status = -15;
/// `UCS_ERR_LAST`: results from this value to -1 are errors.
pub const LAST_ERROR: isize = -100;

/// `ucp_context_h`, `ucp_worker_h`, `ucp_ep_h`, `ucp_config_t *`.
pub type Handle = *mut c_void;

pub const API_MAJOR: c_uint = 1;
pub const API_MINOR: c_uint = 13;

pub const FEATURE_WAKEUP: u64 = 1 << 4;
pub const FEATURE_AM: u64 = 1 << 6;

pub const PARAM_FEATURES: u64 = 1 << 0;

/// `ucp_params_t`.
#[repr(C)]
pub struct Params {
    pub field_mask: u64,
    pub features: u64,
    pub request_size: usize,
    pub request_init: *const c_void,
    pub request_cleanup: *const c_void,
    pub tag_sender_mask: u64,
    pub mt_workers_shared: c_int,
    pub estimated_num_eps: usize,
    pub estimated_num_ppn: usize,
    pub name: *const c_char,
}

pub const WORKER_THREAD_MODE: u64 = 1 << 0;
/// `UCS_THREAD_MODE_SERIALIZED`: any thread, one at a time.
pub const SERIALIZED: c_int = 1;

/// `ucp_worker_params_t`.
#[repr(C)]
pub struct WorkerParams {
    pub field_mask: u64,
    pub thread_mode: c_int,
    pub cpu_mask: [u64; 16],
    pub events: c_uint,
    pub user_data: *mut c_void,
    pub event_fd: c_int,
    pub flags: u64,
    pub name: *const c_char,
    pub am_alignment: usize,
    pub client_id: u64,
}

pub const EP_REMOTE_ADDRESS: u64 = 1 << 0;
pub const EP_ERR_HANDLING_MODE: u64 = 1 << 1;
pub const EP_ERR_HANDLER: u64 = 1 << 2;
/// `UCP_ERR_HANDLING_MODE_PEER`.
pub const ERR_MODE_PEER: c_int = 1;

/// `ucp_err_handler_t`.
#[repr(C)]
pub struct ErrHandler {
    pub callback: extern "C" fn(arg: *mut c_void, ep: Handle, status: Status),
    pub arg: *mut c_void,
}

/// `ucs_sock_addr_t`.
#[repr(C)]
pub struct SockAddr {
    pub addr: *const c_void,
    pub addrlen: u32,
}

/// `ucp_ep_params_t`.
#[repr(C)]
pub struct EpParams {
    pub field_mask: u64,
    pub address: *const c_void,
    pub err_mode: c_int,
    pub err_handler: ErrHandler,
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
pub type Receive = unsafe extern "C" fn(
    arg: *mut c_void,
    header: *const c_void,
    header_length: usize,
    data: *mut c_void,
    length: usize,
    param: *const RecvParam,
) -> Status;

/// `UCP_AM_RECV_ATTR_FIELD_REPLY_EP`.
pub const RECV_REPLY_EP: u64 = 1 << 0;

/// `ucp_am_recv_param_t`.
#[repr(C)]
pub struct RecvParam {
    pub recv_attr: u64,
    /// Valid with [`RECV_REPLY_EP`].
    pub reply_ep: Handle,
}

/// `ucp_am_handler_param_t`.
#[repr(C)]
pub struct HandlerParam {
    pub field_mask: u64,
    pub id: c_uint,
    pub flags: u32,
    pub callback: Receive,
    pub arg: *mut c_void,
}

/// `UCP_AM_SEND_FLAG_REPLY`.
pub const AM_REPLY: u32 = 1 << 0;
/// `UCP_AM_SEND_FLAG_EAGER`.
pub const AM_EAGER: u32 = 1 << 1;

pub const OP_CALLBACK: u32 = 1 << 1;
pub const OP_USER_DATA: u32 = 1 << 2;
pub const OP_FLAGS: u32 = 1 << 4;

/// `ucp_send_nbx_callback_t`.
pub type Sent = unsafe extern "C" fn(request: *mut c_void, status: Status, user_data: *mut c_void);

/// `ucp_request_param_t`.
#[repr(C)]
pub struct RequestParam {
    pub op_attr_mask: u32,
    pub flags: u32,
    pub request: *mut c_void,
    pub callback: Sent,
    pub datatype: u64,
    pub user_data: *mut c_void,
    pub reply_buffer: *mut c_void,
    pub memory_type: c_int,
    pub recv_info: *mut c_void,
    pub memh: *mut c_void,
}

/// Declares the functions, and how to find them in the library.
macro_rules! functions {
    ($($name:ident($($arg:ty),*) $(-> $out:ty)?;)*) => {
        /// The functions of the library.
        #[derive(Clone, Copy)]
        #[allow(non_snake_case)]
        pub struct Functions {
            $(pub $name: unsafe extern "C" fn($($arg),*) $(-> $out)?,)*
        }

        impl Functions {
            /// Finds all of them.
            pub fn of(library: &Library) -> Result<Self, Error> {
                Ok(Self {
                    $($name: {
                        const NAME: &CStr = match CStr::from_bytes_with_nul(
                            concat!(stringify!($name), "\0").as_bytes()
                        ) {
                            Ok(name) => name,
                            Err(_) => unreachable!(),
                        };
                        let found = library.function(NAME)?.as_ptr();
                        // SAFETY: the function of this name has this type in UCX's header.
                        unsafe {
                            std::mem::transmute::<
                                *mut c_void,
                                unsafe extern "C" fn($($arg),*) $(-> $out)?,
                            >(found)
                        }
                    },)*
                })
            }
        }
    };
}

functions! {
    ucp_config_read(*const c_char, *const c_char, *mut Handle) -> Status;
    ucp_config_modify(Handle, *const c_char, *const c_char) -> Status;
    ucp_config_release(Handle);
    ucp_init_version(c_uint, c_uint, *const Params, Handle, *mut Handle) -> Status;
    ucp_worker_create(Handle, *const WorkerParams, *mut Handle) -> Status;
    ucp_worker_get_address(Handle, *mut *mut c_void, *mut usize) -> Status;
    ucp_worker_release_address(Handle, *mut c_void);
    ucp_worker_get_efd(Handle, *mut c_int) -> Status;
    ucp_worker_arm(Handle) -> Status;
    ucp_worker_progress(Handle) -> c_uint;
    ucp_worker_set_am_recv_handler(Handle, *const HandlerParam) -> Status;
    ucp_am_send_nbx(
        Handle, c_uint, *const c_void, usize, *const c_void, usize, *const RequestParam
    ) -> *mut c_void;
    ucp_ep_create(Handle, *const EpParams, *mut Handle) -> Status;
    ucp_request_free(*mut c_void);
}
