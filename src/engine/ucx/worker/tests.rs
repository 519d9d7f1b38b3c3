#![allow(unsafe_code)]

use super::*;
use crate::atomics::AtomicU64;
use crate::engine::ucx::operations::{Remote, Request};
use crate::engine::{Action, Amo};
use std::time::Instant;

/// Two workers; one reaches the other's memory.
struct Pair {
    here: Worker,
    there: Worker,
    remote: Remote,
    endpoint: Endpoint,
    memory: Box<[AtomicU64; 512]>,
}

impl Pair {
    /// `None`, with a message, where UCX is not installed.
    fn new() -> Option<Self> {
        if let Err(error) = Library::load(LIBRARY) {
            eprintln!("left out: {error}");
            return None;
        }
        let [here, there] = [(), ()].map(|()| Worker::open().expect("a worker"));
        let memory = Box::new([const { AtomicU64::new(0) }; 512]);
        let base = NonNull::from(&*memory).cast();
        // SAFETY: atomics that outlive the worker: the fields are dropped in this order.
        let (_, key) = unsafe { there.register(base, 4096) }.expect("a registration");
        let endpoint = here.connect(&there.address().expect("an address")).expect("an endpoint");
        let remote = here.remote(&endpoint, base.as_ptr() as u64, 4096, &key).expect("a key");
        Some(Self { here, there, remote, endpoint, memory })
    }

    fn finish(&self, request: Result<Option<Request>, Error>) {
        let mut request = request.expect("an operation");
        let began = Instant::now();
        while let Some(open) = request {
            self.here.progress();
            self.there.progress();
            request = self.here.outcome(open).expect("no failure");
            assert!(began.elapsed() < Duration::from_secs(30), "the operation never ends");
        }
        assert_eq!(self.endpoint.failure(), None);
    }

    fn fetch(&self, word: usize, amo: Amo) -> u64 {
        let mut result = 0;
        // SAFETY: the result outlives the request: `finish` waits for it.
        let request =
            unsafe { self.here.fetch(self.remote, word as u64 * 8, amo, &raw mut result) };
        self.finish(request);
        result
    }
}

#[test]
fn bytes_arrive_and_come_back() {
    let Some(pair) = Pair::new() else { return };
    let from: Vec<u8> = (0..=255).cycle().take(3000).collect();
    let mut to = vec![0; 3000];
    // SAFETY: both outlive their requests: `finish` waits for them.
    unsafe {
        pair.finish(pair.here.put(pair.remote, 96, from.as_ptr(), 3000));
        pair.finish(pair.here.flush());
        assert_eq!(
            pair.memory[12].load(Ordering::Relaxed),
            u64::from_le_bytes(from[..8].try_into().unwrap())
        );
        pair.finish(pair.here.get(to.as_mut_ptr(), pair.remote, 96, 3000));
    }
    assert_eq!(from, to);
}

#[test]
fn atomic_operations_do_what_they_say() {
    let Some(mut pair) = Pair::new() else { return };
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
            let remote = pair.remote;
            pair.here.update(remote, 8, Amo { action, operand: 5, bytes }).expect("an operation");
        }
        pair.finish(pair.here.flush());
        // 5 was swapped in, ored, xored to 0, and anded.
        assert_eq!(pair.memory[1].load(Ordering::Relaxed), 0);
    }
}

#[test]
fn what_is_outside_of_a_segment_is_refused() {
    let Some(pair) = Pair::new() else { return };
    let byte = 0;
    for (offset, bytes) in [(4096, 1), (4095, 2), (0, 4097), (u64::MAX, 1), (0, usize::MAX)] {
        // SAFETY: nothing is read: `put` refuses the call.
        let refused = unsafe { pair.here.put(pair.remote, offset, &raw const byte, bytes) };
        assert!(refused.is_err());
    }
}
