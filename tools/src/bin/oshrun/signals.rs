//! Signals as events: blocked, and read from a descriptor by the event loop.
#![allow(unsafe_code)]

use nix::errno::Errno;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Forwarded to the PEs. SIGTSTP also stops the launcher itself.
const FORWARDED: [Signal; 9] = [
    Signal::SIGINT,
    Signal::SIGTERM,
    Signal::SIGHUP,
    Signal::SIGQUIT,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
    Signal::SIGTSTP,
    Signal::SIGCONT,
    Signal::SIGWINCH,
];

/// The launcher's signals.
pub struct Signals {
    file: SignalFd,
}

impl Signals {
    /// Blocks the signals and reads them from now on. What the launcher was started
    /// with (shells start background commands with SIGINT ignored) is put back to
    /// the default, for itself and the PEs; only `nohup` is respected.
    pub fn take() -> nix::Result<Self> {
        let mut mask = SigSet::empty();
        // Reading from a terminal in the background then gives an error, not a stop.
        mask.add(Signal::SIGTTIN);
        mask.add(Signal::SIGCHLD);
        reset(Signal::SIGCHLD)?;
        for signal in FORWARDED {
            let before = reset(signal)?;
            if signal == Signal::SIGHUP && matches!(before, SigHandler::SigIgn) {
                set(signal, SigHandler::SigIgn)?;
            } else {
                mask.add(signal);
            }
        }
        // A limit on the size of files (ulimit -f) is an error then, which can be told.
        set(Signal::SIGXFSZ, SigHandler::SigIgn)?;
        mask.thread_block()?;
        let file = SignalFd::with_flags(&mask, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
        Ok(Self { file })
    }

    /// Becomes readable when a signal has come.
    pub fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// The next signal that has come.
    pub fn next(&self) -> nix::Result<Option<Signal>> {
        match self.file.read_signal()? {
            Some(info) => Signal::try_from(info.ssi_signo as i32).map(Some),
            None => Ok(None),
        }
    }

    /// Whether a signal is one to forward.
    pub fn is_forwarded(signal: Signal) -> bool {
        FORWARDED.contains(&signal)
    }
}

/// A command that is no PE starts as one does.
pub fn reset_before(command: &mut Command) {
    // SAFETY: the launcher has one thread, and system calls only are made.
    unsafe { command.pre_exec(|| Ok(reset_in_child()?)) };
}

/// In a new PE: no signal blocked, and an ignored one is no more.
pub fn reset_in_child() -> Result<(), Errno> {
    for signal in [Signal::SIGTTIN, Signal::SIGTTOU, Signal::SIGPIPE, Signal::SIGXFSZ] {
        reset(signal)?;
    }
    SigSet::empty().thread_set_mask()
}

fn reset(signal: Signal) -> nix::Result<SigHandler> {
    set(signal, SigHandler::SigDfl)
}

fn set(signal: Signal, handler: SigHandler) -> nix::Result<SigHandler> {
    let action = SigAction::new(handler, SaFlags::empty(), SigSet::empty());
    // SAFETY: no handler function is installed, only the default or none.
    unsafe { sigaction(signal, &action) }.map(|old| old.handler())
}
