//! What PEs' ends and the user's wishes mean for the job.

use super::ending::Ending;
use super::failure::OWN_FAILURE;
use super::frames::Kind;
use super::job::Job;
use super::process::{End, Process};
use super::report::{self, Whose};
use super::standstill::Standstill;
use super::verdict::{Verdict, is_bus_error, judge, signal_name, sort_causes};
use onenode::atomics::Ordering;
use oneshmem::job::abort::{self, AbortKind, Cause};
use oneshmem::job::control::{Control, Stage};
use std::time::{Duration, Instant};

/// The status of a job that `--timeout` ended, as timeout(1) has it.
pub const TIMED_OUT: i32 = 124;
/// How long the PE that is the cause of a bus error may take to be seen to end.
const CAUSE: Duration = Duration::from_secs(1);
/// Looking at all PEs takes at most one part in so many of the time, however often PEs end.
const SHARE: u32 = 5;

impl Job<'_> {
    /// A child has ended, perhaps a PE: it is to be looked at soon.
    pub fn note_end(&mut self) {
        self.look = self.look.or(Some(self.rest));
    }

    /// Looks at all PEs if that is due.
    pub fn look_if_due(&mut self) {
        let now = Instant::now();
        if self.look.is_some_and(|due| due <= now) {
            self.look = None;
            self.look_at_processes();
            self.look_at_agent();
            self.strays.collect();
            self.rest = now + now.elapsed() * SHARE;
        }
    }

    /// The process of PE `pe`, a near one.
    fn process(&self, pe: usize) -> &Process {
        &self.processes[pe - self.file.near().start]
    }

    /// The PEs that have ended since this was asked last.
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

    /// Looks which PEs have ended, and what that means.
    fn look_at_processes(&mut self) {
        let mut ended = self.ended_since();
        self.check_outputs();
        if self.ending.is_some() || ended.is_empty() {
            return;
        }
        if let Some(cause) = abort::cause(self.file) {
            return self.follow(cause);
        }
        let until = Instant::now() + CAUSE;
        while self.awaits_cause(&ended) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
            ended.extend(self.ended_since());
        }
        sort_causes(&mut ended, |pe| self.blamed(pe));
        for (pe, end) in ended {
            let (stage, implicit) = self.stage(pe);
            match judge(end, stage, implicit) {
                Verdict::Fine(status) if self.status == 0 => {
                    self.status = status;
                    self.tell_hub(Kind::Exit, pe as u32, &status.to_le_bytes());
                }
                Verdict::Fine(_) => {}
                Verdict::Fatal(why, status) => return self.lose(pe, end, &why, status),
            }
        }
    }

    /// Where PE `pe` is in the last program that it ran, and whether that program's end is to
    /// finalise.
    fn stage(&self, pe: usize) -> (Stage, bool) {
        // Where it cannot be read, the PE is as one that has not finished.
        let Ok(control) = Control::last(self.file, pe) else { return (Stage::Ready, false) };
        let Some(control) = control else { return (Stage::Absent, false) };
        let record = control.pe(pe);
        (record.stage(), record.implicit_finalize.load(Ordering::Acquire) == 1)
    }

    /// The PE in whose memory another died of a bus error.
    fn blamed(&self, pe: usize) -> Option<usize> {
        let blamed = self.file.member(pe).blamed.load(Ordering::Acquire).checked_sub(1)? as usize;
        let near = self.file.near();
        (near.start..near.start + self.processes.len()).contains(&blamed).then_some(blamed)
    }

    /// Whether all that have ended died in the memory of others, which are still to be seen to
    /// end.
    fn awaits_cause(&self, ended: &[(usize, End)]) -> bool {
        let running = |pe: usize| self.process(pe).end().is_none();
        let awaits = |pe| self.blamed(pe).is_some_and(running);
        ended.iter().all(|(pe, end)| is_bus_error(*end) && awaits(*pe))
    }

    /// A PE has ended in a way that ends the job.
    fn lose(&mut self, pe: usize, end: End, why: &str, status: i32) {
        let mut tell = None;
        let message = match end {
            // Asked for by the user: of no interest which PE was first.
            End::Killed(signal, _) if self.forwarded.iter().any(|s| *s as i32 == signal) => {
                format!("the job ends on {}", signal_name(signal))
            }
            // As any command whose reader has gone.
            End::Killed(libc::SIGPIPE, _) if self.outputs.is_cut() => String::new(),
            _ => {
                let pid = self.process(pe).pid();
                let place = self.place();
                tell = Some(Whose::Waiting);
                self.with_states(
                    format!("PE {pe} (pid {pid}{place}) {why}; ending the job"),
                    Whose::Waiting,
                )
            }
        };
        self.end_and_tell(&message, pe, status, tell);
    }

    /// The job has been ended by a PE.
    fn follow(&mut self, cause: Cause) {
        // The PE itself has said why, if there is anything to say.
        self.tell_end(abort::encode(cause.kind, cause.pe, cause.status), "", None);
        self.ending = Some(Ending::start(cause.status));
    }

    /// The time of `--timeout` is up.
    pub fn time_out(&mut self, time: Duration) {
        let message = format!("the job did not end within {time:?}; ending it");
        let message = self.with_states(message, Whose::All);
        self.end(&message, 0, TIMED_OUT);
    }

    /// Tells what the PEs do.
    pub fn tell_states(&mut self) {
        let message = self.with_states(self.on_host("this is what the PEs do"), Whose::All);
        self.outputs.say(&message);
    }

    /// Looks now and then whether the job can go on.
    pub fn look_now_and_then(&mut self) {
        let is_due = self.standstill.due() <= Instant::now();
        let replaced =
            self.on_node.as_mut().filter(|_| is_due).and_then(|on| on.replaced(self.file));
        match replaced {
            Some(pe) => {
                let (pid, place) = (self.process(pe).pid(), self.place());
                let what = "runs another program now (exec), without having called shmem_finalize";
                self.end(&format!("PE {pe} (pid {pid}{place}) {what}; ending the job"), pe, 1);
            }
            None => self.tell_standstill(),
        }
    }

    /// Tells what the PEs wait for, once all of them do nothing else.
    fn tell_standstill(&mut self) {
        let Some(stands) = self.standstill.look(self.file, &self.processes) else { return };
        if self.on_node.is_some() {
            // Other nodes may not.
            self.tell_hub(Kind::Still, stands.into(), &[]);
        } else if stands {
            let message = self.with_states(Standstill::message(), Whose::All);
            self.outputs.say(&message);
        }
    }

    pub fn with_states(&self, message: String, whose: Whose) -> String {
        report::with_states(message, self.file, &self.processes, whose)
    }

    /// Output that cannot be written ends the job.
    pub fn check_outputs(&mut self) {
        if self.ending.is_none()
            && let Some(why) = self.outputs.failure()
        {
            self.end(&format!("{why}; ending the job"), 0, OWN_FAILURE.into());
        }
    }

    /// Ends the job, unless a PE just did.
    pub fn end(&mut self, message: &str, pe: usize, status: i32) {
        self.end_and_tell(message, pe, status, None);
    }

    /// As [`end`](Self::end); PEs of other nodes may have states worth telling.
    fn end_and_tell(&mut self, message: &str, pe: usize, status: i32, tell: Option<Whose>) {
        if !abort::raise(self.file, AbortKind::Launcher, pe, status)
            && let Some(cause) = abort::cause(self.file)
        {
            return self.follow(cause);
        }
        match self.on_node {
            Some(_) => self.tell_end(abort::encode(AbortKind::Launcher, pe, status), message, tell),
            None if message.is_empty() => {}
            None => self.outputs.say(message),
        }
        self.ending = Some(Ending::start(status));
    }
}
