//! Reduction of large arrays: every member reduces one slice.
//!
//! ```text
//!             slice 0   slice 1   slice 2
//!  source 0   [  a0  ]  [  b0  ]  [  c0  ]      member 0 adds up the a's, member 1
//!  source 1   [  a1  ]  [  b1  ]  [  c1  ]      the b's, member 2 the c's, each into
//!  source 2   [  a2  ]  [  b2  ]  [  c2  ]      its own slice of its own dest;
//!               sum a     sum b     sum c       then all copy the sums they lack.
//! ```
#![allow(unsafe_code)]

use super::Reduce;
use super::block::{Blocks, Part};
use crate::collectives::group::{Group, others_first};

/// Slices start on multiples of this many bytes, so that no two members write one
/// cache line pair of an aligned array.
const SLICE_ALIGN: usize = 128;

const READY: usize = 1;
const REDUCED: usize = 2;
const GATHERED: usize = 3;

/// Every member reduces one slice, then all gather them. Three steps; each member moves
/// the bytes twice. In place, a member's dest is written by
/// itself only, and each part of it after the one that reduces this part has read it.
///
/// # Safety
/// `source` is readable and `dest` writable for the elements; they are equal or do
/// not overlap, and no PE accesses them in conflict with the call.
pub unsafe fn run(group: &impl Group, call: Reduce) {
    let Reduce { dest, source, n, kernel } = call;
    let (me, size, elem) = (group.index(), group.size(), kernel.bytes());
    group.steps(GATHERED, |steps| {
        steps.announce(READY);
        let mut blocks = Blocks::new(kernel);
        for part in slice(me, size, n, elem).blocks(elem) {
            // SAFETY: all members wait below before they reuse their sources; in place,
            // this PE alone reads this part of this source. The rest is the caller's promise.
            unsafe {
                let sum = blocks.accumulate(group, steps, source, part, size);
                group.copy(sum, dest.add(part.first * elem), part.n * elem);
            }
        }
        steps.announce(REDUCED);
        for member in others_first(me, size).filter(|member| *member != me) {
            steps.await_member(REDUCED, member);
            let Part { first, n } = slice(member, size, n, elem);
            if n > 0 {
                let from = group.of("dest", dest, member);
                // SAFETY: the member has its sums and waits below before it reuses them;
                // in place, it has read this part of this PE's source.
                unsafe { group.copy(from.add(first * elem), dest.add(first * elem), n * elem) }
            }
        }
        steps.announce(GATHERED);
        steps.await_all(GATHERED);
    });
}

/// The part of `n` elements that `member` reduces.
fn slice(member: usize, size: usize, n: usize, elem: usize) -> Part {
    let granule = SLICE_ALIGN.div_ceil(elem);
    let each = n.div_ceil(size).next_multiple_of(granule);
    let first = each.saturating_mul(member).min(n);
    Part { first, n: each.min(n - first) }
}
