//! A [`CollectiveGroup`] over control words.
//!
//! ```text
//!  member 0   progress: 7          Every member counts the steps it announces in
//!  member 1   progress: 8          its own word and reads the others' words:
//!  member 2   progress: 7          "member 1 has announced step 8" is progress >= 8.
//! ```
//!
//! The counters never go back, so a late reader sees a larger number, never a wrong one: no reset,
//! no second phase, no flag that could be reused too early. A flat scan of the members' words costs
//! the same as one central counter with up to 16 PEs on 2 CPUs (where process switches dominate)
//! and beats it when every PE has a CPU, because no two PEs write the same cache line.
//!
//! A member that waits long sleeps on the counter it waits for, so the counters lie where futexes
//! work.

use super::epoch::Epoch;
use super::group::{CollectiveGroup, FEW_WORDS, Few, Outcome, Reach, Stepped};
use super::levels::Levels;
use super::message::Room;
use super::sent;
use super::sizes::{MAILBOXES, SMALL_WORDS};
use super::turns;
use super::words::{ControlWords, MOST_WORDS, Mailbox};
use crate::atomics::Ordering;
use crate::counter::Counter;
use std::ops::Range;

/// A [`Reach`] with control words.
pub trait Controlled: Reach {
    /// The control words of `member`.
    fn words(&self, member: usize) -> &ControlWords;
    /// Waits until `counter` is at least `value`.
    ///
    /// # Errors
    /// If the wait ends early.
    fn await_counter(&self, counter: &Counter, value: u64) -> Outcome<Self>;
    /// Wakes the processes that sleep on `counter`.
    fn wake(&self, counter: &Counter);
    /// Reports a step that this process has announced in its own words to all members that cannot
    /// read them.
    #[inline(always)]
    fn announced(&self, _step: u64) {}
    /// As [`announced`](Self::announced), but to one member.
    #[inline(always)]
    fn announced_to(&self, _step: u64, _member: usize) {}
    /// Whether [`send`](Self::send) is possible.
    fn sends(&self) -> bool {
        false
    }
    /// Sends a message to a member on another node, as [`sent`] describes, once there is room for it.
    ///
    /// # Errors
    /// If the wait for room ends early.
    fn send(&self, _step: u64, _member: usize, _message: &[u64]) -> Outcome<Self> {
        Ok(())
    }
    /// Whether a member that sends messages may wait for an answer.
    fn owes_answer(&self, _member: usize) -> bool {
        false
    }
    /// Waits for the message that `member`, on another node, sends with `step`.
    ///
    /// # Errors
    /// If the wait ends early.
    fn receive(&self, _step: u64, _member: usize, _message: &mut [u64]) -> Outcome<Self> {
        Ok(())
    }
    /// Adds one to `member`'s notifications.
    fn notify(&self, member: usize) {
        let counter = &self.words(member).notifications;
        counter.add(1, |counter| self.wake(counter));
    }
}

/// The highest step in a member's words, from which their next user continues.
pub fn highest_step(words: &ControlWords) -> u64 {
    let told = words.mailboxes.iter().map(|mailbox| mailbox.step.get());
    told.fold(words.progress.get().max(words.heard.step.get()), u64::max)
}

/// A group with control words, during a collective.
#[derive(Debug)]
pub struct EpochGroup<'e, M> {
    members: M,
    epoch: &'e Epoch,
}

impl<'e, M: Controlled> EpochGroup<'e, M> {
    /// The group of `members`; `epoch` is this process's position in it.
    pub fn new(members: M, epoch: &'e Epoch) -> Self {
        Self { members, epoch }
    }

    fn own(&self) -> &ControlWords {
        self.members.words(self.index())
    }

    /// Waits until nobody still reads the mailboxes that a message is to be written to: until all
    /// members are past the messages that began [`MAILBOXES`] or more steps before its end. Usually
    /// they are known to be.
    #[inline(always)]
    fn clear(&self, place: &MailboxRange) -> Outcome<Self> {
        let lapped = place.end.saturating_sub(MAILBOXES as u64).min(self.epoch.last_message());
        if self.epoch.common() < lapped { self.await_readers(lapped) } else { Ok(()) }
    }

    #[cold]
    fn await_readers(&self, step: u64) -> Outcome<Self> {
        let mut common = u64::MAX;
        for member in (0..self.size()).filter(|member| *member != self.index()) {
            let heard = &self.members.words(member).heard.step;
            self.members.await_counter(heard, step)?;
            common = common.min(heard.get());
        }
        self.epoch.all_came_to(common);
        Ok(())
    }

    /// Reports that this process has read all messages up to a step.
    fn heard(&self, step: u64) {
        self.own().heard.step.raise(step, |counter| self.members.wake(counter));
    }

    /// Exchanges the members' messages over nodes. The head of each node puts those of its node together, the
    /// heads exchange what they have, in turns and as many messages each as the largest node needs, and each
    /// head passes everything on to its node. `all` has room for all, and has them afterwards.
    ///
    /// This takes more mailboxes than other collectives, so each member reports which ones it has read, before
    /// and after: those of the last collective may be needed here, and these ones in the next.
    fn exchange_over_nodes(&self, mine: &[u64], all: &mut [u64]) -> Outcome<Self> {
        let levels = Levels::new(self);
        let starts = levels.starts();
        let block = |node: usize| starts[node] * mine.len()..starts[node + 1] * mine.len();
        let turns = (levels.largest() * mine.len()).div_ceil(sent::MOST_WORDS);

        let first = self.open(turns as u64) + 1;
        let gathered = MailboxRange::of(mine.len(), self.epoch);
        let passed_on = MailboxRange::of(all.len(), self.epoch);
        if levels.is_head() {
            let place = |member: usize| member * mine.len()..(member + 1) * mine.len();
            all[place(self.index())].copy_from_slice(mine);
            for member in levels.others() {
                let words = self.members.words(member);
                self.members.await_counter(gathered.step(words), gathered.end)?;
                gathered.read(words, 0, &mut all[place(member)]);
            }
            let own = block(levels.number(self.index()));
            for node in turns::partners(levels.number(self.index()), levels.nodes()) {
                // The part of a block that travels in this turn: none of a small node's in the last ones.
                let part = |block: Range<usize>, turn: usize| {
                    let at = |turn: usize| block.end.min(block.start + turn * sent::MOST_WORDS);
                    at(turn)..at(turn + 1)
                };
                for turn in 0..turns {
                    let step = first + turn as u64;
                    self.send(step, levels.head_of(node), &all[part(own.clone(), turn)])?;
                    self.receive(step, levels.head_of(node), &mut all[part(block(node), turn)])?;
                }
            }
            self.clear(&passed_on)?;
            passed_on.write(self.own(), all, |counter| self.members.wake(counter));
        } else {
            self.clear(&gathered)?;
            gathered.write(self.own(), mine, |counter| self.members.wake(counter));
            let words = self.members.words(levels.head());
            self.members.await_counter(passed_on.step(words), passed_on.end)?;
            passed_on.read(words, 0, all);
        }
        self.heard(passed_on.end);
        self.epoch.all_came_to(gathered.start);
        self.epoch.note_message(passed_on.end);
        Ok(())
    }
}

/// The place of one collective's messages in the members' mailboxes: one mailbox per step.
struct MailboxRange {
    start: u64,
    end: u64,
    first: usize,
}

impl MailboxRange {
    /// The place of the next messages, of `words` words each.
    #[inline(always)]
    fn of(words: usize, epoch: &Epoch) -> Self {
        let steps = words.div_ceil(SMALL_WORDS).max(1) as u64;
        let start = epoch.open(steps);
        Self { start, end: start + steps, first: (start % MAILBOXES as u64) as usize }
    }

    /// The counter in which a member reports that it has written its message.
    #[inline(always)]
    fn step<'w>(&self, words: &'w ControlWords) -> &'w Counter {
        &self.mailbox(words, 0).step
    }

    /// Mailbox number `i` of a member's message.
    #[inline(always)]
    fn mailbox<'w>(&self, words: &'w ControlWords, i: usize) -> &'w Mailbox {
        let place = self.first + i;
        &words.mailboxes[if place < MAILBOXES { place } else { place - MAILBOXES }]
    }

    /// Reads word `i` of a member's message.
    #[inline(always)]
    fn word(&self, words: &ControlWords, i: usize) -> u64 {
        self.mailbox(words, i / SMALL_WORDS).words[i % SMALL_WORDS].load(Ordering::Relaxed)
    }

    /// Reads words of a member's message from word `first` on, as many as `to` holds.
    #[inline(always)]
    fn read(&self, words: &ControlWords, first: usize, to: &mut [u64]) {
        let (mailbox, within) = (first / SMALL_WORDS, first % SMALL_WORDS);
        if within + to.len() <= SMALL_WORDS {
            return self.mailbox(words, mailbox).read(within, to);
        }
        let (head, rest) = to.split_at_mut(SMALL_WORDS - within);
        self.mailbox(words, mailbox).read(within, head);
        for (i, part) in rest.chunks_mut(SMALL_WORDS).enumerate() {
            self.mailbox(words, mailbox + 1 + i).read(0, part);
        }
    }

    /// Writes this process's message.
    #[inline(always)]
    fn write(&self, own: &ControlWords, message: &[u64], wake: impl FnOnce(&Counter)) {
        if message.len() <= SMALL_WORDS {
            self.mailbox(own, 0).write(message);
        } else {
            for (i, part) in message.chunks(SMALL_WORDS).enumerate() {
                self.mailbox(own, i).write(part);
            }
        }
        self.step(own).raise(self.end, wake);
    }
}

impl<M: Controlled> Reach for EpochGroup<'_, M> {
    type Stop = M::Stop;
    type Memory = M::Memory;

    #[inline(always)]
    fn index(&self) -> usize {
        self.members.index()
    }
    #[inline(always)]
    fn size(&self) -> usize {
        self.members.size()
    }
    #[inline(always)]
    fn memory(&self) -> &M::Memory {
        self.members.memory()
    }
    #[inline(always)]
    fn number(&self, member: usize) -> usize {
        self.members.number(member)
    }
    fn nodes(&self) -> Vec<usize> {
        self.members.nodes()
    }
    fn neighbours(&self) -> Option<usize> {
        self.members.neighbours()
    }
}

impl<M: Controlled> Stepped for EpochGroup<'_, M> {
    /// A collective opened here may end before all members have joined it, so this process first
    /// reports how far it has read.
    #[inline]
    fn open(&self, steps: u64) -> u64 {
        let read = self.epoch.last_message();
        if self.own().heard.step.get() < read {
            self.heard(read);
        }
        self.epoch.open(steps)
    }

    #[inline]
    fn announce(&self, step: u64) {
        self.announce_near(step);
        self.members.announced(step);
    }

    #[inline]
    fn announce_to(&self, step: u64, members: impl IntoIterator<Item = usize>) {
        self.announce_near(step);
        members.into_iter().for_each(|member| self.members.announced_to(step, member));
    }

    #[inline]
    fn announce_near(&self, step: u64) {
        self.own().progress.raise(step, |counter| self.members.wake(counter));
    }

    #[inline]
    fn await_member(&self, step: u64, member: usize) -> Outcome<Self> {
        self.members.await_counter(&self.members.words(member).progress, step)
    }

    fn sends(&self) -> bool {
        self.members.sends()
    }

    fn send(&self, step: u64, member: usize, message: &[u64]) -> Outcome<Self> {
        self.announce_near(step);
        self.members.send(step, member, message)
    }

    fn answer(&self, step: u64, member: usize) {
        self.announce_near(step);
        if self.members.owes_answer(member) {
            self.members.announced_to(step, member);
        }
    }

    fn receive(&self, step: u64, member: usize, message: &mut [u64]) -> Outcome<Self> {
        self.members.receive(step, member, message)
    }
}

impl<M: Controlled> CollectiveGroup for EpochGroup<'_, M> {
    fn notify(&self, member: usize) {
        self.members.notify(member);
    }

    /// Notifications of other collectives cannot interfere: a member notifies in the next one only
    /// after this process has announced a step of it.
    fn await_notifications(&self, times: usize) -> Outcome<Self> {
        let target = self.epoch.expect_notifications(times as u64);
        self.members.await_counter(&self.own().notifications, target)
    }

    /// Over nodes, a member has all messages at once.
    fn room(&self) -> usize {
        if self.members.sends() { MOST_WORDS / self.size() } else { MOST_WORDS }
    }

    /// No exchange waits for readers of the one before, see [`clear`](EpochGroup::clear): to
    /// complete an exchange, a member waits for everyone to enter it, hence to have left the one
    /// before.
    fn exchange_words(
        &self,
        mine: &[u64],
        wanted: Range<usize>,
        mut each: impl FnMut(usize, &[u64]) -> Outcome<Self>,
    ) -> Outcome<Self> {
        if self.members.sends() && mine.len() <= self.room() {
            let mut room = Room::new();
            let all = room.zeros(mine.len() * self.size());
            self.exchange_over_nodes(mine, all)?;
            return (0..self.size())
                .try_for_each(|member| each(member, &all[member * mine.len()..][wanted.clone()]));
        }
        let place = MailboxRange::of(mine.len(), self.epoch);
        self.clear(&place)?;
        place.write(self.own(), mine, |counter| self.members.wake(counter));
        let hear = |member| {
            let words = self.members.words(member);
            self.members.await_counter(place.step(words), place.end).map(|()| words)
        };
        if wanted.len() == 1 {
            // Very common, and without a loop over words it takes a third fewer instructions.
            for member in 0..self.size() {
                each(member, &[place.word(hear(member)?, wanted.start)])?;
            }
        } else {
            let mut room = Room::new();
            let theirs = room.zeros(wanted.len());
            for member in 0..self.size() {
                place.read(hear(member)?, wanted.start, theirs);
                each(member, theirs)?;
            }
        }
        self.epoch.all_came_to(place.start);
        self.epoch.note_message(place.end);
        Ok(())
    }

    /// No member can publish the result of a later collective before all have come to it, and so
    /// have left this one. Several members may publish this result, and write the same words.
    fn combine(
        &self,
        message: &mut Few,
        words: usize,
        mut combine: impl FnMut(&mut Few, &Few),
    ) -> Outcome<Self> {
        let place = MailboxRange::of(words, self.epoch);
        self.clear(&place)?;
        place.write(self.own(), &message[..words], |counter| self.members.wake(counter));
        let published = &self.members.words(0).heard;
        let (mut sums, mut next) = ([0; FEW_WORDS], [0; FEW_WORDS]);
        let mut members = 0..self.size();
        *message = loop {
            if published.common.load(Ordering::Acquire) >= place.end {
                for (sum, word) in sums.iter_mut().zip(&published.result[..words]) {
                    *sum = word.load(Ordering::Relaxed);
                }
                break sums;
            }
            let Some(member) = members.next() else {
                for (word, sum) in published.result[..words].iter().zip(&sums) {
                    word.store(*sum, Ordering::Relaxed);
                }
                published.common.fetch_max(place.end, Ordering::AcqRel);
                break sums;
            };
            let words_of = self.members.words(member);
            self.members.await_counter(place.step(words_of), place.end)?;
            place.read(words_of, 0, &mut next[..words]);
            if member == 0 { sums = next } else { combine(&mut sums, &next) }
        };
        self.epoch.all_came_to(place.start);
        self.epoch.note_message(place.end);
        Ok(())
    }

    /// The root waits only for room in its mailboxes. A member that has read the message reports
    /// that in its own words and continues.
    fn spread(&self, root: usize, message: &mut [u64]) -> Outcome<Self> {
        let place = MailboxRange::of(message.len(), self.epoch);
        if self.index() == root {
            self.clear(&place)?;
            // Before the message is written: a member that has reached a step has read all messages
            // before it.
            self.heard(place.end);
            place.write(self.own(), message, |counter| self.members.wake(counter));
        } else {
            let words = self.members.words(root);
            self.members.await_counter(place.step(words), place.end)?;
            place.read(words, 0, message);
            self.heard(place.end);
        }
        self.epoch.note_message(place.end);
        Ok(())
    }

    fn sync(&self) -> Outcome<Self> {
        let here = self.epoch.open(1) + 1;
        self.announce(here);
        for member in 0..self.size() {
            self.await_member(here, member)?;
        }
        self.epoch.all_came_to(here);
        Ok(())
    }

    /// The word only spares the others some looks: it need not be written in time, or at all.
    fn sync_by_one_word(&self) -> Outcome<Self> {
        let here = self.epoch.open(1) + 1;
        self.announce(here);
        let common = &self.members.words(0).heard.common;
        for member in 0..self.size() {
            if common.load(Ordering::Acquire) >= here {
                self.epoch.all_came_to(here);
                return Ok(());
            }
            self.await_member(here, member)?;
        }
        common.fetch_max(here, Ordering::AcqRel);
        self.epoch.all_came_to(here);
        Ok(())
    }
}
