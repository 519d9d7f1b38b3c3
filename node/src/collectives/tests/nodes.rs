//! Traffic between nodes: counted, and compared with formulas.

use super::calls::{Call, Elements};
use super::machine::Machine;
use super::names::OfNode;
use crate::atomics::{AtomicU64, Ordering};
use crate::collectives::epoch::Epoch;
use crate::collectives::epoch_group::{Controlled, EpochGroup};

/// Traffic between nodes.
#[derive(Debug, Default)]
pub struct Traffic {
    /// Steps announced to members on other nodes.
    pub told: AtomicU64,
    /// Copies from other nodes.
    pub copies: AtomicU64,
}

/// All announcements and all copies between nodes in one call, among `n` nodes, a power of two.
fn expected(call: &Call, n: u64) -> (u64, u64) {
    let log = u64::from(n.ilog2());
    match call {
        Call::Sync => (n * log, 0),
        // All but the root copy, and announce that to their parent; parents announce to their
        // children.
        Call::Broadcast { .. } => (2 * (n - 1), n - 1),
        // Parts that wrap around are copied in two pieces.
        Call::Fcollect { .. } => (2 * n * log, n * log + (n - 1 - log)),
        Call::Reduce { .. } => (2 * n * log, n * log),
        _ => panic!("no formula"),
    }
}

#[test]
fn two_levels_ask_of_the_network_what_the_formulas_say() {
    let calls = [
        Call::Sync,
        Call::Broadcast { bytes: 800, root: 0, root_too: true },
        Call::Fcollect { bytes: 800 },
        Call::Reduce { elements: Elements::SumI64, n: 100, in_place: false },
    ];
    for (npes, nodes) in [(2, 2), (4, 2), (4, 4), (8, 4), (8, 8), (16, 8), (16, 16)] {
        for call in &calls {
            let traffic = Traffic::default();
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
