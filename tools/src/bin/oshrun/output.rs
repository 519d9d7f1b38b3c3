//! The PEs' standard output and error, line by line.
//!
//! ```text
//!  PE 0 stdout  --pipe-->  Source: line so far  --whole lines-->  Sink: queue  --> own stdout
//!  PE 0 stderr  --pipe-->  Source               --------------->  Sink         --> own stderr
//!  PE 1 stdout  ...
//! ```
//!
//! A source passes on whole lines only, so lines never mix. If the reader of a sink is slow, the
//! sink's queue fills, its sources are no longer read, and the PEs block on their pipes. Nothing is
//! lost, and nothing grows without bound.

use super::failure::{Failure, cannot};
use super::frames::{Frame, FrameKind};
use super::link::{self, Link};
use super::sinks::Sinks;
use super::source_lines::SourceLines;
use super::stdout;
use super::stream::Stream;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::unistd::read;
use std::borrow::Cow;
use std::os::fd::{AsFd, OwnedFd};

/// Longer lines are passed on in pieces.
const LINE_LIMIT: usize = 256 << 10;
/// The size of one read: a pipe's default capacity, pipe(7).
const CHUNK: usize = 64 << 10;
/// The maximum capacity of a pipe, /proc/sys/fs/pipe-max-size.
const PIPE_LIMIT: usize = 1 << 20;
/// The maximum number of sources read at a time.
const TURN: usize = 64;

const STREAMS: [Stream; 2] = [Stream::Out, Stream::Err];

/// One stream of one PE.
struct Source {
    /// The pipe, until it ends.
    pipe: Option<OwnedFd>,
    /// The index of its set in [`Outputs::pipes`].
    way: usize,
    /// The current line, incomplete.
    line: Vec<u8>,
}

/// The destination of lines.
pub enum To {
    /// To the launcher's own streams.
    Streams(Sinks),
    /// To the hub of a job over several nodes.
    Hub(Link),
}

/// All streams of the PEs of this node.
pub struct Outputs {
    /// The standard output and error of each PE.
    sources: Vec<[Source; 2]>,
    /// The rank of the first of these PEs in the job.
    first: usize,
    /// How many sources' pipes have not ended.
    open: usize,
    /// Sources' pipes, grouped by the destination of their lines. The number of descriptors to poll
    /// does not depend on the number of PEs.
    pipes: Vec<Epoll>,
    to: To,
    buffer: Vec<u8>,
    source_lines: SourceLines,
}

/// Identifies a polled stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputToken {
    /// A group of PEs' pipes.
    Sources(usize),
    /// One of the launcher's own streams.
    Sink,
    /// The link to the hub.
    Link(link::LinkToken),
}

impl Outputs {
    /// For PEs from rank `first` on.
    pub fn new(to: To, first: usize) -> Result<Self, Failure> {
        let ways = match &to {
            To::Streams(sinks) => sinks.count(),
            To::Hub(_) => 1,
        };
        let pipes = (0..ways).map(|_| Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC));
        let pipes = pipes.collect::<Result<_, _>>();
        let pipes = pipes.map_err(cannot("make a set of the PEs' output pipes (epoll_create1)"))?;
        Ok(Self {
            sources: Vec::new(),
            first,
            open: 0,
            pipes,
            to,
            buffer: vec![0; CHUNK],
            source_lines: SourceLines::default(),
        })
    }

    /// Adds the streams of the next PE, which are non-blocking.
    pub fn add(&mut self, output: OwnedFd, error: OwnedFd) -> Result<(), Failure> {
        let pe = self.sources.len();
        let ways = STREAMS.map(|stream| self.way(stream));
        let source = |pipe, way| Source { pipe: Some(pipe), way, line: Vec::new() };
        // Also without events: each PE has its streams, which are drained when it ends.
        self.sources.push([source(output, ways[0]), source(error, ways[1])]);
        self.open += 2;
        for (index, source) in self.sources[pe].iter().enumerate() {
            let event = EpollEvent::new(EpollFlags::EPOLLIN, (2 * pe + index) as u64);
            let added = source.pipe.as_ref().map(|pipe| self.pipes[source.way].add(pipe, event));
            added.transpose().map_err(cannot(&format!(
                "watch the output of PE {} (epoll_ctl)",
                self.first + pe
            )))?;
        }
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

    /// Whether lines for this destination should wait.
    fn is_full(&self, way: usize) -> bool {
        match &self.to {
            To::Streams(sinks) => sinks.is_full(way),
            To::Hub(link) => link.is_full(),
        }
    }

    /// The descriptors to poll.
    pub fn interests(&self) -> impl Iterator<Item = (OutputToken, PollFd<'_>)> {
        let pipes = self.pipes.iter().enumerate().filter(|(way, _)| !self.is_full(*way));
        let pipes = pipes.map(|(way, pipes)| {
            (OutputToken::Sources(way), PollFd::new(pipes.0.as_fd(), PollFlags::POLLIN))
        });
        let (sinks, link) = match &self.to {
            To::Streams(sinks) => (Some(sinks), None),
            To::Hub(link) => (None, Some(link)),
        };
        let sinks = sinks.into_iter().flat_map(Sinks::interests);
        let link = link.into_iter().flat_map(|link| link.interests(true));
        pipes
            .chain(sinks.map(|(_, fd)| (OutputToken::Sink, fd)))
            .chain(link.map(|(token, fd)| (OutputToken::Link(token), fd)))
    }

    /// Handles a ready stream. Returns the frames received from the hub.
    pub fn ready(&mut self, token: OutputToken) -> Vec<Frame> {
        if let (OutputToken::Link(token), To::Hub(link)) = (token, &mut self.to) {
            return link.ready(token);
        }
        if let OutputToken::Sources(way) = token {
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
        // Queues are written at once as far as possible. The rest waits for the next poll.
        self.write();
        Vec::new()
    }

    /// Reads everything that a PE has written, even if the queues are full. Bounded, since
    /// processes that the PE has started may go on writing.
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

    /// Passes on incomplete lines, as nothing more will follow.
    pub fn finish(&mut self) {
        for pe in 0..self.sources.len() {
            for stream in [0, 1] {
                self.close(pe, stream);
            }
        }
        self.write();
    }

    /// Whether all PEs' pipes have ended.
    pub fn all_ended(&self) -> bool {
        self.open == 0
    }

    /// Whether all lines passed on are written.
    pub fn is_flushed(&self) -> bool {
        match &self.to {
            To::Streams(sinks) => sinks.is_flushed(),
            To::Hub(link) => link.is_flushed(),
        }
    }

    /// Whether the launcher's standard output or error has no reader any more.
    pub fn is_cut(&self) -> bool {
        matches!(&self.to, To::Streams(sinks) if sinks.is_cut())
    }

    /// Why output could not be written, other than for lack of a reader.
    pub fn failure(&self) -> Option<String> {
        match &self.to {
            To::Streams(sinks) => sinks.failure(),
            To::Hub(_) => None,
        }
    }

    /// Closes the PEs' pipes of a stream without a reader, so that the PEs get the same error as if
    /// they wrote there directly.
    pub fn cut(&mut self, stream: usize) {
        (0..self.sources.len()).for_each(|pe| self.close(pe, stream));
    }

    /// Whether a PE has written an incomplete line, which may be a prompt.
    pub fn has_part_of_line(&self, pe: usize) -> bool {
        self.sources.get(pe).is_some_and(|s| s.iter().any(|source| !source.line.is_empty()))
    }

    /// Passes on a PE's incomplete lines.
    pub fn pass_part_of_line(&mut self, pe: usize) {
        for stream in [0, 1] {
            self.pass_rest(pe, stream);
        }
        self.write();
    }

    /// Resizes the PEs' terminals to the launcher's own.
    pub fn resize(&self) {
        let Some(size) = stdout::own_size() else { return };
        for pipe in self.sources.iter().filter_map(|streams| streams[0].pipe.as_ref()) {
            stdout::resize(pipe.as_fd(), &size);
        }
    }

    /// Adds a line from the launcher to standard error.
    pub fn say(&mut self, message: &str) {
        match &mut self.to {
            To::Streams(sinks) => sinks.say(message),
            To::Hub(link) => link.send(FrameKind::Say, 0, message.as_bytes()),
        }
        self.write();
    }

    /// Reads once. Returns false if there was nothing to read.
    fn read(&mut self, pe: usize, stream: usize) -> bool {
        let source = &mut self.sources[pe][stream];
        let Some(pipe) = &source.pipe else { return false };
        let bytes = match read(pipe, &mut self.buffer) {
            Err(Errno::EAGAIN) => return false,
            Err(Errno::EINTR) => return true,
            // End of file, or an unreadable pipe: no more data follows.
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

    /// Handles the end of a pipe.
    fn close(&mut self, pe: usize, stream: usize) {
        // Closing it also removes it from its epoll set.
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

    /// Passes on the first bytes of a source.
    fn pass(&mut self, pe: usize, stream: usize, bytes: usize) {
        let line = &mut self.sources[pe][stream].line;
        let pe = self.first + pe;
        let text = match STREAMS[stream] {
            Stream::Out => Cow::from(&line[..bytes]),
            Stream::Err => self.source_lines.complete(&line[..bytes]),
        };
        match &mut self.to {
            To::Streams(sinks) => sinks.pass(pe, STREAMS[stream], &text),
            To::Hub(link) => {
                link.send([FrameKind::Output, FrameKind::Error][stream], pe as u32, &text)
            }
        }
        line.drain(..bytes);
    }

    fn write(&mut self) {
        let To::Streams(sinks) = &mut self.to else { return };
        for way in sinks.write() {
            // Let the PEs get the same error as if they wrote there directly.
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
