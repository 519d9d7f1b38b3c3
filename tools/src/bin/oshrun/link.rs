//! One end of a channel of frames: two descriptors, one for reading and one for writing.

use super::frames::{Frame, FrameKind, Parser, write as write_frame};
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags};
use nix::unistd::{read, write};
use std::os::fd::{AsFd, OwnedFd};

/// The size of one read.
const CHUNK: usize = 64 << 10;
/// With more bytes queued than this, senders should wait.
const QUEUE_LIMIT: usize = 1 << 20;

/// Why a link delivers no more frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkLoss {
    /// The other end has closed it.
    Closed,
    /// The data received is not a frame.
    InvalidFrame(String),
}

/// One end.
pub struct Link {
    /// From the other end, until the link is lost.
    input: Option<OwnedFd>,
    /// To the other end, until it stops reading.
    output: Option<OwnedFd>,
    parser: Parser,
    queue: Vec<u8>,
    lost: Option<LinkLoss>,
}

/// The role of a polled descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkToken {
    /// Data has arrived.
    Input,
    /// The other end takes more data.
    Output,
}

impl Link {
    /// A link over these descriptors, which become non-blocking.
    pub fn new(input: OwnedFd, output: OwnedFd) -> nix::Result<Self> {
        for fd in [&input, &output] {
            let flags = OFlag::from_bits_retain(fcntl(fd, FcntlArg::F_GETFL)?);
            fcntl(fd, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
        }
        Ok(Self {
            input: Some(input),
            output: Some(output),
            parser: Parser::default(),
            queue: Vec::new(),
            lost: None,
        })
    }

    /// Queues a frame, to be sent when the other end takes it. Discards it if the other end is
    /// closed.
    pub fn send(&mut self, kind: FrameKind, who: u32, bytes: &[u8]) {
        if self.output.is_some() {
            write_frame(&mut self.queue, kind, who, bytes);
            self.write();
        }
    }

    /// Whether so much is queued that senders should wait.
    pub fn is_full(&self) -> bool {
        self.queue.len() >= QUEUE_LIMIT
    }

    /// Whether everything is sent, or cannot be.
    pub fn is_flushed(&self) -> bool {
        self.queue.is_empty()
    }

    /// Why no more frames arrive, once that is so.
    pub fn lost(&self) -> Option<&LinkLoss> {
        self.lost.as_ref()
    }

    /// Closes it.
    pub fn close(&mut self) {
        self.input = None;
        self.hang_up();
        self.lost.get_or_insert(LinkLoss::Closed);
    }

    fn hang_up(&mut self) {
        self.output = None;
        self.queue.clear();
    }

    /// The descriptors to poll. `receive` says whether to poll for input.
    pub fn interests(&self, receive: bool) -> impl Iterator<Item = (LinkToken, PollFd<'_>)> {
        let input = self.input.iter().filter(move |_| receive);
        let input = input.map(|fd| (LinkToken::Input, PollFd::new(fd.as_fd(), PollFlags::POLLIN)));
        let output = self.output.iter().filter(|_| !self.queue.is_empty());
        let output =
            output.map(|fd| (LinkToken::Output, PollFd::new(fd.as_fd(), PollFlags::POLLOUT)));
        input.chain(output)
    }

    /// Handles a ready descriptor. Returns the frames received.
    pub fn ready(&mut self, token: LinkToken) -> Vec<Frame> {
        match token {
            LinkToken::Output => {
                self.write();
                Vec::new()
            }
            LinkToken::Input => self.receive(),
        }
    }

    fn receive(&mut self) -> Vec<Frame> {
        let Some(input) = &self.input else { return Vec::new() };
        let mut buffer = [0; CHUNK];
        match read(input, &mut buffer) {
            Err(Errno::EAGAIN | Errno::EINTR) => return Vec::new(),
            Ok(0) | Err(_) => {
                self.lost = Some(match self.parser.has_part() {
                    false => LinkLoss::Closed,
                    true => LinkLoss::InvalidFrame(self.parser.garbage().to_string()),
                });
                self.input = None;
                return Vec::new();
            }
            Ok(bytes) => self.parser.push(&buffer[..bytes]),
        }
        let mut frames = Vec::new();
        loop {
            match self.parser.next() {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => return frames,
                Err(garbage) => {
                    self.lost = Some(LinkLoss::InvalidFrame(garbage.to_string()));
                    self.input = None;
                    return frames;
                }
            }
        }
    }

    fn write(&mut self) {
        let Some(output) = &self.output else { return };
        let mut written = 0;
        while written < self.queue.len() {
            match write(output, &self.queue[written..]) {
                Ok(bytes) => written += bytes,
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => break,
                // The end of its data says why the other end has gone.
                Err(_) => return self.hang_up(),
            }
        }
        self.queue.drain(..written);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::unistd::pipe;

    /// A link whose other end is two pipes.
    fn link() -> (Link, OwnedFd, OwnedFd) {
        let (input, theirs_out) = pipe().unwrap();
        let (theirs_in, output) = pipe().unwrap();
        (Link::new(input, output).unwrap(), theirs_out, theirs_in)
    }

    #[test]
    fn the_end_in_a_frame_is_not_the_end_between_frames() {
        let mut frame = Vec::new();
        write_frame(&mut frame, FrameKind::Say, 7, b"words");
        for (bytes, lost) in [
            (frame.len(), LinkLoss::Closed),
            (
                frame.len() - 2,
                LinkLoss::InvalidFrame("\"\\u{5}\\0\\0\\0M\\u{7}\\0\\0\\0word\"".into()),
            ),
        ] {
            let (mut link, to, _from) = link();
            write(&to, &frame[..bytes]).unwrap();
            drop(to);
            let frames = link.ready(LinkToken::Input);
            assert_eq!(frames.len(), usize::from(bytes == frame.len()));
            assert_eq!(link.lost(), None);
            assert_eq!(link.ready(LinkToken::Input), []);
            assert_eq!(link.lost(), Some(&lost));
        }
    }

    #[test]
    fn what_nobody_takes_is_kept_or_dropped() {
        let (mut link, _to, from) = link();
        while !link.is_full() {
            link.send(FrameKind::Output, 1, &[b'x'; 1 << 16]);
        }
        assert!(!link.is_flushed());
        drop(from);
        // SIGPIPE is ignored: Rust's runtime sees to that.
        link.ready(LinkToken::Output);
        assert!(link.is_flushed());
        link.send(FrameKind::Output, 1, b"more");
        assert!(link.is_flushed());
    }
}
