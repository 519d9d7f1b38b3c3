//! The library's messages to users.

use crate::job;
use std::fmt;
use std::io::Write;

/// Writes one line to standard error, with the library's name and the PE's number.
pub fn say(message: impl fmt::Display) {
    let line = match job::existing() {
        Some(job) => format!("oneshmem: PE {}: {message}\n", job.pe()),
        None => format!("oneshmem: {message}\n"),
    };
    // One write, so that lines of several PEs do not mix.
    let _ = std::io::stderr().write_all(line.as_bytes());
}
