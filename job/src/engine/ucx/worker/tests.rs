#![allow(unsafe_code)]

use super::*;
use crate::atomics::AtomicU64;
use crate::engine::admission;
use crate::engine::admission::open_guarded;
use crate::engine::exports::Record;
use crate::engine::served::tests::heap_of;
use crate::engine::ucx::direct::{DirectConnections, Inbox, Notification};
use crate::engine::ucx::message::{self, NOTIFICATIONS, OPERATIONS, Question, parts};
use crate::engine::ucx::raw::load;
use crate::engine::ucx::request::Remote;
use crate::engine::ucx::server::Server;
use crate::remote::network::Route;
use crate::remote::secret::Secret;
use crate::remote::{Action, Amo, Segment};
use onenode_core::sys::mutex;
use std::sync::Mutex;
use std::time::{Duration, Instant};

const WORDS: usize = 1 << 17;
const BYTES: usize = WORDS * 8;
const LIFE: (u32, u32) = (1, 2);
const MOST: Duration = Duration::from_secs(20);

/// Two workers; one reaches the other's memory.
struct Pair {
    here: Worker<Inbox>,
    there: Worker<Server>,
    secret: Secret,
    record: Record,
    remote: Remote,
    agent: Connection,
    memory: Vec<AtomicU64>,
}

impl Pair {
    /// `None`, with a message, where UCX is not installed. One at a time: the first time, libraries below UCX set variables
    /// of the environment, which must not be read meanwhile.
    fn new() -> Option<Self> {
        static ONE: Mutex<()> = Mutex::new(());
        let one = mutex::lock(&ONE);
        if let Err(error) = load() {
            eprintln!("left out: {error}");
            return None;
        }
        let (here, guard) = Worker::open(&Route::over("lo"), Inbox::default()).expect("a worker");
        guard.close().expect("a descriptor");
        let secret = Secret::new().expect("random bytes");
        let theirs = secret.clone();
        let (there, record) =
            Server::open(4..6, (&Route::over("lo"), &[]), move || Some(theirs.clone()))
                .expect("a server");
        drop(one);
        let memory: Vec<_> = (0..WORDS).map(|_| AtomicU64::new(0)).collect();
        *there.receiver().served.borrow_mut() = heap_of(&memory, LIFE);
        let handshake =
            record.access.request(&secret, MOST).expect("a server that knows the secret");
        let agent = here.connect(&record.address, OPERATIONS).expect("an endpoint");
        handshake.announce().expect("a connection");
        let remote = Remote::of(agent, 4, Segment::Heap, BYTES as u64, LIFE);
        Some(Self { here, there, secret, record, remote, agent, memory })
    }

    /// Another worker, to which processes that know the secret are admitted.
    fn another(&self) -> (Worker<Inbox>, Record) {
        let (worker, guard) = Worker::open(&Route::over("lo"), Inbox::default()).expect("a worker");
        let (server, access) = admission::Server::open(&guard, &[]).expect("a port");
        let secret = self.secret.clone();
        server.start(move || Some(secret.clone()), |why| panic!("{why}")).expect("a thread");
        let address = worker.address().expect("an address");
        (worker, Record { address, access })
    }

    /// Sends a message about `bytes` bytes at an offset of the heap that the sender does not check.
    fn send_unchecked<F: FnOnce(&mut [u8])>(
        &self,
        (pe, offset, life): (usize, u64, (u32, u32)),
        message: Message<F>,
    ) -> bool {
        let room = offset + message.extent() as u64;
        let remote = Remote::of(self.agent, pe, Segment::Heap, room, life);
        let target = remote.at(offset, message.extent()).expect("within the room");
        let batch = Batch::of(message.to(target));
        let come = unpack(&[], batch.bytes()).next().flatten().expect("a message");
        self.there.receiver().carry_out(come.head, come.rest)
    }

    /// Asks a question, and waits for the answer.
    fn ask(&self, offset: u64, question: Question, to: &mut [u8]) {
        assert_eq!(question.extent(), to.len());
        let (requests, of) = (&self.here.receiver().requests, (self.remote, offset));
        let to = to.as_mut_ptr();
        // SAFETY: `to` has room, and stays until the answer has come.
        let number = unsafe { requests.ask(&self.here, of, question, to, SendTiming::AtOnce) };
        self.await_answer(number);
    }

    /// Sends words from where they are to the start of the heap.
    fn send_large(&self, from: Arc<[u64]>, unsent: &Unsent) {
        let bytes = size_of_val(&from[..]);
        let at = self.remote.at(0, bytes).expect("within the memory");
        let parts = parts(bytes, |start| at.plus(start).words(message::STORE));
        // SAFETY: the words stay as long as what is kept.
        let from =
            unsafe { SendBuffer::new(from.as_ptr().cast(), bytes, (unsent.clone(), from.clone())) };
        self.here.send_parts(self.agent, parts, &from).expect("messages");
    }

    /// Waits until everything sent before has taken effect.
    fn complete(&self) {
        self.await_answer(self.here.receiver().requests.ask_for_answer(&self.here, self.remote));
    }

    fn await_answer(&self, number: Result<u64, Error>) {
        let number = number.expect("a question");
        self.progress_until(|| self.here.receiver().requests.is_answered(number));
        assert_eq!(self.agent.failure(), None);
    }

    fn progress_until(&self, mut over: impl FnMut() -> bool) {
        let began = Instant::now();
        while !over() {
            self.here.progress();
            self.there.progress();
            assert!(began.elapsed() < Duration::from_secs(30), "the operation never ends");
        }
    }

    fn send<F: FnOnce(&mut [u8])>(&self, offset: u64, message: Message<F>) {
        self.send_so(offset, message, SendTiming::AtOnce);
        self.progress_until(|| self.here.has_sent(self.agent));
        assert_eq!(self.agent.failure(), None);
    }

    fn send_so<F: FnOnce(&mut [u8])>(&self, offset: u64, message: Message<F>, timing: SendTiming) {
        let target = self.remote.at(offset, message.extent()).expect("within the memory");
        self.here.send(self.agent, message.to(target), timing).expect("a message");
    }

    fn fetch(&self, word: usize, amo: Amo) -> u64 {
        let mut result = [0; 8];
        self.ask(word as u64 * 8, Question::Change(amo), &mut result[..amo.bytes]);
        u64::from_le_bytes(result)
    }
}

#[test]
fn bytes_arrive_and_come_back() {
    let Some(pair) = Pair::new() else { return };
    let from: Vec<u8> = (0..=255).cycle().take(message::MOST).collect();
    let mut to = vec![0; from.len()];
    pair.send(96, Message::new(message::STORE, from.len(), |to| to.copy_from_slice(&from)));
    pair.complete();
    assert_eq!(
        pair.memory[12].load(Ordering::Relaxed),
        u64::from_le_bytes(from[..8].try_into().unwrap())
    );
    pair.ask(96, Question::Load(to.len()), &mut to);
    assert_eq!(from, to);
}

#[test]
fn an_answer_comes_after_the_messages_before() {
    let Some(pair) = Pair::new() else { return };
    for round in 1..=100u64 {
        for word in 0..500u64 {
            let value = round * 1000 + word;
            pair.send(word * 8, message::words(message::STORE, &[value]));
        }
        pair.complete();
        for word in 0..500 {
            let found = pair.memory[word].load(Ordering::Relaxed);
            assert_eq!(found, round * 1000 + word as u64);
        }
    }
}

#[test]
fn messages_that_wait_leave_together_and_in_order() {
    let Some(pair) = Pair::new() else { return };
    let come = |word: usize| pair.memory[word].load(Ordering::Relaxed);
    let store = |word: usize, value: u64, timing| {
        pair.send_so(word as u64 * 8, message::words(message::STORE, &[value]), timing);
    };
    let progress = || {
        for _ in 0..1000 {
            pair.here.progress();
            pair.there.progress();
        }
    };
    store(0, 1, SendTiming::WithNext);
    store(1, 1, SendTiming::WithNext);
    progress();
    assert_eq!((come(0), come(1)), (0, 0), "they wait");
    store(0, 2, SendTiming::AtOnce);
    pair.progress_until(|| come(0) == 2);
    assert_eq!(come(1), 1);
    store(2, 3, SendTiming::WithNext);
    pair.here.send_waiting().expect("a message");
    pair.progress_until(|| come(2) == 3);
    // What is asked comes after what waits, and so does what is sent from where it is.
    store(3, 4, SendTiming::WithNext);
    let mut word = [0; 8];
    pair.ask(24, Question::Load(8), &mut word);
    assert_eq!(u64::from_le_bytes(word), 4);
    // No more wait than fit.
    for value in 0..10_000 {
        store(4, value, SendTiming::WithNext);
        store(5, value, SendTiming::WithNext);
    }
    progress();
    assert!(come(4) > 0 && come(4) < 9999, "{}", come(4));
    pair.complete();
    assert_eq!((come(4), come(5)), (9999, 9999));
}

#[test]
fn answers_to_what_is_asked_together_come_together() {
    let Some(pair) = Pair::new() else { return };
    for (i, word) in pair.memory.iter().enumerate() {
        word.store(i as u64, Ordering::Relaxed);
    }
    let requests = &pair.here.receiver().requests;
    let mut words = vec![[0u8; 8]; 3000];
    for (i, word) in words.iter_mut().enumerate() {
        let (of, to) = ((pair.remote, i as u64 * 8), word.as_mut_ptr());
        // SAFETY: the words stay until the answers have come, below.
        unsafe { requests.ask(&pair.here, of, Question::Load(8), to, SendTiming::WithNext) }
            .expect("a question");
    }
    pair.complete();
    let all = requests.asked();
    pair.progress_until(|| requests.are_answered(all));
    assert!(words.iter().enumerate().all(|(i, word)| u64::from_le_bytes(*word) == i as u64));
}

#[test]
fn a_message_does_not_overtake_a_large_store() {
    let Some(pair) = Pair::new() else { return };
    let last = WORDS - 1;
    for round in 1..=50u64 {
        let unsent = Unsent::default();
        pair.send_large(vec![round; last].into(), &unsent);
        pair.send(last as u64 * 8, message::words(message::STORE, &[round]));
        pair.progress_until(|| pair.memory[last].load(Ordering::Acquire) == round);
        assert!(pair.memory[..last].iter().all(|word| word.load(Ordering::Relaxed) == round));
        pair.complete();
        assert!(unsent.is_empty(), "an answer to what was asked later has come");
    }
}

#[test]
fn many_bytes_come_as_they_were_asked_for() {
    let Some(pair) = Pair::new() else { return };
    for (i, word) in pair.memory.iter().enumerate() {
        word.store(i as u64 * 0x0101_0101_0101, Ordering::Relaxed);
    }
    let words = pair.memory.iter().map(|word| word.load(Ordering::Relaxed));
    let all: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
    for (offset, bytes) in
        [(0, BYTES), (0, 1), (8, 1 << 17), (3, 61441), (4096, 300_000), (5, 100_000)]
    {
        let mut to = vec![0xaau8; bytes + 1];
        pair.ask(offset, Question::Load(bytes), &mut to[..bytes]);
        let expected = &all[offset as usize..offset as usize + bytes];
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
            pair.send(8, message::update(Amo { action, operand: 5, bytes }).expect("a message"));
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
        let (requests, question) = (&pair.here.receiver().requests, Question::Load(bytes));
        // SAFETY: nothing is written: the question is refused.
        let refused = unsafe {
            let (of, to) = ((pair.remote, offset), &raw mut byte);
            requests.ask(&pair.here, of, question, to, SendTiming::AtOnce)
        };
        assert!(refused.is_err() && requests.oldest().is_none());
    }
}

#[test]
fn a_message_about_anything_else_changes_nothing() {
    let Some(pair) = Pair::new() else { return };
    let end = BYTES as u64;
    let store = || message::words(message::STORE, &[0x0707_0707_0707_0707]);
    assert!(pair.send_unchecked((4, end - 8, LIFE), store()));
    assert_eq!(pair.memory[WORDS - 1].load(Ordering::Relaxed), 0x0707_0707_0707_0707);
    for about in [
        (4, end - 7, LIFE),
        (4, end, LIFE),
        (4, 1 << 40, LIFE),
        (5, 0, LIFE),
        (3, 0, LIFE),
        (6, 0, LIFE),
        (4, 0, (1, 1)),
        (4, 0, (2, 2)),
    ] {
        assert!(!pair.send_unchecked(about, store()), "{about:?}");
    }
    // A counter is longer than its value.
    assert!(pair.send_unchecked((4, end - 16, LIFE), message::words(message::RAISE, &[1])));
    assert!(!pair.send_unchecked((4, end - 8, LIFE), message::words(message::RAISE, &[1])));
    assert!(!pair.send_unchecked((4, 0, LIFE), message::words(99, &[1])));
    assert!(!pair.send_unchecked((4, 0, LIFE), message::words(message::END, &[])));
    assert_eq!(pair.there.receiver().end.get(), 0);
    assert!(pair.send_unchecked((4, 0, LIFE), message::words(message::END, &[5])));
    assert_eq!(pair.there.receiver().end.get(), 5);
    assert!(pair.memory[..WORDS - 2].iter().all(|word| word.load(Ordering::Relaxed) == 0));
}

#[test]
fn a_worker_whose_sockets_are_not_found_is_refused() {
    let Some(_pair) = Pair::new() else { return };
    // Other tests of this process listen meanwhile, so no port counts as the worker's.
    let nothing = open_guarded(|| Ok(()), |(), _| false);
    let listen = || Ok(std::net::TcpListener::bind("127.0.0.1:0").expect("a port"));
    let the_programs_own = open_guarded(listen, |_, _| false);
    for refused in [nothing.err(), the_programs_own.err()] {
        let why = refused.expect("no guard").to_string();
        assert!(why.contains("its sockets are not found"), "{why}");
    }
}

#[test]
fn strangers_reach_nothing() {
    let Some(pair) = Pair::new() else { return };
    // Whoever does not know the secret is not admitted, and finds out that neither is the server.
    let stranger = Secret::new().expect("random bytes");
    let refused = pair.record.access.request(&stranger, MOST).err().expect("no admission");
    assert!(refused.contains("connecting to"), "{refused}");
    // What a stranger sends to UCX itself does not arrive, and in the end the connection is closed.
    let mut stream = std::net::TcpStream::connect(pair.record.access.listens[0]).expect("a port");
    let magic = [0x78, 0x56, 0x34, 0x12, 0xbe, 0xba, 0xfe, 0xca];
    std::io::Write::write_all(&mut stream, &[&magic[..], &[31], &[0xff; 64]].concat())
        .expect("sent");
    stream.set_read_timeout(Some(MOST)).expect("a time limit");
    let closed = std::io::Read::read(&mut stream, &mut [0; 8]);
    assert!(
        matches!(closed, Ok(0))
            || closed.is_err_and(|it| it.kind() == std::io::ErrorKind::ConnectionReset)
    );
    // Those who have been admitted notice nothing.
    pair.send(0, message::words(message::STORE, &[9]));
    pair.complete();
    assert_eq!(pair.memory[0].load(Ordering::Relaxed), 9);
}

#[test]
fn what_ucx_reads_is_kept_until_it_has_been_sent_and_no_longer() {
    let Some(pair) = Pair::new() else { return };
    // More than the sockets take while nobody reads.
    let from: Arc<[u64]> = vec![7; WORDS - 1].into();
    let unsent = Unsent::default();
    for _ in 0..64 {
        pair.send_large(from.clone(), &unsent);
    }
    pair.send_so(0, message::words(message::STORE, &[7]), SendTiming::AtOnce);
    assert!(!unsent.is_empty() && !pair.here.has_sent(pair.agent), "nobody has read it");
    let last = (BYTES - 8) as u64;
    let question = Question::Load(8);
    let mut word = [1; 8];
    pair.ask(last, question, &mut word);
    assert!(unsent.is_empty() && pair.here.has_sent(pair.agent) && word == [0; 8]);
    assert!(pair.agent.sent() >= 64, "some parts of each have waited");
}

#[test]
fn a_message_that_cannot_be_sent_is_released_and_breaks_the_connection() {
    let Some(pair) = Pair::new() else { return };
    let (other, guard) = Worker::open(&Route::over("lo"), Inbox::default()).expect("a worker");
    let address = other.address().expect("an address");
    let nobody = pair.here.connect(&address, NOTIFICATIONS).expect("an endpoint");
    let message = message::words(0, &[]);
    pair.here.send(nobody, message, SendTiming::AtOnce).expect("a message");
    let has_sent = || pair.here.has_sent(nobody);
    assert!(!has_sent() && nobody.failure().is_none(), "nobody has admitted it");
    guard.close().expect("a descriptor");
    pair.progress_until(|| has_sent() && nobody.failure().is_some());
    assert_eq!(pair.agent.failure(), None);
}

#[test]
fn a_pe_is_notified_directly_once_the_connection_is_open() {
    let Some(pair) = Pair::new() else { return };
    let (there, record) = pair.another();
    let progress_until = |over: &mut dyn FnMut() -> bool| {
        pair.progress_until(|| {
            there.progress();
            over()
        });
    };
    // Of no life: the other side drops it.
    let notification = Notification { life: 1, offset: 0, words: &[3] };
    let mut direct = DirectConnections::new(pair.secret.clone());
    assert!(!direct.notify(&pair.here, 1, notification, true), "the PE has no worker");
    direct.note(2, record.clone());
    assert!(!direct.notify(&pair.here, 2, notification, true));
    for _ in 0..1000 {
        pair.here.progress();
    }
    assert!(!direct.notify(&pair.here, 2, notification, true), "the PE has not answered yet");
    assert!(!direct.finish(&pair.here));
    progress_until(&mut || direct.finish(&pair.here));
    direct.reset();
    for _ in 0..2 {
        direct.note(1, record.clone());
        progress_until(&mut || direct.notify(&pair.here, 1, notification, true));
        assert!(
            !direct.notify(&pair.here, 1, notification, false),
            "the agent has not done all before"
        );
        progress_until(&mut || direct.notify(&pair.here, 1, notification, true));
        progress_until(&mut || direct.finish(&pair.here));
        assert!(!direct.notify(&pair.here, 1, notification, true), "the PE may end");
        direct.note(3, record.clone());
        assert!(
            !direct.notify(&pair.here, 3, notification, true) && direct.finish(&pair.here),
            "not begun"
        );
        assert_eq!(direct.lost(), None);
        direct.reset();
        assert!(
            !direct.notify(&pair.here, 1, notification, true),
            "the PE is not known in this lifetime"
        );
    }
}

#[test]
fn a_process_of_the_job_may_take_its_time() {
    // It sleeps for 14 s: `make test` leaves it to `make check`.
    if std::env::var_os("ONESHMEM_TEST_FEW").is_some() {
        return;
    }
    let Some(pair) = Pair::new() else { return };
    let (late, guard) = Worker::open(&Route::over("lo"), Inbox::default()).expect("a worker");
    guard.close().expect("a descriptor");
    let most = Duration::from_secs(60);
    let handshake = pair.record.access.request(&pair.secret, most).expect("a proof");
    // Longer than strangers may stay, until the server looks.
    let hesitate = || std::thread::sleep(Duration::from_secs(7));
    hesitate();
    let agent = late.connect(&pair.record.address, OPERATIONS).expect("an endpoint");
    hesitate();
    handshake.announce().expect("an admitted connection");
    let (requests, until) = (&late.receiver().requests, Instant::now() + MOST);
    let remote = Remote::of(agent, 4, Segment::Heap, BYTES as u64, LIFE);
    let number = requests.ask_for_answer(&late, remote).expect("a question");
    while !requests.is_answered(number) {
        late.progress();
        pair.there.progress();
        assert!(agent.failure().is_none() && Instant::now() < until, "the connection is lost");
    }
}

#[test]
fn a_burst_waits_from_its_fifth_message_on_but_not_for_long() {
    let start = Instant::now();
    let mut outbox = Outbox {
        to: Endpoint { handle: null_mut(), fate: None },
        handler: OPERATIONS,
        batch: Batch::default(),
        oldest: start,
        last: start,
        row: 0,
        unsent: Unsent::default(),
    };
    let mut now = start + GAP;
    let mut send = |timing, after: Duration| {
        now += after;
        let leaves = outbox.note(timing, || now);
        outbox.batch.add(message::words(message::STORE, &[1]));
        if leaves {
            outbox.batch.clear();
        }
        leaves
    };
    let soon = GAP / 10;
    for timing in [SendTiming::AtOnce, SendTiming::InBurst] {
        assert!(send(timing, GAP), "a burst begins");
    }
    for i in 1..ALONE {
        assert!(send(SendTiming::InBurst, soon), "message {i}");
    }
    // Those that leave because of their age do not end the burst.
    for round in 0..3 {
        let waiting = (0..).take_while(|_| !send(SendTiming::InBurst, soon)).count();
        let most = AGE.div_duration_f64(soon) as usize;
        assert!((most - 1..=most + 1).contains(&waiting), "{waiting} in round {round}");
    }
    assert!(!send(SendTiming::WithNext, soon));
    assert!(send(SendTiming::InBurst, soon), "another burst begins");
    assert!(send(SendTiming::AtOnce, soon) && send(SendTiming::InBurst, GAP));
    assert!(!send(SendTiming::WithQuiet, GAP), "not even alone");
}
