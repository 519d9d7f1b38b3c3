//! Calls one after the other, checked.
#![allow(unsafe_code)]

use super::calls::Call;
use super::machine::{ARENA, DEST, Member};
use crate::collectives::group::{Group, Reach};
use std::convert::Infallible;

/// What dest holds before a call.
pub const UNTOUCHED: u8 = 0xee;

/// Makes the calls, one after the other, and checks every result.
pub fn play(member: Member<'_>, group: &impl Group<Stop = Infallible>, calls: &[(Call, usize)]) {
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
