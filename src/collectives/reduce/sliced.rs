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

use super::block::{Blocks, Part};
use super::op::Kernel;
use crate::collectives::group::{Group, others_first};

/// Slices start on multiples of this many bytes, so that no two members write one
/// cache line pair of an aligned array.
const SLICE_ALIGN: usize = 128;

/// The direct algorithm, which only shared memory allows. Three steps; each member
/// moves `2 * n` elements (and combines `n`). In place, a member overwrites only its
/// own slice of its source, which nobody else reads, until all sums are there.
///
/// # Safety
/// `source` is readable and `dest` writable for `n` elements; they are equal or do
/// not overlap, and no PE accesses them in conflict with the call.
pub unsafe fn direct<G: Group>(
    group: &G,
    dest: *mut u8,
    source: *const u8,
    n: usize,
    kernel: Kernel,
) {
    let (me, size) = (group.index(), group.size());
    let elem = kernel.bytes();
    let ready = group.announce();
    let mut blocks = Blocks::new(kernel);
    for part in slice(me, size, n, elem).blocks(elem) {
        // SAFETY: all members wait below before they reuse their sources; in place,
        // this PE alone reads this part of this source. The rest is the caller's promise.
        unsafe {
            let sum = blocks.accumulate(group, ready, source, part, size);
            let to = dest.add(part.first * elem);
            std::ptr::copy_nonoverlapping(sum, to, part.n * elem);
        }
    }
    let reduced = group.announce();
    for member in others_first(me, size).filter(|member| *member != me) {
        group.await_member(reduced, member);
        let Part { first, n } = slice(member, size, n, elem);
        if n > 0 {
            let from = group.peer("dest", dest as usize, member) as *const u8;
            // SAFETY: the member has its sums and waits below before it reuses them;
            // in place, it has read this part of this PE's source.
            unsafe {
                let (from, to) = (from.add(first * elem), dest.add(first * elem));
                std::ptr::copy_nonoverlapping(from, to, n * elem);
            }
        }
    }
    let gathered = group.announce();
    group.await_all(gathered);
}

/// The part of `n` elements that `member` reduces.
fn slice(member: usize, size: usize, n: usize, elem: usize) -> Part {
    let granule = SLICE_ALIGN.div_ceil(elem);
    let each = n.div_ceil(size).next_multiple_of(granule);
    let first = each.saturating_mul(member).min(n);
    Part { first, n: each.min(n - first) }
}
