//! The worker of an agent: carries out messages, and answers gets of many bytes with the same
//! messages as large puts consist of, sent from where the bytes are.
#![allow(unsafe_code)]

use super::bindings::{RecvParam, Status};
use super::messages::{self, Parts};
use super::operations::Request;
use super::worker::Worker;
use crate::error::Error;
use crate::failure;
use std::cell::RefCell;
use std::ffi::c_void;
use std::slice;

/// A worker that others send messages to.
pub struct Server {
    /// The worker.
    pub worker: Worker,
    /// Answers that are on their way.
    answers: RefCell<Vec<(Vec<Request>, Parts)>>,
}

impl Server {
    /// Loads UCX and creates a worker. The server stays where it is: UCX keeps a pointer to it.
    ///
    /// # Errors
    /// As for [`Worker::open`].
    pub fn open() -> Result<Box<Self>, Error> {
        let server = Box::new(Self { worker: Worker::open()?, answers: RefCell::default() });
        server.worker.accept_stores()?;
        let this = (&raw const *server).cast_mut().cast();
        // SAFETY: UCX calls `answer` as long as the worker exists, which the server owns.
        unsafe { server.worker.accept(messages::GETS, answer, this) }?;
        Ok(server)
    }

    /// Makes progress; false if there was nothing to do.
    pub fn progress(&self) -> bool {
        let came = self.worker.progress();
        self.answers.borrow_mut().retain_mut(|(requests, _)| {
            // A PE that no longer gets its answer has ended, or loses the connection itself.
            let _ = self.worker.are_over(requests);
            !requests.is_empty()
        });
        came
    }
}

/// Sends the bytes that a message asks for. UCX calls this.
///
/// # Safety
/// `arg` is a [`Server`]. `data` is readable for `length` bytes. They are what [`messages::get`]
/// returned for memory that this agent has registered, and for memory of the sender that waits for
/// the bytes. `param` names the sender.
unsafe extern "C" fn answer(
    arg: *mut c_void,
    _header: *const c_void,
    _header_length: usize,
    data: *mut c_void,
    length: usize,
    param: *const RecvParam,
) -> Status {
    // SAFETY: the caller guarantees all three. Nothing changes them meanwhile.
    let (server, data, param) = unsafe {
        (&*arg.cast::<Server>(), slice::from_raw_parts(data.cast::<u8>(), length), &*param)
    };
    let Some([from, to, bytes]) = messages::wanted(data) else {
        failure::fatal(format_args!("a malformed get of {length} bytes from another node"));
    };
    let parts = Parts::to(to, bytes as usize);
    let mut requests = Vec::new();
    let from = from as usize as *const u8;
    // If there is an error, the connection to the sender is lost, and the sender reports it.
    // SAFETY: the sender has checked that the bytes are in memory that this agent has registered, which
    // stays until the sender has got them. The heads stay with the answer.
    let _ = unsafe { server.worker.send_parts(param.reply_ep, &parts, from, &mut requests) };
    server.answers.borrow_mut().push((requests, parts));
    0
}
