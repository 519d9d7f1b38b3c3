//! How members of an active set tell each other how far they are, under the `loom` model checker:
//! as for the groups of the crate `onenode-core` (`collectives.rs`), over `pSync`.

use crate::atomics::AtomicU64;
use crate::collectives::group::CollectiveGroup;
use crate::collectives::psync::{PSync, SyncArray};
use crate::pes::{
    Member, combinations, count_readers, exchanges, finish_readers, model, write_sync_read,
};
use std::convert::Infallible;

impl SyncArray for Member {
    type Word<'w>
        = &'w AtomicU64
    where
        Self: 'w;

    fn word(&self, member: usize, element: usize) -> &AtomicU64 {
        &self.pes[member].client[element]
    }
    fn wait_until(&self, mut ready: impl FnMut() -> bool) -> Result<(), Infallible> {
        if !ready() {
            self.ring();
            while !ready() {
                self.pes[self.me].bell.wait();
            }
        }
        Ok(())
    }
}

#[test]
fn a_sync_orders_writes_and_reads() {
    model(2, 2, |member| write_sync_read(&member, &PSync(member.clone())));
    model(3, 1, |member| write_sync_read(&member, &PSync(member.clone())));
}

#[test]
fn sources_can_be_written_again_when_readers_have_counted_themselves() {
    model(2, 1, |member| count_readers(&member, &PSync(member.clone())));
}

#[test]
fn sources_can_be_written_again_when_the_last_step_is_over() {
    model(2, 2, |member| finish_readers(&member, &PSync(member.clone())));
    model(3, 1, |member| finish_readers(&member, &PSync(member.clone())));
}

/// A root's message, twice, and of another root.
fn spreads(member: &Member, group: &impl CollectiveGroup<Stop = Infallible>) {
    for (round, root) in [(1, 0), (2, 0), (3, 1)] {
        let mut message = if member.me == root { [round; 2] } else { [0; 2] };
        let Ok(()) = group.spread(root, &mut message);
        assert_eq!(message, [round; 2]);
    }
}

#[test]
fn messages_of_roots_do_not_mix() {
    model(2, 1, |member| spreads(&member, &PSync(member.clone())));
}

#[test]
fn messages_of_exchanges_do_not_mix() {
    model(2, 1, |member| exchanges(&member, &PSync(member.clone())));
}

#[test]
fn all_get_the_combination_of_all_messages_in_their_order() {
    model(2, 1, |member| combinations(&member, &PSync(member.clone())));
    model(3, 1, |member| combinations(&member, &PSync(member.clone())));
}
