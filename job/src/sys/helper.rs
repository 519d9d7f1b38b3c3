//! A process that serves this one without being its child: the program may wait for all of its own
//! children, and must not find an unknown one among them.
#![allow(unsafe_code)]

use crate::error::Error;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sys::signal::SigSet;
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, execv, fork, setsid};
use onenode_core::Error as System;
use onenode_core::sys::{fd, pass, process};
use std::ffi::CString;
use std::io::Read;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The process that a helper serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServedProcess {
    pid: u32,
    started: u64,
}

impl ServedProcess {
    /// Whether it is still running.
    pub fn is_running(self) -> bool {
        process::is_running(self.pid, self.started)
    }
}

/// Runs a helper that inherits only a copy of the descriptor `keep`, and a pipe: the program
/// `program` with `option` and an argument for [`parse`], or `run` if there is none. Returns everything that it writes to the pipe until it
/// closes the pipe.
///
/// # Errors
/// If the process cannot be created.
pub fn ask(
    keep: BorrowedFd,
    (program, option): (Option<&Path>, &str),
    run: impl FnOnce(OwnedFd, OwnedFd, ServedProcess),
) -> Result<Vec<u8>, Error> {
    let [ours, theirs] = pass::pipe()?;
    let keep = keep.try_clone_to_owned().map_err(System::of("dup"))?;
    let served = ServedProcess { pid: process::pid(), started: process::own_start() };
    // Before the fork, where allocation is safe.
    let command = program.and_then(|path| command(path, option, [&keep, &theirs], served));
    // SAFETY: the child has only this thread. What it uses (memory allocation, loading of
    // libraries) the C library supports in a forked child of a process with several threads.
    match unsafe { fork() }.map_err(System::of("fork"))? {
        ForkResult::Child => {
            // The helper is a grandchild, so it is not a child of this process.
            // SAFETY: of this child with its one thread, which does nothing else.
            match unsafe { fork() } {
                Ok(ForkResult::Parent { .. }) => process::exit_now(0),
                Ok(ForkResult::Child) => {}
                Err(_) => process::exit_now(1),
            }
            drop(ours);
            prepare([keep.as_raw_fd(), theirs.as_raw_fd()]);
            match command {
                Some(command) => become_program(&command, [&keep, &theirs]),
                None => run(keep, theirs, served),
            }
            process::exit_now(1)
        }
        ForkResult::Parent { child } => {
            drop(theirs);
            while waitpid(child, None) == Err(Errno::EINTR) {}
            let mut told = Vec::new();
            let read = std::fs::File::from(ours).read_to_end(&mut told);
            Ok(read.map(|_| told).map_err(System::of("read from a helper"))?)
        }
    }
}

/// The arguments of a helper with its own program. `None` if the path contains a zero byte.
fn command(
    path: &Path,
    option: &str,
    files: [&OwnedFd; 2],
    served: ServedProcess,
) -> Option<[CString; 3]> {
    let [file, pipe] = files.map(AsRawFd::as_raw_fd);
    let words = format!("{file}:{pipe}:{}:{}", served.pid, served.started);
    let path = CString::new(path.as_os_str().as_bytes()).ok()?;
    Some([path, CString::new(option).ok()?, CString::new(words).ok()?])
}

/// Parses the argument after the option: the job's file, the pipe, and the process to serve.
pub fn parse(words: &str) -> Option<(OwnedFd, OwnedFd, ServedProcess)> {
    let mut fields = words.split(':');
    let [file, pipe]: [RawFd; 2] = [fields.next()?.parse().ok()?, fields.next()?.parse().ok()?];
    let served =
        ServedProcess { pid: fields.next()?.parse().ok()?, started: fields.next()?.parse().ok()? };
    let are_open = [file, pipe].into_iter().all(fd::is_open);
    if !are_open || file == pipe || file < 3 || pipe < 3 || fields.next().is_some() {
        return None;
    }
    // SAFETY: the starter passed these two to this process, which has just begun and opened neither
    // itself.
    Some(unsafe { (OwnedFd::from_raw_fd(file), OwnedFd::from_raw_fd(pipe), served) })
}

/// Executes the helper's own program. Returns if that fails; the pipe is then closed without any
/// data.
fn become_program(command: &[CString; 3], files: [&OwnedFd; 2]) {
    for file in files {
        let _ = fcntl(file, FcntlArg::F_SETFD(FdFlag::empty()));
    }
    let _ = execv(&command[0], command);
}

/// Closes all descriptors except these, and blocks all signals.
fn prepare(mut keep: [RawFd; 2]) {
    keep.sort_unstable();
    let (low, high) = (keep[0] as u32, keep[1] as u32);
    let _ = setsid();
    let _ = SigSet::all().thread_set_mask();
    // SAFETY: none of the program's code runs here, so no code uses what is closed. A call that
    // fails only leaves a descriptor open, which does no harm.
    unsafe {
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
