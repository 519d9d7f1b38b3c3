//! Standard input for PE 0.
//!
//! PE 0 simply inherits a file or pipe, and reads it as if it had been started alone. It cannot
//! inherit a terminal: it is not in the terminal's foreground process group and would be stopped.
//! The launcher therefore reads the terminal and feeds PE 0 through a pipe. It does the same with
//! input from the hub of a job over several nodes.

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
    /// To PE 0, until either side closes.
    pipe: Option<OwnedFd>,
    /// Bytes read but not yet passed on.
    pending: Vec<u8>,
    source: Source,
}

/// The source of the input.
enum Source {
    /// A terminal. `foreground` is whether we may read it.
    Terminal { foreground: bool },
    /// The hub. `ended` is whether its input has ended.
    Hub { interactive: bool, ended: bool },
}

/// The role of a polled descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputToken {
    /// The terminal has input.
    Terminal,
    /// PE 0 takes more, or has closed the pipe.
    Pipe,
}

/// The standard input for PE `pe`, a pipe fed by the hub if there is one.
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

    /// Feeds this pipe from the hub, where a person may be typing if `interactive`.
    pub fn from_hub(pipe: OwnedFd, interactive: bool) -> Self {
        let source = Source::Hub { interactive, ended: false };
        Self { pipe: Some(pipe), pending: Vec::new(), source }
    }

    /// Checks again whether we are in the terminal's foreground: after SIGCONT, for example.
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

    /// Adds input from the hub. No bytes mean its end.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
        if let (true, Source::Hub { ended, .. }) = (bytes.is_empty(), &mut self.source) {
            *ended = true;
        }
        self.close_at_end();
    }

    /// Whether PE 0 takes no more input.
    pub fn is_closed(&self) -> bool {
        self.pipe.is_none()
    }

    fn close_at_end(&mut self) {
        if matches!(self.source, Source::Hub { ended: true, .. }) && self.pending.is_empty() {
            self.pipe = None;
        }
    }

    /// The descriptors to poll. `terminal` is standard input.
    pub fn interests<'a>(
        &'a self,
        terminal: &'a std::io::Stdin,
    ) -> impl Iterator<Item = (InputToken, PollFd<'a>)> {
        self.pipe.as_ref().into_iter().flat_map(move |pipe| {
            // Without POLLOUT, poll still reports that the other end has closed.
            let terminal_is_ours = matches!(self.source, Source::Terminal { foreground: true });
            let (read, events) = match self.pending.is_empty() {
                true => (terminal_is_ours, PollFlags::empty()),
                false => (false, PollFlags::POLLOUT),
            };
            let terminal = PollFd::new(terminal.as_fd(), PollFlags::POLLIN);
            let terminal = read.then_some((InputToken::Terminal, terminal));
            terminal.into_iter().chain([(InputToken::Pipe, PollFd::new(pipe.as_fd(), events))])
        })
    }

    /// Handles a ready descriptor. Returns how many bytes PE 0 has taken.
    pub fn ready(&mut self, token: InputToken, events: PollFlags) -> usize {
        let Some(pipe) = &self.pipe else { return 0 };
        match token {
            InputToken::Terminal => {
                let mut buffer = [0; 4096];
                match read(stdin(), &mut buffer) {
                    Ok(0) => self.pipe = None,
                    Ok(bytes) => self.pending.extend_from_slice(&buffer[..bytes]),
                    Err(Errno::EINTR | Errno::EAGAIN) => {}
                    Err(_) => self.look_at_terminal(),
                }
            }
            InputToken::Pipe if events.intersects(PollFlags::POLLERR | PollFlags::POLLHUP) => {
                self.pipe = None;
            }
            InputToken::Pipe => match write(pipe, &self.pending) {
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

/// Whether we are in the terminal's foreground and may read it.
pub fn is_foreground() -> bool {
    tcgetpgrp(stdin()).is_ok_and(|group| group == getpgrp())
}
