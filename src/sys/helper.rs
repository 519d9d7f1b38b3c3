//! A process that serves this one without being its child: the program may wait for all of its own
//! children, and must not find a stranger among them.
#![allow(unsafe_code)]

use crate::error::Error;
use onenode::sys::process;
use std::io::Read;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// How often the helper looks whether the process that it serves is still there.
const LOOK: Duration = Duration::from_millis(100);

/// Runs `run` in a process of its own that has nothing of this one's files but `keep`, and ends
/// soon after this one. Returns all that it writes to the file that it is given, up to when it
/// closes that.
///
/// # Errors
/// If there can be no such process.
pub fn ask(keep: BorrowedFd, run: impl FnOnce(OwnedFd)) -> Result<Vec<u8>, Error> {
    let failed = |call: &'static str| Error::from(onenode::Error::last(call));
    let mut ends = [0; 2];
    // SAFETY: the call fills the local array.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return Err(failed("pipe"));
    }
    // SAFETY: the kernel just gave these descriptors to us alone.
    let [ours, theirs] = ends.map(|end| unsafe { OwnedFd::from_raw_fd(end) });
    let (pid, started) = (process::pid(), process::own_start());
    // SAFETY: the child has this thread only. What it goes on to use, the C library makes usable
    // in the child of a process with several threads: memory, loading of libraries.
    match unsafe { libc::fork() } {
        -1 => Err(failed("fork")),
        0 => {
            // SAFETY: as above. The helper is the child's child, and so nobody's.
            let helper = unsafe { libc::fork() };
            if helper != 0 {
                // SAFETY: ends this process, and runs nothing of the program.
                unsafe { libc::_exit(i32::from(helper < 0)) };
            }
            drop(ours);
            prepare(&[keep.as_raw_fd(), theirs.as_raw_fd()]);
            std::thread::spawn(move || {
                while process::is_running(pid, started) {
                    std::thread::sleep(LOOK);
                }
                // SAFETY: as above.
                unsafe { libc::_exit(0) }
            });
            run(theirs);
            // SAFETY: as above.
            unsafe { libc::_exit(1) }
        }
        child => {
            drop(theirs);
            let mut status = 0;
            // SAFETY: waits for the process just made, whose status goes to a local.
            unsafe { libc::waitpid(child, &mut status, 0) };
            let mut told = Vec::new();
            let read = std::fs::File::from(ours).read_to_end(&mut told);
            read.map(|_| told).map_err(|_| failed("read from a helper"))
        }
    }
}

/// Leaves all files but these and all signals behind.
fn prepare(keep: &[i32; 2]) {
    let mut keep = *keep;
    keep.sort_unstable();
    let (low, high) = (keep[0] as u32, keep[1] as u32);
    // SAFETY: nothing of the program runs here, so nobody misses what is closed. What fails leaves
    // a file open, which does no harm.
    unsafe {
        libc::setsid();
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, std::ptr::null_mut());
        let null = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
        for number in 0..3 {
            if number != low as i32 && number != high as i32 {
                libc::dup2(null, number);
            }
        }
        let close = |first: u32, last: u32| {
            if first <= last {
                libc::syscall(libc::SYS_close_range, first, last, 0);
            }
        };
        close(3, low.saturating_sub(1));
        close((low + 1).max(3), high - 1);
        close((high + 1).max(3), u32::MAX);
    }
}
