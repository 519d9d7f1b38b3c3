//! The messages that a worker sends, and their outcomes.
#![allow(unsafe_code)]

use super::bindings::{self as ucx, Functions, Handle, Status};
use super::message::Message;
use super::messages::{self, Handler, Parts, Target};
use super::worker::{Endpoint, Worker};
use crate::engine::exports::EXPORT_BYTES;
use crate::engine::{Far, Segment};
use crate::error::Error;
use std::ffi::c_void;
use std::ptr::{NonNull, null, null_mut};

/// Memory of a PE, which its node's agent accesses for others.
#[derive(Clone, Copy, Debug)]
pub struct Remote {
    pub(super) endpoint: Handle,
    start: Target,
    bytes: u64,
}

// SAFETY: as for the worker that it belongs to.
unsafe impl Send for Remote {}

/// An operation that is not over.
#[must_use]
pub struct Request(NonNull<c_void>);

// SAFETY: as for the worker that it belongs to.
unsafe impl Send for Request {}

impl Request {
    /// Releases the request without waiting for it: what follows tells when it is over.
    fn forget(self, ucx: &Functions) {
        // SAFETY: a request of UCX's that is not used again.
        unsafe { (ucx.ucp_request_free)(self.0.as_ptr()) }
    }
}

impl Worker {
    /// The result of a call that issues an operation.
    fn issued(&self, call: &str, answer: *mut c_void) -> Result<Option<Request>, Error> {
        match answer.addr() as isize {
            0 => Ok(None),
            status if (ucx::LAST_ERROR..0).contains(&status) => {
                Err(self.failure(call, status as Status))
            }
            _ => Ok(NonNull::new(answer).map(Request)),
        }
    }

    /// Sends a message, which is not answered.
    ///
    /// # Safety
    /// The message stays where it is until the request is over.
    pub unsafe fn send(
        &self,
        to: Remote,
        offset: u64,
        message: &mut Message,
    ) -> Result<Option<Request>, Error> {
        let bytes = message.to(to.at(offset, message.extent())?);
        // SAFETY: the caller guarantees that the message stays.
        unsafe { self.message(to.endpoint, messages::STORES, &[], bytes.as_ptr(), bytes.len()) }
    }

    /// Sends many bytes as messages, from where they are. They may be reused when the requests are
    /// over, those of messages that were sent before an error among them.
    ///
    /// # Safety
    /// All parts are readable from `from` on, and the heads stay where they are, until all messages
    /// have been sent.
    pub unsafe fn send_parts(
        &self,
        to: Handle,
        handler: Handler,
        parts: &Parts,
        from: *const u8,
        requests: &mut Vec<Request>,
    ) -> Result<(), Error> {
        for (head, part) in parts.iter() {
            let bytes = from.wrapping_add(part.start);
            // SAFETY: the caller guarantees that both stay until the message has been sent.
            let sent = unsafe { self.message(to, handler, head, bytes, part.len()) };
            requests.extend(sent?);
        }
        Ok(())
    }

    /// Sends a message to a handler of another process.
    ///
    /// # Safety
    /// The message stays where it is until the request is over. The connection exists.
    pub unsafe fn send_to(
        &self,
        to: Handle,
        handler: Handler,
        message: *const u8,
        bytes: usize,
    ) -> Result<Option<Request>, Error> {
        // SAFETY: the caller guarantees that the message stays.
        unsafe { self.message(to, handler, &[], message, bytes) }
    }

    /// # Safety
    /// The head, which may be empty, and `bytes` bytes at `from` stay until the request is over.
    unsafe fn message(
        &self,
        to: Handle,
        Handler { id, flags }: Handler,
        head: &[u8],
        from: *const u8,
        bytes: usize,
    ) -> Result<Option<Request>, Error> {
        let param = with_flags(flags);
        let (header, length) = (head.as_ptr().cast(), head.len());
        // SAFETY: UCX reads both; the caller guarantees that they stay until the request is over.
        let answer = unsafe {
            let send = self.ucx.ucp_am_send_nbx;
            send(to, id, header, length, from.cast(), bytes, &raw const param)
        };
        self.issued("ucp_am_send_nbx", answer)
    }

    /// Leaves requests to the next completion.
    pub fn forget_requests(&self, requests: impl IntoIterator<Item = Request>) {
        requests.into_iter().for_each(|request| request.forget(&self.ucx));
    }

    /// Whether all requests are over. Those that are have been released.
    pub fn are_over(&self, requests: &mut Vec<Request>) -> Result<bool, Status> {
        while let Some(request) = requests.pop() {
            if let Some(open) = self.outcome(request)? {
                requests.push(open);
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The request if it is not over; `None` if it is over and has been released.
    pub fn outcome(&self, request: Request) -> Result<Option<Request>, Status> {
        // SAFETY: a request that has not been released.
        let status = unsafe { (self.ucx.ucp_request_check_status)(request.0.as_ptr()) };
        if status == ucx::IN_PROGRESS {
            return Ok(Some(request));
        }
        request.forget(&self.ucx);
        if status < 0 { Err(status) } else { Ok(None) }
    }
}

impl Remote {
    /// A segment of PE `pe`, of this size, in one of its lifetimes.
    pub fn of(
        endpoint: &Endpoint,
        pe: usize,
        segment: Segment,
        bytes: u64,
        life: (u32, u32),
    ) -> Self {
        let start = Target { at: Far { pe, offset: segment.start() }, life };
        Self { endpoint: endpoint.handle, start, bytes }
    }

    /// For questions and messages that are not about memory.
    pub fn none(endpoint: &Endpoint, pe: usize) -> Self {
        Self::of(endpoint, pe, Segment::Data, EXPORT_BYTES as u64, (0, 0))
    }

    /// The target of a message about `bytes` bytes of this memory. An error if not all are in it.
    pub fn at(self, offset: u64, bytes: usize) -> Result<Target, Error> {
        match self.bytes.checked_sub(offset) {
            Some(room) if bytes as u64 <= room => {
                let at = Far { offset: self.start.at.offset + offset, ..self.start.at };
                Ok(Target { at, ..self.start })
            }
            _ => Err(Error::Engine(format!(
                "{bytes} bytes at {offset:#x} of a segment of {:#x} bytes",
                self.bytes
            ))),
        }
    }
}

/// The parameters of a message.
fn with_flags(flags: u32) -> ucx::RequestParam {
    ucx::RequestParam {
        op_attr_mask: ucx::OP_FLAGS,
        flags,
        request: null_mut(),
        callback: null(),
        datatype: 0,
        user_data: null_mut(),
        reply_buffer: null_mut(),
        memory_type: 0,
        recv_info: null_mut(),
        memh: null_mut(),
    }
}
