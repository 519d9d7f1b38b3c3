//! Members of a group in virtual time.
#![allow(unsafe_code)]

use super::coherence::Coherence;
use crate::collectives::epoch_group::Controlled;
use crate::collectives::group::{Outcome, Reach};
use crate::collectives::memory::{Buffer, Memory};
use crate::collectives::range::{Readable, Remote, Writable};
use crate::collectives::scratch::Scratch;
use crate::collectives::tests::machine;
use crate::collectives::words::ControlWords;
use crate::counter::Counter;
use std::convert::Infallible;

/// A member, which runs on the CPU of its number.
#[derive(Clone, Copy)]
pub struct Timed<'m> {
    pub member: machine::Member<'m>,
    pub coherence: &'m Coherence,
}

impl Reach for Timed<'_> {
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
    fn neighbours(&self) -> Option<usize> {
        Some(self.coherence.processor().cluster)
    }
}

impl Timed<'_> {
    fn touch(&self, address: usize, bytes: usize, stores: bool) {
        self.coherence.touch(self.member.me, address, bytes, stores);
    }
}

// SAFETY: as for `Member`, which finds the addresses. All bytes are copied.
unsafe impl Memory for Timed<'_> {
    type Stop = Infallible;

    fn peer(&self, buffer: Buffer, address: usize, member: usize) -> Result<usize, Infallible> {
        self.member.peer(buffer, address, member)
    }
    fn check(&self, buffer: Buffer, address: usize, bytes: usize) -> Result<(), Infallible> {
        self.member.check(buffer, address, bytes)
    }
    fn copy(&self, from: Remote<Readable<'_>>, to: Remote<Writable<'_>>, _: usize) {
        self.touch(from.address(), from.bytes(), false);
        self.touch(to.address(), to.bytes(), true);
        Memory::copy(&self.member, from, to, 0);
    }
    fn near<'m>(&self, from: Remote<Readable<'m>>, room: &'m mut Option<Scratch>) -> Readable<'m> {
        self.touch(from.address(), from.bytes(), false);
        self.member.near(from, room)
    }
}

impl Controlled for Timed<'_> {
    fn words(&self, member: usize) -> &ControlWords {
        self.member.words(member)
    }
    fn await_counter(&self, counter: &Counter, value: u64) -> Outcome<Self> {
        self.coherence.wait(self.member.me, counter.place().addr(), value);
        Ok(())
    }
    fn wake(&self, counter: &Counter) {
        self.coherence.raise(self.member.me, counter.place().addr(), counter.get());
    }
}
