//! The worker of a process, as safe code uses it. What UCX reads of a message belongs to UCX's request until
//! the message has been sent, and what has come is handed to a receiver. So nobody else keeps, cancels or
//! frees anything.
#![allow(unsafe_code)]

use super::bindings::{self as ucx, RecvParam, Request, Status};
use super::message::{Batch, HEAD, Handler, Message, Received, unpack};
use super::raw::{ConnectionState, Endpoint, RawWorker};
use crate::atomics::{Ordering, fence};
use crate::engine::admission::Guard;
use crate::error::Error;
use crate::message;
use crate::remote::network::Route;
use onenode_core::sys::process;
use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::fmt;
use std::net::TcpStream;
use std::ops::{Deref, Range};
use std::ptr::null_mut;
use std::slice;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A UCX worker with its receiver and its outboxes.
pub struct Worker<R: 'static> {
    raw: RawWorker,
    receiver: &'static R,
    /// One for each connection.
    outboxes: RefCell<Vec<Outbox>>,
    /// When the last message was sent that was one of a burst.
    last_of_burst: Cell<Instant>,
    /// Over RDMA, the connections over which others have admitted this process. They last as long as it does.
    handshakes: Option<RefCell<Vec<TcpStream>>>,
}

// SAFETY: any thread may use the worker, one at a time. The only other copies of its handle are with what UCX
// calls in the thread that makes progress. So it is with the receiver, which `open` was given and nobody else
// has.
unsafe impl<R: Send> Send for Worker<R> {}

impl<R> Deref for Worker<R> {
    type Target = RawWorker;

    fn deref(&self) -> &RawWorker {
        &self.raw
    }
}

/// A connection that a worker has made.
#[derive(Clone, Copy, Debug)]
pub struct Connection {
    endpoint: Endpoint,
    /// The index of its outbox.
    outbox: usize,
}

impl Connection {
    /// The error with which it failed, if it has.
    pub fn failure(self) -> Option<Status> {
        self.endpoint.failure()
    }

    /// As [`Endpoint::sent`].
    pub fn sent(self) -> u64 {
        self.endpoint.sent()
    }
}

/// When a message leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendTiming {
    /// Leaves now, together with the messages that wait.
    AtOnce,
    /// Leaves now, unless it belongs to a burst: then it waits for others until the batch is full, until it
    /// has waited for [`AGE`], or until [`Worker::send_waiting`] is called.
    InBurst,
    /// Leaves with the next message, which follows at once.
    WithNext,
    /// Leaves with the question of the quiet that probably follows; otherwise waits as one of a burst.
    WithQuiet,
}

/// A message that is sent so soon after the last one over the same connection may belong to a burst.
const GAP: Duration = Duration::from_micros(20);
/// The first messages of a burst, this many, leave at once: they may be all of it, as data, a flag and a count.
const ALONE: u32 = 4;
/// How long a message waits at most while the burst goes on.
const AGE: Duration = Duration::from_micros(50);

/// Messages over a connection that wait for others of their burst.
struct Outbox {
    to: Endpoint,
    handler: Handler,
    batch: Batch,
    /// When the first of them was sent.
    oldest: Instant,
    /// When the last message was sent, and how many in a row.
    last: Instant,
    row: u32,
    /// Batches that have left.
    unsent: Unsent,
}

impl Outbox {
    /// Notes that a message is sent; returns whether it leaves now.
    fn note(&mut self, timing: SendTiming, now: impl FnOnce() -> Instant) -> bool {
        if matches!(timing, SendTiming::AtOnce | SendTiming::WithNext) {
            // Another burst begins.
            self.row = 0;
            return timing == SendTiming::AtOnce;
        }
        let now = now();
        self.row = if now - self.last < GAP { self.row + 1 } else { 0 };
        self.last = now;
        if self.batch.is_empty() {
            self.oldest = now;
        }
        timing == SendTiming::InBurst && (self.row < ALONE || now - self.oldest >= AGE)
    }
}

impl<R: Receiver> Worker<R> {
    /// As [`RawWorker::open`].
    ///
    /// # Errors
    /// As there.
    pub fn open(route: &Route, receiver: R) -> Result<(Self, Guard), Error> {
        let (raw, guard) = RawWorker::open(route)?;
        // For the life of the process, as the worker.
        let receiver = Box::leak(Box::new(receiver));
        raw.listen(receiver)?;
        let (outboxes, last_of_burst) = (RefCell::default(), Instant::now().into());
        let handshakes = route.port.as_ref().map(|_| RefCell::default());
        Ok((Self { raw, receiver, outboxes, last_of_burst, handshakes }, guard))
    }

    /// The receiver of the messages that arrive.
    pub fn receiver(&self) -> &R {
        self.receiver
    }
}

impl<R> Worker<R> {
    /// Connects to the worker with this address, to send messages for this handler. The connection is
    /// established when it is first used.
    ///
    /// # Errors
    /// If the address is invalid, or cannot be reached from here.
    pub fn connect(&self, address: &[u8], handler: Handler) -> Result<Connection, Error> {
        let endpoint = self.raw.connect(address)?;
        let (batch, now) = (Batch::default(), Instant::now());
        let (to, oldest, last, unsent) = (endpoint, now, now, Unsent::default());
        let mut outboxes = self.outboxes.borrow_mut();
        outboxes.push(Outbox { to, handler, batch, oldest, last, row: 0, unsent });
        Ok(Connection { endpoint, outbox: outboxes.len() - 1 })
    }

    /// Closes a handshake's connection over TCP. Over RDMA it stays open: by it, the process that has admitted
    /// this one sees that this one is still there.
    pub fn keep(&self, handshake: TcpStream) {
        if let Some(handshakes) = &self.handshakes {
            handshakes.borrow_mut().push(handshake);
        }
    }

    /// Sends a message over a connection that this worker has made, after all that were sent over it before.
    ///
    /// # Errors
    /// If UCX refuses it.
    pub fn send<F: FnOnce(&mut [u8])>(
        &self,
        to: Connection,
        message: Message<F>,
        timing: SendTiming,
    ) -> Result<(), Error> {
        let outbox = &mut self.outboxes.borrow_mut()[to.outbox];
        if outbox.batch.is_full_for(&message) {
            self.raw.flush(outbox)?;
        }
        let leaves = outbox.note(timing, || {
            self.last_of_burst.set(Instant::now());
            self.last_of_burst.get()
        });
        outbox.batch.add(message);
        if leaves { self.raw.flush(outbox) } else { Ok(()) }
    }

    /// How long ago the last message was sent that was one of a burst.
    pub fn since_last_of_burst(&self) -> Duration {
        self.last_of_burst.get().elapsed()
    }

    /// Whether UCX has sent all short messages over a connection that have left.
    pub fn has_sent(&self, to: Connection) -> bool {
        self.outboxes.borrow()[to.outbox].unsent.is_empty()
    }

    /// Sends the messages that wait.
    ///
    /// # Errors
    /// If UCX refuses one.
    pub fn send_waiting(&self) -> Result<(), Error> {
        self.outboxes.borrow_mut().iter_mut().try_for_each(|outbox| {
            outbox.row = 0;
            self.raw.flush(outbox)
        })
    }

    /// Sends parts of these bytes as messages.
    ///
    /// # Errors
    /// If UCX refuses one. Those before it are on their way.
    pub fn send_parts<K: Clone + Send + 'static>(
        &self,
        to: Connection,
        parts: impl Iterator<Item = ([u8; HEAD], Range<usize>)>,
        bytes: &SendBuffer<K>,
    ) -> Result<(), Error> {
        let outbox = &mut self.outboxes.borrow_mut()[to.outbox];
        self.raw.flush(outbox)?;
        self.raw.send_parts(to.endpoint, outbox.handler, parts, bytes)
    }
}

/// Bytes that are sent from where they are. Each message with a part of them keeps a clone of `K` until it has
/// been sent.
pub struct SendBuffer<K> {
    from: *const u8,
    bytes: usize,
    kept: K,
}

impl<K> SendBuffer<K> {
    /// The `bytes` bytes from `from` on.
    ///
    /// # Safety
    /// The bytes are readable until all messages with parts of them have been sent, or at least while a clone
    /// of `kept` exists.
    pub unsafe fn new(from: *const u8, bytes: usize, kept: K) -> Self {
        Self { from, bytes, kept }
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

/// Data owned by UCX's request for a message.
struct Owned<K> {
    release: extern "C" fn(Request),
    fate: Option<&'static ConnectionState>,
    head: [u8; HEAD],
    kept: K,
}

/// Ends the request for a message that has been sent, or cannot be. UCX calls this once for a request, and
/// reads nothing of the message any more.
extern "C" fn sent<K>(request: Request, status: Status, owned: Box<Owned<K>>) {
    owned.fate.inspect(|fate| fate.note_sent(status));
    (owned.release)(request);
}

impl RawWorker {
    /// Sends messages: one with its `head`, or else a batch, which `asks` or not. They are the `bytes` bytes
    /// from `from` on. UCX owns `kept` until they have been sent; returns it if they have.
    ///
    /// # Safety
    /// The bytes are readable until the message has been sent; it is enough that they are as long as `kept`
    /// is not dropped.
    unsafe fn post<K: Send + 'static>(
        &self,
        Endpoint { handle, fate }: Endpoint,
        (handler, asks): (Handler, bool),
        head: Option<[u8; HEAD]>,
        (from, bytes): (*const u8, usize),
        kept: K,
    ) -> Result<Option<K>, Error> {
        let release = self.ucx.ucp_request_free;
        let (length, head) = (head.map_or(0, |_| HEAD), head.unwrap_or_default());
        let owned = Box::into_raw(Box::new(Owned { release, fate, head, kept }));
        let param = ucx::RequestParam {
            op_attr_mask: ucx::OP_FLAGS | ucx::OP_CALLBACK | ucx::OP_USER_DATA,
            flags: ucx::AM_EAGER | if asks { ucx::AM_REPLY } else { 0 },
            request: null_mut(),
            callback: sent::<K>,
            datatype: 0,
            user_data: owned,
            reply_buffer: null_mut(),
            memory_type: 0,
            recv_info: null_mut(),
            memh: null_mut(),
        };
        // SAFETY: the endpoint exists, and this thread has the worker. UCX reads the head, which stays in
        // the box, and the bytes, which the caller guarantees. It hands the box to `sent`, if it calls that.
        let answer = unsafe {
            let head = (&raw const (*owned).head).cast();
            let send = self.ucx.ucp_am_send_nbx;
            send(handle, handler.id, head, length, from.cast(), bytes, (&raw const param).cast())
        };
        match answer.addr() as isize {
            status @ ucx::LAST_ERROR..=0 => {
                // SAFETY: UCX has sent or refused the message at once: it does not call `sent`.
                let owned = unsafe { Box::from_raw(owned) };
                self.check("ucp_am_send_nbx", status as Status).map(|()| Some(owned.kept))
            }
            _ => Ok(None),
        }
    }

    /// Sends a batch, and empties it. `unsent` is dropped when it has been sent.
    ///
    /// # Errors
    /// If UCX refuses it.
    fn send_batch(
        &self,
        to: Endpoint,
        handler: Handler,
        batch: &mut Batch,
        unsent: Option<Unsent>,
    ) -> Result<(), Error> {
        let leaving = std::mem::take(batch);
        let place = (leaving.bytes().as_ptr(), leaving.bytes().len());
        let with = (handler, leaving.asks());
        // SAFETY: the batch's bytes stay where they are, and unchanged, until it is dropped with the rest.
        let sent = unsafe { self.post(to, with, None, place, (leaving, unsent)) }?;
        if let Some((mut left, _)) = sent {
            left.clear();
            *batch = left;
        }
        Ok(())
    }

    /// Sends what waits in an outbox.
    fn flush(&self, outbox: &mut Outbox) -> Result<(), Error> {
        if outbox.batch.is_empty() {
            return Ok(());
        }
        let Outbox { to, handler, batch, unsent, .. } = outbox;
        self.send_batch(*to, *handler, batch, Some(unsent.clone()))
    }

    /// Sends parts of these bytes as messages.
    ///
    /// # Errors
    /// If UCX refuses one. Those before it are on their way.
    fn send_parts<K: Clone + Send + 'static>(
        &self,
        to: Endpoint,
        handler: Handler,
        parts: impl Iterator<Item = ([u8; HEAD], Range<usize>)>,
        SendBuffer { from, bytes, kept }: &SendBuffer<K>,
    ) -> Result<(), Error> {
        for (head, part) in parts {
            assert!(part.start <= part.end && part.end <= *bytes, "a part of {bytes} bytes");
            let place = (from.wrapping_add(part.start), part.len());
            // SAFETY: a part of the bytes, which `SendBuffer::new` was told are readable as long as the clone exists.
            unsafe { self.post(to, (handler, false), Some(head), place, kept.clone()) }?;
        }
        Ok(())
    }
}

/// Takes in the messages that come to a worker.
pub trait Receiver: Sized + 'static {
    /// Their handlers.
    const HANDLERS: &'static [Handler];

    /// Takes in a message while the worker makes progress. There is a sender if it expects an answer. Returns
    /// false if no process of the job sends this.
    fn receive(
        &self,
        handler: Handler,
        head: [u64; 2],
        rest: &[u8],
        sender: Option<&Sender<'_>>,
    ) -> bool;

    /// Ends this process because another one sends what no process of the job should.
    fn refuse(&self, why: fmt::Arguments<'_>) -> ! {
        refuse(why)
    }
}

/// Says why and ends this process, which is no PE.
pub(super) fn refuse(why: fmt::Arguments<'_>) -> ! {
    message::say(why);
    process::exit_now(1)
}

/// Who has sent messages that are being taken in.
pub struct Sender<'m> {
    worker: &'m RawWorker,
    endpoint: Endpoint,
    /// Answers, which leave together, and their handler.
    answers: RefCell<(Batch, Option<Handler>)>,
}

impl Sender<'_> {
    /// Answers with a message, which leaves with other answers when the messages that have come with the
    /// question are taken in. If that fails, the connection is lost, and the sender reports it.
    pub fn answer<F: FnOnce(&mut [u8])>(&self, handler: Handler, message: Message<F>) {
        if self.answers.borrow().0.is_full_for(&message) {
            self.flush();
        }
        let (batch, of) = &mut *self.answers.borrow_mut();
        *of = Some(handler);
        batch.add(message);
    }

    fn flush(&self) {
        let (batch, handler) = &mut *self.answers.borrow_mut();
        if let Some(handler) = handler.take() {
            let _ = self.worker.send_batch(self.endpoint, handler, batch, None);
        }
    }

    /// Answers with parts of these bytes.
    pub fn answer_parts<K: Clone + Send + 'static>(
        &self,
        handler: Handler,
        parts: impl Iterator<Item = ([u8; HEAD], Range<usize>)>,
        bytes: &SendBuffer<K>,
    ) {
        let _ = self.worker.send_parts(self.endpoint, handler, parts, bytes);
    }
}

/// The argument that UCX passes with each message for a handler.
struct Handling<R: 'static> {
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
                Box::leak(Box::new(Handling { worker: self.alias(), receiver, handler: *handler }));
            let param = ucx::HandlerParam {
                field_mask: ucx::HANDLER_ID | ucx::HANDLER_CALLBACK | ucx::HANDLER_ARG,
                id: handler.id,
                flags: 0,
                callback: received::<R>,
                arg: route,
            };
            let set_handler = self.ucx.ucp_worker_set_am_recv_handler;
            // SAFETY: the structure is as in UCX's header. `received` gets its route, which stays.
            let status = unsafe { set_handler(self.worker, (&raw const param).cast()) };
            self.check("ucp_worker_set_am_recv_handler", status)?;
        }
        Ok(())
    }
}

/// Takes in a message. UCX calls this while the worker makes progress.
///
/// # Safety
/// `header` and `data` are readable for as many bytes as their lengths say, and
/// do not change.
unsafe extern "C" fn received<R: Receiver>(
    route: &'static Handling<R>,
    header: *const c_void,
    header_length: usize,
    data: *mut c_void,
    length: usize,
    param: &RecvParam,
) -> Status {
    let bytes = |at: *const c_void, length| match length {
        0 => &[][..],
        // SAFETY: UCX guarantees the bytes until this returns.
        _ => unsafe { slice::from_raw_parts(at.cast::<u8>(), length) },
    };
    let sender = (param.recv_attr & ucx::RECV_REPLY_EP != 0).then(|| Sender {
        worker: &route.worker,
        endpoint: Endpoint { handle: param.reply_ep, fate: None },
        answers: RefCell::default(),
    });
    let take = |Received { head, rest, asks }: Received<'_>| {
        let sender = sender.as_ref().filter(|_| asks);
        sender.is_some() == asks && route.receiver.receive(route.handler, head, rest, sender)
    };
    for message in unpack(bytes(header, header_length), bytes(data, length)) {
        if !message.is_some_and(take) {
            // Only processes of this job can send, so one of them is broken.
            route.receiver.refuse(format_args!(
                "{} of {length} bytes from another node is malformed, or not about what this process has",
                route.handler.name
            ));
        }
    }
    sender.inspect(Sender::flush);
    0
}

#[cfg(test)]
mod tests;
