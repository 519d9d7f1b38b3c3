//! Reduction of middling arrays: every member reduces the whole array.
#![allow(unsafe_code)]

use super::block::{BLOCK_BYTES, Blocks, Part};
use super::op::Kernel;
use crate::collectives::group::Group;

/// Every member combines all sources where they lie, and writes its dest when all
/// have done so (dest may be source). Two steps; each member moves `size * n` elements.
///
/// # Safety
/// `source` is readable and `dest` writable for `n` elements, together at most
/// [`BLOCK_BYTES`]; they are equal or do not overlap, and no PE accesses them in
/// conflict with the call.
pub unsafe fn direct<G: Group>(
    group: &G,
    dest: *mut u8,
    source: *const u8,
    n: usize,
    kernel: Kernel,
) {
    assert!(n * kernel.bytes() <= BLOCK_BYTES);
    let ready = group.announce();
    let mut blocks = Blocks::new(kernel);
    let all = Part { first: 0, n };
    // SAFETY: all members wait below before they reuse their sources.
    let result = unsafe { blocks.accumulate(group, ready, source, all, group.size()) };
    let read = group.announce();
    group.await_all(read);
    // SAFETY: the caller's promise; nobody reads the source any more.
    unsafe { std::ptr::copy_nonoverlapping(result, dest, n * kernel.bytes()) };
}
