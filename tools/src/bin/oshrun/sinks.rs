//! The launcher's own standard output and error, to which the PEs' lines go.

use super::files::Files;
use super::stream::Stream;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::stat::{FileStat, SFlag, fstat};
use nix::unistd::write;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

/// Above this many bytes queued, no more should be handed on.
const QUEUE_LIMIT: usize = 1 << 20;
/// What a pipe or terminal ready for writing takes without blocking: PIPE_BUF, pipe(7).
const ATOM: usize = 4096;

/// One of the launcher's own streams.
struct Sink {
    file: OwnedFd,
    /// A regular file takes anything at any time.
    regular: bool,
    queue: Vec<u8>,
    /// The PE and stream whose line was handed on without its end.
    open_line: Option<(usize, Stream)>,
    /// What writing to it has failed with. Nothing is written from then on.
    failure: Option<Errno>,
}

/// All of them.
pub struct Sinks {
    /// Standard output, and standard error if that is another file.
    sinks: Vec<Sink>,
    tag: bool,
    /// Where the PEs' output goes instead.
    files: Option<Files>,
}

impl Sinks {
    /// One queue if standard output and error are the same file, so that their lines do not mix
    /// either. Whether lines begin with the number of their PE.
    pub fn new(tag: bool, files: Option<Files>) -> io::Result<Self> {
        let [out, err] = [
            io::stdout().as_fd().try_clone_to_owned()?,
            io::stderr().as_fd().try_clone_to_owned()?,
        ];
        let [out_status, err_status] = [fstat(&out)?, fstat(&err)?];
        let identity = |status: &FileStat| (status.st_dev, status.st_ino);
        let mut sinks = vec![Sink::new(out, &out_status)];
        if identity(&out_status) != identity(&err_status) {
            sinks.push(Sink::new(err, &err_status));
        }
        Ok(Self { sinks, tag, files })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.sinks.len()
    }

    /// Which of them is for a stream.
    pub fn of(&self, stream: Stream) -> usize {
        match stream {
            Stream::Out => 0,
            Stream::Err => self.sinks.len() - 1,
        }
    }

    /// Whether who has lines for it should wait.
    pub fn is_full(&self, sink: usize) -> bool {
        self.sinks[sink].queue.len() >= QUEUE_LIMIT
    }

    /// Whether everything handed on is written.
    pub fn is_flushed(&self) -> bool {
        self.sinks.iter().all(|sink| sink.queue.is_empty())
    }

    /// Whether nobody reads one of them any more.
    pub fn is_cut(&self) -> bool {
        self.sinks.iter().any(|sink| sink.failure == Some(Errno::EPIPE))
    }

    /// Whether nobody reads this stream any more.
    pub fn is_cut_off(&self, stream: Stream) -> bool {
        self.sinks[self.of(stream)].failure == Some(Errno::EPIPE)
    }

    /// Why output could not be written, if it is not that nobody reads it.
    pub fn failure(&self) -> Option<String> {
        let failed = |(index, sink): (usize, &Sink)| {
            let name = if index == 0 { "standard output" } else { "standard error" };
            let errno = sink.failure.filter(|errno| *errno != Errno::EPIPE)?;
            Some(format!("cannot write to {name}: {}", errno.desc()))
        };
        let of_files = self.files.as_ref().and_then(Files::failure);
        of_files.or_else(|| self.sinks.iter().enumerate().find_map(failed))
    }

    /// Which of them to poll for.
    pub fn interests(&self) -> impl Iterator<Item = (usize, PollFd<'_>)> {
        let waiting = self.sinks.iter().enumerate().filter(|(_, sink)| !sink.queue.is_empty());
        waiting.map(|(index, sink)| (index, PollFd::new(sink.file.as_fd(), PollFlags::POLLOUT)))
    }

    /// Adds a line of the launcher's own to standard error.
    pub fn say(&mut self, message: &str) {
        let index = self.of(Stream::Err);
        let sink = &mut self.sinks[index];
        if sink.failure.is_none() {
            sink.end_line_of_others(None);
            sink.queue.extend_from_slice(format!("oshrun: {message}\n").as_bytes());
        }
    }

    /// Adds what a PE has written: whole lines, or a part of one.
    pub fn pass(&mut self, pe: usize, stream: Stream, text: &[u8]) {
        if let Some(files) = &mut self.files {
            return files.write(pe, stream, text);
        }
        let index = self.of(stream);
        let sink = &mut self.sinks[index];
        if sink.failure.is_some() || text.is_empty() {
            return;
        }
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

    /// Writes what can be written without blocking. Gives those that turn out to have no reader.
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

    /// Ends a line that another source has left open.
    fn end_line_of_others(&mut self, source: Option<(usize, Stream)>) {
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
