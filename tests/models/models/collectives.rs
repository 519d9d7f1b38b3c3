//! How members of a collective tell each other how far they are.

use crate::atomics::{AtomicU64, Ordering};
use crate::collectives::barrier::{dissemination, tree};
use crate::collectives::epoch::Epoch;
use crate::collectives::epoch_group::EpochGroup;
use crate::collectives::group::{CollectiveGroup, Reach};
use crate::collectives::sent::{self, FlowControl};
use crate::collectives::tree::Tree;
use crate::pes::{
    Member, combinations, count_readers, exchanges, finish_readers, model, write_sync_read,
};
use std::convert::Infallible;

fn epoch() -> Epoch {
    Epoch::new([0; 4].map(AtomicU64::new))
}

#[test]
fn a_sync_orders_writes_and_reads() {
    model(2, 2, |member| write_sync_read(&member, &EpochGroup::new(member.clone(), &epoch())));
    model(3, 1, |member| write_sync_read(&member, &EpochGroup::new(member.clone(), &epoch())));
    model(4, 1, |member| write_sync_read(&member, &EpochGroup::new(member.clone(), &epoch())));
}

/// Each PE is alone on its node. Its words stand for the copy on the other node.
#[test]
fn partners_receive_every_message_they_exchange() {
    model(2, 2, |member| {
        let other = 1 - member.me;
        let flow = FlowControl::new();
        for round in 1..=3 {
            assert_eq!(flow.awaited(), 0, "what came shows that there is room");
            send(&member, &flow, round, (round << 32) | (member.me as u64 + 1));
            let message = receive(&member, &flow, round, other);
            assert_eq!(message, (round << 32) | (other as u64 + 1));
        }
    });
}

fn send(member: &Member, flow: &FlowControl, step: u64, message: u64) {
    let here = &member.pes[member.me];
    let mailbox = &here.words.mailboxes[flow.send(step)];
    // Words of a remote write arrive in any order.
    for (word, value) in mailbox.words.iter().zip(sent::encode(step, &[message])).rev() {
        word.store(value, Ordering::Relaxed);
    }
    here.bell.notify();
}

fn receive(member: &Member, flow: &FlowControl, step: u64, from: usize) -> u64 {
    let there = &member.pes[from];
    let mut message = [0];
    while !sent::receive(&there.words, step, &mut message) {
        there.bell.wait();
    }
    flow.receive(step);
    message[0]
}

/// One only sends, and the other answers when it owes that, by its step. No message is written over that has not been
/// read.
#[test]
fn a_receiver_gets_every_message() {
    model(2, 2, |member| {
        let flow = FlowControl::new();
        for step in [1, 3, 5, 7] {
            let answers = &member.pes[1];
            if member.me == 0 {
                while answers.words.progress.get() < flow.awaited() {
                    answers.bell.wait();
                }
                send(&member, &flow, step, step);
            } else {
                assert_eq!(receive(&member, &flow, step, 0), step);
                if flow.owes_answer() {
                    flow.tell(step + 1);
                    answers.words.progress.raise(step + 1, |_| ());
                    answers.bell.notify();
                }
            }
        }
    });
}

#[test]
fn a_sync_by_one_word_orders_writes_and_reads() {
    for (npes, preemptions) in [(2, 2), (3, 1), (4, 1)] {
        model(npes, preemptions, |member| {
            let epoch = epoch();
            let group = EpochGroup::new(member.clone(), &epoch);
            barriers(&member, || group.sync_by_one_word());
        });
    }
}

/// The same for the other barriers.
fn barriers(member: &Member, barrier: impl Fn() -> Result<(), Infallible>) {
    for round in 1..=2 {
        member.write(round);
        let Ok(()) = barrier();
        for other in 0..member.size() {
            assert_eq!(member.read(other), round);
        }
        let Ok(()) = barrier();
    }
}

#[test]
fn a_dissemination_barrier_orders_writes_and_reads() {
    for (npes, preemptions) in [(2, 2), (3, 1), (4, 1)] {
        model(npes, preemptions, |member| {
            let epoch = epoch();
            let group = EpochGroup::new(member.clone(), &epoch);
            barriers(&member, || dissemination::sync(&group));
        });
    }
}

#[test]
fn barriers_on_trees_order_writes_and_reads() {
    for (npes, preemptions) in [(2, 2), (3, 1), (4, 1)] {
        model(npes, preemptions, |member| {
            let epoch = epoch();
            let group = EpochGroup::new(member.clone(), &epoch);
            barriers(&member, || tree::sync(&group, Tree::KNomial(2)));
        });
    }
}

#[test]
fn sources_can_be_written_again_when_readers_have_counted_themselves() {
    model(2, 2, |member| count_readers(&member, &EpochGroup::new(member.clone(), &epoch())));
    model(3, 1, |member| count_readers(&member, &EpochGroup::new(member.clone(), &epoch())));
}

#[test]
fn sources_can_be_written_again_when_the_last_step_is_over() {
    model(2, 2, |member| finish_readers(&member, &EpochGroup::new(member.clone(), &epoch())));
    model(3, 1, |member| finish_readers(&member, &EpochGroup::new(member.clone(), &epoch())));
}

/// Broadcasts from two roots, of which only the root waits for the others.
fn broadcasts(member: &Member, group: &impl CollectiveGroup<Stop = Infallible>) {
    for (round, root) in [(1, 0), (2, 1)] {
        if member.me == root {
            member.write(round);
        }
        let Ok(()) = group.steps(2, |steps| {
            steps.announce(1);
            if member.me != root {
                steps.await_member(1, root)?;
                assert_eq!(member.read(root), round);
            }
            steps.announce(2);
            if member.me == root { steps.await_each(2, 0..member.size()) } else { Ok(()) }
        });
    }
}

#[test]
fn members_may_be_collectives_ahead_of_each_other() {
    model(2, 1, |member| broadcasts(&member, &EpochGroup::new(member.clone(), &epoch())));
    model(3, 1, |member| broadcasts(&member, &EpochGroup::new(member.clone(), &epoch())));
}

/// Roots that run ahead until there is no room for another message, while other collectives, after
/// which nobody knows that all have come, take steps in between.
fn spreads(member: &Member, group: &impl CollectiveGroup<Stop = Infallible>) {
    for (round, root) in [(1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 1)] {
        let mut message = if member.me == root { [round; 2] } else { [0; 2] };
        let Ok(()) = group.spread(root, &mut message);
        assert_eq!(message, [round; 2]);
    }
}

#[test]
fn a_root_writes_over_no_message_that_is_still_read() {
    model(2, 2, |member| spreads(&member, &EpochGroup::new(member.clone(), &epoch())));
    model(3, 1, |member| spreads(&member, &EpochGroup::new(member.clone(), &epoch())));
}

/// Messages of one mailbox and of two, in which all tell something or one does, with a barrier
/// on a tree in between: the root of one does not know who has read what.
fn messages_of_all_kinds(member: &Member, group: &impl CollectiveGroup<Stop = Infallible>) {
    let exchange = |round: u64, words: usize| {
        let mine = [round * 10 + member.me as u64; 4];
        let Ok(()) = group.exchange_words(&mine[..words], words - 1..words, |other, theirs| {
            assert_eq!(theirs, [round * 10 + other as u64]);
            Ok(())
        });
    };
    let spread = |round: u64, root: usize, words: usize| {
        let mut message = if member.me == root { [round; 4] } else { [0; 4] };
        let Ok(()) = group.spread(root, &mut message[..words]);
        assert_eq!(message[..words], [round; 4][..words]);
    };
    exchange(1, 4);
    for _ in 0..2 {
        let Ok(()) = tree::sync(group, Tree::KNomial(2));
    }
    spread(2, 0, 3);
    exchange(3, 4);
    spread(4, 1, 2);
    let Ok(()) = group.sync();
    spread(5, 1, 4);
    exchange(6, 2);
}

#[test]
fn messages_of_all_kinds_do_not_mix() {
    model(2, 2, |member| {
        messages_of_all_kinds(&member, &EpochGroup::new(member.clone(), &epoch()))
    });
    model(3, 1, |member| {
        messages_of_all_kinds(&member, &EpochGroup::new(member.clone(), &epoch()))
    });
}

#[test]
fn messages_of_exchanges_do_not_mix() {
    model(2, 2, |member| exchanges(&member, &EpochGroup::new(member.clone(), &epoch())));
    model(3, 1, |member| exchanges(&member, &EpochGroup::new(member.clone(), &epoch())));
}

#[test]
fn all_get_the_combination_of_all_messages_in_their_order() {
    for (npes, preemptions) in [(2, 2), (3, 1), (4, 1)] {
        model(npes, preemptions, |member| {
            combinations(&member, &EpochGroup::new(member.clone(), &epoch()))
        });
    }
}
