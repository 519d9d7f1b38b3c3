//! The worker of a process, as safe code uses it. What UCX reads of a message belongs to UCX's request until
//! the message has been sent, and what has come is handed to a receiver. So nobody else keeps, cancels or
//! frees anything.
#![allow(unsafe_code)]

use super::bindings::{self as ucx, RecvParam, Status};
use super::message::{HEAD, Handler, split};
use super::raw::{Endpoint, RawWorker};
use crate::atomics::{AtomicI32, Ordering, fence};
use crate::engine::admission::Guard;
use crate::error::Error;
use crate::failure;
use std::ffi::c_void;
use std::ops::{Deref, Range};
use std::ptr::null_mut;
use std::slice;
use std::sync::Arc;

/// A worker, and who takes in what comes to it.
pub struct Worker<R: 'static> {
    raw: RawWorker,
    receiver: &'static R,
}

// SAFETY: any thread may use the worker, one at a time. So it is with the receiver, which `open` was given
// and nobody else has.
unsafe impl<R: Send> Send for Worker<R> {}

impl<R> Deref for Worker<R> {
    type Target = RawWorker;

    fn deref(&self) -> &RawWorker {
        &self.raw
    }
}

impl<R: Receiver> Worker<R> {
    /// As [`RawWorker::open`].
    ///
    /// # Errors
    /// As there.
    pub fn open(device: &str, receiver: R) -> Result<(Self, Guard), Error> {
        let (raw, guard) = RawWorker::open(device)?;
        // For the life of the process, as the worker.
        let receiver = Box::leak(Box::new(receiver));
        raw.listen(receiver)?;
        Ok((Self { raw, receiver }, guard))
    }

    /// Who takes in what comes.
    pub fn receiver(&self) -> &R {
        self.receiver
    }
}

/// Messages, each of which holds a clone until it has been sent.
#[derive(Clone, Default)]
pub struct Unsent(Arc<()>);

impl Unsent {
    /// Whether all have been sent: what they were sent from may be written again.
    pub fn is_empty(&self) -> bool {
        let is_empty = Arc::strong_count(&self.0) == 1;
        // After what UCX has read, in whichever thread: it drops a clone with release.
        fence(Ordering::Acquire);
        is_empty
    }
}

/// What UCX's request for a message owns.
struct Owned<K> {
    release: unsafe extern "C" fn(*mut c_void),
    broken: Option<&'static AtomicI32>,
    head: [u8; HEAD],
    _kept: K,
}

/// Ends the request for a message that has been sent, or cannot be. UCX calls this.
///
/// # Safety
/// `owned` is the box that [`RawWorker::post`] has handed over with this request.
unsafe extern "C" fn sent<K>(request: *mut c_void, status: Status, owned: *mut c_void) {
    // SAFETY: UCX calls this once for the request, and reads nothing of the message any more.
    let owned = unsafe { Box::from_raw(owned.cast::<Owned<K>>()) };
    if let (true, Some(broken)) = (status < 0, owned.broken) {
        broken.store(status.into(), Ordering::Relaxed);
    }
    // SAFETY: the request that UCX has just completed, which nobody else knows.
    unsafe { (owned.release)(request) }
}

impl RawWorker {
    /// Sends a message: `head` if there is one, and `bytes` bytes from `from` on. UCX owns `kept` until the
    /// message has been sent.
    ///
    /// # Safety
    /// The bytes are readable until the message has been sent; it is enough that they are as long as `kept`
    /// is not dropped.
    unsafe fn post<K: Send + 'static>(
        &self,
        Endpoint { handle, broken }: Endpoint,
        handler: Handler,
        head: Option<[u8; HEAD]>,
        (from, bytes): (*const u8, usize),
        kept: K,
    ) -> Result<(), Error> {
        let release = self.ucx.ucp_request_free;
        let (length, head) = (head.map_or(0, |_| HEAD), head.unwrap_or_default());
        let owned = Box::into_raw(Box::new(Owned { release, broken, head, _kept: kept }));
        let param = ucx::RequestParam {
            op_attr_mask: ucx::OP_FLAGS | ucx::OP_CALLBACK | ucx::OP_USER_DATA,
            flags: handler.flags,
            request: null_mut(),
            callback: sent::<K>,
            datatype: 0,
            user_data: owned.cast(),
            reply_buffer: null_mut(),
            memory_type: 0,
            recv_info: null_mut(),
            memh: null_mut(),
        };
        // SAFETY: the endpoint exists, and this thread has the worker. UCX reads the head, which stays in
        // the box, and the bytes, which the caller guarantees.
        let answer = unsafe {
            let head = (&raw const (*owned).head).cast();
            let send = self.ucx.ucp_am_send_nbx;
            send(handle, handler.id, head, length, from.cast(), bytes, &raw const param)
        };
        match answer.addr() as isize {
            status @ ucx::LAST_ERROR..=0 => {
                // SAFETY: UCX has sent or refused the message at once: it does not call `sent`.
                drop(unsafe { Box::from_raw(owned) });
                self.check("ucp_am_send_nbx", status as Status)
            }
            _ => Ok(()),
        }
    }

    /// Sends a message. `kept` is dropped when it has been sent.
    ///
    /// # Errors
    /// If UCX refuses it.
    pub fn send<K: Send + 'static>(
        &self,
        to: Endpoint,
        handler: Handler,
        message: Vec<u8>,
        kept: K,
    ) -> Result<(), Error> {
        let place = (message.as_ptr(), message.len());
        // SAFETY: the vector stays where its bytes are, and unchanged, until it is dropped with the rest.
        unsafe { self.post(to, handler, None, place, (message, kept)) }
    }

    /// Sends many bytes as messages, from where they are. Each keeps a clone of `kept` until it has been sent.
    ///
    /// # Errors
    /// If UCX refuses one. Those before it are on their way.
    ///
    /// # Safety
    /// All parts are readable from `from` on until they have been sent; it is enough that they are as long as
    /// a clone of `kept` exists.
    pub unsafe fn send_parts<K: Clone + Send + 'static>(
        &self,
        to: Endpoint,
        handler: Handler,
        parts: impl Iterator<Item = ([u8; HEAD], Range<usize>)>,
        from: *const u8,
        kept: K,
    ) -> Result<(), Error> {
        for (head, part) in parts {
            let place = (from.wrapping_add(part.start), part.len());
            // SAFETY: one of the parts that the caller guarantees.
            unsafe { self.post(to, handler, Some(head), place, kept.clone()) }?;
        }
        Ok(())
    }
}

/// Takes in the messages that come to a worker.
pub trait Receiver: Sized + 'static {
    /// Their handlers.
    const HANDLERS: &'static [Handler];

    /// Takes in a message while the worker makes progress: its head, and what follows. There is a sender if
    /// it wants an answer. Returns false if no process of the job sends this.
    fn receive(
        &self,
        handler: Handler,
        head: [u64; 2],
        rest: &[u8],
        sender: Option<Sender<'_>>,
    ) -> bool;
}

/// Who has sent a message that is being taken in.
pub struct Sender<'m> {
    worker: &'m RawWorker,
    endpoint: Endpoint,
}

impl Sender<'_> {
    /// Answers with a message. If that fails, the connection is lost, and the sender reports it.
    pub fn answer(&self, handler: Handler, message: Vec<u8>) {
        let _ = self.worker.send(self.endpoint, handler, message, ());
    }

    /// Answers with many bytes, from where they are.
    ///
    /// # Safety
    /// All parts are readable from `from` on as long as a clone of `kept` exists.
    pub unsafe fn answer_parts<K: Clone + Send + 'static>(
        &self,
        handler: Handler,
        parts: impl Iterator<Item = ([u8; HEAD], Range<usize>)>,
        from: *const u8,
        kept: K,
    ) {
        // SAFETY: as for this function.
        let _ = unsafe { self.worker.send_parts(self.endpoint, handler, parts, from, kept) };
    }
}

/// What UCX passes with each message for a handler.
struct Route<R: 'static> {
    worker: RawWorker,
    receiver: &'static R,
    handler: Handler,
}

impl RawWorker {
    /// Passes the messages that come from now on to a receiver, which only the thread that has the worker
    /// uses.
    fn listen<R: Receiver>(&self, receiver: &'static R) -> Result<(), Error> {
        for handler in R::HANDLERS {
            // For the life of the process, as the worker.
            let route =
                Box::leak(Box::new(Route { worker: self.alias(), receiver, handler: *handler }));
            let param = ucx::HandlerParam {
                field_mask: ucx::HANDLER_ID | ucx::HANDLER_CALLBACK | ucx::HANDLER_ARG,
                id: handler.id,
                flags: 0,
                callback: received::<R>,
                arg: (&raw mut *route).cast(),
            };
            // SAFETY: the worker exists, and the structure is as in UCX's header. `received` gets its route,
            // which stays.
            let status =
                unsafe { (self.ucx.ucp_worker_set_am_recv_handler)(self.worker, &raw const param) };
            self.check("ucp_worker_set_am_recv_handler", status)?;
        }
        Ok(())
    }
}

/// Takes in a message. UCX calls this while the worker makes progress.
///
/// # Safety
/// `route` is a [`Route<R>`]. `header` and `data` are readable for as many bytes as their lengths say, and
/// do not change. `param` is UCX's.
unsafe extern "C" fn received<R: Receiver>(
    route: *mut c_void,
    header: *const c_void,
    header_length: usize,
    data: *mut c_void,
    length: usize,
    param: *const RecvParam,
) -> Status {
    // SAFETY: `listen` has passed this route, and UCX its parameters, until this returns.
    let (route, param) = unsafe { (&*route.cast::<Route<R>>(), &*param) };
    let bytes = |at: *const c_void, length| match length {
        0 => &[][..],
        // SAFETY: UCX guarantees the bytes until this returns.
        _ => unsafe { slice::from_raw_parts(at.cast::<u8>(), length) },
    };
    let sender = (param.recv_attr & ucx::RECV_REPLY_EP != 0).then_some(Sender {
        worker: &route.worker,
        endpoint: Endpoint { handle: param.reply_ep, broken: None },
    });
    let message = split(bytes(header, header_length), bytes(data, length));
    if !message
        .is_some_and(|(head, rest)| route.receiver.receive(route.handler, head, rest, sender))
    {
        // Only processes of this job can send, so one of them is broken.
        failure::fatal(format_args!(
            "{} of {length} bytes from another node is malformed, or not about what this process has",
            route.handler.name
        ));
    }
    0
}

#[cfg(test)]
mod tests;
