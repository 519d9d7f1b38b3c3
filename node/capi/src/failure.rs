//! What failed: a number for the program, and for people a sentence, kept for the thread.
#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::ffi::{c_char, c_int, c_uint};
use std::fmt::{Display, Write};

/// `ONENODE_ABI`.
const ABI: c_uint = 1;

/// Bytes of the longest sentence and its end; longer ones are cut.
const LONGEST: usize = 1024;

/// `enum onenode_error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Code {
    Ok = 0,
    Invalid = -1,
}

thread_local! {
    // No destructor, so that the library can be unloaded while threads live.
    static SENTENCE: UnsafeCell<[u8; LONGEST]> = const { UnsafeCell::new([0; LONGEST]) };
}

/// Keeps the sentence of a failure and returns its number.
pub(crate) fn fail(code: Code, sentence: impl Display) -> c_int {
    SENTENCE.with(|kept| {
        // SAFETY: the thread's own, and no reference to it lives on: `onenode_message` gives out a
        // pointer only, which is promised until the next failure.
        let kept = unsafe { &mut *kept.get() };
        let mut cut = Cut { kept, used: 0 };
        // It fails where the sentence is cut.
        let _ = write!(cut, "{sentence}");
        let Cut { kept, used } = cut;
        kept[used] = 0;
    });
    code as c_int
}

/// Writes what fits and leaves a byte for the end.
struct Cut<'k> {
    kept: &'k mut [u8; LONGEST],
    used: usize,
}

impl Write for Cut<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let room = LONGEST - 1 - self.used;
        let fits = text.floor_char_boundary(room);
        self.kept[self.used..][..fits].copy_from_slice(&text.as_bytes()[..fits]);
        self.used += fits;
        if fits == text.len() { Ok(()) } else { Err(std::fmt::Error) }
    }
}

/// `const char *onenode_message(void)`
#[unsafe(no_mangle)]
extern "C" fn onenode_message() -> *const c_char {
    SENTENCE.with(|kept| kept.get().cast_const().cast())
}

/// `unsigned onenode_abi(void)`
#[unsafe(no_mangle)]
extern "C" fn onenode_abi() -> c_uint {
    ABI
}
