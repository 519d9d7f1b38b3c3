//! Members whose memory has a name that nobody can load from: every algorithm must leave moving
//! bytes to the group, and ask the group for the bytes that it reads in place.
#![allow(unsafe_code)]

use super::machine::{Machine, Member, Patience};
use super::nodes::Traffic;
use super::plan::{is_tried, plan};
use super::play::play;
use crate::atomics::Ordering;
use crate::collectives::broadcast::{Broadcast, two_level};
use crate::collectives::epoch::Epoch;
use crate::collectives::epoch_group::{Controlled, EpochGroup};
use crate::collectives::group::{CollectiveGroup, Outcome, Reach, SMALL_WORDS, Small};
use crate::collectives::memory::{Buffer, Memory};
use crate::collectives::range::{Readable, Remote, Writable};
use crate::collectives::scratch::Scratch;
use crate::collectives::sent;
use crate::collectives::words::ControlWords;
use crate::counter::{Counter, WaitStrategy};
use std::convert::Infallible;

/// Marks a name: no mapped address has this bit.
const NAME: usize = 1 << 63;

/// A PE on one of several nodes.
#[derive(Clone, Copy)]
pub struct OfNode<'m> {
    pub member: Member<'m>,
    pub nodes: usize,
    pub traffic: &'m Traffic,
}

impl OfNode<'_> {
    fn node(&self, member: usize) -> usize {
        member * self.nodes / self.size()
    }
}

impl Reach for OfNode<'_> {
    type Stop = Infallible;
    type Memory = Self;

    fn index(&self) -> usize {
        self.member.index()
    }
    fn size(&self) -> usize {
        self.member.size()
    }
    fn memory(&self) -> &Self {
        self
    }
    fn nodes(&self) -> Vec<usize> {
        let firsts = 0..self.size();
        firsts.filter(|i| *i == 0 || self.node(*i) != self.node(*i - 1)).collect()
    }
}

/// The address of a range that may be known by a name.
fn unnamed(at: usize) -> usize {
    at & !NAME
}

// SAFETY: as for `Member`, with a bit in the addresses of far members, which is removed below.
unsafe impl Memory for OfNode<'_> {
    type Stop = Infallible;

    fn peer(&self, buffer: Buffer, address: usize, member: usize) -> Result<usize, Infallible> {
        let there = self.member.peer(buffer, address, member)?;
        let near = self.node(member) == self.node(self.index());
        Ok(if near { there } else { there | NAME })
    }
    fn check(&self, buffer: Buffer, address: usize, bytes: usize) -> Result<(), Infallible> {
        self.member.check(buffer, address, bytes)
    }
    fn copy(&self, from: Remote<Readable<'_>>, to: Remote<Writable<'_>>, _: usize) {
        if from.address() & NAME != 0 && from.bytes() > 0 {
            self.traffic.copies.fetch_add(1, Ordering::Relaxed);
        }
        // SAFETY: only addresses and lengths are used, to make the ranges that are meant. All of
        // these are mapped in this process.
        let (from, to) = unsafe {
            let (from, to) = (from.range(), to.range());
            (
                Readable::new(from.at().map_addr(unnamed), from.bytes()),
                Writable::new(to.at().map_addr(unnamed), to.bytes()),
            )
        };
        Reach::copy(&self.member, from, to);
    }
    fn near<'m>(&self, from: Remote<Readable<'m>>, room: &'m mut Option<Scratch>) -> Readable<'m> {
        if from.address() & NAME == 0 {
            return self.member.near(from, room);
        }
        let room = room.insert(Scratch::new(from.bytes())).all();
        Memory::copy(self, from, room.into(), 0);
        room.readable()
    }
}

impl Controlled for OfNode<'_> {
    fn words(&self, member: usize) -> &ControlWords {
        self.member.words(member)
    }
    fn await_counter(&self, counter: &Counter, value: u64) -> Outcome<Self> {
        self.member.await_counter(counter, value)
    }
    fn wake(&self, counter: &Counter) {
        self.member.wake(counter);
    }
    /// Counts as if all members had subscribed to the steps that they wait for.
    fn announced_to(&self, step: u64, member: usize) {
        if self.node(member) != self.node(self.index()) {
            self.traffic.told.fetch_add(1, Ordering::Relaxed);
            self.traffic.flow(self.index(), member).tell(step);
            self.traffic.copy(self.index(), member).progress.raise(step, |_| ());
        }
    }
    fn sends(&self) -> bool {
        true
    }
    fn send(&self, step: u64, member: usize, message: &[u64]) -> Outcome<Self> {
        let flow = self.traffic.flow(self.index(), member);
        let mut patience = Patience::new(self.member);
        while self.traffic.copy(member, self.index()).progress.get() < flow.awaited() {
            patience.pause()?;
        }
        self.traffic.told.fetch_add(1, Ordering::Relaxed);
        let mailbox = &self.traffic.copy(self.index(), member).mailboxes[flow.send(step)];
        mailbox.write(&sent::encode(step, message));
        Ok(())
    }
    fn receive(&self, step: u64, member: usize, message: &mut [u64]) -> Outcome<Self> {
        let copy = self.traffic.copy(member, self.index());
        let mut patience = Patience::new(self.member);
        while !sent::receive(copy, step, message) {
            patience.pause()?;
        }
        self.traffic.flow(self.index(), member).receive(step);
        Ok(())
    }
    fn owes_answer(&self, member: usize) -> bool {
        self.traffic.flow(self.index(), member).owes_answer()
    }
}

#[test]
fn no_algorithm_loads_from_memory_of_another_node() {
    let jobs = [(2, 2), (3, 2), (5, 3), (7, 7), (8, 2), (12, 5)];
    for (npes, nodes) in jobs.into_iter().filter(|(npes, _)| is_tried(*npes)) {
        let plan = plan(npes);
        let traffic = Traffic::new(npes);
        Machine::new(npes).run(|member| {
            let epoch = Epoch::new([0; 4].map(Into::into));
            epoch.set(0, member.words(member.me));
            play(
                member,
                &EpochGroup::new(OfNode { member, nodes, traffic: &traffic }, &epoch),
                &plan,
            );
        });
    }
}

/// Messages of all sizes, some of which take all mailboxes, and some that do not travel through the heads.
#[test]
fn members_on_several_nodes_get_all_messages() {
    for (npes, nodes) in [(2, 2), (3, 2), (4, 4), (5, 2), (12, 5), (24, 2)] {
        let traffic = Traffic::new(npes);
        Machine::new(npes).run(|member| {
            let epoch = Epoch::new([0; 4].map(Into::into));
            epoch.set(0, member.words(member.me));
            let group = EpochGroup::new(OfNode { member, nodes, traffic: &traffic }, &epoch);
            let word = |round: usize, from: usize, i: usize| (round << 20 | from << 10 | i) as u64;
            for round in 0..60 {
                let length = [group.room(), 1, SMALL_WORDS, 0][round % 4];
                let mine: Vec<u64> = (0..length).map(|i| word(round, member.me, i)).collect();
                let mut came = 0;
                let each = |from: usize, theirs: &[u64]| {
                    assert_eq!(from, came);
                    assert!(theirs.iter().copied().eq((0..length).map(|i| word(round, from, i))));
                    came += 1;
                    Ok(())
                };
                let Ok(()) = group.exchange_words(&mine, 0..length, each);
                assert_eq!(came, npes);
                if round % 7 == 0 {
                    let Ok(()) = group.sync();
                    let Ok(()) = group.exchange(&Small::default(), |_, _| Ok(()));
                }
            }
        });
    }
}

/// Messages that nobody replies to, many from each root, and exchanges in between.
#[test]
fn messages_of_one_root_follow_each_other() {
    for npes in [2, 4, 7] {
        let traffic = Traffic::new(npes);
        Machine::new(npes).run(|member| {
            let epoch = Epoch::new([0; 4].map(Into::into));
            epoch.set(0, member.words(member.me));
            let group = EpochGroup::new(OfNode { member, nodes: npes, traffic: &traffic }, &epoch);
            for round in 0..200_u64 {
                let root = round as usize / 40 % npes;
                let (mut dest, source) = ([0; 3], [round; 3]);
                let call = Broadcast {
                    dest: Writable::from(&mut dest[..]),
                    source: Readable::from(&source[..]),
                    root,
                    root_too: true,
                };
                let Ok(()) = two_level::run(&group, call);
                assert_eq!(dest, source, "member {} in round {round}", member.me);
                if round % 16 == 15 {
                    let Ok(()) = group.exchange(&Small::default(), |_, _| Ok(()));
                }
            }
        });
    }
}
