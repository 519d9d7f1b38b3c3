//! Recursive doubling (Hillis and Steele, "Data parallel algorithms", 1986): after round
//! `r` each member has the sums of the `2^(r+1)` members up to itself.
//!
//! ```text
//!           member 0    1        2          3
//!  before      0        1        2          3
//!  round 0     0        0+1      1+2        2+3
//!  round 1     0        0+1      0+(1+2)    (0+1)+(2+3)
//! ```
//!
//! `ceil(log2 size)` rounds, one more if the scan is exclusive; in each a member moves
//! the bytes twice.
#![allow(unsafe_code)]

use super::Scan;
use crate::collectives::group::{Buffer, Group, Outcome};
use crate::collectives::scratch::Scratch;

/// # Safety
/// As [`super::direct::run`].
pub unsafe fn run<G: Group>(group: &G, call: Scan) -> Outcome<G> {
    let (me, size, bytes) = (group.index(), group.size(), call.bytes());
    let rounds = size.next_power_of_two().ilog2() as usize;
    group.steps(2 * rounds + 3, |steps| {
        let (mut mine, mut theirs) = (Scratch::new(bytes), Scratch::new(bytes));
        // Takes the sums of the member `distance` before, if there is one, and returns
        // when the one after has taken this PE's: its dest may be written again.
        let shift = |round: usize, distance: usize, into: &Scratch| {
            let (there, taken) = (2 * round + 1, 2 * round + 2);
            let before = me.checked_sub(distance);
            if let Some(before) = before {
                steps.await_member(there, before)?;
                let from = group.of(Buffer::Dest, call.dest, before)?;
                // SAFETY: the member has its sums, and waits until this PE has taken them.
                unsafe { group.copy(from, into.start(), bytes) };
            }
            steps.announce(taken);
            steps.await_each(taken, (me + distance..size).take(1))?;
            Ok(before.is_some())
        };
        // SAFETY: scratch memory is private and long enough; the rest is the caller's promise.
        unsafe {
            group.copy(call.source, mine.start(), bytes);
            group.copy(mine.start(), call.dest, bytes);
        }
        steps.announce(1);
        for round in 0..rounds {
            if shift(round, 1 << round, &theirs)? {
                // SAFETY: as above; nobody reads this PE's dest now.
                unsafe {
                    call.kernel.combine(theirs.start(), theirs.start(), mine.start(), call.n);
                    std::mem::swap(&mut mine, &mut theirs);
                    group.copy(mine.start(), call.dest, bytes);
                }
            }
            steps.announce(2 * round + 3);
        }
        if !call.inclusive {
            // SAFETY: as above.
            unsafe {
                if shift(rounds, 1, &theirs)? {
                    group.copy(theirs.start(), call.dest, bytes);
                } else {
                    std::ptr::write_bytes(call.dest, 0, bytes);
                }
            }
        }
        Ok(())
    })
}
