//! The job while it runs: one loop that waits for the PEs' output, the terminal,
//! signals and the clock, and sleeps when there is nothing to do.

use super::ending::Ending;
use super::input::{self, Input};
use super::orphans::Orphans;
use super::output::{self, Outputs};
use super::process::{End, Process};
use super::signals::Signals;
use super::verdict::{Verdict, judge, signal_name};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, raise};
use oneshmem::atomics::Ordering;
use oneshmem::job::abort::{self, Cause, Kind};
use oneshmem::job::control::Control;
use std::io::stdin;
use std::time::{Duration, Instant};

/// The status of a job that `--timeout` ended, as timeout(1) has it.
const TIMED_OUT: i32 = 124;
/// What a PE has started may finish its output for so long after the PEs.
const AFTERWARDS: Duration = Duration::from_millis(500);
/// How long the PE that is the cause of a bus error may take to be seen to end.
const CAUSE: Duration = Duration::from_millis(50);
/// How long part of a line waits for its end when a person may be typing.
const PROMPT: Duration = Duration::from_millis(200);

/// A job with all its PEs started.
pub struct Job<'a> {
    control: &'a Control,
    processes: Vec<Process>,
    orphans: Orphans,
    outputs: Outputs,
    input: Option<Input>,
    signals: Signals,
    timeout: Option<(Duration, Instant)>,
    ending: Option<Ending>,
    /// The first status other than 0 of a PE that had finalised.
    status: i32,
    /// The last signals forwarded; the PEs' deaths by them are no surprise.
    forwarded: Vec<Signal>,
    /// When to show PE 0's question to the user.
    prompt: Option<Instant>,
}

enum Token {
    Signal,
    Output(output::Token),
    Input(input::Token),
}

impl<'a> Job<'a> {
    /// Takes over the PEs that were started.
    pub fn new(
        control: &'a Control,
        processes: Vec<Process>,
        orphans: Orphans,
        outputs: Outputs,
        input: Option<Input>,
        signals: Signals,
        timeout: Option<Duration>,
    ) -> Self {
        let timeout = timeout.map(|time| (time, Instant::now() + time));
        Self {
            control,
            processes,
            orphans,
            outputs,
            input,
            signals,
            timeout,
            ending: None,
            status: 0,
            forwarded: Vec::new(),
            prompt: None,
        }
    }

    /// Runs the job to its end and gives its status.
    pub fn run(mut self) -> nix::Result<i32> {
        self.look_at_processes();
        while self.processes.iter().any(|process| process.end().is_none()) {
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
        while !self.outputs.is_flushed() && !self.is_interrupted() {
            self.wait(None)?;
        }
        Ok(self.ending.map_or(self.status, |ending| ending.status))
    }

    /// Sleeps until something happens or `until`, and does it.
    fn wait(&mut self, until: Option<Instant>) -> nix::Result<()> {
        let terminal = stdin();
        let signals = PollFd::new(self.signals.file(), PollFlags::POLLIN);
        let outputs = self.outputs.interests().map(|(token, fd)| (Token::Output(token), fd));
        let input = self.input.iter().flat_map(|input| input.interests(&terminal));
        let input = input.map(|(token, fd)| (Token::Input(token), fd));
        let (tokens, mut polled): (Vec<Token>, Vec<PollFd>) =
            [(Token::Signal, signals)].into_iter().chain(outputs).chain(input).unzip();
        match poll(&mut polled, timeout(until)) {
            Ok(_) => {}
            Err(Errno::EINTR) => return Ok(()),
            Err(errno) => return Err(errno),
        }
        let events: Vec<_> =
            polled.iter().map(|fd| fd.revents().unwrap_or(PollFlags::empty())).collect();
        drop(polled);
        for (token, events) in tokens.into_iter().zip(events).filter(|(_, e)| !e.is_empty()) {
            match token {
                Token::Signal => self.take_signals()?,
                Token::Output(token) => self.outputs.ready(token),
                Token::Input(token) => {
                    if let Some(input) = &mut self.input {
                        input.ready(token, events);
                    }
                }
            }
        }
        Ok(())
    }

    /// When something is to be done though nothing happens.
    fn due(&self) -> Option<Instant> {
        let ending = match &self.ending {
            Some(ending) => ending.due(),
            None => self.timeout.map(|(_, due)| due),
        };
        [ending, self.prompt].into_iter().flatten().min()
    }

    fn do_what_is_due(&mut self) {
        let now = Instant::now();
        if let Some(ending) = &mut self.ending {
            ending.step(&self.processes);
        } else if let Some((time, _)) = self.timeout.filter(|(_, due)| *due <= now) {
            let message = format!("the job did not end within {time:?}; ending it");
            self.end(&message, 0, TIMED_OUT);
        }
        self.show_prompt(now);
    }

    /// A question of PE 0 has no line end, and is to be seen before it is answered.
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
                Signal::SIGCHLD => {
                    self.look_at_processes();
                    self.orphans.collect();
                }
                signal if Signals::is_forwarded(signal) => self.forward(signal)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn forward(&mut self, signal: Signal) -> nix::Result<()> {
        let insists = matches!(signal, Signal::SIGINT | Signal::SIGTERM)
            && self.forwarded.iter().any(|s| matches!(s, Signal::SIGINT | Signal::SIGTERM));
        self.forwarded.push(signal);
        for process in self.processes.iter().filter(|process| process.end().is_none()) {
            process.signal(signal);
        }
        match signal {
            // The launcher stops with its job; SIGCONT comes when it is to go on.
            Signal::SIGTSTP => raise(Signal::SIGSTOP)?,
            Signal::SIGCONT => {
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

    /// Whether the user wants no more, not even the output.
    fn is_interrupted(&self) -> bool {
        self.forwarded
            .iter()
            .any(|s| matches!(s, Signal::SIGINT | Signal::SIGTERM | Signal::SIGHUP))
    }

    /// The PEs that have ended since this was asked last.
    fn ended_since(&mut self) -> Vec<(usize, End)> {
        let ended: Vec<(usize, End)> = self
            .processes
            .iter_mut()
            .enumerate()
            .filter_map(|(pe, process)| Some((pe, process.look()?)))
            .collect();
        for (pe, _) in &ended {
            self.control.pe(*pe).gone.store(1, Ordering::Release);
            self.outputs.drain(*pe);
        }
        ended
    }

    /// Looks which PEs have ended, and what that means.
    fn look_at_processes(&mut self) {
        let mut ended = self.ended_since();
        if self.ending.is_some() || ended.is_empty() {
            return;
        }
        if let Some(cause) = abort::cause(self.control) {
            return self.follow(cause);
        }
        if ended.iter().all(|(_, end)| is_bus_error(*end)) {
            std::thread::sleep(CAUSE);
            ended.extend(self.ended_since());
        }
        // Of PEs that ended together, one that was killed is rather the cause.
        ended.sort_by_key(|(_, end)| (matches!(end, End::Exited(_)), is_bus_error(*end)));
        for (pe, end) in ended {
            let record = self.control.pe(pe);
            let implicit = record.implicit_finalize.load(Ordering::Acquire) == 1;
            match judge(end, record.stage(), implicit) {
                Verdict::Fine(status) if self.status == 0 => self.status = status,
                Verdict::Fine(_) => {}
                Verdict::Fatal(why, status) => return self.lose(pe, end, &why, status),
            }
        }
    }

    /// A PE has ended in a way that ends the job.
    fn lose(&mut self, pe: usize, end: End, why: &str, status: i32) {
        let message = match end {
            // Asked for by the user: of no interest which PE was first.
            End::Killed(signal, _) if self.forwarded.iter().any(|s| *s as i32 == signal) => {
                format!("the job ends on {}", signal_name(signal))
            }
            // As any command whose reader has gone.
            End::Killed(libc::SIGPIPE, _) if self.outputs.is_cut() => String::new(),
            _ => format!("PE {pe} (pid {}) {why}; ending the job", self.processes[pe].pid()),
        };
        self.end(&message, pe, status);
    }

    /// The job has been ended by a PE.
    fn follow(&mut self, cause: Cause) {
        let Cause { kind, pe, status } = cause;
        match kind {
            // Said by the PE itself, or nothing to be said.
            Kind::GlobalExit | Kind::Fatal | Kind::Launcher => {}
            Kind::PeerDied => self.outputs.say(&format!("PE {pe} died; ending the job")),
        }
        self.ending = Some(Ending::start(status));
    }

    /// Ends the job, unless a PE just did.
    fn end(&mut self, message: &str, pe: usize, status: i32) {
        if !abort::raise(self.control, Kind::Launcher, pe, status)
            && let Some(cause) = abort::cause(self.control)
        {
            return self.follow(cause);
        }
        if !message.is_empty() {
            self.outputs.say(message);
        }
        self.ending = Some(Ending::start(status));
    }
}

/// Over XPMEM, memory goes with the PE that it belongs to: who uses it then gets SIGBUS, and
/// may be seen to end first.
fn is_bus_error(end: End) -> bool {
    matches!(end, End::Killed(libc::SIGBUS, _))
}

/// Rounded up, so that what is due is due when `poll` returns.
fn timeout(until: Option<Instant>) -> PollTimeout {
    let Some(until) = until else { return PollTimeout::NONE };
    let left = until.saturating_duration_since(Instant::now()) + Duration::from_micros(999);
    PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX)
}
