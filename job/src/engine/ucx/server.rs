//! The worker of an agent: carries out messages, and answers questions, about what it has mapped and
//! nothing else. Many bytes are sent from where they are.
#![allow(unsafe_code)]

use super::memory;
use super::message::{ANSWERS, END, Handler, MOST, Message, OPERATIONS, Question, Target, parts};
use super::worker::{Receiver, SendBuffer, Sender, Worker};
use crate::engine::admission;
use crate::engine::exports::Record;
use crate::engine::served::ServedMemory;
use crate::error::Error;
use crate::message;
use crate::remote::network::Route;
use crate::remote::secret::Secret;
use onenode_core::packed::word;
use std::cell::{Cell, RefCell};
use std::net::IpAddr;
use std::ops::Range;

/// The state of an agent's worker that serves requests.
pub struct Server {
    /// The memory.
    pub served: RefCell<ServedMemory>,
    /// The abort word that another node has reported; 0 until then.
    pub end: Cell<u64>,
}

impl Server {
    /// Loads UCX, and serves those who know the job's secret, which may become known later. Those on `hosts`
    /// do not wait for any others. Returns the record by which they reach the server, too.
    ///
    /// # Errors
    /// As for [`Worker::open`], and if strangers cannot be kept out.
    pub fn open(
        near: Range<usize>,
        (route, hosts): (&Route, &[IpAddr]),
        secret: impl Fn() -> Option<Secret> + Send + 'static,
    ) -> Result<(Worker<Self>, Record), Error> {
        let server = Self { served: ServedMemory::none(near).into(), end: Cell::new(0) };
        let (worker, guard) = Worker::open(route, server)?;
        let (admission, access) = admission::Server::open(&guard, hosts)?;
        admission.start(secret, message::say)?;
        let record = Record { address: worker.address()?, access };
        Ok((worker, record))
    }

    /// Carries out a message. Returns false if there is no such operation, or the memory is not served.
    pub(super) fn carry_out(&self, head: [u64; 2], operand: &[u8]) -> bool {
        let (Target { at, life }, kind) = Target::of(head);
        if kind == END {
            self.end.set(word(&operand[..operand.len().min(8)]));
            return operand.len() == 8;
        }
        let served = self.served.borrow();
        let place = served.find(at, life, memory::extent(kind, operand));
        place.is_some_and(|place| memory::change(place, kind, operand))
    }

    /// Answers a question; `None` if the memory is not served.
    fn answer(
        &self,
        (number, Target { at, life }, question): (u64, Target, Question),
        sender: &Sender<'_>,
    ) -> Option<()> {
        let served = self.served.borrow();
        let find = |bytes| served.find(at, life, bytes);
        let reply = |extent, fill: &dyn Fn(&mut [u8])| {
            sender.answer(ANSWERS, Message::new(0, extent, fill).numbered(number));
        };
        match question {
            Question::Load(0) => reply(0, &|_| ()),
            Question::Load(bytes) if bytes <= MOST => {
                let from = find(bytes)?;
                reply(bytes, &|to| memory::load(from, to));
            }
            Question::Load(bytes) => {
                let (from, kept) = (find(bytes)?, served.keep(at.pe));
                let parts = parts(bytes, |start| [number, start as u64]);
                // SAFETY: the bytes stay mapped as long as what is kept of the PE, or for the life of the
                // process.
                let from = unsafe { SendBuffer::new(from.start(), bytes, kept) };
                sender.answer_parts(ANSWERS, parts, &from);
            }
            Question::Change(amo) => {
                let old = memory::exchange(find(amo.bytes)?, amo)?.to_le_bytes();
                reply(amo.bytes, &|to| to.copy_from_slice(&old[..amo.bytes]));
            }
            Question::Export => {
                let export = served.export(at.pe)?;
                reply(export.len(), &|to| to.copy_from_slice(&export));
            }
        }
        Some(())
    }
}

impl Receiver for Server {
    const HANDLERS: &'static [Handler] = &[OPERATIONS];

    fn receive(
        &self,
        _operation: Handler,
        head: [u64; 2],
        rest: &[u8],
        sender: Option<&Sender<'_>>,
    ) -> bool {
        match sender {
            None => self.carry_out(head, rest),
            Some(sender) => Question::decode(head, rest)
                .and_then(|question| self.answer(question, sender))
                .is_some(),
        }
    }
}
