//! The standard input of a job over several nodes. The hub reads it and sends it to the node of PE
//! 0 as fast as PE 0 takes it.

use super::input::is_foreground;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags};
use nix::unistd::{isatty, read};
use std::io::{Stdin, stdin};
use std::os::fd::AsFd;

/// The maximum number of bytes in transit.
const MOST: usize = 64 << 10;

/// Standard input.
pub struct HubInput {
    /// Bytes sent that PE 0 has not taken yet.
    on_the_way: usize,
    is_open: bool,
    is_terminal: bool,
    /// Whether we are in the terminal's foreground, if input is a terminal.
    foreground: bool,
}

impl HubInput {
    /// Input is not read before [`Self::begin`].
    pub fn new() -> Self {
        let is_terminal = isatty(stdin()).unwrap_or(false);
        Self { on_the_way: 0, is_open: false, is_terminal, foreground: is_foreground() }
    }

    /// Starts reading.
    pub fn begin(&mut self) {
        self.is_open = true;
    }

    /// Checks again whether we are in the terminal's foreground.
    pub fn look_at_terminal(&mut self) {
        self.foreground = is_foreground();
    }

    /// Whether a person may be typing.
    pub fn is_interactive(&self) -> bool {
        self.is_terminal && self.foreground
    }

    /// The descriptor to poll, if any. `input` is standard input.
    pub fn interest<'a>(&self, input: &'a Stdin) -> Option<PollFd<'a>> {
        let may_read = !self.is_terminal || self.foreground;
        let wanted = self.is_open && self.on_the_way < MOST && may_read;
        wanted.then(|| PollFd::new(input.as_fd(), PollFlags::POLLIN))
    }

    /// Reads available input. No bytes mean its end.
    pub fn read(&mut self) -> Option<Vec<u8>> {
        let mut buffer = [0; 4096];
        match read(stdin(), &mut buffer) {
            Err(Errno::EINTR | Errno::EAGAIN) => None,
            Err(_) if self.is_terminal => {
                self.look_at_terminal();
                None
            }
            Ok(0) | Err(_) => {
                self.is_open = false;
                Some(Vec::new())
            }
            Ok(bytes) => {
                self.on_the_way += bytes;
                Some(buffer[..bytes].to_vec())
            }
        }
    }

    /// PE 0 has taken this many bytes. The largest number means that it takes no more.
    pub fn has_gone_on(&mut self, bytes: u32) {
        match bytes {
            u32::MAX => self.is_open = false,
            bytes => self.on_the_way = self.on_the_way.saturating_sub(bytes as usize),
        }
    }
}
