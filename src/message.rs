//! A PE's messages to users.

use crate::pe;
use crate::sys::backtrace::{self, Entry};
use crate::sys::python;
use oneshmem_job::message;
use std::fmt;

/// Writes one line to standard error, with the library's name and the PE's number.
pub fn say(message: impl fmt::Display) {
    match pe::existing() {
        Some(job) => message::say(format_args!("PE {}: {message}", job.pe())),
        None => message::say(message),
    }
}

/// Writes where the program has called the library, if it has: after what is said of that call. In a signal
/// handler `from` is the interrupted instruction.
#[cold]
pub fn say_caller(from: Option<usize>) {
    backtrace::entry(from, |entry| match entry {
        Entry::Known(call) => say(format_args!("called from {call}")),
        Entry::Among(index, call) => {
            if index == 0 {
                say("called from one of these, in a program without symbols:");
            }
            say(format_args!("  {index:>2} {call}"));
        }
    });
    let mut has_head = false;
    python::each_call(|call| {
        if !std::mem::replace(&mut has_head, true) {
            say("called from Python, innermost call first:");
        }
        say(format_args!("  {call}"));
    });
}
