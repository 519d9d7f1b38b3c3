//! The job's reactions to the ends of PEs and to the user's requests.

use super::ending::Ending;
use super::failure::OWN_FAILURE;
use super::frames::FrameKind;
use super::job::Job;
use super::process::{End, Process};
use super::report::{self, ReportScope};
use super::standstill::Standstill;
use super::verdict::{Verdict, is_bus_error, judge, signal_name, sort_causes};
use onenode_core::atomics::Ordering;
use onenode_core::pages::Bytes;
use onenode_core::sys::cgroup;
use oneshmem_job::jobfile::abort::{self, AbortKind, Cause};
use oneshmem_job::jobfile::control::{Control, Stage};
use oneshmem_job::jobfile::life::REPLACED;
use std::time::{Duration, Instant};

/// The status of a job that `--timeout` ended, as for timeout(1).
pub const TIMED_OUT: i32 = 124;
/// How long to wait for the end of the PE that caused a bus error.
const CAUSE: Duration = Duration::from_secs(1);
/// Checking all PEs takes at most this fraction (one fifth) of the time, however often PEs end.
const SHARE: u32 = 5;

impl Job<'_> {
    /// Schedules a check of the PEs: a child has ended, perhaps a PE.
    pub fn note_end(&mut self) {
        self.look = Some(self.look.map_or(self.rest, |due| due.min(self.rest)));
    }

    /// Checks all PEs if that is due.
    pub fn look_if_due(&mut self) {
        let now = Instant::now();
        if self.look.is_some_and(|due| due <= now) {
            self.look = None;
            self.look_at_processes();
            self.look_at_agent();
            self.orphans.collect();
            self.rest = now + now.elapsed() * SHARE;
        }
    }

    /// The process of PE `pe` on this node.
    fn process(&self, pe: usize) -> &Process {
        &self.processes[pe - self.file.near().start]
    }

    /// The PEs that have ended since the last call.
    fn ended_since(&mut self) -> Vec<(usize, End)> {
        let near = self.file.near();
        let ended: Vec<(usize, End)> = near
            .clone()
            .zip(&mut self.processes)
            .filter_map(|(pe, process)| Some((pe, process.look()?)))
            .collect();
        self.running -= ended.len();
        for (pe, _) in &ended {
            self.file.member(*pe).gone.store(1, Ordering::Release);
            self.outputs.drain(*pe - near.start);
        }
        ended
    }

    /// Checks which PEs have ended, and acts on that.
    fn look_at_processes(&mut self) {
        let mut ended = self.ended_since();
        self.check_outputs();
        if self.ending.is_some() || ended.is_empty() {
            return;
        }
        let dying = match abort::cause(self.file) {
            Some(cause) if cause.kind != AbortKind::Dying => return self.follow(cause),
            dying => dying.filter(|dying| self.is_near(dying.pe)),
        };
        let until = Instant::now() + CAUSE;
        while self.awaits_cause(&ended, dying) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
            ended.extend(self.ended_since());
        }
        sort_causes(&mut ended, |pe| self.blamed(pe));
        // The PE that has said first that it dies is the cause.
        if let Some(Cause { pe, status, .. }) = dying {
            let end =
                self.process(pe).end().unwrap_or(End::Killed(status.wrapping_sub(128), false));
            ended.insert(0, (pe, end));
        }
        for (pe, end) in ended {
            let (stage, implicit) = self.stage(pe);
            match judge(end, stage, implicit) {
                Verdict::Fine(status) if self.status == 0 => {
                    self.status = status;
                    self.notify_hub(FrameKind::Exit, pe as u32, &status.to_le_bytes());
                }
                Verdict::Fine(_) => {}
                Verdict::Fatal(why, status) => return self.lose(pe, end, &why, status),
            }
        }
    }

    /// The stage of PE `pe` in the last program that it ran, and whether the end of that program
    /// finalises.
    fn stage(&self, pe: usize) -> (Stage, bool) {
        // If the record cannot be read, treat the PE as one that has not finalised.
        let Ok(control) = Control::last(self.file, pe) else { return (Stage::Ready, false) };
        let Some(control) = control else { return (Stage::Absent, false) };
        let record = control.pe(pe);
        (record.stage(), record.implicit_finalize.load(Ordering::Acquire) == 1)
    }

    /// The PE in whose memory this one died of a bus error.
    fn blamed(&self, pe: usize) -> Option<usize> {
        let blamed = self.file.member(pe).blamed.load(Ordering::Acquire).checked_sub(1)? as usize;
        self.is_near(blamed).then_some(blamed)
    }

    /// Whether PE `pe` is one that was started here.
    fn is_near(&self, pe: usize) -> bool {
        let near = self.file.near();
        (near.start..near.start + self.processes.len()).contains(&pe)
    }

    /// Whether the PE that is dying has not been seen to end yet, or all these PEs died in the memory
    /// of others that have not.
    fn awaits_cause(&self, ended: &[(usize, End)], dying: Option<Cause>) -> bool {
        let running = |pe: usize| self.process(pe).end().is_none();
        let awaits = |pe| self.blamed(pe).is_some_and(running);
        match dying {
            Some(cause) => running(cause.pe),
            None => ended.iter().all(|(pe, end)| is_bus_error(*end) && awaits(*pe)),
        }
    }

    /// Handles the end of a PE that ends the job.
    fn lose(&mut self, pe: usize, end: End, why: &str, status: i32) {
        let mut notify = None;
        let message = match end {
            // The user asked for it, so it does not matter which PE was first.
            End::Killed(signal, _) if self.forwarded.iter().any(|s| *s as i32 == signal) => {
                format!("the job ends on {}", signal_name(signal))
            }
            // Like any command whose reader has gone.
            End::Killed(libc::SIGPIPE, _) if self.outputs.is_cut() => String::new(),
            _ => {
                let pid = self.process(pe).pid();
                let place = self.place();
                notify = Some(ReportScope::Waiting);
                let more = self.lack_of_memory(end);
                self.with_states(
                    format!("PE {pe} (pid {pid}{place}) {why}{more}; ending the job"),
                    ReportScope::Waiting,
                )
            }
        };
        self.end_and_notify(&message, pe, status, notify);
    }

    /// An addition to the report of an end: whether the kernel has killed for lack of memory.
    fn lack_of_memory(&self, end: End) -> String {
        let End::Killed(libc::SIGKILL, _) = end else { return String::new() };
        match (self.oom_kills, cgroup::oom_kills()) {
            (Some(before), Some(now)) if now > before => match cgroup::memory_limit() {
                Some(limit) => format!(
                    " by the kernel, for lack of memory: the limit of its control group is {}",
                    Bytes(limit as usize)
                ),
                None => " by the kernel, for lack of memory".into(),
            },
            _ => String::new(),
        }
    }

    /// Ends the job on behalf of a PE.
    fn follow(&mut self, cause: Cause) {
        // The PE itself has printed the reason, if there is one.
        self.notify_end(abort::encode(cause.kind, cause.pe, cause.status), "", None);
        self.ending = Some(Ending::start(cause.status));
    }

    /// Ends the job when the time of `--timeout` is up.
    pub fn time_out(&mut self, time: Duration) {
        let message = format!("the job did not end within {time:?}; ending it");
        let message = self.with_states(message, ReportScope::All);
        self.end(&message, 0, TIMED_OUT);
    }

    /// Reports the states of the PEs.
    pub fn report_states(&mut self) {
        let message =
            self.with_states(self.on_host("the PEs are in these states"), ReportScope::All);
        self.outputs.say(&message);
    }

    /// Checks at intervals whether the job can go on.
    pub fn look_now_and_then(&mut self) {
        let is_due = self.standstill.due() <= Instant::now();
        let replaced =
            self.on_node.as_mut().filter(|_| is_due).and_then(|on| on.replaced(self.file));
        match replaced {
            Some(pe) => {
                let (pid, place) = (self.process(pe).pid(), self.place());
                let message = format!("PE {pe} (pid {pid}{place}) {REPLACED}; ending the job");
                self.end(&message, pe, 1);
            }
            None => self.report_standstill(),
        }
    }

    /// Tells what the PEs do, if it is time for that.
    pub fn report_top(&mut self) {
        let processes = self.processes.iter().map(Process::pid);
        let Some(lines) = self.top.as_mut().and_then(|top| top.look(processes)) else { return };
        // If the last lines have not been read yet, more would not help.
        if self.outputs.is_flushed() {
            self.outputs.say(&self.on_host(&lines.join("\noshrun: ")));
        }
    }

    /// Reports what the PEs wait for once all of them wait.
    fn report_standstill(&mut self) {
        let Some(stands) = self.standstill.look(self.file, &self.processes) else { return };
        if self.on_node.is_some() {
            // PEs of other nodes may not be waiting.
            self.notify_hub(FrameKind::Still, stands.into(), &[]);
        } else if stands {
            let message = self.with_states(Standstill::message(), ReportScope::All);
            self.outputs.say(&message);
        }
    }

    pub fn with_states(&self, message: String, whose: ReportScope) -> String {
        report::with_states(message, self.file, &self.processes, whose)
    }

    /// Ends the job if its output cannot be written.
    pub fn check_outputs(&mut self) {
        if self.ending.is_none() {
            if let Some(why) = self.outputs.failure() {
                self.end(&format!("{why}; ending the job"), 0, OWN_FAILURE.into());
            }
        }
    }

    /// Ends the job, unless a PE has just ended it.
    pub fn end(&mut self, message: &str, pe: usize, status: i32) {
        self.end_and_notify(message, pe, status, None);
    }

    /// Like [`end`](Self::end), and also selects PEs of other nodes whose states to report.
    fn end_and_notify(
        &mut self,
        message: &str,
        pe: usize,
        status: i32,
        notify: Option<ReportScope>,
    ) {
        if !abort::raise(self.file, AbortKind::Launcher, pe, status) {
            if let Some(cause) = abort::cause(self.file) {
                return self.follow(cause);
            }
        }
        match self.on_node {
            Some(_) => {
                self.notify_end(abort::encode(AbortKind::Launcher, pe, status), message, notify)
            }
            None if message.is_empty() => {}
            None => self.outputs.say(message),
        }
        self.ending = Some(Ending::start(status));
    }
}
