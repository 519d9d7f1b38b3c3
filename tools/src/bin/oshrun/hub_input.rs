//! The standard input of a job over several nodes: read here, and sent to the node of PE 0 as far
//! as that has taken what was sent before.

use super::input::is_foreground;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags};
use nix::unistd::{isatty, read};
use std::io::{Stdin, stdin};
use std::os::fd::AsFd;

/// Most bytes on the way.
const MOST: usize = 64 << 10;

/// Standard input.
pub struct HubInput {
    /// Sent, and not taken by PE 0 yet.
    on_the_way: usize,
    is_open: bool,
    is_terminal: bool,
    /// Whether the terminal, if it is one, is ours to read.
    foreground: bool,
}

impl HubInput {
    /// Not read before the job begins.
    pub fn new() -> Self {
        let is_terminal = isatty(stdin()).unwrap_or(false);
        Self { on_the_way: 0, is_open: false, is_terminal, foreground: is_foreground() }
    }

    /// From now on it is read.
    pub fn begin(&mut self) {
        self.is_open = true;
    }

    /// Looks again whether the terminal is ours to read.
    pub fn look_at_terminal(&mut self) {
        self.foreground = is_foreground();
    }

    /// Whether a person may be typing.
    pub fn is_interactive(&self) -> bool {
        self.is_terminal && self.foreground
    }

    /// What there is to poll for. `input` is standard input.
    pub fn interest<'a>(&self, input: &'a Stdin) -> Option<PollFd<'a>> {
        let may_read = !self.is_terminal || self.foreground;
        let wanted = self.is_open && self.on_the_way < MOST && may_read;
        wanted.then(|| PollFd::new(input.as_fd(), PollFlags::POLLIN))
    }

    /// Reads what has come; nothing is the end.
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

    /// PE 0 has taken so much; or takes no more, if it is the largest number.
    pub fn has_gone_on(&mut self, bytes: u32) {
        match bytes {
            u32::MAX => self.is_open = false,
            bytes => self.on_the_way = self.on_the_way.saturating_sub(bytes as usize),
        }
    }
}
