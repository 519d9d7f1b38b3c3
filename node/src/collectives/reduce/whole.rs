//! Reduction of middling arrays: every member reduces the whole array.
#![allow(unsafe_code)]

use super::Reduce;
use super::block::{BLOCK_BYTES, Blocks, Part};
use crate::collectives::group::{Group, Outcome};

const READY: usize = 1;
const READ: usize = 2;

/// Every member combines all sources where they lie, and writes its dest when all
/// have done so (dest may be source). Two steps; each member moves `size` times the bytes,
/// and its result once more.
///
/// # Safety
/// `source` is readable and `dest` writable for the elements, together at most
/// [`BLOCK_BYTES`]; they are equal or do not overlap, and no PE accesses them in
/// conflict with the call.
pub unsafe fn run<G: Group>(group: &G, call: Reduce) -> Outcome<G> {
    assert!(call.bytes() <= BLOCK_BYTES);
    group.steps(READ, |steps| {
        steps.announce(READY);
        let mut blocks = Blocks::new(call.kernel);
        let all = Part { first: 0, n: call.n };
        // SAFETY: all members wait below before they reuse their sources.
        let result = unsafe { blocks.accumulate(group, steps, call.source, all, group.size())? };
        steps.announce(READ);
        steps.await_all(READ)?;
        // SAFETY: the caller's promise; nobody reads the source any more.
        unsafe { group.copy(result, call.dest, call.bytes()) };
        Ok(())
    })
}
