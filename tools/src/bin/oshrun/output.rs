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

use super::stdout;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::stat::{FileStat, SFlag, fstat};
use nix::unistd::{read, write};
use std::io;
use std::os::fd::{AsFd, OwnedFd};

/// A line longer than this is handed on in pieces.
const LINE_LIMIT: usize = 256 << 10;
/// Above this many bytes queued, a sink's sources wait.
const QUEUE_LIMIT: usize = 1 << 20;
/// What is read from a pipe at once: its default capacity, pipe(7).
const CHUNK: usize = 64 << 10;
/// The most a pipe holds, /proc/sys/fs/pipe-max-size.
const PIPE_LIMIT: usize = 1 << 20;
/// The most sources that are read in a turn.
const TURN: usize = 64;
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
    /// Its sources' pipes. What there is to poll for is the same for any number of PEs.
    pipes: Epoll,
    /// The PE and stream whose line was handed on without its end.
    open_line: Option<(usize, usize)>,
    /// What writing to it has failed with. Nothing is written from then on.
    failure: Option<Errno>,
}

/// All streams of the job.
pub struct Outputs {
    /// By PE, each with its standard output and error.
    sources: Vec<[Source; 2]>,
    /// Pipes that have not come to their end.
    open: usize,
    sinks: Vec<Sink>,
    tag: bool,
    buffer: Vec<u8>,
}

/// Names a stream among those to be polled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// PEs' pipes.
    Sources(usize),
    /// An own stream.
    Sink(usize),
}

impl Outputs {
    /// To the launcher's own standard output and error; one queue if both are the
    /// same file, so that their lines do not mix either.
    pub fn new(tag: bool) -> io::Result<Self> {
        let [out, err] = [
            io::stdout().as_fd().try_clone_to_owned()?,
            io::stderr().as_fd().try_clone_to_owned()?,
        ];
        let [out_status, err_status] = [fstat(&out)?, fstat(&err)?];
        let identity = |status: &FileStat| (status.st_dev, status.st_ino);
        let mut sinks = vec![Sink::new(out, &out_status)?];
        if identity(&out_status) != identity(&err_status) {
            sinks.push(Sink::new(err, &err_status)?);
        }
        Ok(Self { sources: Vec::new(), open: 0, sinks, tag, buffer: vec![0; CHUNK] })
    }

    /// Takes on the streams of the next PE. They do not block.
    pub fn add(&mut self, output: OwnedFd, error: OwnedFd) -> io::Result<()> {
        let pe = self.sources.len() as u64;
        let streams = [(Stream::Out, output), (Stream::Err, error)];
        for (index, (stream, pipe)) in streams.iter().enumerate() {
            let event = EpollEvent::new(EpollFlags::EPOLLIN, 2 * pe + index as u64);
            self.sinks[self.sink(*stream)].pipes.add(pipe, event)?;
        }
        self.sources.push(streams.map(|(stream, pipe)| Source {
            pipe: Some(pipe),
            sink: self.sink(stream),
            line: Vec::new(),
        }));
        self.open += 2;
        Ok(())
    }

    fn sink(&self, stream: Stream) -> usize {
        match stream {
            Stream::Out => 0,
            Stream::Err => self.sinks.len() - 1,
        }
    }

    /// What there is to poll for.
    pub fn interests(&self) -> impl Iterator<Item = (Token, PollFd<'_>)> {
        self.sinks.iter().enumerate().flat_map(|(index, sink)| {
            let pipes = PollFd::new(sink.pipes.0.as_fd(), PollFlags::POLLIN);
            let pipes = (sink.queue.len() < QUEUE_LIMIT).then_some((Token::Sources(index), pipes));
            let file = PollFd::new(sink.file.as_fd(), PollFlags::POLLOUT);
            let file = (!sink.queue.is_empty()).then_some((Token::Sink(index), file));
            pipes.into_iter().chain(file)
        })
    }

    /// Does what a polled stream is ready for.
    pub fn ready(&mut self, token: Token) {
        if let Token::Sources(sink) = token {
            let mut events = [EpollEvent::empty(); TURN];
            let ready = self.sinks[sink].pipes.wait(&mut events, EpollTimeout::ZERO).unwrap_or(0);
            for event in &events[..ready] {
                let (pe, stream) = (event.data() as usize / 2, event.data() as usize % 2);
                self.read(pe, stream);
                if self.sinks[sink].queue.len() >= QUEUE_LIMIT {
                    break;
                }
            }
        }
        // Queues are written at once where possible; the rest waits for the next poll.
        self.write();
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
        self.sinks.iter().all(|sink| sink.queue.is_empty())
    }

    /// Whether nobody reads the launcher's standard output or error any more.
    pub fn is_cut(&self) -> bool {
        self.sinks.iter().any(|sink| sink.failure == Some(Errno::EPIPE))
    }

    /// Why output could not be written, if it is not that nobody reads it.
    pub fn failure(&self) -> Option<String> {
        let failed = |(index, sink): (usize, &Sink)| {
            let name = if index == 0 { "standard output" } else { "standard error" };
            let errno = sink.failure.filter(|errno| *errno != Errno::EPIPE)?;
            Some(format!("cannot write to {name}: {}", errno.desc()))
        };
        self.sinks.iter().enumerate().find_map(failed)
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
        let sink = self.sink(Stream::Err);
        let sink = &mut self.sinks[sink];
        if sink.failure.is_none() {
            sink.end_line_of_others(None);
            sink.queue.extend_from_slice(format!("oshrun: {message}\n").as_bytes());
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

    /// Hands the first bytes of a source on to its sink.
    fn pass(&mut self, pe: usize, stream: usize, bytes: usize) {
        let source = &mut self.sources[pe][stream];
        let sink = &mut self.sinks[source.sink];
        if sink.failure.is_none() {
            let text = &source.line[..bytes];
            sink.end_line_of_others(Some((pe, stream)));
            if self.tag {
                for line in text.split_inclusive(|byte| *byte == b'\n') {
                    if sink.open_line.take().is_none() {
                        sink.queue.extend_from_slice(format!("[{pe}] ").as_bytes());
                    }
                    sink.queue.extend_from_slice(line);
                }
            } else {
                sink.queue.extend_from_slice(text);
            }
            sink.open_line = (text.last() != Some(&b'\n')).then_some((pe, stream));
        }
        source.line.drain(..bytes);
    }

    fn write(&mut self) {
        for index in 0..self.sinks.len() {
            let before = self.sinks[index].failure;
            self.sinks[index].write();
            if before.is_none() && self.sinks[index].failure == Some(Errno::EPIPE) {
                // The PEs are to learn of it as if they wrote there themselves.
                for pe in 0..self.sources.len() {
                    for stream in [0, 1] {
                        if self.sources[pe][stream].sink == index {
                            self.close(pe, stream);
                        }
                    }
                }
            }
        }
    }
}

impl Sink {
    fn new(file: OwnedFd, status: &FileStat) -> io::Result<Self> {
        let kind = SFlag::from_bits_truncate(status.st_mode) & SFlag::S_IFMT;
        Ok(Self {
            file,
            regular: kind == SFlag::S_IFREG,
            queue: Vec::new(),
            pipes: Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?,
            open_line: None,
            failure: None,
        })
    }

    /// Ends a line that another source has left open.
    fn end_line_of_others(&mut self, source: Option<(usize, usize)>) {
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
                Err(errno) => {
                    self.failure = Some(errno);
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
