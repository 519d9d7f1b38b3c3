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
pub struct Wishes(RefCell<Open>);

#[derive(Default)]
struct Open {
    /// The number of the first one.
    first: u64,
    /// `None`: answered.
    wishes: VecDeque<Option<Wish>>,
}

/// A question that is not answered yet.
struct Wish {
    pe: usize,
    to: *mut u8,
    bytes: usize,
    /// How many bytes have not come yet.
    missing: usize,
    /// UCX may read it until the answer comes.
    _question: Box<[u8; QUESTION]>,
}

// SAFETY: one thread at a time uses the worker, and with it the wishes. The memory that they name stays
// until it is written: see `Worker::ask`.
unsafe impl Send for Wishes {}

impl Wishes {
    /// Whether the question with this number is answered.
    pub fn is_answered(&self, number: u64) -> bool {
        let open = self.0.borrow();
        let at = number.checked_sub(open.first);
        at.is_none_or(|at| !matches!(open.wishes.get(at as usize), Some(Some(_))))
    }

    /// How many questions have been asked.
    pub fn asked(&self) -> u64 {
        let open = self.0.borrow();
        open.first + open.wishes.len() as u64
    }

    /// The number of the first question that is not answered, and the PE that it is about.
    pub fn oldest(&self) -> Option<(u64, usize)> {
        let open = self.0.borrow();
        open.wishes.front()?.as_ref().map(|wish| (open.first, wish.pe))
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
        let wish = Wish { pe: target.at.pe, to, bytes, missing: bytes, _question: question };
        self.0.borrow_mut().wishes.push_back(Some(wish));
        (number, message)
    }

    /// Takes the last question back, which was not sent.
    fn withdraw(&self) {
        self.0.borrow_mut().wishes.pop_back();
    }

    /// Takes in bytes of an answer; false if nothing like them was asked for.
    fn take_in(&self, number: u64, offset: u64, answer: &[u8]) -> bool {
        let mut open = self.0.borrow_mut();
        let Some(at) = number.checked_sub(open.first) else { return false };
        let Some(place) = open.wishes.get_mut(at as usize) else { return false };
        let Some(wish) = place else { return false };
        let room = (wish.bytes as u64).checked_sub(offset);
        if room.is_none_or(|room| answer.len() as u64 > room) || answer.len() > wish.missing {
            return false;
        }
        // SAFETY: in the memory of the wish by the check; whoever asked guarantees that it is writable
        // until the answer has come.
        unsafe { messages::store(wish.to.wrapping_add(offset as usize), answer) };
        wish.missing -= answer.len();
        if wish.missing == 0 {
            *place = None;
            while let Some(None) = open.wishes.front() {
                open.wishes.pop_front();
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
    /// The wishes stay where they are as long as the worker exists. Only the thread that uses the worker
    /// uses them.
    pub unsafe fn accept_answers(&self, wishes: &Wishes) -> Result<(), Error> {
        let wishes = (&raw const *wishes).cast_mut().cast();
        // SAFETY: the caller guarantees what the handler requires of its argument.
        unsafe { self.accept(ANSWERS, answered, wishes) }
    }

    /// Asks an agent about memory, which it does after everything that was sent to it before. Returns the
    /// question's number; the answer is written to `to`.
    ///
    /// # Errors
    /// If the memory is not all in the segment, or UCX fails.
    ///
    /// # Safety
    /// `to` is writable for the question's extent until it is answered. These are the wishes whose
    /// answers this worker accepts.
    pub unsafe fn ask(
        &self,
        wishes: &Wishes,
        of: Remote,
        offset: u64,
        question: Question,
        to: *mut u8,
    ) -> Result<u64, Error> {
        let target = of.at(offset, question.extent())?;
        let (number, message) = wishes.add(question, target, to);
        // SAFETY: the message stays in its box until the answer comes, and then it has been sent.
        match unsafe { self.send_to(of.endpoint, QUESTIONS, message, QUESTION) } {
            Ok(request) => {
                self.forget_requests(request);
                Ok(number)
            }
            Err(error) => {
                wishes.withdraw();
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
    /// These are the wishes whose answers this worker accepts.
    pub unsafe fn ask_for_answer(&self, wishes: &Wishes, of: Remote) -> Result<u64, Error> {
        // SAFETY: nothing is written; the caller guarantees the rest.
        unsafe { self.ask(wishes, of, 0, Question::Load(0), std::ptr::dangling_mut()) }
    }
}

/// Takes in an answer. UCX calls this.
///
/// # Safety
/// `arg` is [`Wishes`], whose memory is writable. `header` and `data` are readable for as many bytes as
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
    let (wishes, parts) =
        unsafe { (&*arg.cast::<Wishes>(), messages::split(header, header_length, data, length)) };
    let taken = parts.is_some_and(|([number, at], bytes)| wishes.take_in(number, at, bytes));
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
        let wishes = Wishes::default();
        let mut places = [[0u8; 8]; 3];
        let numbers = places.each_mut().map(|place| {
            let (number, _) = wishes.add(Question::Load(8), TARGET, place.as_mut_ptr());
            number
        });
        assert_eq!(numbers, [0, 1, 2]);
        assert_eq!(wishes.oldest(), Some((0, 0)));
        assert!(wishes.take_in(1, 4, &[5; 4]));
        assert!(!wishes.is_answered(1), "a part is missing");
        assert!(wishes.take_in(2, 0, &[7; 8]) && wishes.is_answered(2));
        assert!(wishes.asked() == 3 && wishes.are_answered(0) && !wishes.are_answered(1));
        assert!(wishes.take_in(1, 0, &[6; 4]) && wishes.is_answered(1));
        assert!(!wishes.is_answered(0));
        assert!(wishes.take_in(0, 0, &[8; 8]) && wishes.is_answered(0));
        assert!(wishes.asked() == 3 && wishes.are_answered(3) && wishes.oldest().is_none());
        assert_eq!(places, [[8; 8], [6, 6, 6, 6, 5, 5, 5, 5], [7; 8]]);
        assert!(wishes.0.borrow().wishes.is_empty());
    }

    #[test]
    fn what_was_not_asked_for_is_refused() {
        let wishes = Wishes::default();
        let mut place = [0u8; 16];
        let mut ask = |bytes| wishes.add(Question::Load(bytes), TARGET, place.as_mut_ptr()).0;
        let (empty, eight) = (ask(0), ask(8));
        for (number, offset, bytes) in
            [(2, 0, 8), (eight, 1, 8), (eight, 9, 0), (eight, u64::MAX, 1), (empty, 0, 1)]
        {
            assert!(
                !wishes.take_in(number, offset, &[1; 16][..bytes]),
                "{number} {offset} {bytes}"
            );
        }
        assert!(wishes.take_in(empty, 0, &[]) && wishes.is_answered(empty));
        assert!(!wishes.take_in(empty, 0, &[]), "answered twice");
        let late = ask(4);
        wishes.withdraw();
        assert!(wishes.is_answered(late) && !wishes.is_answered(eight));
        assert_eq!(place, [0; 16]);
    }
}
