//! Scans: member `i` gets the sum of the sources of members `0..=i` (inclusive), or
//! of `0..i` (exclusive; member 0 gets zeros).
#![allow(unsafe_code)]

use super::group::Group;
use super::reduce::{Blocks, Kernel, Part};

/// The direct algorithm: each member combines the sources before it where they lie,
/// block by block, in the members' order. Two steps if dest is not source; in place,
/// a member writes a block when all after it have read it, one step a block. Member
/// `i` moves `i * n` elements.
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
    inclusive: bool,
) {
    let (me, elem) = (group.index(), kernel.bytes());
    let in_place = std::ptr::eq(dest, source);
    let members = if inclusive { me + 1 } else { me };
    let after = me + 1..group.size();
    let await_readers = |step| after.clone().for_each(|member| group.await_member(step, member));

    let ready = group.announce();
    let mut blocks = Blocks::new(kernel);
    for part in (Part { first: 0, n }).blocks(elem) {
        // SAFETY: every member waits for its readers, here or below; the rest is
        // the caller's promise.
        let sum = unsafe { blocks.accumulate(group, ready, source, part, members) };
        if in_place {
            await_readers(group.announce());
        }
        let (offset, bytes) = (part.first * elem, part.n * elem);
        // SAFETY: the caller's promise; in place, nobody reads this block any more.
        // An accumulator that no member went into is not read.
        unsafe {
            if members == 0 {
                std::ptr::write_bytes(dest.add(offset), 0, bytes);
            } else {
                std::ptr::copy_nonoverlapping(sum, dest.add(offset), bytes);
            }
        }
    }
    if !in_place {
        await_readers(group.announce());
    }
}
