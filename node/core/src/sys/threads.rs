//! The threads of this process, as the kernel knows them. Raw system calls only.
#![allow(unsafe_code)]

use super::raw::{self, Plain, plain};
use std::ffi::CStr;
use std::os::fd::RawFd;

/// The highest thread number (`PID_MAX_LIMIT` of `linux/threads.h`).
pub const MOST: usize = 4 << 20;

fn own() -> u32 {
    plain(Plain::GetPid, []) as u32
}

/// The calling thread's number.
pub fn current() -> u32 {
    plain(Plain::GetTid, []) as u32
}

/// Sends a signal to a thread of the process `process`. Signal 0 only checks that the thread
/// exists.
pub fn signal(process: u32, thread: u32, signal: i32) -> bool {
    let args = [process as usize, thread as usize, signal as usize];
    plain(Plain::Tgkill, args) == 0
}

/// Whether only the calling thread uses this process's memory.
pub fn alone() -> bool {
    // unshare(2): has no effect if the caller shares its memory with nobody, otherwise fails.
    match -plain(Plain::Unshare, [libc::CLONE_VM as usize]) as i32 {
        0 => true,
        libc::EINVAL => false,
        // Some containers forbid the call.
        _ => {
            let list = List::open();
            let alone = list.count().map_or_else(|| list.is_short(), |threads| threads == 1);
            list.close();
            alone
        }
    }
}

/// The list of a process's threads.
#[derive(Clone, Copy, Debug)]
pub struct List {
    process: u32,
    /// `/proc/self/task`. -1: every possible thread number is tried.
    folder: RawFd,
}

/// A buffer for records of `getdents64`.
pub type Buffer = [u64; WORDS];
/// The number of words of a [`Buffer`].
pub const WORDS: usize = 4096;

/// A thread's state, from its file in `/proc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It runs or waits.
    Alive,
    /// It has ended. The first thread of a process stays listed until the last one ends.
    Dead,
    /// Not known, because there is no `/proc`.
    Unknown,
}

impl List {
    /// The list of this process's threads.
    pub fn open() -> Self {
        let process = own();
        Self { process, folder: Self::folder(process).unwrap_or(-1) }
    }

    fn folder(process: u32) -> Option<RawFd> {
        // A /proc of another PID namespace lists this process, and its threads, under other
        // numbers.
        let mut text = [0u8; 12];
        let length = content(libc::AT_FDCWD, c"/proc/self/stat", &mut text);
        let digits = text[..length].iter().take_while(|byte| byte.is_ascii_digit());
        let number = digits.fold(0u64, |n, c| n * 10 + u64::from(c - b'0'));
        if number != u64::from(process) {
            return None;
        }
        open(libc::AT_FDCWD, c"/proc/self/task", libc::O_DIRECTORY)
    }

    /// Closes the list's descriptor.
    pub fn close(self) {
        plain(Plain::Close, [self.folder as usize]);
    }

    /// The process whose threads are listed.
    pub fn process(&self) -> u32 {
        self.process
    }

    /// The number of threads; `None` if unknown.
    pub fn count(&self) -> Option<usize> {
        let mut stat = std::mem::MaybeUninit::<libc::stat>::uninit();
        // SAFETY: the call fills the local.
        unsafe {
            let at = stat.as_mut_ptr() as usize;
            // A directory has two links, plus one for each directory in it, that is for each
            // thread.
            (raw::syscall(libc::SYS_fstat, [self.folder as usize, at]) == 0)
                .then(|| (stat.assume_init().st_nlink as usize).saturating_sub(2))
        }
    }

    /// Finds out by trying whether the calling thread is the only one.
    fn is_short(&self) -> bool {
        let mut others = 0;
        self.numbers(&mut |_| {
            others += 1;
            others < 2
        });
        others < 2
    }

    /// Calls `visit` with the number of each thread until it returns false. Returns whether the
    /// list could be read.
    pub fn each(&self, buffer: &mut Buffer, visit: &mut impl FnMut(u32) -> bool) -> bool {
        if self.folder < 0 {
            self.numbers(visit);
            return true;
        }
        let (fd, at, bytes) = (self.folder as usize, buffer.as_mut_ptr(), size_of::<Buffer>());
        // SAFETY: the buffer is passed with its size, and the kernel writes its records there
        // (getdents64(2)): length at 16, name at 19.
        unsafe {
            raw::syscall(libc::SYS_lseek, [fd, 0, libc::SEEK_SET as usize]);
            loop {
                let got = raw::syscall(libc::SYS_getdents64, [fd, at as usize, bytes]);
                if got <= 0 {
                    return got == 0;
                }
                let mut record = at.cast::<u8>().cast_const();
                let end = record.add(got as usize);
                while record < end {
                    let mut number = 0u32;
                    let mut name = record.add(19);
                    while (*name).is_ascii_digit() {
                        number = number.wrapping_mul(10).wrapping_add(u32::from(*name - b'0'));
                        name = name.add(1);
                    }
                    if number != 0 && !visit(number) {
                        return true;
                    }
                    record = record.add(record.add(16).cast::<u16>().read_unaligned() as usize);
                }
            }
        }
    }

    fn numbers(&self, visit: &mut impl FnMut(u32) -> bool) {
        let mut number = 1;
        while number <= MOST as u32 {
            if signal(self.process, number, 0) && !visit(number) {
                return;
            }
            number += 1;
        }
    }

    /// Whether a thread has ended.
    pub fn state(&self, thread: u32) -> State {
        let mut text = [0u8; 512];
        let length = self.read(thread, b"/stat\0", &mut text);
        // 123 (name) S ...: a name can contain parentheses, the rest cannot.
        let mut at = length;
        while at > 0 {
            at -= 1;
            if text[at] == b')' {
                return match text.get(at + 2) {
                    Some(b'Z' | b'X' | b'x') => State::Dead,
                    _ => State::Alive,
                };
            }
        }
        if signal(self.process, thread, 0) { State::Unknown } else { State::Dead }
    }

    /// The signals that a thread blocks, if known.
    pub fn blocked(&self, thread: u32) -> Option<raw::Mask> {
        const KEY: &[u8] = b"SigBlk:\t";
        let mut text = [0u8; 4096];
        let length = self.read(thread, b"/status\0", &mut text);
        let found = text[..length].windows(KEY.len()).position(|bytes| bytes == KEY)?;
        let digits = text.get(found + KEY.len()..found + KEY.len() + 16)?;
        digits.iter().try_fold(0, |mask: raw::Mask, digit| {
            Some(mask << 4 | raw::Mask::from((*digit as char).to_digit(16)?))
        })
    }

    /// Reads one of a thread's files. Returns the number of bytes read.
    fn read(&self, thread: u32, file: &[u8], text: &mut [u8]) -> usize {
        let mut path = [0u8; 24];
        let mut digits = [0u8; 10];
        let (mut number, mut first) = (thread, digits.len());
        while number > 0 {
            first -= 1;
            digits[first] = b'0' + (number % 10) as u8;
            number /= 10;
        }
        for (to, from) in path.iter_mut().zip(digits[first..].iter().chain(file)) {
            *to = *from;
        }
        CStr::from_bytes_until_nul(&path).map_or(0, |path| content(self.folder, path, text))
    }
}

/// Opens a file for reading, beside a folder unless its path is whole.
fn open(beside: RawFd, path: &CStr, flags: libc::c_int) -> Option<RawFd> {
    let flags = (libc::O_RDONLY | libc::O_CLOEXEC | flags) as usize;
    // SAFETY: a C string.
    let fd = unsafe {
        raw::syscall(libc::SYS_openat, [beside as usize, path.as_ptr() as usize, flags, 0])
    };
    u32::try_from(fd).ok().map(|fd| fd as RawFd)
}

/// The first bytes of a file, and their number; 0 if it cannot be read.
fn content(beside: RawFd, path: &CStr, text: &mut [u8]) -> usize {
    let Some(fd) = open(beside, path, 0) else { return 0 };
    // SAFETY: a buffer with its length, and this call's own descriptor.
    unsafe {
        let length = raw::read(fd, text.as_mut_ptr(), text.len(), None);
        raw::syscall(libc::SYS_close, [fd as usize]);
        usize::try_from(length).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn threads_are_listed_and_their_masks_read() {
        let (tell, told) = mpsc::channel();
        let (end, ended) = mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            raw::block_signals(1 << (libc::SIGUSR2 - 1));
            tell.send(current()).unwrap();
            let _ = ended.recv();
        });
        let other = told.recv().unwrap();
        assert!(!alone());
        let list = List::open();
        for list in [list, List { folder: -1, ..list }] {
            let mut found = Vec::new();
            assert!(list.each(&mut [0; 4096], &mut |thread| {
                found.push(thread);
                true
            }));
            assert!(found.contains(&other) && found.contains(&current()), "{found:?}");
        }
        assert!(list.count().unwrap() >= 2);
        assert_eq!(list.state(other), State::Alive);
        assert_eq!(list.blocked(other), Some(1 << (libc::SIGUSR2 - 1)));
        drop(end);
        thread.join().unwrap();
        assert_eq!(list.state(MOST as u32), State::Dead);
        list.close();
    }

    /// Has the system refuse a call to this thread from now on.
    fn refuse(call: libc::c_long) {
        const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
        const IF: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
        const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
        let step = |code, jf, k| libc::sock_filter { code, jt: 0, jf, k };
        let mut steps = [
            step(LOAD, 0, 0), // The call's number.
            step(IF, 1, call as u32),
            step(RETURN, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
            step(RETURN, 0, libc::SECCOMP_RET_ALLOW),
        ];
        let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
        // SAFETY: the kernel reads a complete program, and only refuses the call.
        unsafe {
            assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
            let filter = libc::SECCOMP_MODE_FILTER;
            assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, filter, &raw const program), 0);
        }
    }

    #[test]
    fn threads_are_listed_where_links_cannot_be_read() {
        let folder = std::thread::spawn(|| {
            refuse(libc::SYS_readlinkat);
            let list = List::open();
            list.close();
            list.folder
        });
        assert!(folder.join().expect("a list") >= 0);
    }
}
