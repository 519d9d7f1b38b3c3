//! Failures: a number for the program, and a sentence for people, kept per thread.
#![allow(unsafe_code)]

use onenode::Error;
use onenode_core::text::whole_characters;
use std::cell::Cell;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::fmt::{Arguments, Write};
use std::ptr::{null_mut, with_exposed_provenance_mut};

/// `ONENODE_ABI`.
const ABI: c_uint = 1;

/// `ONENODE_OK`.
pub(crate) const OK: c_int = 0;

/// The size of the longest sentence with its terminator. Longer ones are cut.
const LONGEST: usize = 1024;

thread_local! {
    // No destructor, so that the library can be unloaded while threads live.
    static SENTENCE: Cell<[u8; LONGEST]> = const { Cell::new([0; LONGEST]) };
}

/// The return value of a function that returns a number. An error is kept as a sentence that begins
/// with the function's name.
pub(crate) fn number(routine: &str, result: Result<c_int, Error>) -> c_int {
    result.unwrap_or_else(|error| {
        keep(format_args!("{routine}: {error}"));
        error.code()
    })
}

/// The return value of a function that returns an address: NULL after an error.
pub(crate) fn address(routine: &str, result: Result<usize, Error>) -> *mut c_void {
    match result {
        Ok(address) => with_exposed_provenance_mut(address),
        Err(error) => {
            keep(format_args!("{routine}: {error}"));
            null_mut()
        }
    }
}

fn keep(sentence: Arguments) {
    let mut cut = Truncated { kept: [0; LONGEST], used: 0 };
    // An error means that the sentence was cut.
    let _ = cut.write_fmt(sentence);
    SENTENCE.with(|kept| kept.set(cut.kept));
}

/// Writes what fits and leaves a byte for the terminator.
struct Truncated {
    kept: [u8; LONGEST],
    used: usize,
}

impl Write for Truncated {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let room = LONGEST - 1 - self.used;
        let fits = whole_characters(text, room);
        self.kept[self.used..][..fits].copy_from_slice(&text.as_bytes()[..fits]);
        self.used += fits;
        if fits == text.len() { Ok(()) } else { Err(std::fmt::Error) }
    }
}

/// `const char *onenode_message(void)`
#[unsafe(no_mangle)]
extern "C" fn onenode_message() -> *const c_char {
    SENTENCE.with(|kept| kept.as_ptr().cast_const().cast())
}

/// `unsigned onenode_abi(void)`
#[unsafe(no_mangle)]
extern "C" fn onenode_abi() -> c_uint {
    ABI
}
