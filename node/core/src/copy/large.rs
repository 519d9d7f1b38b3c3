//! Copies of more than 64 bytes:
//!
//! | bytes | method |
//! |---|---|
//! | fewer than `string_from` | moves as wide as the processor has: the head and the tail, or a loop |
//! | from there on | its string instruction, or that loop where the destination lies just after the source |
//! | more than `cached_to` | stores that bypass the caches |
//!
//! [`Methods`](super::Methods) has the limits. The loops are in [`arch`]. Where a processor has no
//! string instruction, the C library's function takes its place.
#![allow(unsafe_code)]

use super::machine;
use super::methods;
use super::touch::PIECE;
use crate::arch::{self, PAGE};

/// Copies more than 64 bytes.
///
/// # Safety
/// As for [`super::elements`].
#[inline(never)]
pub unsafe fn large(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: the caller's promise, passed on; the processor has moves of the chosen width.
    unsafe {
        if bytes >= methods::moves_below() {
            if methods::string_from() == 0 {
                return first(to, from, bytes);
            }
            if bytes >= PIECE {
                return huge(to, from, bytes);
            }
            if string_pays(to, from, bytes) {
                return arch::string(to, from, bytes);
            }
        }
        arch::moves(methods::width(), to, from, bytes);
    }
}

/// A copy past the caches.
///
/// # Safety
/// As for [`super::elements`], for at least [`PIECE`] bytes.
#[inline(never)]
pub unsafe fn past_caches(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: the caller's promise, passed on; the processor has moves of the chosen width.
    unsafe {
        super::before_large(to, from, bytes);
        arch::stream(methods::width(), to, from, bytes, methods::abreast());
    }
}

/// A copy so large that a few calls do not matter.
///
/// # Safety
/// As for [`super::elements`].
#[inline(never)]
unsafe fn huge(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: the caller's promise, passed on; the processor has moves of the chosen width.
    unsafe {
        if bytes > methods::cached_to() {
            return past_caches(to, from, bytes);
        }
        super::before_large(to, from, bytes);
        match string_pays(to, from, bytes) {
            true => arch::string(to, from, bytes),
            false => arch::moves(methods::width(), to, from, bytes),
        }
    }
}

/// The first large copy, unless the limits were set before: detects those of the processor.
///
/// # Safety
/// As for [`large`].
#[cold]
#[inline(never)]
unsafe fn first(to: *mut u8, from: *const u8, bytes: usize) {
    methods::set(machine::built_in());
    // SAFETY: the caller's promise.
    unsafe { large(to, from, bytes) }
}

/// Whether to use the string instruction for this many bytes between these addresses.
#[inline(always)]
fn string_pays(to: *mut u8, from: *const u8, bytes: usize) -> bool {
    bytes >= methods::string_from() && !is_just_after(methods::string_apart(), to, from)
}

/// Whether `to` lies 1 to `apart - 1` bytes after `from`, modulo the page size.
#[inline(always)]
fn is_just_after(apart: usize, to: *mut u8, from: *const u8) -> bool {
    let after = (to as usize).wrapping_sub(from as usize) & (PAGE - 1);
    after.wrapping_sub(1) < apart - 1
}

#[cfg(test)]
mod tests;
