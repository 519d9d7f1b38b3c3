//! Ways to copy: pairs of 16-byte registers, the same past the caches, and the C library's function.
#![allow(unsafe_code)]

use crate::arch::{CopyPreferences, LINE, PAGE};
use std::arch::aarch64::uint8x16_t;
use std::arch::asm;

/// A line in registers.
type Line = [uint8x16_t; LINE / size_of::<uint8x16_t>()];

/// There is one width.
pub fn width() -> usize {
    16
}

/// Copies a line, at any alignment.
///
/// # Safety
/// As for [`crate::copy::elements`], for [`LINE`] bytes.
#[inline(always)]
unsafe fn line(to: *mut u8, from: *const u8) {
    // SAFETY: the caller's promise.
    unsafe { to.cast::<Line>().write_unaligned(from.cast::<Line>().read_unaligned()) }
}

/// Copies with moves.
///
/// # Safety
/// As for [`crate::copy::elements`], for more than 64 bytes.
#[inline(never)]
pub unsafe fn moves(_width: usize, to: *mut u8, from: *const u8, bytes: usize) {
    let (mut at, tail) = (LINE - to as usize % LINE, bytes - LINE);
    // SAFETY: the caller's promise; every offset is at most `tail`.
    unsafe {
        line(to, from);
        while at < tail {
            line(to.add(at), from.add(at));
            at += LINE;
        }
        line(to.add(tail), from.add(tail));
    }
}

/// Copies with accesses that tell the processor that they will not be repeated. They are ordered by
/// fences and by releasing stores as others are. Takes a line of each of `abreast` pages in turn.
///
/// # Safety
/// As for [`moves`].
#[inline(never)]
pub unsafe fn stream(_width: usize, to: *mut u8, from: *const u8, bytes: usize, abreast: usize) {
    let (mut at, tail) = (LINE - to as usize % LINE, bytes - LINE);
    // SAFETY: the caller guarantees that both ranges are there; each line begins at `tail` or before it, and so
    // ends in them.
    unsafe {
        let past = |at: usize| {
            asm!(
                "ldnp {a:q}, {b:q}, [{from}]",
                "ldnp {c:q}, {d:q}, [{from}, #32]",
                "stnp {a:q}, {b:q}, [{to}]",
                "stnp {c:q}, {d:q}, [{to}, #32]",
                from = in(reg) from.add(at), to = in(reg) to.add(at),
                a = out(vreg) _, b = out(vreg) _, c = out(vreg) _, d = out(vreg) _,
                options(nostack, preserves_flags),
            );
        };
        line(to, from);
        while tail.saturating_sub(at) >= abreast * PAGE {
            for offset in (0..PAGE).step_by(LINE) {
                (0..abreast).for_each(|page| past(at + page * PAGE + offset));
            }
            at += abreast * PAGE;
        }
        while at < tail {
            past(at);
            at += LINE;
        }
        line(to.add(tail), from.add(tail));
    }
}

/// Copies by the function that the C library has for this processor: with SVE, with the instructions
/// for copies of Armv8.8, or with what else its maker has measured. The head first: a null pointer is
/// recognised by the address of its fault.
///
/// # Safety
/// As for [`crate::copy::elements`], for at least [`LINE`] bytes.
#[inline(always)]
pub unsafe fn string(to: *mut u8, from: *const u8, bytes: usize) {
    let done = LINE - to as usize % LINE;
    // SAFETY: the caller guarantees that the ranges are readable and writable, and disjoint or the same. (The
    // C library's function also copies memory onto itself, which Rust's own forbids.)
    unsafe {
        line(to, from);
        libc::memcpy(to.add(done).cast(), from.add(done).cast(), bytes - done);
    }
}

/// The way that suits this processor: the C library's function, until somebody measures better on hardware.
/// `oshtune` does, and a tuning file then names the other ways.
pub fn suits() -> CopyPreferences {
    CopyPreferences { string_from: 1, string_apart: 1, streams: false, abreast: 1 }
}
