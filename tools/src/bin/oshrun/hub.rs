//! The hub of a job over several nodes, running where the user started the job. It starts one
//! launcher per node through a remote shell, and handles everything that concerns the user: output,
//! messages, input, signals and the exit status. [`super::heard`] handles frames from nodes.

use super::failure::{Failure, OWN_FAILURE, cannot};
use super::files::Files;
use super::finish::{ending, whose_number};
use super::frames::FrameKind;
use super::hosts;
use super::hub_input::HubInput;
use super::link::LinkLoss;
use super::matrix::file::MatrixFile;
use super::matrix::{Grid, Matrix};
use super::options::{Hosts, Options};
use super::remote::{self, Remote, Stage};
use super::report::ReportScope;
use super::signals::Signals;
use super::sinks::Sinks;
use super::start::allow_files;
use super::stream::Stream;
use super::verdict::signal_name;
use super::watch::TIMED_OUT;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, poll};
use nix::sys::signal::{Signal, raise};
use oneshmem_job::env::{STARTUP_TIMEOUT, TRANSPORT};
use oneshmem_job::jobfile::abort::{self, AbortKind};
use oneshmem_job::jobfile::nodes::named;
use oneshmem_job::remote::network::Preference;
use oneshmem_tools::poll_timeout;
use std::time::{Duration, Instant};

/// How long nodes may take to end their PEs and themselves. A node needs 650 ms for PEs that do not
/// leave by themselves.
const LEAVE: Duration = Duration::from_secs(5);
/// How long hosts may take to answer, unless SHMEM_STARTUP_TIMEOUT is set.
const ANSWER: f64 = 60.0;

/// A job over several nodes.
pub struct Hub {
    pub options: Options,
    pub remotes: Vec<Remote>,
    pub sinks: Sinks,
    pub input: HubInput,
    signals: Signals,
    /// When the job times out, and after how long.
    timeout: Option<(Duration, Instant)>,
    /// The deadline for hosts to answer, and how long they had.
    pub answers: Option<(Duration, Instant)>,
    /// The exit status of the job, once it ends early.
    pub ending: Option<i32>,
    /// When remaining nodes are killed.
    deadline: Option<Instant>,
    /// The first status other than 0 of a PE that had finalised.
    pub status: i32,
    forwarded: Vec<Signal>,
    pub stands_still: bool,
    cut: [bool; 2],
    /// The most cells in a row of the communication matrix, if there is to be one.
    pub cells: Option<usize>,
    /// The rows received so far.
    pub matrix: Option<Matrix>,
}

enum HubToken {
    Signal,
    Sink,
    Input,
    Remote(usize, remote::RemoteToken),
}

/// Runs a job over hosts and returns its status.
pub fn run(mut options: Options, hosts: &Hosts) -> Result<i32, Failure> {
    let begin = Instant::now();
    if options.debug.is_some() {
        return Err(Failure::own("--debug is for jobs on one machine: omit --host and --hostfile"));
    }
    let npes: Option<usize> = options.parts.iter().map(|part| part.npes).sum();
    let nodes = hosts::place(&hosts.list, npes)
        .map_err(|message| Failure { status: super::failure::WRONG_LINE, message })?;
    let all = nodes.iter().map(|node| node.pes).sum();
    if npes.is_none() {
        options.parts[0].npes = Some(all);
    }
    if all > oneshmem_job::jobfile::MAX_PES {
        let most = oneshmem_job::jobfile::MAX_PES;
        return Err(Failure::own(format!("{all} PEs are too many; a job has at most {most}")));
    }
    let answer = STARTUP_TIMEOUT.seconds()?.unwrap_or(ANSWER);
    let answer = Duration::try_from_secs_f64(answer).ok();
    let of_pes = if options.output.is_some() { 2 * all } else { 0 };
    allow_files(6 * nodes.len() + of_pes)?;
    let signals = Signals::take()?;
    let files = Files::of(options.output.as_deref(), all)?;
    let matrix_file = options.comm_matrix.as_deref().map(MatrixFile::create).transpose()?;
    let cells = matrix_file.as_ref().map(MatrixFile::most_cells);
    let sizes: Vec<usize> = nodes.iter().map(|node| node.pes).collect();
    let sinks = Sinks::new(options.tag_output, files)?;
    let preference = options.parts[0].variable(TRANSPORT.name);
    let preference = Preference::of(preference.as_deref()).map_err(Failure::own)?;
    let remotes = nodes.into_iter().map(|node| Remote::start(node, hosts, preference));
    let remotes = remotes.collect::<Result<_, _>>()?;
    let due = |time: Option<Duration>| time.and_then(|time| Some((time, begin.checked_add(time)?)));
    let mut hub = Hub {
        timeout: due(options.timeout),
        answers: due(answer),
        options,
        remotes,
        sinks,
        input: HubInput::new(),
        signals,
        ending: None,
        deadline: None,
        status: 0,
        forwarded: Vec::new(),
        stands_still: false,
        cut: [false; 2],
        cells,
        matrix: cells.map(|most| Matrix::new(Grid::new(&sizes, most))),
    };
    let status = hub.run().map_err(cannot("wait for events"))?;
    Ok(match (matrix_file, hub.matrix) {
        (Some(file), Some(matrix)) => {
            let names: Vec<&str> =
                hub.remotes.iter().map(|remote| remote.node.host.as_str()).collect();
            let program = hub.options.parts[0].program[0].to_string_lossy();
            file.finish(Ok(matrix), &names, &program, status)
        }
        _ => status,
    })
}

impl Hub {
    fn run(&mut self) -> nix::Result<i32> {
        while !self.all(Stage::Gone) {
            self.wait(self.due())?;
            self.do_what_is_due();
        }
        self.forwarded.clear();
        while !self.sinks.is_flushed() && !self.is_interrupted() {
            self.wait(None)?;
            self.sinks.write();
        }
        Ok(match self.ending.unwrap_or(self.status) {
            // Like any command whose reader has gone.
            0 if self.sinks.is_cut() => 128 + libc::SIGPIPE,
            0 if self.sinks.failure().is_some() => OWN_FAILURE.into(),
            status => status,
        })
    }

    /// Whether all nodes have reached this stage.
    pub fn all(&self, stage: Stage) -> bool {
        self.remotes.iter().all(|remote| remote.stage >= stage)
    }

    fn due(&self) -> Option<Instant> {
        let timeout = self.timeout.filter(|_| self.ending.is_none());
        let times = [timeout, self.answers].into_iter().flatten().map(|(_, due)| due);
        times.chain(self.deadline).chain(self.remotes.iter().filter_map(Remote::due)).min()
    }

    fn do_what_is_due(&mut self) {
        for index in 0..self.remotes.len() {
            if self.remotes[index].is_lost() {
                self.lose(index);
            }
        }
        let now = Instant::now();
        if let Some((time, _)) = self.timeout.filter(|(_, due)| *due <= now) {
            self.timeout = None;
            let message = format!("the job did not end within {time:?}; ending it");
            self.end_as_launcher(&message, TIMED_OUT, Some(ReportScope::All));
        }
        if let Some((time, _)) = self.answers.filter(|(_, due)| *due <= now) {
            self.answers = None;
            let silent = self.remotes.iter().filter(|remote| remote.stage == Stage::Called);
            let silent: Vec<_> = silent.map(|remote| remote.node.host.as_str()).collect();
            let message = format!(
                "no answer within {time:?} from {}; SHMEM_STARTUP_TIMEOUT sets how long to wait",
                silent.join(", ")
            );
            self.end_as_launcher(&message, OWN_FAILURE.into(), None);
        }
        if self.deadline.is_some_and(|due| due <= now) {
            self.give_up();
        }
        if let Some(why) = self.sinks.failure() {
            self.end_as_launcher(&format!("{why}; ending the job"), OWN_FAILURE.into(), None);
        }
        self.sinks_written();
    }

    /// No longer waits for nodes that are late. Those that are done are not: they wait for the others.
    fn give_up(&mut self) {
        self.deadline = None;
        let (stage, left) = match self.all(Stage::Done) {
            true => (Stage::Gone, "oshrun has not ended there"),
            false => {
                (Stage::Done, "it has not said that its PEs have ended; some may be left there")
            }
        };
        for remote in self.remotes.iter_mut().filter(|remote| remote.stage < stage) {
            let host = &remote.node.host;
            let waited = LEAVE.as_secs();
            self.sinks.say(&format!("no longer waiting for host {host} after {waited} s: {left}"));
            remote.kill();
        }
        self.leave_if_done();
    }

    /// Writes queued output without blocking, and notifies the PEs if a stream has no reader.
    fn sinks_written(&mut self) {
        self.sinks.write();
        if !self.sinks.is_cut() {
            return;
        }
        for (number, stream) in [Stream::Out, Stream::Err].into_iter().enumerate() {
            if self.sinks.is_cut_off(stream) && !self.cut[number] {
                self.cut[number] = true;
                self.send_all(FrameKind::Cut, number as u32, &[]);
            }
        }
    }

    pub fn send_all(&mut self, kind: FrameKind, who: u32, bytes: &[u8]) {
        let running = |remote: &&mut Remote| (Stage::Runs..Stage::Gone).contains(&remote.stage);
        for remote in self.remotes.iter_mut().filter(running) {
            remote.link.send(kind, who, bytes);
        }
    }

    /// Sleeps until an event or `until`, and handles the events.
    fn wait(&mut self, until: Option<Instant>) -> nix::Result<()> {
        let terminal = std::io::stdin();
        let signals = PollFd::new(self.signals.file(), PollFlags::POLLIN);
        // While a queue is full, nodes have to wait: do not receive from them.
        let receive = !(0..self.sinks.count()).any(|sink| self.sinks.is_full(sink));
        let sinks = self.sinks.interests().map(|(_, fd)| (HubToken::Sink, fd));
        let input = self.input.interest(&terminal).map(|fd| (HubToken::Input, fd));
        let remotes = self.remotes.iter().enumerate().flat_map(|(index, remote)| {
            remote.interests(receive).map(move |(token, fd)| (HubToken::Remote(index, token), fd))
        });
        let (tokens, mut polled): (Vec<HubToken>, Vec<PollFd>) = [(HubToken::Signal, signals)]
            .into_iter()
            .chain(sinks)
            .chain(input)
            .chain(remotes)
            .unzip();
        match poll(&mut polled, poll_timeout(until)) {
            Ok(_) => {}
            Err(Errno::EINTR) => return Ok(()),
            Err(errno) => return Err(errno),
        }
        let ready: Vec<bool> = polled.iter().map(|fd| fd.any().unwrap_or(true)).collect();
        drop(polled);
        for (token, _) in tokens.into_iter().zip(ready).filter(|(_, ready)| *ready) {
            match token {
                HubToken::Signal => self.take_signals()?,
                HubToken::Sink => self.sinks_written(),
                HubToken::Input => {
                    if let (Some(bytes), Some(first)) =
                        (self.input.read(), self.remotes.first_mut())
                    {
                        first.link.send(FrameKind::Input, 0, &bytes);
                    }
                }
                HubToken::Remote(index, token) => {
                    let (frames, lines) = self.remotes[index].ready(token);
                    self.say_lines(index, lines);
                    frames.into_iter().for_each(|frame| self.take(index, frame));
                }
            }
        }
        Ok(())
    }

    /// Prints lines from a remote shell.
    fn say_lines(&mut self, index: usize, lines: Vec<String>) {
        for line in lines {
            self.sinks.say(&format!("{}: {line}", self.remotes[index].node.host));
        }
    }

    fn take_signals(&mut self) -> nix::Result<()> {
        while let Some(signal) = self.signals.next()? {
            match signal {
                Signal::SIGCHLD => self.remotes.iter_mut().for_each(Remote::note_end),
                signal if Signals::is_forwarded(signal) => self.forward(signal)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn forward(&mut self, signal: Signal) -> nix::Result<()> {
        let ends = matches!(signal, Signal::SIGINT | Signal::SIGTERM);
        let insists = ends && self.is_interrupted();
        self.forwarded.push(signal);
        let status = 128 + signal as i32;
        match signal {
            Signal::SIGINT | Signal::SIGTERM | Signal::SIGHUP | Signal::SIGQUIT
                if !self.all(Stage::Runs) =>
            {
                let message = format!("the job ends on {}", signal_name(signal as i32));
                self.end_as_launcher(&message, status, None);
            }
            _ if insists => {
                self.end_as_launcher(&format!("{signal} again; ending the job"), status, None);
            }
            _ => self.send_all(FrameKind::Signal, signal as u32, &[]),
        }
        match signal {
            // The launcher stops with its job. SIGCONT continues both.
            Signal::SIGTSTP => raise(Signal::SIGSTOP)?,
            Signal::SIGCONT => self.input.look_at_terminal(),
            _ => {}
        }
        Ok(())
    }

    /// Whether the user has interrupted the job and does not want its output either.
    fn is_interrupted(&self) -> bool {
        self.forwarded
            .iter()
            .any(|s| matches!(s, Signal::SIGINT | Signal::SIGTERM | Signal::SIGHUP))
    }

    /// Handles the end of the link to a node.
    fn lose(&mut self, index: usize) {
        let lost = self.remotes[index].link.lost().cloned();
        let stage = self.remotes[index].stage;
        let how = self.remotes[index].collect();
        let lines = self.remotes[index].read_error();
        self.say_lines(index, lines);
        let host = &self.remotes[index].node.host;
        let message = match lost {
            _ if stage == Stage::Done || self.ending.is_some() => return self.leave_if_done(),
            Some(LinkLoss::InvalidFrame(text)) if stage == Stage::Called => format!(
                "host {host}: its shell must not write to standard output before oshrun does, but it \
                 writes {text}"
            ),
            Some(LinkLoss::InvalidFrame(text)) => {
                format!("host {host} sent invalid data: {text}")
            }
            _ if stage == Stage::Called => format!(
                "host {host}: oshrun was not started there: {how}; it must let you in without a password, \
                 and oneshmem must be installed there as it is here, or where --prefix says"
            ),
            _ => {
                let pes = self.pes(index);
                let pes = named(pes.start, pes.len());
                format!("host {host}, with {pes}, is lost: {how}; ending the job")
            }
        };
        self.end_as_launcher(&message, OWN_FAILURE.into(), None);
        self.leave_if_done();
    }

    pub fn end_as_launcher(&mut self, message: &str, status: i32, notify: Option<ReportScope>) {
        self.end(abort::encode(AbortKind::Launcher, 0, status), message, notify);
    }

    /// Ends the job on all nodes, unless it is already ending.
    pub fn end(&mut self, word: u64, message: &str, notify: Option<ReportScope>) {
        if self.ending.is_some() {
            return;
        }
        if !message.is_empty() {
            self.sinks.say(message);
        }
        self.ending = Some(abort::decode(word).map_or(1, |cause| cause.status));
        self.answers = None;
        self.deadline = Some(Instant::now() + LEAVE);
        self.send_all(FrameKind::Kill, whose_number(notify), &ending(word, ""));
        // No PEs run on these nodes yet.
        for remote in self.remotes.iter_mut().filter(|remote| remote.stage < Stage::Runs) {
            remote.kill();
        }
        self.leave_if_done();
    }

    pub fn leave_if_done(&mut self) {
        if !self.all(Stage::Done) {
            return;
        }
        self.deadline = self.deadline.or_else(|| Some(Instant::now() + LEAVE));
        for remote in self.remotes.iter_mut().filter(|remote| remote.stage == Stage::Done) {
            remote.link.send(FrameKind::Leave, 0, &[]);
        }
    }
}
