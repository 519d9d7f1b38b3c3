//! Traffic between nodes: counted, and compared with formulas.

use super::calls::{Call, Elements};
use super::machine::Machine;
use super::names::OfNode;
use crate::atomics::{AtomicU64, Ordering};
use crate::collectives::epoch::Epoch;
use crate::collectives::epoch_group::{Controlled, EpochGroup};
use crate::collectives::sent::{FlowControl, MOST_BYTES};
use crate::collectives::words::ControlWords;
use std::iter::repeat_with;

/// Traffic between nodes.
pub struct Traffic {
    /// Steps announced to members on other nodes.
    pub told: AtomicU64,
    /// Copies from other nodes.
    pub copies: AtomicU64,
    /// For each sender and receiver: the copy of the sender's words on the receiver's node, and what the
    /// sender knows of their messages.
    sent: Vec<Vec<(ControlWords, FlowControl)>>,
}

impl Traffic {
    /// None yet, among `npes` PEs.
    pub fn new(npes: usize) -> Self {
        let none = || (ControlWords::new(), FlowControl::new());
        let to_all = || repeat_with(none).take(npes).collect();
        let sent = repeat_with(to_all).take(npes).collect();
        Self { told: AtomicU64::new(0), copies: AtomicU64::new(0), sent }
    }

    /// Where messages from one PE to another are.
    pub fn copy(&self, from: usize, to: usize) -> &ControlWords {
        &self.sent[from][to].0
    }

    /// A PE's flow control of the messages between itself and another.
    pub fn flow(&self, of: usize, with: usize) -> &FlowControl {
        &self.sent[of][with].1
    }
}

/// All announcements and all copies between nodes in one call, among `n` nodes, a power of two.
fn expected(call: &Call, n: u64) -> (u64, u64) {
    let log = u64::from(n.ilog2());
    match call {
        Call::Sync => (n * log, 0),
        // All but the root get a message from their parent. The first needs no answer.
        Call::Broadcast { bytes, .. } if *bytes <= MOST_BYTES => (n - 1, 0),
        // All but the root copy, and announce that to their parent; parents announce to their
        // children.
        Call::Broadcast { .. } => (2 * (n - 1), n - 1),
        // The result of the most PEs fits a message.
        Call::Fcollect { bytes } if bytes * MOST_PES <= MOST_BYTES => (n * log, 0),
        // Parts that wrap around are copied in two pieces.
        Call::Fcollect { .. } => (2 * n * log, n * log + (n - 1 - log)),
        Call::Reduce { n: elements, .. } if elements * 8 <= MOST_BYTES => (n * log, 0),
        // Few heads scan one after the other.
        Call::Scan { .. } if n <= 4 => (2 * (n - 1), n - 1),
        // In round r, all but 2^r nodes copy; one more round is for the node before.
        Call::Reduce { .. } | Call::Scan { .. } => (2 * n * log, n * log),
        _ => panic!("no formula"),
    }
}

/// The most PEs of a job here.
const MOST_PES: usize = 16;

#[test]
fn two_levels_ask_of_the_network_what_the_formulas_say() {
    let calls = [
        Call::Sync,
        Call::Broadcast { bytes: 800, root: 0, root_too: true },
        Call::Broadcast { bytes: 7, root: 0, root_too: true },
        Call::Fcollect { bytes: 3 },
        Call::Fcollect { bytes: 800 },
        Call::Reduce { elements: Elements::SumI64, n: 100, in_place: false },
        Call::Reduce { elements: Elements::SumI64, n: 7, in_place: false },
        Call::Scan { elements: Elements::SumI64, n: 100, in_place: false, inclusive: true },
    ];
    for (npes, nodes) in [(2, 2), (4, 2), (4, 4), (8, 4), (8, 8), (MOST_PES, 8), (MOST_PES, 16)] {
        for call in &calls {
            let traffic = Traffic::new(npes);
            let machine = Machine::new(npes);
            machine.run(|member| {
                let epoch = Epoch::new([0; 4].map(Into::into));
                epoch.set(0, member.words(member.me));
                let of_node = OfNode { member, nodes, traffic: &traffic };
                let group = EpochGroup::new(of_node, &epoch);
                let algorithms = call.operation().algorithms();
                let by = algorithms.iter().position(|name| *name == "two_level");
                let (dest, source) = (machine.dest(member.me), machine.source(member.me));
                call.carry_out(by.expect("the algorithm"), &group, dest, source);
            });
            let counted = [&traffic.told, &traffic.copies].map(|n| n.load(Ordering::Relaxed));
            let (told, copies) = expected(call, nodes as u64);
            assert_eq!(counted, [told, copies], "{call:?} on {npes} PEs of {nodes} nodes");
        }
    }
}

#[test]
fn a_sender_waits_for_readers_of_the_message_before_the_last() {
    let flow = FlowControl::new();
    assert_eq!([10, 20].map(|step| (flow.awaited(), flow.send(step))), [(0, 0), (0, 1)]);
    assert_eq!((flow.awaited(), flow.send(30)), (11, 0));
    flow.receive(20);
    assert_eq!(flow.awaited(), 21, "sent before the other read the message of this step");
    flow.receive(21);
    assert_eq!((flow.awaited(), flow.send(40), flow.awaited()), (0, 1, 31));
}

#[test]
fn a_receiver_answers_every_second_message_unless_it_tells_something_else() {
    let flow = FlowControl::new();
    let owes = |step, told| {
        flow.receive(step);
        let owes = flow.owes_answer();
        if owes || told {
            flow.tell(step + 1);
        }
        owes
    };
    let silent = [1, 3, 5, 7, 9].map(|step| owes(step, false));
    assert_eq!(silent, [false, true, false, true, false]);
    assert_eq!([11, 13, 15].map(|step| owes(step, true)), [true, false, false]);
}
