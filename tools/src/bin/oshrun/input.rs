//! Standard input for PE 0.
//!
//! A file or pipe is simply inherited: PE 0 reads it as if it had been started
//! alone. A terminal cannot be, since PE 0 is not in the terminal's foreground
//! process group and would be stopped; it is read here and fed through a pipe.

use super::failure::Failure;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags};
use nix::unistd::{getpgrp, isatty, read, tcgetpgrp, write};
use std::fs::File;
use std::io::stdin;
use std::os::fd::{AsFd, OwnedFd};
use std::process::Stdio;

/// Feeds a terminal's input to PE 0.
pub struct Input {
    /// To PE 0, until either side ends.
    pipe: Option<OwnedFd>,
    /// Read, not yet fed.
    pending: Vec<u8>,
    /// Whether the terminal is ours to read.
    foreground: bool,
}

/// What a polled descriptor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// The terminal has something to read.
    Terminal,
    /// PE 0 takes more, or has gone.
    Pipe,
}

/// What PE `pe` gets as its standard input.
pub fn stdio(pe: usize) -> Result<Stdio, Failure> {
    const EMPTY: &str = "/dev/null";
    Ok(match pe {
        0 if isatty(stdin()).unwrap_or(false) => Stdio::piped(),
        0 => Stdio::inherit(),
        _ => File::open(EMPTY)
            .map_err(|error| {
                Failure::own(format!("{EMPTY}, standard input of all PEs but PE 0: {error}"))
            })?
            .into(),
    })
}

impl Input {
    /// Feeds this pipe.
    pub fn new(pipe: OwnedFd) -> Self {
        let mut input = Self { pipe: Some(pipe), pending: Vec::new(), foreground: false };
        input.look_at_terminal();
        input
    }

    /// Looks again whether the terminal is ours to read: after SIGCONT, for example.
    pub fn look_at_terminal(&mut self) {
        self.foreground = tcgetpgrp(stdin()).is_ok_and(|group| group == getpgrp());
    }

    /// Whether a person may be typing.
    pub fn is_interactive(&self) -> bool {
        self.pipe.is_some() && self.foreground
    }

    /// What there is to poll for. `terminal` is standard input.
    pub fn interests<'a>(
        &'a self,
        terminal: &'a std::io::Stdin,
    ) -> impl Iterator<Item = (Token, PollFd<'a>)> {
        self.pipe.as_ref().into_iter().flat_map(move |pipe| {
            // Without POLLOUT, poll still tells when the other end has gone.
            let (read, events) = match self.pending.is_empty() {
                true => (self.foreground, PollFlags::empty()),
                false => (false, PollFlags::POLLOUT),
            };
            let terminal = PollFd::new(terminal.as_fd(), PollFlags::POLLIN);
            let terminal = read.then_some((Token::Terminal, terminal));
            terminal.into_iter().chain([(Token::Pipe, PollFd::new(pipe.as_fd(), events))])
        })
    }

    /// Does what a polled descriptor is ready for.
    pub fn ready(&mut self, token: Token, events: PollFlags) {
        let Some(pipe) = &self.pipe else { return };
        match token {
            Token::Terminal => {
                let mut buffer = [0; 4096];
                match read(stdin(), &mut buffer) {
                    Ok(0) => self.pipe = None,
                    Ok(bytes) => self.pending.extend_from_slice(&buffer[..bytes]),
                    Err(Errno::EINTR | Errno::EAGAIN) => {}
                    Err(_) => self.look_at_terminal(),
                }
            }
            Token::Pipe if events.intersects(PollFlags::POLLERR | PollFlags::POLLHUP) => {
                self.pipe = None;
            }
            Token::Pipe => match write(pipe, &self.pending) {
                Ok(bytes) => drop(self.pending.drain(..bytes)),
                Err(Errno::EINTR | Errno::EAGAIN) => {}
                Err(_) => self.pipe = None,
            },
        }
    }
}
