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

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::stat::{FileStat, SFlag, fstat};
use nix::unistd::{read, write};
use std::io::{self, stderr, stdout};
use std::os::fd::{AsFd, OwnedFd};

/// A line longer than this is handed on in pieces.
const LINE_LIMIT: usize = 256 << 10;
/// Above this many bytes queued, a sink's sources wait.
const QUEUE_LIMIT: usize = 1 << 20;
/// What is read from a pipe at once: its default capacity, pipe(7).
const CHUNK: usize = 64 << 10;
/// The most a pipe holds, /proc/sys/fs/pipe-max-size.
const PIPE_LIMIT: usize = 1 << 20;
/// What a pipe or terminal ready for writing takes without blocking: PIPE_BUF, pipe(7).
const ATOM: usize = 4096;

/// Which of a PE's streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// One stream of one PE.
struct Source {
    /// The pipe, until its end.
    pipe: Option<OwnedFd>,
    pe: usize,
    sink: usize,
    /// The line so far.
    line: Vec<u8>,
}

/// One of the launcher's own streams.
struct Sink {
    file: OwnedFd,
    /// A regular file takes anything at any time.
    regular: bool,
    queue: Vec<u8>,
    /// The source whose line was handed on without its end.
    open_line: Option<usize>,
    /// Nobody reads it any more.
    closed: bool,
}

/// All streams of the job.
pub struct Outputs {
    sources: Vec<Source>,
    sinks: Vec<Sink>,
    tag: bool,
    buffer: Vec<u8>,
}

/// Names a stream among those to be polled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// A PE's pipe.
    Source(usize),
    /// An own stream.
    Sink(usize),
}

impl Outputs {
    /// To the launcher's own standard output and error; one queue if both are the
    /// same file, so that their lines do not mix either.
    pub fn new(tag: bool) -> io::Result<Self> {
        let [out, err] =
            [stdout().as_fd().try_clone_to_owned()?, stderr().as_fd().try_clone_to_owned()?];
        let [out_status, err_status] = [fstat(&out)?, fstat(&err)?];
        let identity = |status: &FileStat| (status.st_dev, status.st_ino);
        let mut sinks = vec![Sink::new(out, &out_status)];
        if identity(&out_status) != identity(&err_status) {
            sinks.push(Sink::new(err, &err_status));
        }
        Ok(Self { sources: Vec::new(), sinks, tag, buffer: vec![0; CHUNK] })
    }

    /// Takes on a PE's stream. The pipe does not block.
    pub fn add(&mut self, pe: usize, stream: Stream, pipe: OwnedFd) {
        let sink = self.sink(stream);
        self.sources.push(Source { pipe: Some(pipe), pe, sink, line: Vec::new() });
    }

    fn sink(&self, stream: Stream) -> usize {
        match stream {
            Stream::Out => 0,
            Stream::Err => self.sinks.len() - 1,
        }
    }

    /// What there is to poll for.
    pub fn interests(&self) -> impl Iterator<Item = (Token, PollFd<'_>)> {
        let sources = self.sources.iter().enumerate().filter_map(|(index, source)| {
            let wanted = self.sinks[source.sink].queue.len() < QUEUE_LIMIT;
            let pipe = source.pipe.as_ref().filter(|_| wanted)?;
            Some((Token::Source(index), PollFd::new(pipe.as_fd(), PollFlags::POLLIN)))
        });
        let sinks = self.sinks.iter().enumerate().filter_map(|(index, sink)| {
            let wanted = !sink.queue.is_empty();
            wanted.then(|| (Token::Sink(index), PollFd::new(sink.file.as_fd(), PollFlags::POLLOUT)))
        });
        sources.chain(sinks)
    }

    /// Does what a polled stream is ready for.
    pub fn ready(&mut self, token: Token) {
        if let Token::Source(index) = token {
            self.read(index);
        }
        // Queues are written at once where possible; the rest waits for the next poll.
        self.write();
    }

    /// Reads all that a PE had written, whatever the queues hold. Bounded, since
    /// what the PE has started may go on writing.
    pub fn drain(&mut self, pe: usize) {
        for index in 0..self.sources.len() {
            if self.sources[index].pe == pe {
                for _ in 0..PIPE_LIMIT / CHUNK {
                    if !self.read(index) {
                        break;
                    }
                }
            }
        }
        self.write();
    }

    /// Hands on lines that have no end, as nothing more will come.
    pub fn finish(&mut self) {
        for index in 0..self.sources.len() {
            self.sources[index].pipe = None;
            self.pass_rest(index);
        }
        self.write();
    }

    /// Whether all PEs' pipes have come to their end.
    pub fn all_ended(&self) -> bool {
        self.sources.iter().all(|source| source.pipe.is_none())
    }

    /// Whether everything handed on is written.
    pub fn is_flushed(&self) -> bool {
        self.sinks.iter().all(|sink| sink.queue.is_empty())
    }

    /// Whether nobody reads the launcher's standard output any more.
    pub fn is_cut(&self) -> bool {
        self.sinks.iter().any(|sink| sink.closed)
    }

    /// Whether a PE is in the middle of a line: a question to the user, perhaps.
    pub fn has_part_of_line(&self, pe: usize) -> bool {
        self.sources.iter().any(|source| source.pe == pe && !source.line.is_empty())
    }

    /// Hands on the line a PE is in the middle of.
    pub fn pass_part_of_line(&mut self, pe: usize) {
        for index in 0..self.sources.len() {
            if self.sources[index].pe == pe {
                self.pass_rest(index);
            }
        }
        self.write();
    }

    /// Adds a line of the launcher's own to standard error.
    pub fn say(&mut self, message: &str) {
        let sink = self.sink(Stream::Err);
        let sink = &mut self.sinks[sink];
        sink.end_line_of_others(None);
        sink.queue.extend_from_slice(format!("oshrun: {message}\n").as_bytes());
        self.write();
    }

    /// Reads once. False if nothing was there.
    fn read(&mut self, index: usize) -> bool {
        let source = &mut self.sources[index];
        let Some(pipe) = &source.pipe else { return false };
        let bytes = match read(pipe, &mut self.buffer) {
            Err(Errno::EAGAIN) => return false,
            Err(Errno::EINTR) => return true,
            // End of file, or a pipe that cannot be read: nothing more comes.
            Ok(0) | Err(_) => {
                source.pipe = None;
                self.pass_rest(index);
                return false;
            }
            Ok(bytes) => bytes,
        };
        let start = source.line.len();
        source.line.extend_from_slice(&self.buffer[..bytes]);
        if let Some(end) = source.line[start..].iter().rposition(|byte| *byte == b'\n') {
            self.pass(index, start + end + 1);
        }
        if self.sources[index].line.len() >= LINE_LIMIT {
            self.pass_rest(index);
        }
        true
    }

    fn pass_rest(&mut self, index: usize) {
        let rest = self.sources[index].line.len();
        if rest > 0 {
            self.pass(index, rest);
        }
    }

    /// Hands the first bytes of a source on to its sink.
    fn pass(&mut self, index: usize, bytes: usize) {
        let source = &mut self.sources[index];
        let sink = &mut self.sinks[source.sink];
        if !sink.closed {
            let text = &source.line[..bytes];
            sink.end_line_of_others(Some(index));
            if self.tag {
                for line in text.split_inclusive(|byte| *byte == b'\n') {
                    if sink.open_line.take().is_none() {
                        sink.queue.extend_from_slice(format!("[{}] ", source.pe).as_bytes());
                    }
                    sink.queue.extend_from_slice(line);
                }
            } else {
                sink.queue.extend_from_slice(text);
            }
            sink.open_line = (text.last() != Some(&b'\n')).then_some(index);
        }
        source.line.drain(..bytes);
    }

    fn write(&mut self) {
        for index in 0..self.sinks.len() {
            self.sinks[index].write();
            if self.sinks[index].closed {
                // The PEs are to learn of it as if they wrote there themselves.
                for source in self.sources.iter_mut().filter(|source| source.sink == index) {
                    source.pipe = None;
                    source.line.clear();
                }
            }
        }
    }
}

impl Sink {
    fn new(file: OwnedFd, status: &FileStat) -> Self {
        let kind = SFlag::from_bits_truncate(status.st_mode) & SFlag::S_IFMT;
        let regular = kind == SFlag::S_IFREG;
        Self { file, regular, queue: Vec::new(), open_line: None, closed: false }
    }

    /// Ends a line that another source has left open.
    fn end_line_of_others(&mut self, source: Option<usize>) {
        if self.open_line.is_some() && self.open_line != source {
            self.queue.push(b'\n');
            self.open_line = None;
        }
    }

    /// Writes what can be written without blocking. Own streams are shared with
    /// other processes, so they cannot be made non-blocking.
    fn write(&mut self) {
        let mut written = 0;
        while written < self.queue.len() && (self.regular || self.is_ready()) {
            let rest = &self.queue[written..];
            let piece = if self.regular { rest } else { &rest[..rest.len().min(ATOM)] };
            match write(&self.file, piece) {
                Ok(bytes) => written += bytes,
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => break,
                Err(_) => {
                    self.closed = true;
                    written = self.queue.len();
                }
            }
        }
        self.queue.drain(..written);
    }

    fn is_ready(&self) -> bool {
        let mut polled = [PollFd::new(self.file.as_fd(), PollFlags::POLLOUT)];
        poll(&mut polled, PollTimeout::ZERO).is_ok_and(|ready| ready > 0)
    }
}
