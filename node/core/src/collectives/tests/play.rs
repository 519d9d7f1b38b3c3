//! Makes calls one after the other, and checks them.

use super::calls::Call;
use super::machine::{ARENA, DEST, Member};
use crate::collectives::group::{CollectiveGroup, Reach};
use crate::collectives::range::{self, Readable, Writable};
use std::convert::Infallible;

/// The byte that fills dest before a call.
pub const UNTOUCHED: u8 = 0xee;

/// Makes the calls, one after the other, and checks every result.
pub fn play(
    member: Member<'_>,
    group: &impl CollectiveGroup<Stop = Infallible>,
    calls: &[(Call, usize)],
) {
    let (me, npes) = (member.me, member.size());
    for (number, (call, pick)) in calls.iter().enumerate() {
        let algorithms = call.algorithms(npes);
        let algorithm = algorithms[pick % algorithms.len()];
        let source = call.source(number, me, npes);
        let expected = call.expected(number, me, npes);
        let length = expected.as_ref().map_or(64, Vec::len);
        assert!(source.len() <= DEST && length <= ARENA - DEST, "the arena is too small");
        let own_source = member.machine.source(me);
        let own_dest = if call.in_place() { own_source } else { member.machine.dest(me) };
        let mut found = vec![UNTOUCHED; length];
        range::copy(Readable::from(&*found), own_dest.part(0, length));
        range::copy(Readable::from(&*source), own_source.part(0, source.len()));
        call.carry_out(algorithm, group, own_dest, own_source);
        range::copy(own_dest.part(0, length).readable(), Writable::from(&mut *found));
        let expected = expected.unwrap_or_else(|| vec![UNTOUCHED; length]);
        if found != expected {
            let at = found.iter().zip(&expected).position(|(f, e)| f != e);
            let name = call.operation().algorithms()[algorithm];
            panic!("call {number}, {call:?}, {name}: PE {me} of {npes} has a wrong byte at {at:?}");
        }
    }
}
