//! The running job: one loop that waits for the PEs' output, the terminal, signals and timers, and
//! sleeps when there is nothing to do.

use super::ending::Ending;
use super::failure::{Failure, OWN_FAILURE};
use super::frames::FrameKind;
use super::input::{self, Input};
use super::on_node::OnNode;
use super::orphans::{OrphanFilter, Orphans};
use super::output::{self, Outputs};
use super::process::Process;
use super::signals::Signals;
use super::standstill::Standstill;
use super::start::Starter;
use super::top::Top;
use super::verdict::signal_name;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, poll};
use nix::sys::signal::{Signal, raise};
use onenode_core::sys::cgroup;
use oneshmem_job::jobfile::JobFile;
use oneshmem_tools::poll_timeout;
use std::collections::HashSet;
use std::io::stdin;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long output of processes that PEs have started is still read after the PEs have ended. Beside busy processes
/// such a process may get a CPU late.
const AFTERWARDS: Duration = Duration::from_secs(2);
/// How long to wait for the rest of a line when a person may be typing.
const PROMPT: Duration = Duration::from_millis(200);

/// A job. [`super::watch`] handles the end of its PEs.
pub struct Job<'a> {
    pub file: &'a Arc<JobFile>,
    starter: Starter<'a>,
    /// The PEs started so far.
    pub processes: Vec<Process>,
    /// How many of them have not ended yet, as far as seen.
    pub running: usize,
    pub orphans: Orphans,
    pub outputs: Outputs,
    pub input: Option<Input>,
    /// Additional state if this is a node of a job over several nodes.
    pub on_node: Option<OnNode>,
    signals: Signals,
    /// When the job times out, and after how long.
    timeout: Option<(Duration, Instant)>,
    pub ending: Option<Ending>,
    /// The first status other than 0 of a PE that had finalised.
    pub status: i32,
    /// The last signals forwarded. PEs are expected to die of them.
    pub forwarded: Vec<Signal>,
    /// When to check which PEs have ended, if any may have.
    pub look: Option<Instant>,
    /// The earliest time for the next check.
    pub rest: Instant,
    /// When to show PE 0's prompt to the user.
    prompt: Option<Instant>,
    pub standstill: Standstill,
    /// The report on PEs at intervals, if wanted.
    pub top: Option<Top>,
    /// How many processes the kernel had killed for lack of memory before the job.
    pub oom_kills: Option<u64>,
}

enum JobToken {
    Signal,
    Output(output::OutputToken),
    Input(input::InputToken),
    Agent,
}

impl<'a> Job<'a> {
    /// A job that is about to start. The time of `timeout` counts from `begin`.
    pub fn new(
        file: &'a Arc<JobFile>,
        starter: Starter<'a>,
        orphans: Orphans,
        outputs: Outputs,
        signals: Signals,
        timeout: Option<Duration>,
        begin: Instant,
    ) -> Self {
        Self {
            file,
            starter,
            processes: Vec::new(),
            running: 0,
            orphans,
            outputs,
            input: None,
            on_node: None,
            signals,
            timeout: timeout.and_then(|time| Some((time, begin.checked_add(time)?))),
            ending: None,
            status: 0,
            forwarded: Vec::new(),
            look: None,
            rest: begin,
            prompt: None,
            standstill: Standstill::new(),
            top: None,
            oom_kills: cgroup::oom_kills(),
        }
    }

    /// Runs the job to its end and returns its status.
    pub fn run(mut self) -> nix::Result<i32> {
        // All events of a running job can also happen while it starts.
        while self.is_starting() {
            self.start_next();
            let early = self.on_node.as_mut().map(|node| std::mem::take(&mut node.early));
            early.map(|frames| self.take_frames(frames)).transpose()?;
            self.wait(Some(Instant::now()))?;
            self.do_what_is_due();
        }
        while self.running > 0 {
            self.wait(self.due())?;
            self.do_what_is_due();
        }
        let afterwards = Instant::now() + AFTERWARDS;
        while self.ending.is_none() && !self.outputs.all_ended() && Instant::now() < afterwards {
            self.wait(Some(afterwards))?;
        }
        for process in &self.processes {
            process.signal(Signal::SIGKILL);
        }
        self.orphans.end();
        (0..self.processes.len()).for_each(|pe| self.outputs.drain(pe));
        self.outputs.finish();
        self.forwarded.clear();
        self.flush()?;
        self.check_outputs();
        self.flush()?;
        self.await_others()?;
        Ok(match self.ending.map_or(self.status, |ending| ending.status) {
            // Like any command whose reader has gone.
            0 if self.outputs.is_cut() => 128 + libc::SIGPIPE,
            0 if self.outputs.failure().is_some() => OWN_FAILURE.into(),
            status => status,
        })
    }

    /// Waits until all output is written.
    pub fn flush(&mut self) -> nix::Result<()> {
        while !self.outputs.is_flushed() && !self.is_interrupted() {
            self.wait(None)?;
        }
        Ok(())
    }

    /// Whether there are PEs left to start.
    fn is_starting(&self) -> bool {
        self.ending.is_none() && self.processes.len() < self.starter.near().len()
    }

    /// Starts the next PE. If that fails, the job ends.
    fn start_next(&mut self) {
        if let Err(Failure { status, message }) = self.try_start_next() {
            let pe = self.starter.near().start + self.processes.len();
            self.end(&self.on_host(&message), pe, status.into());
        }
    }

    fn try_start_next(&mut self) -> Result<(), Failure> {
        let pe = self.starter.near().start + self.processes.len();
        let (process, streams, note) = self.starter.start(pe)?;
        note.iter().for_each(|note| self.outputs.say(note));
        if let Some(where_to) = self.starter.report(pe) {
            let (pid, place) = (process.pid(), self.place());
            self.outputs.say(&format!("PE {pe} (pid {pid}{place}) is {where_to}"));
        }
        if pe + 1 == self.starter.near().end {
            if let (Some(agent), Some(where_to)) = (
                self.on_node.as_ref().and_then(|it| it.agent.as_ref()),
                self.starter.report_agent(),
            ) {
                let (pid, place) = (agent.pid(), self.place());
                self.outputs.say(&format!("the agent (pid {pid}{place}) is {where_to}"));
            }
            let picture = self.starter.picture().map(|picture| self.on_host(&picture));
            picture.iter().for_each(|picture| self.outputs.say(picture));
        }
        self.orphans.except(process.pid());
        self.processes.push(process);
        self.running += 1;
        self.outputs.add(streams.output, streams.error)?;
        if let Some(pipe) = streams.input {
            self.input = Some(match &self.on_node {
                Some(node) => Input::from_hub(pipe, node.interactive),
                None => Input::from_terminal(pipe),
            });
        }
        Ok(())
    }

    /// Sleeps until an event or `until`, and handles the events.
    pub fn wait(&mut self, until: Option<Instant>) -> nix::Result<()> {
        let terminal = stdin();
        let signals = PollFd::new(self.signals.file(), PollFlags::POLLIN);
        let outputs = self.outputs.interests().map(|(token, fd)| (JobToken::Output(token), fd));
        let input = self.input.iter().flat_map(|input| input.interests(&terminal));
        let input = input.map(|(token, fd)| (JobToken::Input(token), fd));
        let agent =
            self.on_node.iter().filter_map(OnNode::interest).map(|fd| (JobToken::Agent, fd));
        let (tokens, mut polled): (Vec<JobToken>, Vec<PollFd>) = [(JobToken::Signal, signals)]
            .into_iter()
            .chain(outputs)
            .chain(input)
            .chain(agent)
            .unzip();
        match poll(&mut polled, poll_timeout(until)) {
            Ok(_) => {}
            Err(Errno::EINTR) => return Ok(()),
            Err(errno) => return Err(errno),
        }
        let events: Vec<_> =
            polled.iter().map(|fd| fd.revents().unwrap_or(PollFlags::empty())).collect();
        drop(polled);
        for (token, events) in tokens.into_iter().zip(events).filter(|(_, e)| !e.is_empty()) {
            match token {
                JobToken::Signal => self.take_signals()?,
                JobToken::Output(token) => {
                    let frames = self.outputs.ready(token);
                    self.take_frames(frames)?;
                }
                JobToken::Input(token) => {
                    if let Some(input) = &mut self.input {
                        let taken = input.ready(token, events);
                        let taken = if input.is_closed() { u32::MAX } else { taken as u32 };
                        self.notify_hub(FrameKind::Input, taken, &[]);
                    }
                }
                JobToken::Agent => self.hear_agent(),
            }
        }
        Ok(())
    }

    /// When the next timer expires.
    fn due(&self) -> Option<Instant> {
        let ending = match &self.ending {
            Some(ending) => ending.due(),
            None => self.timeout.map(|(_, due)| due),
        };
        let standstill = self.ending.is_none().then(|| self.standstill.due());
        let top = self.top.as_ref().filter(|_| self.ending.is_none()).map(Top::due);
        [ending, self.look, self.prompt, standstill, top].into_iter().flatten().min()
    }

    fn do_what_is_due(&mut self) {
        self.look_if_due();
        self.check_outputs();
        let now = Instant::now();
        if let Some(ending) = &mut self.ending {
            ending.step(&self.processes, &self.orphans);
        } else if let Some((time, _)) = self.timeout.filter(|(_, due)| *due <= now) {
            self.time_out(time);
        } else {
            self.look_now_and_then();
            self.report_top();
        }
        self.show_prompt(now);
    }

    /// Shows a prompt of PE 0. It has no newline, and the user has to see it before answering.
    fn show_prompt(&mut self, now: Instant) {
        let asking = self.input.as_ref().is_some_and(Input::is_interactive)
            && self.outputs.has_part_of_line(0);
        match self.prompt {
            _ if !asking => self.prompt = None,
            None => self.prompt = Some(now + PROMPT),
            Some(due) if due <= now => {
                self.outputs.pass_part_of_line(0);
                self.prompt = None;
            }
            Some(_) => {}
        }
    }

    fn take_signals(&mut self) -> nix::Result<()> {
        while let Some(signal) = self.signals.next()? {
            match signal {
                Signal::SIGCHLD => self.note_end(),
                signal if Signals::is_forwarded(signal) => self.forward(signal)?,
                _ => {}
            }
        }
        Ok(())
    }

    pub fn forward(&mut self, signal: Signal) -> nix::Result<()> {
        let insists = matches!(signal, Signal::SIGINT | Signal::SIGTERM)
            && self.forwarded.iter().any(|s| matches!(s, Signal::SIGINT | Signal::SIGTERM));
        if signal == Signal::SIGQUIT {
            self.report_states();
        }
        self.forwarded.push(signal);
        let running = self.processes.iter().filter(|process| process.end().is_none());
        let moved: HashSet<_> = running.filter_map(|process| process.signal(signal)).collect();
        if !moved.is_empty() {
            self.orphans.signal(signal, OrphanFilter::In(&moved));
        }
        match signal {
            // PEs that do not exist yet cannot be signalled, and are not wanted any more.
            Signal::SIGINT | Signal::SIGTERM | Signal::SIGHUP | Signal::SIGQUIT
                if self.is_starting() =>
            {
                let signal = signal as i32;
                self.end(&format!("the job ends on {}", signal_name(signal)), 0, 128 + signal);
            }
            // PEs that are stopped in a debugger would not take it.
            Signal::SIGTERM | Signal::SIGHUP
                if self.starter.is_debugging() && self.ending.is_none() =>
            {
                self.end(&format!("the job ends on {signal}"), 0, 128 + signal as i32);
            }
            // The launcher stops with its job. SIGCONT continues both. A node gets it from the hub.
            Signal::SIGTSTP if self.on_node.is_none() => raise(Signal::SIGSTOP)?,
            Signal::SIGWINCH => self.outputs.resize(),
            Signal::SIGCONT => {
                self.standstill.begin_again();
                if let Some(input) = &mut self.input {
                    input.look_at_terminal();
                }
            }
            _ if insists && self.ending.is_none() => {
                self.end(&format!("{signal} again; ending the job"), 0, 128 + signal as i32);
            }
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
}
