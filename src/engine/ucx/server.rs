//! The worker of an agent: carries out messages, and answers questions. Many bytes are sent from where
//! they are.
#![allow(unsafe_code)]

use super::bindings::{Handle, RecvParam, Status};
use super::message::Message;
use super::messages::{self, Parts};
use super::operations::Request;
use super::question::{Question, exchange};
use super::worker::Worker;
use crate::error::Error;
use crate::failure;
use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::slice;

/// A worker that others send messages to.
pub struct Server {
    /// The worker.
    pub worker: Worker,
    /// Answers that are on their way.
    answers: RefCell<Vec<(Vec<Request>, Kept)>>,
    /// An answer that has been sent, to be used again.
    spare: Cell<Option<Box<Message>>>,
}

/// What UCX reads until an answer has been sent.
enum Kept {
    /// The heads of many bytes.
    Parts(#[allow(dead_code)] Parts),
    /// A whole answer.
    Message(#[allow(dead_code)] Box<Message>),
}

impl Server {
    /// Loads UCX and creates a worker. The server stays where it is: UCX keeps a pointer to it.
    ///
    /// # Errors
    /// As for [`Worker::open`].
    pub fn open() -> Result<Box<Self>, Error> {
        let (worker, answers) = (Worker::open()?, RefCell::default());
        let server = Box::new(Self { worker, answers, spare: Cell::default() });
        server.worker.accept_stores()?;
        let this = (&raw const *server).cast_mut().cast();
        // SAFETY: UCX calls `answer` as long as the worker exists, which the server owns.
        unsafe { server.worker.accept(messages::QUESTIONS, answer, this) }?;
        Ok(server)
    }

    /// Answers with few bytes of this process.
    ///
    /// # Safety
    /// As for [`Message::load`].
    unsafe fn reply(&self, to: Handle, number: u64, from: *const u8, bytes: usize) {
        let mut answer = self.spare.take().unwrap_or_else(|| Box::new(Message::answer()));
        // SAFETY: as for this function.
        unsafe { answer.load(from, bytes) };
        let bytes = answer.to(number);
        // SAFETY: the message stays in its box until the request is over. UCX guarantees that the sender
        // can be answered.
        let sent =
            unsafe { self.worker.send_to(to, messages::ANSWERS, bytes.as_ptr(), bytes.len()) };
        // If there is an error, the connection to the sender is lost, and the sender reports it.
        match sent {
            Ok(Some(request)) => {
                self.answers.borrow_mut().push((vec![request], Kept::Message(answer)));
            }
            _ => self.spare.set(Some(answer)),
        }
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

/// Answers a question. UCX calls this.
///
/// # Safety
/// `arg` is a [`Server`]. `data` is readable for `length` bytes. They are a [`Question`] about memory
/// that this agent has mapped, which others access only by atomics and raw copies. `param` names the
/// sender.
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
    let Some((number, address, question)) = Question::decode(data) else {
        failure::fatal(format_args!("a malformed question of {length} bytes from another node"));
    };
    let (to, from) = (param.reply_ep, address as usize as *const u8);
    match question {
        Question::Load(bytes) if bytes > messages::MOST => {
            let parts = Parts::answer(number, bytes);
            let mut requests = Vec::new();
            // If there is an error, the connection to the sender is lost, and the sender reports it.
            // SAFETY: the sender has checked that the bytes are in memory that this agent has mapped,
            // which stays until the sender has got them. The heads stay with the answer.
            let _ = unsafe {
                server.worker.send_parts(to, messages::ANSWERS, &parts, from, &mut requests)
            };
            server.answers.borrow_mut().push((requests, Kept::Parts(parts)));
        }
        Question::Load(bytes) => {
            // SAFETY: the sender has checked that the bytes are in memory that this agent has mapped.
            unsafe { server.reply(to, number, from, bytes) };
        }
        Question::Change(amo) => {
            // SAFETY: as above. The word is aligned by the check in `decode`.
            let old = unsafe { exchange(address, amo) }.to_le_bytes();
            // SAFETY: a local with at least as many bytes.
            unsafe { server.reply(to, number, old.as_ptr(), amo.bytes) };
        }
    }
    0
}
