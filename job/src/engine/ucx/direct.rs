//! Notifications of a PE, and direct connections to the workers of PEs that are alone on their nodes. Such a PE
//! takes in what it is notified of while it waits, so a step of a collective need not go through its agent.
//!
//! A message to the PE may overtake those to its agent, and the other way round. So a step goes to
//! the PE only if the agent has carried out everything before, and steps only grow. Any other step
//! goes to the agent, and the PE is notified to expect it: until then it does not sleep.
//!
//! A connection opens by a handshake: the PE that connects says hello, and the other one answers over the
//! same connection. Then it is complete at both ends. UCX aborts a process whose partner ends while they
//! connect, so nobody uses a connection before it is answered, or ends.

use super::bindings::Status;
use super::message::{ANSWERS, Handler, Message, NOTIFICATIONS, WELCOME, words};
use super::request::PendingRequests;
use super::worker::{Connection, Receiver, SendTiming, Sender, Worker, refuse};
use crate::atomics::{AtomicU64, Ordering};
use crate::engine::exports::Record;
use crate::remote::secret::Secret;
use onenode_core::packed::word;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::{Duration, Instant};

/// How long a job may go on after a connection has failed. Usually the PE has ended, which others
/// report.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// How long a PE may take to admit another. A thread of its own does that.
const ADMISSION: Duration = Duration::from_secs(1);

/// The direct connections of this PE.
pub struct DirectConnections {
    secret: Secret,
    /// Connections of this lifetime, by PE.
    current: BTreeMap<usize, Direct>,
    /// Connections of earlier lifetimes, which the next lifetime uses again.
    before: Vec<(usize, Direct)>,
    /// Whether PEs may end before they have taken in their notifications.
    concluded: bool,
    /// How many connections there have been.
    count: u64,
}

/// A connection to the worker of a PE.
struct Direct {
    number: u64,
    record: Record,
    /// `None` until its first use, and if connecting fails.
    connection: Option<Connection>,
    /// Whether the PE has answered.
    open: bool,
    /// When a failure was noticed.
    failed: Option<Instant>,
}

impl DirectConnections {
    /// No connections yet.
    pub fn new(secret: Secret) -> Self {
        let (current, before) = (BTreeMap::new(), Vec::new());
        Self { secret, current, before, concluded: false, count: 0 }
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

    /// Notifies a PE of these words of its control area; false if they must go to its agent. `ordered`: the
    /// agent has carried out everything before.
    pub fn notify(
        &mut self,
        worker: &Worker<Inbox>,
        pe: usize,
        notification: Notification,
        ordered: bool,
    ) -> bool {
        let Some(direct) = self.current.get_mut(&pe) else { return false };
        if !self.concluded {
            direct.begin(worker, &self.secret);
        }
        if !direct.is_ready(worker) {
            return false;
        }
        let directly = ordered && !self.concluded;
        direct.notify(worker, if directly { notification } else { notification.expected() });
        directly
    }

    /// PEs may end from now on, without having taken in their notifications. Begins no connection any
    /// more. Returns whether all that have begun have opened or failed: no PE may end earlier, because
    /// UCX aborts a process whose partner disappears while they connect.
    pub fn finish(&mut self, worker: &Worker<Inbox>) -> bool {
        self.concluded = true;
        let mut begun = self.current.values_mut().filter(|direct| direct.connection.is_some());
        begun.all(|direct| direct.is_ready(worker) || !direct.works())
    }

    /// Whether PEs may end.
    pub fn is_concluded(&self) -> bool {
        self.concluded
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
            let status = direct.connection?.failure().filter(|_| direct.open)?;
            let since = *direct.failed.get_or_insert_with(Instant::now);
            (since.elapsed() >= PATIENCE).then_some((*pe, status))
        })
    }
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

/// The process that an inbox is of.
#[derive(Clone, Copy)]
pub struct Owner {
    /// Its life as one word, and its control area, once it is a PE.
    pub pe: fn() -> Option<(u64, &'static [AtomicU64])>,
    /// Ends the job because another process sends what no process of the job should.
    pub refuse: fn(fmt::Arguments<'_>) -> !,
}

/// A process that is no PE.
impl Default for Owner {
    fn default() -> Self {
        Self { pe: || None, refuse }
    }
}

/// Takes in what comes to a PE.
#[derive(Default)]
pub struct Inbox {
    owner: Owner,
    /// Its requests to agents.
    pub requests: PendingRequests,
    /// Steps of which it is notified.
    pub steps: Steps,
    /// The numbers of its connections that have been answered.
    welcomes: RefCell<BTreeSet<u64>>,
}

impl Inbox {
    /// An empty one.
    pub fn of(owner: Owner) -> Self {
        Self { owner, ..Self::default() }
    }

    /// Takes in a notification; false if it is none.
    fn notified(&self, [offset, told]: [u64; 2], words: &[u8]) -> bool {
        let own = (self.owner.pe)();
        // An earlier lifetime no longer needs it.
        if told != own.map_or(0, |(life, _)| life) {
            return true;
        }
        own.is_some_and(|(_, area)| self.steps.take(area, offset, words))
    }
}

impl Receiver for Inbox {
    const HANDLERS: &'static [Handler] = &[ANSWERS, NOTIFICATIONS, WELCOME];

    fn receive(
        &self,
        handler: Handler,
        head: [u64; 2],
        rest: &[u8],
        sender: Option<&Sender<'_>>,
    ) -> bool {
        match (handler, sender) {
            (ANSWERS, _) => self.requests.take_in(head[0], head[1], rest),
            (NOTIFICATIONS, None) => self.notified(head, rest),
            (NOTIFICATIONS, Some(sender)) if rest.is_empty() => {
                sender.answer(WELCOME, words(0, &[]).numbered(head[0]));
                true
            }
            (WELCOME, _) if rest.is_empty() => {
                self.welcomes.borrow_mut().insert(head[0]);
                true
            }
            _ => false,
        }
    }

    fn refuse(&self, why: fmt::Arguments<'_>) -> ! {
        (self.owner.refuse)(why)
    }
}

/// The steps that this PE is notified of: they are in its control area, or here until its agent has written
/// them there.
#[derive(Default)]
pub struct Steps {
    /// Counters, and the values that the agent will write there.
    expected: RefCell<Vec<(&'static AtomicU64, u64)>>,
}

impl Steps {
    /// Whether the agent has written everything that it was expected to write.
    pub fn are_complete(&self) -> bool {
        self.forget_written();
        self.expected.borrow().is_empty()
    }

    fn forget_written(&self) {
        let is_missing =
            |(place, value): &(&AtomicU64, u64)| place.load(Ordering::Relaxed) < *value;
        self.expected.borrow_mut().retain(is_missing);
    }

    /// Ends the lifetime.
    pub fn reset(&self) {
        self.expected.borrow_mut().clear();
    }

    /// Writes words at an offset of the area, or notes that the agent will; false if they are not in it.
    fn take(&self, area: &'static [AtomicU64], offset: u64, words: &[u8]) -> bool {
        let (offset, expected) = (offset & !EXPECTED, offset & EXPECTED != 0);
        if offset % 8 != 0 || words.len() % 8 != 0 {
            return false;
        }
        let first = usize::try_from(offset / 8).unwrap_or(usize::MAX);
        let Some(places) = area.get(first..first.saturating_add(words.len() / 8)) else {
            return false;
        };
        self.forget_written();
        for (place, bytes) in places.iter().zip(words.chunks_exact(8)) {
            if expected {
                self.expected.borrow_mut().push((place, word(bytes)));
            } else if words.len() == bytes.len() {
                // The agent may already have written a later step.
                place.fetch_max(word(bytes), Ordering::AcqRel);
            } else {
                place.store(word(bytes), Ordering::Release);
            }
        }
        true
    }
}

impl Direct {
    fn new(number: u64, record: Record) -> Self {
        Self { number, record, connection: None, open: false, failed: None }
    }

    fn works(&self) -> bool {
        self.connection.is_some_and(|it| it.failure().is_none())
    }

    /// Connects, at the first call.
    fn begin(&mut self, worker: &Worker<Inbox>, secret: &Secret) {
        if self.connection.is_some() || self.failed.is_some() {
            return;
        }
        match self.connect(worker, secret) {
            Some(connection) => self.connection = Some(connection),
            None => self.failed = Some(Instant::now()),
        }
        self.send(worker, words(0, &[]).numbered(self.number).asking());
    }

    /// `None` if that fails: then the PE's agent gets everything.
    fn connect(&self, worker: &Worker<Inbox>, secret: &Secret) -> Option<Connection> {
        let handshake = self.record.access.request(secret, ADMISSION).ok()?;
        let connection = worker.connect(&self.record.address, NOTIFICATIONS).ok()?;
        worker.keep(handshake.announce().ok()?);
        Some(connection)
    }

    /// Whether a message can be sent.
    fn is_ready(&mut self, worker: &Worker<Inbox>) -> bool {
        self.open = self.open || worker.receiver().welcomes.borrow().contains(&self.number);
        self.open && self.works() && self.connection.is_some_and(|it| worker.has_sent(it))
    }

    fn notify(&self, worker: &Worker<Inbox>, notification: Notification) {
        let message = words(notification.life, notification.words);
        self.send(worker, message.numbered(notification.offset));
    }

    fn send<F: FnOnce(&mut [u8])>(&self, worker: &Worker<Inbox>, message: Message<F>) {
        if let Some(connection) = self.connection {
            // If it fails, so has the connection.
            let _ = worker.send(connection, message, SendTiming::AtOnce);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The control area of a PE.
    struct Area {
        words: &'static [AtomicU64],
        steps: Steps,
    }

    impl Area {
        fn take(&self, Notification { offset, words, .. }: Notification) -> bool {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            self.steps.take(self.words, offset, &bytes)
        }

        fn words(&self) -> Vec<u64> {
            self.words.iter().map(|word| word.load(Ordering::Relaxed)).collect()
        }
    }

    fn area() -> Area {
        let words = Box::leak(Box::new([5, 5, 5, 5].map(AtomicU64::new)));
        Area { words, steps: Steps::default() }
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
        assert!(area.steps.are_complete());
    }

    #[test]
    fn what_the_agent_will_write_is_expected_until_it_has() {
        let area = area();
        for words in [&[6][..], &[1, 8]] {
            assert!(area.take(notification(8, words).expected()));
            assert_eq!(area.words(), [5; 4], "the agent writes it");
            assert!(!area.steps.are_complete());
            area.words[words.len()].store(9, Ordering::Relaxed);
            assert!(area.steps.are_complete(), "a later step is there");
            area.words[words.len()].store(5, Ordering::Relaxed);
        }
        assert!(area.take(notification(8, &[6]).expected()));
        area.steps.reset();
        assert!(area.steps.are_complete());
    }
}
