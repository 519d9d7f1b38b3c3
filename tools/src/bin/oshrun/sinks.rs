//! The launcher's own standard output and error, where the PEs' lines are written.

use super::failure::{Failure, cannot};
use super::files::Files;
use super::stream::Stream;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::stat::{FileStat, SFlag, fstat};
use nix::unistd::write;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// With more bytes queued than this, senders should wait.
const QUEUE_LIMIT: usize = 1 << 20;
/// How much a pipe or terminal that is ready takes without blocking: PIPE_BUF, pipe(7).
const ATOM: usize = 4096;

/// One of the launcher's own streams.
struct Sink {
    file: OwnedFd,
    /// Whether it is a regular file, which never blocks.
    regular: bool,
    queue: Vec<u8>,
    /// The PE and stream whose incomplete line was queued last.
    open_line: Option<(usize, Stream)>,
    /// The first write error. Nothing is written after it.
    failure: Option<Errno>,
}

/// All of the launcher's own streams.
pub struct Sinks {
    /// Standard output, and standard error if it is a different file.
    sinks: Vec<Sink>,
    tag: bool,
    /// The files that receive the PEs' output instead.
    files: Option<Files>,
}

impl Sinks {
    /// Uses a single queue if standard output and error are the same file, so that their lines do
    /// not mix. `tag` prefixes lines with the number of their PE.
    pub fn new(tag: bool, files: Option<Files>) -> Result<Self, Failure> {
        let open = |file: BorrowedFd| -> io::Result<(OwnedFd, FileStat)> {
            Ok((file.try_clone_to_owned()?, fstat(file)?))
        };
        let (out, out_status) =
            open(io::stdout().as_fd()).map_err(cannot("use standard output"))?;
        let (err, err_status) = open(io::stderr().as_fd()).map_err(cannot("use standard error"))?;
        let identity = |status: &FileStat| (status.st_dev, status.st_ino);
        let mut sinks = vec![Sink::new(out, &out_status)];
        if identity(&out_status) != identity(&err_status) {
            sinks.push(Sink::new(err, &err_status));
        }
        Ok(Self { sinks, tag, files })
    }

    /// The number of sinks.
    pub fn count(&self) -> usize {
        self.sinks.len()
    }

    /// The sink for a stream.
    pub fn of(&self, stream: Stream) -> usize {
        match stream {
            Stream::Out => 0,
            Stream::Err => self.sinks.len() - 1,
        }
    }

    /// Whether lines for this sink should wait.
    pub fn is_full(&self, sink: usize) -> bool {
        self.sinks[sink].queue.len() >= QUEUE_LIMIT
    }

    /// Whether everything queued is written.
    pub fn is_flushed(&self) -> bool {
        self.sinks.iter().all(|sink| sink.queue.is_empty())
    }

    /// Whether one of them has no reader any more.
    pub fn is_cut(&self) -> bool {
        self.sinks.iter().any(|sink| sink.failure == Some(Errno::EPIPE))
    }

    /// Whether this stream has no reader any more.
    pub fn is_cut_off(&self, stream: Stream) -> bool {
        self.sinks[self.of(stream)].failure == Some(Errno::EPIPE)
    }

    /// Why output could not be written, other than for lack of a reader.
    pub fn failure(&self) -> Option<String> {
        let failed = |(index, sink): (usize, &Sink)| {
            let name = if index == 0 { "standard output" } else { "standard error" };
            let errno = sink.failure.filter(|errno| *errno != Errno::EPIPE)?;
            Some(format!("cannot write to {name}: {}", errno.desc()))
        };
        let of_files = self.files.as_ref().and_then(Files::failure);
        of_files.or_else(|| self.sinks.iter().enumerate().find_map(failed))
    }

    /// The sinks to poll.
    pub fn interests(&self) -> impl Iterator<Item = (usize, PollFd<'_>)> {
        let waiting = self.sinks.iter().enumerate().filter(|(_, sink)| !sink.queue.is_empty());
        waiting.map(|(index, sink)| (index, PollFd::new(sink.file.as_fd(), PollFlags::POLLOUT)))
    }

    /// Adds a line from the launcher to standard error.
    pub fn say(&mut self, message: &str) {
        let index = self.of(Stream::Err);
        let sink = &mut self.sinks[index];
        if sink.failure.is_none() {
            sink.end_line_of_others(None);
            sink.queue.extend_from_slice(format!("oshrun: {message}\n").as_bytes());
        }
    }

    /// Adds output of a PE: whole lines, or an incomplete one. Without tags nothing is added to what
    /// the PEs write, which may be binary.
    pub fn pass(&mut self, pe: usize, stream: Stream, text: &[u8]) {
        if let Some(files) = &mut self.files {
            return files.write(pe, stream, text);
        }
        let index = self.of(stream);
        let sink = &mut self.sinks[index];
        if sink.failure.is_some() || text.is_empty() {
            return;
        }
        if self.tag {
            sink.end_line_of_others(Some((pe, stream)));
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

    /// Writes as much as possible without blocking. Returns the sinks just found to have no reader.
    pub fn write(&mut self) -> Vec<usize> {
        let mut cut = Vec::new();
        for (index, sink) in self.sinks.iter_mut().enumerate() {
            let before = sink.failure;
            sink.write();
            if before.is_none() && sink.failure == Some(Errno::EPIPE) {
                cut.push(index);
            }
        }
        cut
    }
}

impl Sink {
    fn new(file: OwnedFd, status: &FileStat) -> Self {
        let kind = SFlag::from_bits_truncate(status.st_mode) & SFlag::S_IFMT;
        let regular = kind == SFlag::S_IFREG;
        Self { file, regular, queue: Vec::new(), open_line: None, failure: None }
    }

    /// Ends a line that another source has left incomplete.
    fn end_line_of_others(&mut self, source: Option<(usize, Stream)>) {
        if self.open_line.is_some() && self.open_line != source {
            self.queue.push(b'\n');
            self.open_line = None;
        }
    }

    /// Writes as much as possible without blocking. The launcher's streams are shared with other
    /// processes, so it cannot make them non-blocking.
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
