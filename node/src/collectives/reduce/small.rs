//! Reduction of what fits a control word's cache lines.
#![allow(unsafe_code)]

use super::Reduce;
use crate::collectives::group::{Group, Outcome, SMALL_BYTES, Small};

/// Private memory for a message, aligned for any element.
#[repr(C, align(64))]
#[derive(Default)]
struct Aligned(Small);

/// Every member tells its elements beside its control word, and combines everyone's.
/// One exchange, no wait for readers, sources are read by their owners only; each
/// member moves two cache lines a member.
///
/// # Safety
/// `source` is readable and `dest` writable for the elements, together at most
/// [`SMALL_BYTES`], and no PE accesses them in conflict with the call.
pub unsafe fn run<G: Group>(group: &G, call: Reduce) -> Outcome<G> {
    let Reduce { dest, source, n, kernel } = call;
    let bytes = call.bytes();
    assert!(bytes <= SMALL_BYTES);
    let mut mine = Small::default();
    // SAFETY: the caller's promise; the message is large enough by the assertion.
    unsafe { group.copy(source, mine.as_mut_ptr().cast(), bytes) };
    let mut acc = Aligned::default();
    group.exchange(&mine, |member, theirs| {
        let theirs = Aligned(*theirs);
        if member == 0 {
            acc = theirs;
        } else {
            // SAFETY: both are private, aligned and initialised for `n` elements.
            unsafe {
                let acc: *mut u8 = acc.0.as_mut_ptr().cast();
                kernel.combine(acc, acc, theirs.0.as_ptr().cast(), n);
            }
        }
        Ok(())
    })?;
    // SAFETY: the caller's promise.
    unsafe { group.copy(acc.0.as_ptr().cast(), dest, bytes) };
    Ok(())
}
