//! The library's messages to users.

use std::fmt;
use std::io::Write;

/// Writes one line to standard error, with the library's name.
pub fn say(message: impl fmt::Display) {
    let line = format!("oneshmem: {message}\n");
    // One write, so that lines of several processes do not mix.
    let _ = std::io::stderr().write_all(line.as_bytes());
}
