//! Operations that this PE has issued, and which of them are complete: those without a result are counted; what an
//! agent answers is a pending request until the answer has come.
#![allow(unsafe_code)]

use super::memory;
use super::message::{Question, Target};
use super::worker::{Connection, SendTiming, Worker};
use crate::engine::exports::EXPORT_BYTES;
use crate::engine::shared::SharedBytes;
use crate::error::Error;
use crate::remote::{Far, Segment};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::time::Duration;

/// Memory of a PE, which its node's agent accesses for others.
#[derive(Clone, Copy, Debug)]
pub struct Remote {
    /// The agent.
    pub agent: Connection,
    start: Target,
    bytes: u64,
}

impl Remote {
    /// A segment of PE `pe`, of this size, in one of its lifetimes.
    pub fn of(
        agent: Connection,
        pe: usize,
        segment: Segment,
        bytes: u64,
        life: (u32, u32),
    ) -> Self {
        let start = Target { at: Far { pe, offset: segment.start() }, life };
        Self { agent, start, bytes }
    }

    /// For questions and messages that are not about memory.
    pub fn none(agent: Connection, pe: usize) -> Self {
        Self::of(agent, pe, Segment::Data, EXPORT_BYTES as u64, (0, 0))
    }

    /// The PE.
    pub fn pe(self) -> usize {
        self.start.at.pe
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

/// The first question that is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OldestRequest {
    /// Its number.
    pub number: u64,
    /// The PE that it is about.
    pub pe: usize,
    /// How many bytes of the answer have not come yet.
    pub missing: usize,
}

/// A question that is not answered yet.
struct PendingRequest {
    pe: usize,
    to: *mut u8,
    bytes: usize,
    /// How many bytes have not come yet.
    missing: usize,
}

// SAFETY: `ask` makes it, whose caller guarantees that the memory is writable until the answer has come, by
// whichever thread takes it in.
unsafe impl Send for PendingRequest {}

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

    /// The first question that is not answered.
    pub fn oldest(&self) -> Option<OldestRequest> {
        let open = self.0.borrow();
        let PendingRequest { pe, missing, .. } = *open.requests.front()?.as_ref()?;
        Some(OldestRequest { number: open.first, pe, missing })
    }

    /// Whether the first `count` questions are answered.
    pub fn are_answered(&self, count: u64) -> bool {
        self.0.borrow().first >= count
    }

    /// Asks an agent about memory, at an offset of a segment, which it does after everything that was sent to it before. Returns the
    /// question's number; the answer, which comes over this worker, is written to `to`.
    ///
    /// # Errors
    /// If the memory is not all in the segment, or UCX fails.
    ///
    /// # Safety
    /// `to` is writable for the question's extent until it is answered.
    pub unsafe fn ask<R>(
        &self,
        worker: &Worker<R>,
        of: (Remote, u64),
        question: Question,
        to: *mut u8,
        timing: SendTiming,
    ) -> Result<u64, Error> {
        let (remote, offset) = of;
        let target = remote.at(offset, question.extent())?;
        let number = self.add(target.at.pe, question.extent(), to);
        let sent = worker.send(remote.agent, question.encode(number, target), timing);
        sent.map(|()| number).inspect_err(|_| _ = self.0.borrow_mut().requests.pop_back())
    }

    /// Asks for an answer that comes after everything sent before has taken effect.
    ///
    /// # Errors
    /// If UCX fails.
    pub fn ask_for_answer<R>(&self, worker: &Worker<R>, of: Remote) -> Result<u64, Error> {
        let nothing = std::ptr::dangling_mut();
        // SAFETY: the answer has no bytes.
        unsafe { self.ask(worker, (of, 0), Question::Load(0), nothing, SendTiming::AtOnce) }
    }

    /// Notes a question about `bytes` bytes of a PE. Returns its number.
    fn add(&self, pe: usize, bytes: usize, to: *mut u8) -> u64 {
        let number = self.asked();
        let request = PendingRequest { pe, to, bytes, missing: bytes };
        self.0.borrow_mut().requests.push_back(Some(request));
        number
    }

    /// Takes in bytes of an answer; false if nothing like them was asked for.
    pub fn take_in(&self, number: u64, offset: u64, answer: &[u8]) -> bool {
        let mut open = self.0.borrow_mut();
        let Some(at) = number.checked_sub(open.first) else { return false };
        let Some(place) = open.requests.get_mut(at as usize) else { return false };
        let Some(request) = place else { return false };
        let room = (request.bytes as u64).checked_sub(offset);
        if room.is_none_or(|room| answer.len() as u64 > room) || answer.len() > request.missing {
            return false;
        }
        let to = request.to.wrapping_add(offset as usize);
        // SAFETY: in the memory of the request by the check; whoever asked guarantees that it is writable
        // until the answer has come.
        memory::store(unsafe { SharedBytes::new(to, answer.len()) }, answer);
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

/// How far this PE's operations without a result have come, by their numbers.
#[derive(Default)]
pub struct Operations {
    /// The last one issued.
    pub issued: u64,
    /// The last one that a quiet has to wait for.
    pub owed: u64,
    /// The last one that is known to be complete, with all before.
    pub complete: u64,
    /// How many have been issued since the last quiet.
    since_quiet: u64,
    /// After how many a quiet is expected at once; 0 if none is.
    until_quiet: u64,
}

/// A quiet that comes so soon after an operation follows it at once.
const AT_ONCE: Duration = Duration::from_micros(20);

impl Operations {
    /// Counts an operation; returns its number. `owed`: quiets wait for it.
    pub fn count(&mut self, owed: bool) -> u64 {
        self.issued += 1;
        if owed {
            self.since_quiet += 1;
            self.owed = self.issued;
        }
        self.issued
    }

    /// Whether a quiet is likely to follow at once, because one followed as many operations last time.
    pub fn does_quiet_follow(&self) -> bool {
        self.since_quiet > 0 && self.since_quiet == self.until_quiet
    }

    /// Notes a quiet, so long after the last operation; returns the number of the last operation that it has
    /// to wait for.
    pub fn quiet(&mut self, after: Duration) -> u64 {
        if self.since_quiet > 0 {
            self.until_quiet = if after < AT_ONCE { self.since_quiet } else { 0 };
            self.since_quiet = 0;
        }
        self.owed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_fill_what_was_asked_for_in_any_order() {
        let pending = PendingRequests::default();
        let mut places = [[0u8; 8]; 3];
        let numbers = places.each_mut().map(|place| pending.add(7, 8, place.as_mut_ptr()));
        assert_eq!(numbers, [0, 1, 2]);
        let oldest = |missing| Some(OldestRequest { number: 0, pe: 7, missing });
        assert_eq!(pending.oldest(), oldest(8));
        assert!(pending.take_in(1, 4, &[5; 4]));
        assert!(!pending.is_answered(1), "a part is missing");
        assert!(pending.take_in(2, 0, &[7; 8]) && pending.is_answered(2));
        assert!(pending.asked() == 3 && pending.are_answered(0) && !pending.are_answered(1));
        assert!(pending.take_in(1, 0, &[6; 4]) && pending.is_answered(1));
        assert!(!pending.is_answered(0));
        assert!(pending.take_in(0, 0, &[8; 3]));
        assert_eq!(pending.oldest(), oldest(5));
        assert!(pending.take_in(0, 3, &[8; 5]) && pending.is_answered(0));
        assert!(pending.asked() == 3 && pending.are_answered(3) && pending.oldest().is_none());
        assert_eq!(places, [[8; 8], [6, 6, 6, 6, 5, 5, 5, 5], [7; 8]]);
        assert!(pending.0.borrow().requests.is_empty());
    }

    #[test]
    fn what_was_not_asked_for_is_refused() {
        let pending = PendingRequests::default();
        let mut place = [0u8; 16];
        let mut ask = |bytes| pending.add(7, bytes, place.as_mut_ptr());
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
        assert!(!pending.is_answered(eight));
        assert_eq!(place, [0; 16]);
    }

    #[test]
    fn a_quiet_is_expected_after_as_many_operations_as_last_time() {
        let mut operations = Operations::default();
        let mut round = |count: u64, after| {
            let mut expected = Vec::new();
            for _ in 0..count {
                operations.count(true);
                operations.count(false);
                if operations.does_quiet_follow() {
                    expected.push(operations.since_quiet);
                }
            }
            assert_eq!(operations.quiet(after), operations.issued - 1);
            operations.quiet(after);
            expected
        };
        let (soon, late) = (AT_ONCE / 2, AT_ONCE);
        assert!(round(1, soon).is_empty(), "nothing is known yet");
        assert_eq!(round(1, soon), [1]);
        assert_eq!(round(3, soon), [1], "the last quiet followed one");
        assert_eq!(round(3, soon), [3]);
        assert_eq!(round(3, late), [3]);
        assert!(round(3, soon).is_empty(), "the last one followed late");
    }
}
