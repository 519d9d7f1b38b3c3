//! Direct connections to the workers of PEs that are alone on their nodes. Such a PE takes in what
//! it is notified while it waits, so a step of a collective need not go through its agent.
//!
//! A message to the PE may overtake those to its agent, and the other way round. So a step goes to
//! the PE only if the agent has carried out everything before, and steps only grow. Any other step
//! goes to the agent, and the PE is notified to expect it: until then it does not sleep.
#![allow(unsafe_code)]

use super::bindings::{RecvParam, Status};
use super::handshake::{Handshakes, handshake};
use super::message::Message;
use super::messages::{HEAD, HELLO, Handler, NOTIFICATIONS, word};
use super::operations::Request;
use super::worker::{Endpoint, Worker};
use crate::atomics::{AtomicU64, Ordering};
use crate::engine::exports::{Record, life_word};
use crate::engine::secret::Secret;
use crate::error::Error;
use crate::failure;
use crate::job;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::slice;
use std::time::{Duration, Instant};

/// How long a job may go on after a connection has failed. Usually the PE has ended, which others
/// report.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a PE may take to admit another. A thread of its own does that.
const ADMISSION: Duration = Duration::from_secs(1);

/// The direct connections of this PE.
pub struct DirectConnections {
    secret: Secret,
    /// Those of this lifetime, by PE.
    current: BTreeMap<usize, Direct>,
    /// Those of earlier lifetimes. They stay, because UCX may still read their messages.
    before: Vec<(usize, Direct)>,
    /// Whether PEs may end before they have taken in their notifications.
    concluded: bool,
    /// How many connections there have been.
    count: u64,
    /// Which of them are open. It stays where it is: UCX keeps a pointer to it.
    handshakes: Box<Handshakes>,
}

/// A connection to the worker of a PE.
struct Direct {
    number: u64,
    record: Record,
    /// None until its first use, and if it cannot be made.
    endpoint: Option<Endpoint>,
    /// The last message, which UCX reads until it has been sent.
    message: Box<Message>,
    request: Option<Request>,
    /// Whether the PE has answered.
    open: bool,
    /// When a failure was noticed.
    failed: Option<Instant>,
}

impl DirectConnections {
    /// No connections yet.
    pub fn new(secret: Secret) -> Self {
        let (current, before) = (BTreeMap::new(), Vec::new());
        Self { secret, current, before, concluded: false, count: 0, handshakes: Box::default() }
    }

    /// Notes how a PE's worker is reached. Connects later, when there is something to tell.
    pub fn note(&mut self, pe: usize, record: Record) {
        let same = |old: &(usize, Direct)| old.0 == pe && old.1.record == record && old.1.works();
        let direct = match self.before.iter().position(same) {
            Some(at) => self.before.swap_remove(at).1,
            None => {
                self.count += 1;
                Direct::new(self.count, record)
            }
        };
        self.current.insert(pe, direct);
    }

    /// Answers the connections of others. To be called after the worker has made progress.
    pub fn answer(&self, worker: &Worker) {
        self.handshakes.answer(worker);
    }

    /// Tells a PE these words of its control area; false if they must go to its agent. `ordered`: the
    /// agent has carried out everything before.
    pub fn notify(
        &mut self,
        worker: &Worker,
        pe: usize,
        notification: Notification,
        ordered: bool,
    ) -> bool {
        let Some(direct) = self.current.get_mut(&pe) else { return false };
        if !self.concluded {
            direct.begin(worker, &self.secret);
        }
        if !direct.is_ready(worker, &self.handshakes) {
            return false;
        }
        let directly = ordered && !self.concluded;
        direct.notify(worker, if directly { notification } else { notification.expected() });
        directly
    }

    /// PEs may end from now on, without having taken in their notifications. Begins no connection any
    /// more. Returns whether all that have begun have opened or failed: no PE may end earlier, because
    /// UCX aborts a process whose partner disappears while they connect.
    pub fn finish(&mut self, worker: &Worker) -> bool {
        self.concluded = true;
        let mut begun = self.current.values_mut().filter(|direct| direct.endpoint.is_some());
        begun.all(|direct| direct.is_ready(worker, &self.handshakes) || !direct.works())
    }

    /// Ends the lifetime.
    pub fn reset(&mut self) {
        self.before.extend(std::mem::take(&mut self.current));
        self.concluded = false;
    }

    /// A PE that cannot be notified any more, and may not have been before, with the reason.
    pub fn lost(&mut self) -> Option<(usize, Status)> {
        if self.concluded {
            return None;
        }
        self.current.iter_mut().find_map(|(pe, direct)| {
            let status = direct.endpoint.as_ref()?.failure().filter(|_| direct.open)?;
            let since = *direct.failed.get_or_insert_with(Instant::now);
            (since.elapsed() >= PATIENCE).then_some((*pe, status))
        })
    }
}

/// This PE's life as one word; 0 before it is a PE.
pub fn life() -> u64 {
    job::existing().map_or(0, |job| life_word(job.life()))
}

/// A notification of a PE: words for its control area.
#[derive(Clone, Copy)]
pub struct Notification<'w> {
    /// The life of both PEs, as one word.
    pub life: u64,
    /// The offset in its control area.
    pub offset: u64,
    /// The words there.
    pub words: &'w [u64],
}

/// A bit of an offset that tells that the agent will write the word.
const EXPECTED: u64 = 1;

impl Notification<'_> {
    /// As a message that the agent will write the words, the last one last.
    fn expected(self) -> Self {
        let last = self.words.len().saturating_sub(1);
        let offset = (self.offset + (last * size_of::<u64>()) as u64) | EXPECTED;
        Self { offset, words: &self.words[last..], ..self }
    }
}

/// Takes notifications of this PE: to its control area, or here until its agent has written it there.
#[derive(Default)]
pub struct Inbox {
    /// Counters, and the values that the agent will write there.
    expected: RefCell<Vec<(NonNull<AtomicU64>, u64)>>,
}

// SAFETY: the words are those of the control area, which stays mapped. One thread at a time uses the
// worker, and with it the inbox.
unsafe impl Send for Inbox {}

impl Inbox {
    /// Whether the agent has written everything that it was expected to write.
    pub fn is_complete(&self) -> bool {
        let mut expected = self.expected.borrow_mut();
        forget_written(&mut expected);
        expected.is_empty()
    }

    /// Ends the lifetime.
    pub fn reset(&self) {
        self.expected.borrow_mut().clear();
    }

    /// Writes words at an offset, or notes that the agent will; false if they are not in the room.
    ///
    /// # Safety
    /// The `room` bytes at `base` are aligned words, which stay, and which others access only by
    /// atomics.
    unsafe fn take(&self, base: NonNull<u8>, room: usize, offset: u64, words: &[u8]) -> bool {
        let (offset, expected) = (offset & !EXPECTED, offset & EXPECTED != 0);
        let Some(left) = (room as u64).checked_sub(offset) else { return false };
        if offset % 8 != 0 || words.len() % 8 != 0 || words.len() as u64 > left {
            return false;
        }
        // SAFETY: in the room by the check. The caller guarantees the rest.
        let first = unsafe { base.byte_add(offset as usize).cast::<AtomicU64>() };
        for (i, bytes) in words.chunks_exact(8).enumerate() {
            // SAFETY: as above.
            let (place, word) = (unsafe { first.add(i) }, word(bytes));
            if expected {
                let mut expected = self.expected.borrow_mut();
                forget_written(&mut expected);
                expected.push((place, word));
                continue;
            }
            // SAFETY: as above.
            let place = unsafe { place.as_ref() };
            if words.len() == bytes.len() {
                // The agent may already have written a later step.
                place.fetch_max(word, Ordering::AcqRel);
            } else {
                place.store(word, Ordering::Release);
            }
        }
        true
    }
}

fn forget_written(expected: &mut Vec<(NonNull<AtomicU64>, u64)>) {
    // SAFETY: words of the control area, which stays mapped.
    expected.retain(|(place, word)| unsafe { place.as_ref() }.load(Ordering::Relaxed) < *word);
}

impl Direct {
    fn new(number: u64, record: Record) -> Self {
        let (endpoint, message, request, failed) = (None, handshake(), None, None);
        Self { number, record, endpoint, message, request, open: false, failed }
    }

    fn works(&self) -> bool {
        self.endpoint.as_ref().is_some_and(|endpoint| endpoint.failure().is_none())
    }

    /// Connects, at the first call.
    fn begin(&mut self, worker: &Worker, secret: &Secret) {
        if self.endpoint.is_some() || self.failed.is_some() {
            return;
        }
        match self.connect(worker, secret) {
            Some(endpoint) => self.endpoint = Some(endpoint),
            None => self.failed = Some(Instant::now()),
        }
        self.send(worker, HELLO, self.number);
    }

    /// `None` if that fails: then the PE's agent gets everything.
    fn connect(&self, worker: &Worker, secret: &Secret) -> Option<Endpoint> {
        let visit = self.record.access.request(secret, ADMISSION).ok()?;
        let endpoint = worker.connect(&self.record.address).ok()?;
        visit.announce().ok().map(|()| endpoint)
    }

    /// Whether a message can be sent.
    fn is_ready(&mut self, worker: &Worker, handshakes: &Handshakes) -> bool {
        if let Some(Ok(open)) = self.request.take().map(|request| worker.outcome(request)) {
            self.request = open;
        }
        self.open = self.open || handshakes.have_welcomed(self.number);
        self.open && self.request.is_none() && self.works()
    }

    fn notify(&mut self, worker: &Worker, notification: Notification) {
        *self.message = Message::words(notification.life, notification.words);
        self.send(worker, NOTIFICATIONS, notification.offset);
    }

    /// Sends the message. The last one has been sent.
    fn send(&mut self, worker: &Worker, handler: Handler, place: u64) {
        let Some(endpoint) = &self.endpoint else { return };
        let bytes = self.message.numbered(place);
        // SAFETY: the message stays in its box until the request is over: nothing else is sent before.
        // The connection exists as long as its endpoint.
        let sent = unsafe { worker.send_to(endpoint.handle, handler, bytes.as_ptr(), bytes.len()) };
        // If it fails, so has the connection.
        self.request = sent.ok().flatten();
    }
}

impl DirectConnections {
    /// Prepares a worker for direct connections.
    ///
    /// # Errors
    /// If UCX refuses the handlers.
    pub fn prepare(&self, worker: &Worker) -> Result<(), Error> {
        // SAFETY: the handshakes stay where they are: the connections outlive the worker.
        unsafe { worker.accept_handshakes(&self.handshakes) }
    }
}

impl Worker {
    /// Takes in notifications of this PE from now on.
    ///
    /// # Errors
    /// If UCX refuses the handler.
    ///
    /// # Safety
    /// The inbox stays where it is as long as the worker exists. Only the thread that uses the worker
    /// uses it.
    pub unsafe fn accept_notifications(&self, inbox: &Inbox) -> Result<(), Error> {
        let inbox = (&raw const *inbox).cast_mut().cast();
        // SAFETY: the caller guarantees what the handler requires of its argument.
        unsafe { self.accept(NOTIFICATIONS, take_in, inbox) }
    }
}

/// Takes in a notification of this PE. UCX calls this.
///
/// # Safety
/// `arg` is an [`Inbox`]. `data` is readable for `length` bytes.
unsafe extern "C" fn take_in(
    arg: *mut c_void,
    _header: *const c_void,
    _header_length: usize,
    data: *mut c_void,
    length: usize,
    _param: *const RecvParam,
) -> Status {
    // SAFETY: the caller guarantees both. Nothing else uses the data meanwhile.
    let (inbox, data) =
        unsafe { (&*arg.cast::<Inbox>(), slice::from_raw_parts(data.cast::<u8>(), length)) };
    let written = match (data.split_at_checked(HEAD), job::existing()) {
        // An earlier lifetime no longer needs it.
        (Some((head, _)), _) if word(&head[8..]) != life() => true,
        (Some((head, words)), Some(job)) => {
            let (base, room) = job.control().memory();
            // SAFETY: the area consists of atomics, and stays mapped.
            unsafe { inbox.take(base, room, word(&head[..8]), words) }
        }
        _ => false,
    };
    if !written {
        failure::fatal(format_args!("a malformed step of {length} bytes from another node"));
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The control area of a PE.
    struct Area {
        words: Vec<AtomicU64>,
        inbox: Inbox,
    }

    impl Area {
        fn take(&self, Notification { offset, words, .. }: Notification) -> bool {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let base = NonNull::from(&self.words[0]).cast();
            // SAFETY: the words of this test.
            unsafe { self.inbox.take(base, size_of_val(&self.words[..]), offset, &bytes) }
        }

        fn words(&self) -> Vec<u64> {
            self.words.iter().map(|word| word.load(Ordering::Relaxed)).collect()
        }
    }

    fn area() -> Area {
        Area { words: [5, 5, 5, 5].map(AtomicU64::new).into(), inbox: Inbox::default() }
    }

    fn notification(offset: u64, words: &[u64]) -> Notification<'_> {
        Notification { life: 1, offset, words }
    }

    #[test]
    fn a_single_word_only_grows_and_others_are_stored() {
        let area = area();
        assert!(
            [notification(8, &[7]), notification(8, &[6]), notification(16, &[1, 9])]
                .map(|it| area.take(it))
                == [true; 3]
        );
        assert_eq!(area.words(), [5, 7, 1, 9]);
        for (offset, words) in
            [(32, &[9][..]), (24, &[9, 9]), (40, &[9]), (4, &[9]), (u64::MAX - 7, &[9])]
        {
            assert!(!area.take(notification(offset, words)), "{offset}");
        }
        assert_eq!(area.words(), [5, 7, 1, 9]);
        assert!(area.inbox.is_complete());
    }

    #[test]
    fn what_the_agent_will_write_is_expected_until_it_has() {
        let area = area();
        for words in [&[6][..], &[1, 8]] {
            assert!(area.take(notification(8, words).expected()));
            assert_eq!(area.words(), [5; 4], "the agent writes it");
            assert!(!area.inbox.is_complete());
            area.words[words.len()].store(9, Ordering::Relaxed);
            assert!(area.inbox.is_complete(), "a later step is there");
            area.words[words.len()].store(5, Ordering::Relaxed);
        }
        assert!(area.take(notification(8, &[6]).expected()));
        area.inbox.reset();
        assert!(area.inbox.is_complete());
    }
}
