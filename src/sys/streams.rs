//! Flushes C's streams when the process ends without calling `exit`.
//!
//! `fflush(NULL)` takes the lock of every stream, even of those that are only read: it would wait
//! for a thread that blocks in `getchar()`. So this code handles only streams with unwritten data,
//! and waits only briefly for streams that another thread has locked.
#![allow(unsafe_code)]

use libc::{FILE, c_int, c_void, size_t};
use onenode_core::sys::process;
use std::time::{Duration, Instant};

/// How long another thread may take to finish writing to a stream.
const LOCKED: Duration = Duration::from_millis(100);

// glibc's list of open streams (libio.h), and the functions of stdio that the crate `libc` lacks.
unsafe extern "C" {
    safe fn _IO_iter_begin() -> *mut c_void;
    safe fn _IO_iter_end() -> *mut c_void;
    fn _IO_iter_next(at: *mut c_void) -> *mut c_void;
    fn _IO_iter_file(at: *mut c_void) -> *mut FILE;
    fn __fpending(stream: *mut FILE) -> size_t;
    fn ftrylockfile(stream: *mut FILE) -> c_int;
    fn funlockfile(stream: *mut FILE);
    fn fflush_unlocked(stream: *mut FILE) -> c_int;
}

/// The streams with unwritten data. As at `exit`, the list is not locked: a thread that is opening
/// a stream could be stopped anywhere.
fn unwritten() -> impl Iterator<Item = *mut FILE> {
    let mut at = _IO_iter_begin();
    std::iter::from_fn(move || {
        while at != _IO_iter_end() {
            // SAFETY: an entry of the list, not its end, and the stream that it stands for: open, unless another thread
            // closes it at this moment, which `exit`, too, leaves to the program not to do.
            let (stream, unwritten) = unsafe {
                let stream = _IO_iter_file(at);
                at = _IO_iter_next(at);
                (stream, __fpending(stream))
            };
            if unwritten != 0 {
                return Some(stream);
            }
        }
        None
    })
}

/// Flushes the streams. A stream that another thread does not unlock in time is flushed all the
/// same, as `exit` does. Waits for slow readers, but not for locks.
pub fn flush() {
    let until = Instant::now() + LOCKED;
    loop {
        let (is_late, mut locked) = (Instant::now() >= until, false);
        for stream in unwritten() {
            // SAFETY: an open stream; the holder of its lock may write it, and does without the lock if another
            // thread has held that for long.
            unsafe {
                if ftrylockfile(stream) == 0 {
                    libc::fflush(stream);
                    funlockfile(stream);
                } else if is_late {
                    fflush_unlocked(stream);
                } else {
                    locked = true;
                }
            }
        }
        if !locked {
            return;
        }
        process::sleep(Duration::from_millis(1));
    }
}
