//! The PEs' standard output and error, line by line.
//!
//! ```text
//!  PE 0 stdout  --pipe-->  Source: line so far  --whole lines-->  Sink: queue  --> own stdout
//!  PE 0 stderr  --pipe-->  Source               --------------->  Sink         --> own stderr
//!  PE 1 stdout  ...
//! ```
//!
//! A source hands on whole lines only, so lines never mix. If the reader of a sink
//! is slow its queue fills, its sources are not read any more, and the PEs wait on
//! their pipes: nothing is lost and nothing grows without bound.

use super::frames::{Frame, Kind};
use super::link::{self, Link};
use super::sinks::Sinks;
use super::stdout;
use super::stream::Stream;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::unistd::read;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

/// A line longer than this is handed on in pieces.
const LINE_LIMIT: usize = 256 << 10;
/// What is read from a pipe at once: its default capacity, pipe(7).
const CHUNK: usize = 64 << 10;
/// The most a pipe holds, /proc/sys/fs/pipe-max-size.
const PIPE_LIMIT: usize = 1 << 20;
/// The most sources that are read in a turn.
const TURN: usize = 64;

const STREAMS: [Stream; 2] = [Stream::Out, Stream::Err];

/// One stream of one PE.
struct Source {
    /// The pipe, until its end.
    pipe: Option<OwnedFd>,
    /// Which of the [`Outputs::pipes`] it is among.
    way: usize,
    /// The line so far.
    line: Vec<u8>,
}

/// Where lines go.
pub enum To {
    /// To the launcher's own streams.
    Streams(Sinks),
    /// To the hub of a job over several nodes.
    Hub(Link),
}

/// All streams of the PEs of this node.
pub struct Outputs {
    /// By PE, each with its standard output and error.
    sources: Vec<[Source; 2]>,
    /// The number of the first of these PEs in the job.
    first: usize,
    /// Sources' pipes that have not come to their end.
    open: usize,
    /// Sources' pipes, by where their lines go. What there is to poll for is the same for any
    /// number of PEs.
    pipes: Vec<Epoll>,
    to: To,
    buffer: Vec<u8>,
}

/// Names a stream among those to be polled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// PEs' pipes.
    Sources(usize),
    /// An own stream.
    Sink,
    /// The link to the hub.
    Link(link::Token),
}

impl Outputs {
    /// Of PEs from number `first` on.
    pub fn new(to: To, first: usize) -> io::Result<Self> {
        let ways = match &to {
            To::Streams(sinks) => sinks.count(),
            To::Hub(_) => 1,
        };
        let pipes = (0..ways).map(|_| Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC));
        let pipes = pipes.collect::<Result<_, _>>()?;
        Ok(Self { sources: Vec::new(), first, open: 0, pipes, to, buffer: vec![0; CHUNK] })
    }

    /// Takes on the streams of the next PE. They do not block.
    pub fn add(&mut self, output: OwnedFd, error: OwnedFd) -> io::Result<()> {
        let pe = self.sources.len() as u64;
        let streams = [(Stream::Out, output), (Stream::Err, error)];
        for (index, (stream, pipe)) in streams.iter().enumerate() {
            let event = EpollEvent::new(EpollFlags::EPOLLIN, 2 * pe + index as u64);
            self.pipes[self.way(*stream)].add(pipe, event)?;
        }
        self.sources.push(streams.map(|(stream, pipe)| Source {
            pipe: Some(pipe),
            way: self.way(stream),
            line: Vec::new(),
        }));
        self.open += 2;
        Ok(())
    }

    /// The link to the hub, if the job has one.
    pub fn link(&mut self) -> Option<&mut Link> {
        match &mut self.to {
            To::Streams(_) => None,
            To::Hub(link) => Some(link),
        }
    }

    fn way(&self, stream: Stream) -> usize {
        match &self.to {
            To::Streams(sinks) => sinks.of(stream),
            To::Hub(_) => 0,
        }
    }

    /// Whether who has lines to go this way should wait.
    fn is_full(&self, way: usize) -> bool {
        match &self.to {
            To::Streams(sinks) => sinks.is_full(way),
            To::Hub(link) => link.is_full(),
        }
    }

    /// What there is to poll for.
    pub fn interests(&self) -> impl Iterator<Item = (Token, PollFd<'_>)> {
        let pipes = self.pipes.iter().enumerate().filter(|(way, _)| !self.is_full(*way));
        let pipes = pipes.map(|(way, pipes)| {
            (Token::Sources(way), PollFd::new(pipes.0.as_fd(), PollFlags::POLLIN))
        });
        let (sinks, link) = match &self.to {
            To::Streams(sinks) => (Some(sinks), None),
            To::Hub(link) => (None, Some(link)),
        };
        let sinks = sinks.into_iter().flat_map(Sinks::interests);
        let link = link.into_iter().flat_map(|link| link.interests(true));
        pipes
            .chain(sinks.map(|(_, fd)| (Token::Sink, fd)))
            .chain(link.map(|(token, fd)| (Token::Link(token), fd)))
    }

    /// Does what a polled stream is ready for. Gives what has come from the hub.
    pub fn ready(&mut self, token: Token) -> Vec<Frame> {
        if let (Token::Link(token), To::Hub(link)) = (token, &mut self.to) {
            return link.ready(token);
        }
        if let Token::Sources(way) = token {
            let mut events = [EpollEvent::empty(); TURN];
            let ready = self.pipes[way].wait(&mut events, EpollTimeout::ZERO).unwrap_or(0);
            for event in &events[..ready] {
                let (pe, stream) = (event.data() as usize / 2, event.data() as usize % 2);
                self.read(pe, stream);
                if self.is_full(way) {
                    break;
                }
            }
        }
        // Queues are written at once where possible; the rest waits for the next poll.
        self.write();
        Vec::new()
    }

    /// Reads all that a PE had written, whatever the queues hold. Bounded, since
    /// what the PE has started may go on writing.
    pub fn drain(&mut self, pe: usize) {
        for stream in [0, 1] {
            for _ in 0..PIPE_LIMIT / CHUNK {
                if !self.read(pe, stream) {
                    break;
                }
            }
        }
        self.write();
    }

    /// Hands on lines that have no end, as nothing more will come.
    pub fn finish(&mut self) {
        for pe in 0..self.sources.len() {
            for stream in [0, 1] {
                self.close(pe, stream);
            }
        }
        self.write();
    }

    /// Whether all PEs' pipes have come to their end.
    pub fn all_ended(&self) -> bool {
        self.open == 0
    }

    /// Whether everything handed on is written.
    pub fn is_flushed(&self) -> bool {
        match &self.to {
            To::Streams(sinks) => sinks.is_flushed(),
            To::Hub(link) => link.is_flushed(),
        }
    }

    /// Whether nobody reads the launcher's standard output or error any more.
    pub fn is_cut(&self) -> bool {
        matches!(&self.to, To::Streams(sinks) if sinks.is_cut())
    }

    /// Why output could not be written, if it is not that nobody reads it.
    pub fn failure(&self) -> Option<String> {
        match &self.to {
            To::Streams(sinks) => sinks.failure(),
            To::Hub(_) => None,
        }
    }

    /// Nobody reads this stream: the PEs are to learn of it as if they wrote there themselves.
    pub fn cut(&mut self, stream: usize) {
        (0..self.sources.len()).for_each(|pe| self.close(pe, stream));
    }

    /// Whether a PE is in the middle of a line: a question to the user, perhaps.
    pub fn has_part_of_line(&self, pe: usize) -> bool {
        self.sources.get(pe).is_some_and(|s| s.iter().any(|source| !source.line.is_empty()))
    }

    /// Hands on the line a PE is in the middle of.
    pub fn pass_part_of_line(&mut self, pe: usize) {
        for stream in [0, 1] {
            self.pass_rest(pe, stream);
        }
        self.write();
    }

    /// PEs' terminals become as large as the launcher's own is now.
    pub fn resize(&self) {
        let Some(size) = stdout::own_size() else { return };
        for pipe in self.sources.iter().filter_map(|streams| streams[0].pipe.as_ref()) {
            stdout::resize(pipe.as_fd(), &size);
        }
    }

    /// Adds a line of the launcher's own to standard error.
    pub fn say(&mut self, message: &str) {
        match &mut self.to {
            To::Streams(sinks) => sinks.say(message),
            To::Hub(link) => link.send(Kind::Say, 0, message.as_bytes()),
        }
        self.write();
    }

    /// Reads once. False if nothing was there.
    fn read(&mut self, pe: usize, stream: usize) -> bool {
        let source = &mut self.sources[pe][stream];
        let Some(pipe) = &source.pipe else { return false };
        let bytes = match read(pipe, &mut self.buffer) {
            Err(Errno::EAGAIN) => return false,
            Err(Errno::EINTR) => return true,
            // End of file, or a pipe that cannot be read: nothing more comes.
            Ok(0) | Err(_) => {
                self.close(pe, stream);
                return false;
            }
            Ok(bytes) => bytes,
        };
        let start = source.line.len();
        source.line.extend_from_slice(&self.buffer[..bytes]);
        if let Some(end) = source.line[start..].iter().rposition(|byte| *byte == b'\n') {
            self.pass(pe, stream, start + end + 1);
        }
        if self.sources[pe][stream].line.len() >= LINE_LIMIT {
            self.pass_rest(pe, stream);
        }
        true
    }

    /// A pipe has come to its end.
    fn close(&mut self, pe: usize, stream: usize) {
        // Closed, it is no longer among the sink's pipes either.
        if self.sources[pe][stream].pipe.take().is_some() {
            self.open -= 1;
        }
        self.pass_rest(pe, stream);
    }

    fn pass_rest(&mut self, pe: usize, stream: usize) {
        let rest = self.sources[pe][stream].line.len();
        if rest > 0 {
            self.pass(pe, stream, rest);
        }
    }

    /// Hands the first bytes of a source on.
    fn pass(&mut self, pe: usize, stream: usize, bytes: usize) {
        let line = &mut self.sources[pe][stream].line;
        let (pe, text) = (self.first + pe, &line[..bytes]);
        match &mut self.to {
            To::Streams(sinks) => sinks.pass(pe, STREAMS[stream], text),
            To::Hub(link) => link.send([Kind::Output, Kind::Error][stream], pe as u32, text),
        }
        line.drain(..bytes);
    }

    fn write(&mut self) {
        let To::Streams(sinks) = &mut self.to else { return };
        for way in sinks.write() {
            // The PEs are to learn of it as if they wrote there themselves.
            for pe in 0..self.sources.len() {
                for stream in [0, 1] {
                    if self.sources[pe][stream].way == way {
                        self.close(pe, stream);
                    }
                }
            }
        }
    }
}
