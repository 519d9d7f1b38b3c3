//! Signals and keys, and waiting for them.

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::read;
use oneshmem_tools::poll_timeout;
use std::io::stdin;
use std::os::fd::AsFd;
use std::time::Instant;

/// Signals that end the command, once the terminal is as before.
const ENDING: [Signal; 4] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT];

/// An event of the terminal or of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A signal that ends the command.
    Signal(Signal),
    /// The terminal has another size.
    Resized,
    /// A key was pressed.
    Key(Key),
}

/// Keys that mean something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Quit,
    Group,
    Up,
    Down,
    PageUp,
    PageDown,
}

impl Key {
    /// The key that a terminal sends as these bytes.
    fn of(bytes: &[u8]) -> Option<Self> {
        Some(match bytes {
            b"q" | b"Q" | [3] => Self::Quit,
            b"g" => Self::Group,
            b"k" | b"\x1b[A" | b"\x1bOA" => Self::Up,
            b"j" | b"\x1b[B" | b"\x1bOB" => Self::Down,
            b"\x1b[5~" => Self::PageUp,
            b" " | b"\x1b[6~" => Self::PageDown,
            _ => return None,
        })
    }
}

/// The signals of this process as events.
pub struct Events {
    signals: SignalFd,
}

impl Events {
    /// Blocks the signals, to be read from now on.
    pub fn take() -> nix::Result<Self> {
        let mut mask: SigSet = ENDING.into_iter().collect();
        mask.add(Signal::SIGWINCH);
        mask.thread_block()?;
        let signals = SignalFd::with_flags(&mask, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
        Ok(Self { signals })
    }

    /// Waits for an event; `None` when the time has come. Reads keys from standard input if `keys`.
    pub fn wait(&self, until: Instant, keys: bool) -> nix::Result<Option<Event>> {
        let terminal = stdin();
        let mut polled = vec![PollFd::new(self.signals.as_fd(), PollFlags::POLLIN)];
        polled.extend(keys.then(|| PollFd::new(terminal.as_fd(), PollFlags::POLLIN)));
        match poll(&mut polled, poll_timeout(Some(until))) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(errno) => return Err(errno),
        }
        if let Some(info) = self.signals.read_signal()? {
            return Ok(Some(match Signal::try_from(info.ssi_signo as i32)? {
                Signal::SIGWINCH => Event::Resized,
                signal => Event::Signal(signal),
            }));
        }
        if polled.get(1).and_then(PollFd::any) != Some(true) {
            return Ok(None);
        }
        let mut bytes = [0; 16];
        match read(&terminal, &mut bytes) {
            // The terminal has gone.
            Ok(0) | Err(Errno::EIO) => Ok(Some(Event::Signal(Signal::SIGHUP))),
            Ok(count) => Ok(Key::of(&bytes[..count]).map(Event::Key)),
            Err(Errno::EINTR | Errno::EAGAIN) => Ok(None),
            Err(errno) => Err(errno),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_known_by_their_bytes() {
        for (bytes, key) in [
            (&b"q"[..], Some(Key::Quit)),
            (&[3], Some(Key::Quit)),
            (b"\x1b[A", Some(Key::Up)),
            (b"\x1b[6~", Some(Key::PageDown)),
            (b"x", None),
            (b"", None),
        ] {
            assert_eq!(Key::of(bytes), key);
        }
    }
}
