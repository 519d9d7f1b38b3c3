//! Standard input for PE 0.
//!
//! A file or pipe is simply inherited: PE 0 reads it as if it had been started
//! alone. A terminal cannot be, since PE 0 is not in the terminal's foreground
//! process group and would be stopped; it is read here and fed through a pipe. So is what
//! comes from the hub of a job over several nodes.

use super::failure::Failure;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags};
use nix::unistd::{getpgrp, isatty, read, tcgetpgrp, write};
use std::fs::File;
use std::io::stdin;
use std::os::fd::{AsFd, OwnedFd};
use std::process::Stdio;

/// Feeds input to PE 0.
pub struct Input {
    /// To PE 0, until either side ends.
    pipe: Option<OwnedFd>,
    /// Read, not yet fed.
    pending: Vec<u8>,
    source: Source,
}

/// Where it comes from.
enum Source {
    /// The terminal, which may be ours to read.
    Terminal { foreground: bool },
    /// The hub; its end may have come.
    Hub { interactive: bool, ended: bool },
}

/// What a polled descriptor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// The terminal has something to read.
    Terminal,
    /// PE 0 takes more, or has gone.
    Pipe,
}

/// What PE `pe` gets as its standard input, which is fed by the hub if there is one.
pub fn stdio(pe: usize, has_hub: bool) -> Result<Stdio, Failure> {
    const EMPTY: &str = "/dev/null";
    Ok(match pe {
        0 if has_hub => Stdio::piped(),
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
    /// Feeds this pipe from the terminal.
    pub fn from_terminal(pipe: OwnedFd) -> Self {
        let source = Source::Terminal { foreground: is_foreground() };
        Self { pipe: Some(pipe), pending: Vec::new(), source }
    }

    /// Feeds this pipe from the hub, to which a person may be typing.
    pub fn from_hub(pipe: OwnedFd, interactive: bool) -> Self {
        let source = Source::Hub { interactive, ended: false };
        Self { pipe: Some(pipe), pending: Vec::new(), source }
    }

    /// Looks again whether the terminal is ours to read: after SIGCONT, for example.
    pub fn look_at_terminal(&mut self) {
        if let Source::Terminal { foreground } = &mut self.source {
            *foreground = is_foreground();
        }
    }

    /// Whether a person may be typing.
    pub fn is_interactive(&self) -> bool {
        let (Source::Terminal { foreground: may } | Source::Hub { interactive: may, .. }) =
            self.source;
        self.pipe.is_some() && may
    }

    /// Takes what has come from the hub; nothing is the end.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
        if let (true, Source::Hub { ended, .. }) = (bytes.is_empty(), &mut self.source) {
            *ended = true;
        }
        self.close_at_end();
    }

    /// Whether nobody takes any more.
    pub fn is_closed(&self) -> bool {
        self.pipe.is_none()
    }

    fn close_at_end(&mut self) {
        if matches!(self.source, Source::Hub { ended: true, .. }) && self.pending.is_empty() {
            self.pipe = None;
        }
    }

    /// What there is to poll for. `terminal` is standard input.
    pub fn interests<'a>(
        &'a self,
        terminal: &'a std::io::Stdin,
    ) -> impl Iterator<Item = (Token, PollFd<'a>)> {
        self.pipe.as_ref().into_iter().flat_map(move |pipe| {
            // Without POLLOUT, poll still tells when the other end has gone.
            let terminal_is_ours = matches!(self.source, Source::Terminal { foreground: true });
            let (read, events) = match self.pending.is_empty() {
                true => (terminal_is_ours, PollFlags::empty()),
                false => (false, PollFlags::POLLOUT),
            };
            let terminal = PollFd::new(terminal.as_fd(), PollFlags::POLLIN);
            let terminal = read.then_some((Token::Terminal, terminal));
            terminal.into_iter().chain([(Token::Pipe, PollFd::new(pipe.as_fd(), events))])
        })
    }

    /// Does what a polled descriptor is ready for. Gives how many bytes PE 0 has taken.
    pub fn ready(&mut self, token: Token, events: PollFlags) -> usize {
        let Some(pipe) = &self.pipe else { return 0 };
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
                Ok(bytes) => {
                    self.pending.drain(..bytes);
                    self.close_at_end();
                    return bytes;
                }
                Err(Errno::EINTR | Errno::EAGAIN) => {}
                Err(_) => self.pipe = None,
            },
        }
        0
    }
}

/// Whether the terminal is ours to read.
pub fn is_foreground() -> bool {
    tcgetpgrp(stdin()).is_ok_and(|group| group == getpgrp())
}
