//! What only shared memory allows: each member combines the sources before it where they
//! lie, block by block, in the members' order. Two steps if dest is not source; in place,
//! a member writes a block when all after it have read it, one step a block. Member `i`
//! moves `i` times the bytes.
#![allow(unsafe_code)]

use super::Scan;
use crate::collectives::group::{Group, Outcome};
use crate::collectives::reduce::{Blocks, Part};

const READY: usize = 1;

/// # Safety
/// `source` is readable and `dest` writable for the elements; they are equal or do
/// not overlap, and no PE accesses them in conflict with the call.
pub unsafe fn run<G: Group>(group: &G, call: Scan) -> Outcome<G> {
    let Scan { dest, source, n, kernel, inclusive } = call;
    let (me, size, elem) = (group.index(), group.size(), kernel.bytes());
    let in_place = std::ptr::eq(dest, source);
    let members = if inclusive { me + 1 } else { me };
    let all = Part { first: 0, n };
    let most = READY + if in_place { all.blocks(elem).count() } else { 1 };
    group.steps(most, |steps| {
        steps.announce(READY);
        let mut blocks = Blocks::new(kernel);
        let mut read = READY;
        let mut await_readers = || {
            read += 1;
            steps.announce(read);
            steps.await_each(read, me + 1..size)
        };
        for part in all.blocks(elem) {
            // SAFETY: every member waits for its readers, here or below; the rest is
            // the caller's promise.
            let sum = unsafe { blocks.accumulate(group, steps, source, part, members)? };
            if in_place {
                await_readers()?;
            }
            let (offset, bytes) = (part.first * elem, part.n * elem);
            // SAFETY: the caller's promise; in place, nobody reads this block any more.
            // An accumulator that no member went into is not read.
            unsafe {
                if members == 0 {
                    std::ptr::write_bytes(dest.add(offset), 0, bytes);
                } else {
                    group.copy(sum, dest.add(offset), bytes);
                }
            }
        }
        if !in_place {
            await_readers()?;
        }
        Ok(())
    })
}
