//! How members of a collective tell each other how far they are, under the `loom`
//! model checker, which tries every order of their atomic operations that the
//! memory model allows.
//!
//! The files of `src` are compiled here once more, with `loom`'s atomics
//! in place of the processor's: the text that is checked is the text that runs. PEs
//! are threads, and what collectives move is a cell each, in which `loom` reports
//! every access that conflicts with another one.

#![allow(unsafe_code, dead_code)]

/// What `crate::atomics` is to the library.
#[path = "model/atomics.rs"]
mod atomics;
#[path = "../src/counter.rs"]
mod counter;
#[path = "../src/collectives"]
mod collectives {
    pub mod barrier {
        pub mod dissemination;
        pub mod tree;
    }
    pub mod epoch;
    pub mod epoch_group;
    pub mod group;
    pub mod scratch;
    pub mod tree;
    pub mod words;
}
#[path = "model/pes.rs"]
mod pes;

use atomics::AtomicU64;
use collectives::barrier::{dissemination, tree};
use collectives::epoch::Epoch;
use collectives::epoch_group::EpochGroup;
use collectives::group::{Group, Reach};
use collectives::tree::Tree;
use pes::{Member, count_readers, exchanges, model, write_sync_read};
use std::convert::Infallible;

fn epoch() -> Epoch {
    Epoch::new(AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0))
}

#[test]
fn a_sync_orders_writes_and_reads() {
    model(2, 2, |member| write_sync_read(&member, &EpochGroup::new(member.clone(), &epoch())));
    model(3, 1, |member| write_sync_read(&member, &EpochGroup::new(member.clone(), &epoch())));
    model(4, 1, |member| write_sync_read(&member, &EpochGroup::new(member.clone(), &epoch())));
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

/// The direct algorithms: read each source as soon as it is ready, write the own
/// one again once all have read it.
fn read_between_two_steps(member: &Member, group: &impl Group<Stop = Infallible>) {
    member.write(1);
    let Ok(()) = group.steps(2, |steps| {
        steps.announce(1);
        for other in 0..member.size() {
            steps.await_member(1, other)?;
            assert_eq!(member.read(other), 1);
        }
        steps.announce(2);
        steps.await_all(2)
    });
    member.write(2);
}

#[test]
fn sources_can_be_read_between_two_steps() {
    model(2, 2, |member| {
        read_between_two_steps(&member, &EpochGroup::new(member.clone(), &epoch()))
    });
    model(3, 1, |member| {
        read_between_two_steps(&member, &EpochGroup::new(member.clone(), &epoch()))
    });
}

/// Broadcasts from two roots, of which only the root waits for the others.
fn broadcasts(member: &Member, group: &impl Group<Stop = Infallible>) {
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
            if member.me == root { steps.await_all(2) } else { Ok(()) }
        });
    }
}

#[test]
fn members_may_be_collectives_ahead_of_each_other() {
    model(2, 1, |member| broadcasts(&member, &EpochGroup::new(member.clone(), &epoch())));
    model(3, 1, |member| broadcasts(&member, &EpochGroup::new(member.clone(), &epoch())));
}

#[test]
fn messages_of_exchanges_do_not_mix() {
    model(2, 2, |member| exchanges(&member, &EpochGroup::new(member.clone(), &epoch())));
    model(3, 1, |member| exchanges(&member, &EpochGroup::new(member.clone(), &epoch())));
}
