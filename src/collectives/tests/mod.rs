//! The algorithms against serial references, with threads as PEs.
//!
//! Each thread has an arena of its own for its "symmetric" memory. The calls of a
//! case follow each other at once, in the same arrays, and each PE fills its source
//! again as soon as a call returns: what the specification allows and no more.
#![allow(unsafe_code)]

mod calls;
mod machine;
mod matrix;
mod order;
mod random;
mod traffic;

use super::clock::Clock;
use super::epochs::Epochs;
use super::group::{Group, Reach};
use super::psync::PSync;
use crate::atomics::{AtomicU64, Ordering};
use calls::Call;
use machine::{ARENA, DEST, MOST_PES, Machine, Member};

/// What dest holds before a call.
const UNTOUCHED: u8 = 0xee;

/// Makes the calls, one after the other, and checks every result.
fn play(member: Member<'_>, group: &impl Group, calls: &[(Call, usize)]) {
    let (me, npes) = (member.me, member.size());
    for (number, (call, pick)) in calls.iter().enumerate() {
        let algorithms = call.algorithms(npes);
        let algorithm = algorithms[pick % algorithms.len()];
        let source = call.source(number, me, npes);
        let expected = call.expected(number, me, npes);
        let length = expected.as_ref().map_or(64, Vec::len);
        assert!(source.len() <= DEST && length <= ARENA - DEST, "the arena is too small");
        let own_source = member.machine.arena(me);
        let own_dest = if call.in_place() { own_source } else { own_source.wrapping_add(DEST) };
        let mut found = vec![0; length];
        // SAFETY: this PE's own arena, which others read only inside the call.
        unsafe {
            own_dest.write_bytes(UNTOUCHED, length);
            own_source.copy_from_nonoverlapping(source.as_ptr(), source.len());
            call.carry_out(algorithm, group, own_dest, own_source);
            found.as_mut_ptr().copy_from_nonoverlapping(own_dest, length);
        }
        let expected = expected.unwrap_or_else(|| vec![UNTOUCHED; length]);
        if found != expected {
            let at = found.iter().zip(&expected).position(|(f, e)| f != e);
            let name = call.operation().algorithms()[algorithm];
            panic!("call {number}, {call:?}, {name}: PE {me} of {npes} has a wrong byte at {at:?}");
        }
    }
}

#[test]
fn nobody_leaves_a_sync_before_all_have_come() {
    fn rounds(group: &impl Group, counter: &AtomicU64) {
        for round in 1..=300 {
            counter.fetch_add(1, Ordering::Relaxed);
            group.sync();
            assert!(counter.load(Ordering::Relaxed) >= round * group.size() as u64);
        }
    }
    for npes in 1..=MOST_PES {
        let (on_team, on_set) = (AtomicU64::new(0), AtomicU64::new(0));
        Machine::new(npes).run(|member| {
            let clock = Clock::new(0.into(), 0.into(), 0.into());
            rounds(&Epochs::new(member, &clock), &on_team);
            rounds(&PSync(member), &on_set);
        });
    }
}
