//! Signals as events: blocked, and read from a descriptor by the event loop.
#![allow(unsafe_code)]

use super::failure::{Failure, cannot};
use super::fork::before_exec;
use super::steps::Step;
use nix::sys::signal::{
    SaFlags, SigAction, SigHandler, SigSet, SigmaskHow, Signal, sigaction, sigprocmask,
};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::{Pid, setpgid};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::process::Command;

/// Signals forwarded to the PEs. SIGTSTP also stops the launcher itself.
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
    /// Blocks the signals, to be read from now on. Inherited dispositions (shells start background
    /// commands with SIGINT ignored) are reset to the default, for the launcher and the PEs. Only
    /// `nohup` is respected.
    pub fn take() -> Result<Self, Failure> {
        let mask = Self::block().map_err(cannot("block signals (rt_sigprocmask)"))?;
        let file = SignalFd::with_flags(&mask, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC);
        let file = file.map_err(cannot("receive signals through a descriptor (signalfd4)"))?;
        Ok(Self { file })
    }

    fn block() -> nix::Result<SigSet> {
        let mut mask = SigSet::empty();
        // Reading from a terminal in the background then fails instead of stopping the process.
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
        // Exceeding the limit on file sizes (ulimit -f) is then an error, which can be reported.
        set(Signal::SIGXFSZ, SigHandler::SigIgn)?;
        change_mask(SigmaskHow::SIG_BLOCK, &mask)?;
        Ok(mask)
    }

    /// Becomes readable when a signal arrives.
    pub fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// The next pending signal.
    pub fn next(&self) -> nix::Result<Option<Signal>> {
        match self.file.read_signal()? {
            Some(info) => Signal::try_from(info.ssi_signo as i32).map(Some),
            None => Ok(None),
        }
    }

    /// Whether this signal is forwarded.
    pub fn is_forwarded(signal: Signal) -> bool {
        FORWARDED.contains(&signal)
    }
}

/// [`set_apart`] for a command that is not a PE.
pub fn set_apart_before(command: &mut Command) {
    before_exec(command, set_apart);
}

/// Makes this process, a new one, the leader of a process group, and resets its signals: none is blocked, none of
/// the launcher's is pending, and those ignored by the launcher have their default action.
pub fn set_apart() -> io::Result<()> {
    setpgid(Pid::from_raw(0), Pid::from_raw(0)).map_err(Step::Group.failed())?;
    reset_all().map_err(Step::Signals.failed())
}

fn reset_all() -> nix::Result<()> {
    // The terminal's keys signal the launcher's group, of which the process was a member. The launcher forwards them.
    // If the process took them here, Control-Z would stop it before it executes its program, which the launcher
    // waits for.
    for signal in FORWARDED {
        let before = set(signal, SigHandler::SigIgn)?;
        set(signal, before)?;
    }
    for signal in [Signal::SIGTTIN, Signal::SIGTTOU, Signal::SIGPIPE, Signal::SIGXFSZ] {
        reset(signal)?;
    }
    change_mask(SigmaskHow::SIG_SETMASK, &SigSet::empty())
}

/// Changes which signals are blocked in this process, which has a single thread. (`SigSet`'s own functions
/// call `pthread_sigmask`, which returns its errors, and take every number but -1 for success.)
pub fn change_mask(how: SigmaskHow, signals: &SigSet) -> nix::Result<()> {
    sigprocmask(how, Some(signals), None)
}

fn reset(signal: Signal) -> nix::Result<SigHandler> {
    set(signal, SigHandler::SigDfl)
}

fn set(signal: Signal, handler: SigHandler) -> nix::Result<SigHandler> {
    let action = SigAction::new(handler, SaFlags::empty(), SigSet::empty());
    // SAFETY: no handler function is installed, only the default or none.
    unsafe { sigaction(signal, &action) }.map(|old| old.handler())
}
