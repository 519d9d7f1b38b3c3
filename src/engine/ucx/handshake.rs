//! How a direct connection opens: the PE that connects says hello, and the other one answers over the
//! same connection. Then it is complete at both ends. UCX aborts a process whose partner ends while
//! they connect, so nobody uses a connection before it is answered, or ends.
#![allow(unsafe_code)]

use super::bindings::{Handle, RecvParam, Status};
use super::message::Message;
use super::messages::{HEAD, HELLO, WELCOME, word};
use super::operations::Request;
use super::worker::Worker;
use crate::error::Error;
use crate::failure;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::c_void;
use std::slice;

/// The handshakes that have come to this PE.
#[derive(Default)]
pub struct Handshakes {
    /// Connections of others, to be answered, with the numbers that their PEs have given them.
    hellos: RefCell<Vec<(Handle, u64)>>,
    /// Answers that are on their way.
    answers: RefCell<Vec<(Option<Request>, Box<Message>)>>,
    /// The numbers of this PE's connections that have been answered.
    welcomes: RefCell<BTreeSet<u64>>,
}

// SAFETY: one thread at a time uses the worker, and with it the handshakes and the connections.
unsafe impl Send for Handshakes {}

impl Handshakes {
    /// Whether the connection with this number has been answered.
    pub fn have_welcomed(&self, number: u64) -> bool {
        self.welcomes.borrow().contains(&number)
    }

    /// Answers the connections that have come. To be called after the worker has made progress.
    pub fn answer(&self, worker: &Worker) {
        self.answers.borrow_mut().retain_mut(|(request, _)| {
            *request = request.take().and_then(|open| worker.outcome(open).ok().flatten());
            request.is_some()
        });
        for (to, number) in self.hellos.take() {
            let mut message = handshake();
            let bytes = message.numbered(number);
            // SAFETY: the message stays in its box until the request is over. The connection exists: the
            // worker has not made progress since the hello came.
            let sent = unsafe { worker.send_to(to, WELCOME, bytes.as_ptr(), bytes.len()) };
            // If it fails, so has the connection, which the other side notices.
            self.answers.borrow_mut().push((sent.ok().flatten(), message));
        }
    }
}

/// A hello or an answer, to be completed by the number of the connection.
pub fn handshake() -> Box<Message> {
    Box::new(Message::words(0, &[]))
}

impl Worker {
    /// Takes in handshakes from now on.
    ///
    /// # Errors
    /// If UCX refuses the handlers.
    ///
    /// # Safety
    /// The handshakes stay where they are as long as the worker exists. Only the thread that uses the
    /// worker uses them.
    pub unsafe fn accept_handshakes(&self, handshakes: &Handshakes) -> Result<(), Error> {
        let handshakes = (&raw const *handshakes).cast_mut().cast();
        // SAFETY: the caller guarantees what the handlers require of their argument.
        unsafe {
            self.accept(HELLO, hello, handshakes)?;
            self.accept(WELCOME, welcome, handshakes)
        }
    }
}

/// Takes in a hello. UCX calls this.
///
/// # Safety
/// `arg` is [`Handshakes`]. `data` is readable for `length` bytes. `param` names the sender.
unsafe extern "C" fn hello(
    arg: *mut c_void,
    _header: *const c_void,
    _header_length: usize,
    data: *mut c_void,
    length: usize,
    param: *const RecvParam,
) -> Status {
    // SAFETY: the caller guarantees all three.
    let (handshakes, number, from) =
        unsafe { (&*arg.cast::<Handshakes>(), number(data, length), (*param).reply_ep) };
    handshakes.hellos.borrow_mut().push((from, number));
    0
}

/// Takes in an answer. UCX calls this.
///
/// # Safety
/// As for [`hello`], without the sender.
unsafe extern "C" fn welcome(
    arg: *mut c_void,
    _header: *const c_void,
    _header_length: usize,
    data: *mut c_void,
    length: usize,
    _param: *const RecvParam,
) -> Status {
    // SAFETY: the caller guarantees both.
    let (handshakes, number) = unsafe { (&*arg.cast::<Handshakes>(), number(data, length)) };
    handshakes.welcomes.borrow_mut().insert(number);
    0
}

/// The number in a handshake.
///
/// # Safety
/// `data` is readable for `length` bytes.
unsafe fn number(data: *mut c_void, length: usize) -> u64 {
    // SAFETY: the caller guarantees it. Nothing else uses the data meanwhile.
    let data = unsafe { slice::from_raw_parts(data.cast::<u8>(), length) };
    if length != HEAD {
        failure::fatal(format_args!("a malformed handshake of {length} bytes from another node"));
    }
    word(&data[..8])
}
