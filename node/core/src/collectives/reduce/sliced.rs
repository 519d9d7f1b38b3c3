//! Reduction of large arrays: every member reduces one slice.
//!
//! ```text
//!             slice 0   slice 1   slice 2
//!  source 0   [  a0  ]  [  b0  ]  [  c0  ]      member 0 adds up the a's, member 1
//!  source 1   [  a1  ]  [  b1  ]  [  c1  ]      the b's, member 2 the c's, and writes
//!  source 2   [  a2  ]  [  b2  ]  [  c2  ]      them, block by block,
//!               sum a     sum b     sum c       into everyone's dest.
//! ```

use super::Reduce;
use super::block::{Accumulator, ElementRange};
use crate::collectives::group::{CollectiveGroup, Outcome, others_first};

/// Slices start at multiples of this many bytes, so that no two members write to the same
/// cache-line pair of an aligned array.
const SLICE_ALIGN: usize = 128;

const READY: usize = 1;
const REDUCED: usize = 2;

/// Every member reduces one slice, block by block, and writes each block to all members while the
/// block is in its first-level cache, so that nobody has to fetch it from there. Two steps; each
/// member moves the bytes twice.
pub fn run<G: CollectiveGroup>(group: &G, call: Reduce<'_>) -> Outcome<G> {
    let Reduce { dest, source, n, kernel } = call;
    let (me, size, elem) = (group.index(), group.size(), kernel.bytes());
    group.steps(REDUCED, |steps| {
        steps.announce(READY);
        let mut blocks = Accumulator::new(kernel);
        for part in slice(me, size, n, elem).blocks(elem) {
            let (start, bytes) = part.range(elem);
            // All members wait below before they reuse source and dest. All have joined before this
            // PE writes, because it has waited for what it reads. In place, only this PE reads this
            // part of any source.
            let sum = blocks.accumulate(group, steps, source, part, size)?;
            for member in others_first(me, size) {
                group.copy(sum, group.dest(dest, member)?.part(start, bytes));
            }
        }
        steps.finish(REDUCED)
    })
}

/// The slice of `n` elements that `member` reduces.
fn slice(member: usize, size: usize, n: usize, elem: usize) -> ElementRange {
    let granule = SLICE_ALIGN.div_ceil(elem);
    let each = n.div_ceil(size).next_multiple_of(granule);
    let first = each.saturating_mul(member).min(n);
    ElementRange { first, n: each.min(n - first) }
}
