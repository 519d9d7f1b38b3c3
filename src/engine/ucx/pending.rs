//! What this PE has asked agents for and they have not yet answered.
#![allow(unsafe_code)]

use super::bindings::{RecvParam, Status};
use super::messages::{self, ANSWERS, QUESTIONS, Target};
use super::operations::Remote;
use super::question::{QUESTION, Question};
use super::worker::Worker;
use crate::error::Error;
use crate::failure;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::c_void;

/// The questions that are open, by their numbers.
#[derive(Default)]
pub struct PendingRequests(RefCell<Open>);

#[derive(Default)]
struct Open {
    /// The number of the first one.
    first: u64,
    /// `None`: answered.
    requests: VecDeque<Option<PendingRequest>>,
}

/// A question that is not answered yet.
struct PendingRequest {
    pe: usize,
    to: *mut u8,
    bytes: usize,
    /// How many bytes have not come yet.
    missing: usize,
    /// UCX may read it until the answer comes.
    _question: Box<[u8; QUESTION]>,
}

// SAFETY: one thread at a time uses the worker, and with it the pending requests. The memory that they name stays
// until it is written: see `Worker::ask`.
unsafe impl Send for PendingRequests {}

impl PendingRequests {
    /// Whether the question with this number is answered.
    pub fn is_answered(&self, number: u64) -> bool {
        let open = self.0.borrow();
        let at = number.checked_sub(open.first);
        at.is_none_or(|at| !matches!(open.requests.get(at as usize), Some(Some(_))))
    }

    /// How many questions have been asked.
    pub fn asked(&self) -> u64 {
        let open = self.0.borrow();
        open.first + open.requests.len() as u64
    }

    /// The number of the first question that is not answered, and the PE that it is about.
    pub fn oldest(&self) -> Option<(u64, usize)> {
        let open = self.0.borrow();
        open.requests.front()?.as_ref().map(|request| (open.first, request.pe))
    }

    /// Whether the first `count` questions are answered.
    pub fn are_answered(&self, count: u64) -> bool {
        self.0.borrow().first >= count
    }

    /// Notes a question about a target. Returns its number and the message.
    fn add(&self, question: Question, target: Target, to: *mut u8) -> (u64, *const u8) {
        let number = self.asked();
        let bytes = question.extent();
        let question = Box::new(question.encode(number, target));
        let message = question.as_ptr();
        let request =
            PendingRequest { pe: target.at.pe, to, bytes, missing: bytes, _question: question };
        self.0.borrow_mut().requests.push_back(Some(request));
        (number, message)
    }

    /// Takes the last question back, which was not sent.
    fn withdraw(&self) {
        self.0.borrow_mut().requests.pop_back();
    }

    /// Takes in bytes of an answer; false if nothing like them was asked for.
    fn take_in(&self, number: u64, offset: u64, answer: &[u8]) -> bool {
        let mut open = self.0.borrow_mut();
        let Some(at) = number.checked_sub(open.first) else { return false };
        let Some(place) = open.requests.get_mut(at as usize) else { return false };
        let Some(request) = place else { return false };
        let room = (request.bytes as u64).checked_sub(offset);
        if room.is_none_or(|room| answer.len() as u64 > room) || answer.len() > request.missing {
            return false;
        }
        // SAFETY: in the memory of the request by the check; whoever asked guarantees that it is writable
        // until the answer has come.
        unsafe { messages::store(request.to.wrapping_add(offset as usize), answer) };
        request.missing -= answer.len();
        if request.missing == 0 {
            *place = None;
            while let Some(None) = open.requests.front() {
                open.requests.pop_front();
                open.first += 1;
            }
        }
        true
    }
}

impl Worker {
    /// Takes in answers from now on.
    ///
    /// # Errors
    /// If UCX refuses the handler.
    ///
    /// # Safety
    /// The pending requests stay where they are as long as the worker exists. Only the thread that uses the worker
    /// uses them.
    pub unsafe fn accept_answers(&self, pending: &PendingRequests) -> Result<(), Error> {
        let pending = (&raw const *pending).cast_mut().cast();
        // SAFETY: the caller guarantees what the handler requires of its argument.
        unsafe { self.accept(ANSWERS, answered, pending) }
    }

    /// Asks an agent about memory, which it does after everything that was sent to it before. Returns the
    /// question's number; the answer is written to `to`.
    ///
    /// # Errors
    /// If the memory is not all in the segment, or UCX fails.
    ///
    /// # Safety
    /// `to` is writable for the question's extent until it is answered. These are the pending requests whose
    /// answers this worker accepts.
    pub unsafe fn ask(
        &self,
        pending: &PendingRequests,
        of: Remote,
        offset: u64,
        question: Question,
        to: *mut u8,
    ) -> Result<u64, Error> {
        let target = of.at(offset, question.extent())?;
        let (number, message) = pending.add(question, target, to);
        // SAFETY: the message stays in its box until the answer comes, and then it has been sent.
        match unsafe { self.send_to(of.endpoint, QUESTIONS, message, QUESTION) } {
            Ok(request) => {
                self.forget_requests(request);
                Ok(number)
            }
            Err(error) => {
                pending.withdraw();
                Err(error)
            }
        }
    }

    /// Asks for an answer that comes after everything sent before has taken effect.
    ///
    /// # Errors
    /// If UCX fails.
    ///
    /// # Safety
    /// These are the pending requests whose answers this worker accepts.
    pub unsafe fn ask_for_answer(
        &self,
        pending: &PendingRequests,
        of: Remote,
    ) -> Result<u64, Error> {
        // SAFETY: nothing is written; the caller guarantees the rest.
        unsafe { self.ask(pending, of, 0, Question::Load(0), std::ptr::dangling_mut()) }
    }
}

/// Takes in an answer. UCX calls this.
///
/// # Safety
/// `arg` is [`PendingRequests`], whose memory is writable. `header` and `data` are readable for as many bytes as
/// their lengths say.
unsafe extern "C" fn answered(
    arg: *mut c_void,
    header: *const c_void,
    header_length: usize,
    data: *mut c_void,
    length: usize,
    _param: *const RecvParam,
) -> Status {
    // SAFETY: the caller guarantees all three.
    let (pending, parts) = unsafe {
        (&*arg.cast::<PendingRequests>(), messages::split(header, header_length, data, length))
    };
    let taken = parts.is_some_and(|([number, at], bytes)| pending.take_in(number, at, bytes));
    if !taken {
        failure::fatal(format_args!(
            "an answer of {length} bytes from another node to no question"
        ));
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Far;

    const TARGET: Target = Target { at: Far { pe: 0, offset: 64 }, life: (1, 1) };

    #[test]
    fn answers_fill_what_was_asked_for_in_any_order() {
        let pending = PendingRequests::default();
        let mut places = [[0u8; 8]; 3];
        let numbers = places.each_mut().map(|place| {
            let (number, _) = pending.add(Question::Load(8), TARGET, place.as_mut_ptr());
            number
        });
        assert_eq!(numbers, [0, 1, 2]);
        assert_eq!(pending.oldest(), Some((0, 0)));
        assert!(pending.take_in(1, 4, &[5; 4]));
        assert!(!pending.is_answered(1), "a part is missing");
        assert!(pending.take_in(2, 0, &[7; 8]) && pending.is_answered(2));
        assert!(pending.asked() == 3 && pending.are_answered(0) && !pending.are_answered(1));
        assert!(pending.take_in(1, 0, &[6; 4]) && pending.is_answered(1));
        assert!(!pending.is_answered(0));
        assert!(pending.take_in(0, 0, &[8; 8]) && pending.is_answered(0));
        assert!(pending.asked() == 3 && pending.are_answered(3) && pending.oldest().is_none());
        assert_eq!(places, [[8; 8], [6, 6, 6, 6, 5, 5, 5, 5], [7; 8]]);
        assert!(pending.0.borrow().requests.is_empty());
    }

    #[test]
    fn what_was_not_asked_for_is_refused() {
        let pending = PendingRequests::default();
        let mut place = [0u8; 16];
        let mut ask = |bytes| pending.add(Question::Load(bytes), TARGET, place.as_mut_ptr()).0;
        let (empty, eight) = (ask(0), ask(8));
        for (number, offset, bytes) in
            [(2, 0, 8), (eight, 1, 8), (eight, 9, 0), (eight, u64::MAX, 1), (empty, 0, 1)]
        {
            assert!(
                !pending.take_in(number, offset, &[1; 16][..bytes]),
                "{number} {offset} {bytes}"
            );
        }
        assert!(pending.take_in(empty, 0, &[]) && pending.is_answered(empty));
        assert!(!pending.take_in(empty, 0, &[]), "answered twice");
        let late = ask(4);
        pending.withdraw();
        assert!(pending.is_answered(late) && !pending.is_answered(eight));
        assert_eq!(place, [0; 16]);
    }
}
