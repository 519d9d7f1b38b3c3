//! The operations that a worker issues, and their outcomes.
#![allow(unsafe_code)]

use super::bindings::{self as ucx, Functions, Handle, Status};
use super::messages::{self, Handler, Message, Parts};
use super::worker::{Endpoint, Worker};
use crate::engine::{Action, Amo};
use crate::error::Error;
use std::ffi::{c_int, c_void};
use std::ptr::{NonNull, null, null_mut};

/// Memory of another process, accessible with a key through one endpoint.
#[derive(Clone, Copy, Debug)]
pub struct Remote {
    pub(super) endpoint: Handle,
    pub(super) key: Handle,
    pub(super) base: u64,
    pub(super) bytes: u64,
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
    /// The memory of the process behind `endpoint` that a key is for.
    ///
    /// # Errors
    /// If UCX does not recognise the key.
    pub fn remote(
        &self,
        endpoint: &Endpoint,
        base: u64,
        bytes: u64,
        packed: &[u8],
    ) -> Result<Remote, Error> {
        let mut key = null_mut();
        let endpoint = endpoint.handle;
        // SAFETY: an endpoint, a key from an agent of this job, and a pointer to a local.
        let status = unsafe {
            (self.ucx.ucp_ep_rkey_unpack)(endpoint, packed.as_ptr().cast(), &raw mut key)
        };
        self.check("ucp_ep_rkey_unpack", status)?;
        Ok(Remote { endpoint, key, base, bytes })
    }

    /// Releases a key. No operation uses it any more.
    pub fn forget(&self, remote: Remote) {
        // SAFETY: a key of this worker; the caller guarantees that it is released once.
        unsafe { (self.ucx.ucp_rkey_destroy)(remote.key) }
    }

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

    /// Copies from another process. The data has arrived when the request is over.
    ///
    /// # Safety
    /// `to` is writable for `bytes` bytes until the request is over.
    pub unsafe fn get(
        &self,
        to: *mut u8,
        from: Remote,
        offset: u64,
        bytes: usize,
    ) -> Result<Option<Request>, Error> {
        let at = from.at(offset, bytes)?;
        let param = plain();
        // SAFETY: UCX writes `bytes` bytes at `to`; the caller guarantees that they are writable
        // until the request is over. The rest as for `put`.
        let answer = unsafe {
            (self.ucx.ucp_get_nbx)(from.endpoint, to.cast(), bytes, at, from.key, &raw const param)
        };
        self.issued("ucp_get_nbx", answer)
    }

    /// Carries out an atomic operation in another process; `result` receives the old value.
    ///
    /// # Safety
    /// `result` is valid until the request is over.
    pub unsafe fn fetch(
        &self,
        to: Remote,
        offset: u64,
        amo: Amo,
        result: *mut u64,
    ) -> Result<Option<Request>, Error> {
        let at = to.at(offset, amo.bytes)?;
        let (operation, operand) = match amo.action {
            Action::Add => (ucx::ATOMIC_ADD, amo.operand),
            Action::And => (ucx::ATOMIC_AND, amo.operand),
            Action::Or => (ucx::ATOMIC_OR, amo.operand),
            Action::Xor => (ucx::ATOMIC_XOR, amo.operand),
            Action::Swap => (ucx::ATOMIC_SWAP, amo.operand),
            // UCX reads the value to write from the reply buffer.
            Action::CompareSwap(condition) => {
                // SAFETY: the caller guarantees that `result` is valid, and UCX does not have it
                // yet.
                unsafe { result.write(amo.operand) };
                (ucx::ATOMIC_CSWAP, condition)
            }
        };
        let mut param = plain();
        param.op_attr_mask = ucx::OP_DATATYPE | ucx::OP_REPLY_BUFFER;
        param.datatype = ucx::contiguous(amo.bytes);
        param.reply_buffer = result.cast();
        // SAFETY: the reply buffer is `result`; the caller guarantees that it is valid until the
        // request is over.
        unsafe { self.atomic(to, at, operation, operand, &param) }
    }

    /// # Safety
    /// The reply buffer, if there is one, is valid until the request is over.
    unsafe fn atomic(
        &self,
        to: Remote,
        at: u64,
        operation: c_int,
        operand: u64,
        param: &ucx::RequestParam,
    ) -> Result<Option<Request>, Error> {
        // SAFETY: UCX reads the operand before the call returns, and writes only to the reply
        // buffer; the caller guarantees that it is valid until the request is over.
        let answer = unsafe {
            let operand = (&raw const operand).cast();
            (self.ucx.ucp_atomic_op_nbx)(to.endpoint, operation, operand, 1, at, to.key, param)
        };
        self.issued("ucp_atomic_op_nbx", answer)
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

    /// Sends the messages that store many bytes, which are not answered. The source may be reused when
    /// the requests are over, those of messages that were sent before an error among them.
    ///
    /// # Safety
    /// All parts are readable from `from` on, and the heads stay where they are, until all messages
    /// have been sent.
    pub unsafe fn send_parts(
        &self,
        to: Handle,
        parts: &Parts,
        from: *const u8,
        requests: &mut Vec<Request>,
    ) -> Result<(), Error> {
        for (head, part) in parts.iter() {
            let bytes = from.wrapping_add(part.start);
            // SAFETY: the caller guarantees that both stay until the message has been sent.
            let sent = unsafe { self.message(to, messages::STORES, head, bytes, part.len()) };
            requests.extend(sent?);
        }
        Ok(())
    }

    /// Sends a message that asks for bytes.
    ///
    /// # Safety
    /// The message stays where it is until the request is over. Until the bytes have come, they may be
    /// written where the message says.
    pub unsafe fn send_get(
        &self,
        of: Remote,
        wish: &[u8; messages::GET],
    ) -> Result<Option<Request>, Error> {
        // SAFETY: the caller guarantees that the message stays.
        unsafe { self.message(of.endpoint, messages::GETS, &[], wish.as_ptr(), wish.len()) }
    }

    /// Sends a message to a handler of another PE.
    ///
    /// # Safety
    /// The message stays where it is until the request is over. The connection exists.
    pub unsafe fn send_to(
        &self,
        to: Handle,
        handler: Handler,
        message: &[u8],
    ) -> Result<Option<Request>, Error> {
        // SAFETY: the caller guarantees that the message stays.
        unsafe { self.message(to, handler, &[], message.as_ptr(), message.len()) }
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
        let param = ucx::RequestParam { op_attr_mask: ucx::OP_FLAGS, flags, ..plain() };
        let (header, length) = (head.as_ptr().cast(), head.len());
        // SAFETY: UCX reads both; the caller guarantees that they stay until the request is over.
        let answer = unsafe {
            let send = self.ucx.ucp_am_send_nbx;
            send(to, id, header, length, from.cast(), bytes, &raw const param)
        };
        self.issued("ucp_am_send_nbx", answer)
    }

    /// Asks for an answer, which comes after all operations before, and all messages, have taken
    /// effect.
    pub fn ask(&mut self, of: Remote) -> Result<Option<Request>, Error> {
        let to = self.scrap().cast();
        // SAFETY: the scrap is valid as long as the worker, and its value means nothing.
        unsafe { self.get(to, of, 0, size_of::<u64>()) }
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
    /// The address, in the other process, of `bytes` bytes of this memory. An error if not all are
    /// in it.
    pub fn at(self, offset: u64, bytes: usize) -> Result<u64, Error> {
        match self.bytes.checked_sub(offset) {
            Some(room) if bytes as u64 <= room => Ok(self.base + offset),
            _ => Err(Error::Engine(format!(
                "{bytes} bytes at {offset:#x} of a segment of {:#x} bytes",
                self.bytes
            ))),
        }
    }
}

/// The parameters of an operation without special options.
fn plain() -> ucx::RequestParam {
    ucx::RequestParam {
        op_attr_mask: 0,
        flags: 0,
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
