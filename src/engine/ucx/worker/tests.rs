#![allow(unsafe_code)]

use super::*;
use crate::atomics::AtomicU64;
use crate::engine::exports::Segment;
use crate::engine::ucx::direct::{DirectConnections, Inbox, Told};
use crate::engine::ucx::greetings::Greetings;
use crate::engine::ucx::message::Message;
use crate::engine::ucx::messages::{self, Parts, STORES};
use crate::engine::ucx::operations::{Remote, Request};
use crate::engine::ucx::question::Question;
use crate::engine::ucx::server::Server;
use crate::engine::ucx::wishes::Wishes;
use crate::engine::{Action, Amo};
use std::time::Instant;

const WORDS: usize = 1 << 17;
const BYTES: usize = WORDS * 8;

/// Two workers; one reaches the other's memory.
struct Pair {
    here: Worker,
    wishes: Box<Wishes>,
    there: Box<Server>,
    remote: Remote,
    endpoint: Endpoint,
    memory: Vec<AtomicU64>,
}

impl Pair {
    /// `None`, with a message, where UCX is not installed.
    fn new() -> Option<Self> {
        if let Err(error) = Library::load(LIBRARY) {
            eprintln!("left out: {error}");
            return None;
        }
        let here = Worker::open().expect("a worker");
        let wishes = Box::<Wishes>::default();
        // SAFETY: the wishes stay with the worker, and this thread alone uses both.
        unsafe { here.accept_answers(&wishes) }.expect("a handler");
        let there = Server::open().expect("a server");
        let memory: Vec<_> = (0..WORDS).map(|_| AtomicU64::new(0)).collect();
        let segment = Segment { base: memory.as_ptr() as u64, bytes: BYTES as u64 };
        let endpoint =
            here.connect(&there.worker.address().expect("an address")).expect("an endpoint");
        let remote = Remote::of(&endpoint, segment);
        Some(Self { here, wishes, there, remote, endpoint, memory })
    }

    /// Asks a question, and waits for the answer.
    fn ask(&self, offset: u64, question: Question, to: *mut u8) {
        // SAFETY: `to` stays until the answer has come.
        let number = unsafe { self.here.ask(&self.wishes, self.remote, offset, question, to) };
        let number = number.expect("a question");
        self.progress_until(|| self.wishes.is_answered(number));
        assert_eq!(self.endpoint.failure(), None);
    }

    /// Waits until everything sent before has taken effect.
    fn complete(&self) {
        // SAFETY: the worker accepts answers to these wishes.
        let number = unsafe { self.here.ask_for_answer(&self.wishes, self.remote) };
        let number = number.expect("a question");
        self.progress_until(|| self.wishes.is_answered(number));
    }

    fn finish(&self, request: Result<Option<Request>, Error>) {
        let mut request = request.expect("an operation");
        self.progress_until(|| {
            request = request.take().and_then(|open| self.here.outcome(open).expect("no failure"));
            request.is_none()
        });
        assert_eq!(self.endpoint.failure(), None);
    }

    fn progress_until(&self, mut over: impl FnMut() -> bool) {
        let began = Instant::now();
        while !over() {
            self.here.progress();
            self.there.progress();
            assert!(began.elapsed() < Duration::from_secs(30), "the operation never ends");
        }
    }

    fn send(&self, offset: u64, mut message: Message) {
        // SAFETY: the message outlives the request: `finish` waits for it.
        let request = unsafe { self.here.send(self.remote, offset, &mut message) };
        self.finish(request);
    }

    fn fetch(&self, word: usize, amo: Amo) -> u64 {
        let mut result = [0; 8];
        self.ask(word as u64 * 8, Question::Change(amo), result.as_mut_ptr());
        u64::from_le_bytes(result)
    }
}

#[test]
fn bytes_arrive_and_come_back() {
    let Some(pair) = Pair::new() else { return };
    let from: Vec<u8> = (0..=255).cycle().take(messages::MOST).collect();
    let mut to = vec![0; from.len()];
    // SAFETY: the source is readable.
    pair.send(96, unsafe { Message::store(from.as_ptr(), from.len()) });
    pair.complete();
    assert_eq!(
        pair.memory[12].load(Ordering::Relaxed),
        u64::from_le_bytes(from[..8].try_into().unwrap())
    );
    pair.ask(96, Question::Load(to.len()), to.as_mut_ptr());
    assert_eq!(from, to);
}

#[test]
fn an_answer_comes_after_the_messages_before() {
    let Some(pair) = Pair::new() else { return };
    for round in 1..=100u64 {
        for word in 0..500u64 {
            let value = round * 1000 + word;
            // SAFETY: the value is readable.
            pair.send(word * 8, unsafe { Message::store((&raw const value).cast(), 8) });
        }
        pair.complete();
        for word in 0..500 {
            let found = pair.memory[word].load(Ordering::Relaxed);
            assert_eq!(found, round * 1000 + word as u64);
        }
    }
}

#[test]
fn a_message_does_not_overtake_a_large_store() {
    let Some(pair) = Pair::new() else { return };
    let last = WORDS - 1;
    for round in 1..=50u64 {
        let from = vec![round; last];
        let at = pair.remote.at(0, last * 8).expect("within the memory");
        let parts = Parts::to(at, last * 8);
        let mut requests = Vec::new();
        let (to, from) = (pair.remote.endpoint, from.as_ptr().cast());
        // SAFETY: source and parts stay until the answer has come.
        unsafe { pair.here.send_parts(to, STORES, &parts, from, &mut requests) }.expect("messages");
        pair.here.forget_requests(requests);
        // SAFETY: the value is readable.
        pair.send(last as u64 * 8, unsafe { Message::store((&raw const round).cast(), 8) });
        pair.progress_until(|| pair.memory[last].load(Ordering::Acquire) == round);
        assert!(pair.memory[..last].iter().all(|word| word.load(Ordering::Relaxed) == round));
        pair.complete();
    }
}

#[test]
fn many_bytes_come_as_they_were_asked_for() {
    let Some(pair) = Pair::new() else { return };
    for (i, word) in pair.memory.iter().enumerate() {
        word.store(i as u64 * 0x0101_0101_0101, Ordering::Relaxed);
    }
    for (offset, bytes) in
        [(0, BYTES), (0, 1), (8, 1 << 17), (3, 61441), (4096, 300_000), (5, 100_000)]
    {
        let mut to = vec![0xaau8; bytes + 1];
        pair.ask(offset, Question::Load(bytes), to.as_mut_ptr());
        let first = pair.memory.as_ptr().cast::<u8>().wrapping_add(offset as usize);
        // SAFETY: the bytes that were asked for; nothing changes them now.
        let expected = unsafe { std::slice::from_raw_parts(first, bytes) };
        assert!(to[..bytes] == *expected && to[bytes] == 0xaa, "{bytes} bytes at {offset}");
    }
}

#[test]
fn atomic_operations_do_what_they_say() {
    let Some(pair) = Pair::new() else { return };
    let narrow = u64::from(u32::MAX);
    for bytes in [8, 4] {
        let mask = if bytes == 8 { u64::MAX } else { narrow };
        let mut stands = 0;
        for (action, operand) in [
            (Action::Add, 0x1_2345_6789),
            (Action::Or, 0xf0f0),
            (Action::And, 0xff_ffff),
            (Action::Xor, 0x1111),
            (Action::Swap, 77),
            (Action::CompareSwap(78), 1),
            (Action::CompareSwap(77), 2),
            (Action::Add, mask),
        ] {
            let operand = operand & mask;
            assert_eq!(
                pair.fetch(bytes, Amo { action, operand, bytes }) & mask,
                stands,
                "{action:?}"
            );
            stands = mask
                & match action {
                    Action::Add => stands.wrapping_add(operand),
                    Action::Or => stands | operand,
                    Action::And => stands & operand,
                    Action::Xor => stands ^ operand,
                    Action::Swap => operand,
                    Action::CompareSwap(condition) if condition == stands => operand,
                    Action::CompareSwap(_) => stands,
                };
            assert_eq!(pair.memory[bytes].load(Ordering::Relaxed), stands, "{action:?}");
        }
        for action in [Action::Add, Action::Swap, Action::Or, Action::Xor, Action::And] {
            pair.send(8, Message::update(Amo { action, operand: 5, bytes }).expect("a message"));
        }
        pair.complete();
        // 5 was swapped in, ored, xored to 0, and anded.
        assert_eq!(pair.memory[1].load(Ordering::Relaxed), 0);
    }
}

#[test]
fn what_is_outside_of_a_segment_is_refused() {
    let Some(pair) = Pair::new() else { return };
    let mut byte = 0;
    for (offset, bytes) in
        [(BYTES as u64, 1), (BYTES as u64 - 1, 2), (0, BYTES + 1), (u64::MAX, 1), (0, usize::MAX)]
    {
        let question = Question::Load(bytes);
        // SAFETY: nothing is written: the question is refused.
        let refused =
            unsafe { pair.here.ask(&pair.wishes, pair.remote, offset, question, &raw mut byte) };
        assert!(refused.is_err());
    }
}

#[test]
fn a_pe_is_told_directly_once_the_connection_is_open() {
    let Some(pair) = Pair::new() else { return };
    let inbox = Box::<Inbox>::default();
    // SAFETY: this thread alone uses both, and the inbox longer.
    unsafe { pair.there.worker.accept_told(&inbox) }.expect("a handler");
    let greetings = Box::<Greetings>::default();
    // SAFETY: as above.
    unsafe { pair.there.worker.accept_greetings(&greetings) }.expect("handlers");
    let address = || pair.there.worker.address().expect("an address");
    // Of no life: the other side drops it.
    let told = Told { life: 1, offset: 0, words: &[3] };
    let mut direct = DirectConnections::default();
    direct.prepare(&pair.here).expect("handlers");
    assert!(!direct.tell(&pair.here, 1, told, true), "the PE has no worker");
    direct.note(2, address());
    assert!(!direct.tell(&pair.here, 2, told, true));
    for _ in 0..1000 {
        pair.here.progress();
        pair.there.progress();
    }
    assert!(!direct.tell(&pair.here, 2, told, true), "the PE has not answered yet");
    assert!(!direct.conclude(&pair.here));
    pair.progress_until(|| {
        greetings.answer(&pair.there.worker);
        direct.conclude(&pair.here)
    });
    direct.forget();
    for _ in 0..2 {
        direct.note(1, address());
        pair.progress_until(|| {
            greetings.answer(&pair.there.worker);
            direct.tell(&pair.here, 1, told, true)
        });
        assert!(!direct.tell(&pair.here, 1, told, false), "the agent has not done all before");
        pair.progress_until(|| direct.tell(&pair.here, 1, told, true));
        pair.progress_until(|| direct.conclude(&pair.here));
        assert!(!direct.tell(&pair.here, 1, told, true), "the PE may end");
        direct.note(3, address());
        assert!(
            !direct.tell(&pair.here, 3, told, true) && direct.conclude(&pair.here),
            "not begun"
        );
        assert_eq!(direct.lost(), None);
        direct.forget();
        assert!(!direct.tell(&pair.here, 1, told, true), "the PE is not known in this lifetime");
    }
}
