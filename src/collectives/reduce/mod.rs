//! Reductions: elementwise combination of all members' sources, to all members.
//!
//! Elements are always combined in the members' order, whatever the algorithm and
//! the timing: floating-point results are the same bits from run to run and on
//! every member.
#![allow(unsafe_code)]

mod block;
pub mod op;
mod sliced;
mod small;
mod whole;

pub(super) use block::{BLOCK_BYTES, Blocks, Part};
pub use op::{And, Element, Kernel, Max, Min, Or, Prod, ReduceOp, Sum, Xor};

use super::group::{Group, SMALL_BYTES};

/// Up to this many bytes every member combines everything: one step less is worth
/// more than reading `size` sources instead of two.
const WHOLE_BYTES: usize = 2048;
const _: () = assert!(WHOLE_BYTES <= BLOCK_BYTES);

/// Reduces `n` elements with the algorithm that suits their size.
///
/// # Safety
/// `source` is readable and `dest` writable for `n` elements; they are equal or do
/// not overlap, and no PE accesses them in conflict with the call.
pub unsafe fn reduce<G: Group>(
    group: &G,
    dest: *mut u8,
    source: *const u8,
    n: usize,
    kernel: Kernel,
) {
    let bytes = n.saturating_mul(kernel.bytes());
    // SAFETY: the caller's promise, passed on.
    unsafe {
        if bytes <= SMALL_BYTES {
            small::exchange(group, dest, source, n, kernel);
        } else if bytes <= WHOLE_BYTES {
            whole::direct(group, dest, source, n, kernel);
        } else {
            sliced::direct(group, dest, source, n, kernel);
        }
    }
}
