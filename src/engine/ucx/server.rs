//! The worker of an agent: carries out messages, and answers questions, about what it has mapped and
//! nothing else. Many bytes are sent from where they are.
#![allow(unsafe_code)]

use super::bindings::{Handle, RecvParam, Status};
use super::message::Message;
use super::messages::{self, Parts, Target};
use super::operations::Request;
use super::question::{Question, exchange};
use super::worker::Worker;
use crate::engine::admission;
use crate::engine::exports::Record;
use crate::engine::secret::Secret;
use crate::engine::served::{Mapped, Served};
use crate::error::Error;
use crate::failure;
use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::ops::Range;
use std::rc::Rc;
use std::slice;

/// A worker that others send messages to.
pub struct Server {
    /// The worker.
    pub worker: Worker,
    /// What it serves.
    pub served: RefCell<Served>,
    /// The abort word that another node has reported; 0 until then.
    pub end: Cell<u64>,
    /// Answers that are on their way.
    answers: RefCell<Vec<(Vec<Request>, Kept)>>,
    /// An answer that has been sent, to be used again.
    spare: Cell<Option<Box<Message>>>,
}

/// What UCX reads until an answer has been sent.
enum Kept {
    /// The heads of many bytes, and these.
    Parts(#[allow(dead_code)] (Parts, Option<Rc<Vec<Mapped>>>)),
    /// A whole answer.
    Message(#[allow(dead_code)] Box<Message>),
}

impl Server {
    /// Loads UCX, and serves those who know the job's secret, which may become known later. Returns the
    /// record by which they reach the server, too.
    ///
    /// # Errors
    /// As for [`Worker::open`], and if strangers cannot be kept out.
    pub fn open(
        near: Range<usize>,
        device: &str,
        secret: impl Fn() -> Option<Secret> + Send + 'static,
    ) -> Result<(Box<Self>, Record), Error> {
        let (worker, guard) = Worker::open(device)?;
        let (admission, access) = admission::Server::open(&guard)?;
        admission.start(secret)?;
        let record = Record { address: worker.address()?, access };
        let (served, answers) = (Served::none(near).into(), RefCell::default());
        // It stays where it is: UCX keeps a pointer to it.
        let server =
            Box::new(Self { worker, served, end: Cell::new(0), answers, spare: Cell::default() });
        let this = (&raw const *server).cast_mut().cast();
        // SAFETY: UCX calls both as long as the worker exists, which the server owns.
        unsafe {
            server.worker.accept(messages::STORES, carry_out, this)?;
            server.worker.accept(messages::QUESTIONS, answer, this)?;
        }
        Ok((server, record))
    }

    /// Answers with few bytes of this process.
    ///
    /// # Safety
    /// As for [`Message::load`].
    unsafe fn reply(&self, to: Handle, number: u64, from: *const u8, bytes: usize) {
        let mut answer = self.spare.take().unwrap_or_else(|| Box::new(Message::answer()));
        // SAFETY: as for this function.
        unsafe { answer.load(from, bytes) };
        let bytes = answer.numbered(number);
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

/// Ends the job: only processes of this job can send, so one of them is broken.
#[cold]
fn refuse(what: &str, length: usize) -> ! {
    failure::fatal(format_args!(
        "a {what} of {length} bytes from another node is malformed, or not about memory of this node's \
         PEs"
    ));
}

/// Carries out a message. UCX calls this.
///
/// # Safety
/// `arg` is a [`Server`]. `header` and `data` are readable for as many bytes as their lengths say.
unsafe extern "C" fn carry_out(
    arg: *mut c_void,
    header: *const c_void,
    header_length: usize,
    data: *mut c_void,
    length: usize,
    _param: *const RecvParam,
) -> Status {
    // SAFETY: the caller guarantees that `arg` is a server, and that the other two are readable.
    let (server, message) =
        unsafe { (&*arg.cast::<Server>(), messages::split(header, header_length, data, length)) };
    if message.is_none_or(|(head, operand)| !server.carry_out(head, operand)) {
        refuse("message", length);
    }
    0
}

impl Server {
    /// Returns false if there is no such operation, or the memory is not served.
    pub(super) fn carry_out(&self, head: [u64; 2], operand: &[u8]) -> bool {
        let (Target { at, life }, kind) = Target::of(head);
        if kind == messages::END {
            self.end.set(messages::word(&operand[..operand.len().min(8)]));
            return operand.len() == 8;
        }
        let place = self.served.borrow().find(at, life, messages::extent(kind, operand));
        // SAFETY: so many bytes are mapped here until the next update, which this thread makes. They are
        // shared memory, which others access only by atomics and raw copies.
        place.is_some_and(|place| unsafe { messages::change(place.as_ptr(), kind, operand) })
    }

    /// Answers a question. Returns false if the memory is not served.
    fn answer(&self, to: Handle, number: u64, target: Target, question: Question) -> bool {
        let served = self.served.borrow();
        let Target { at, life } = target;
        let find = |bytes| served.find(at, life, bytes).map(|place| place.as_ptr());
        match question {
            // SAFETY: no bytes.
            Question::Load(0) => unsafe { self.reply(to, number, std::ptr::dangling(), 0) },
            Question::Load(bytes) => {
                let Some(from) = find(bytes) else { return false };
                if bytes <= messages::MOST {
                    // SAFETY: so many bytes are mapped here until the next update, which this thread
                    // makes; others access them only by atomics and raw copies.
                    unsafe { self.reply(to, number, from, bytes) };
                    return true;
                }
                let parts = Parts::answer(number, bytes);
                let mut requests = Vec::new();
                // If there is an error, the connection to the sender is lost, and the sender reports it.
                // SAFETY: the bytes are mapped here. The heads, and what keeps the bytes mapped, stay
                // with the answer.
                let _ = unsafe {
                    self.worker.send_parts(to, messages::ANSWERS, &parts, from, &mut requests)
                };
                let kept = Kept::Parts((parts, served.keep(at.pe)));
                self.answers.borrow_mut().push((requests, kept));
            }
            Question::Change(amo) => {
                let Some(place) = find(amo.bytes) else { return false };
                if place.addr() % amo.bytes != 0 {
                    return false;
                }
                // SAFETY: so many bytes are mapped here, as for a load; they are aligned, as just
                // checked.
                let old = unsafe { exchange(place, amo) }.to_le_bytes();
                // SAFETY: a local with at least as many bytes.
                unsafe { self.reply(to, number, old.as_ptr(), amo.bytes) };
            }
            Question::Export => {
                let Some(export) = served.export(at.pe) else { return false };
                // SAFETY: a local of that size.
                unsafe { self.reply(to, number, export.as_ptr(), export.len()) };
            }
        }
        true
    }
}

/// Answers a question. UCX calls this.
///
/// # Safety
/// `arg` is a [`Server`]. `data` is readable for `length` bytes. `param` names the sender.
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
    let answered = Question::decode(data).is_some_and(|(number, target, question)| {
        server.answer(param.reply_ep, number, target, question)
    });
    if !answered {
        refuse("question", length);
    }
    0
}
