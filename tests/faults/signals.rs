//! Signals from outside at a random time.

use super::processes::{self, Member};
use super::random::Random;
use nix::sys::signal::{Signal, kill};
use std::path::Path;
use std::time::Duration;

/// The process of the job that gets a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A PE.
    Pe,
    /// The shell in which a PE runs.
    Shell,
    /// The launcher.
    Launcher,
}

/// A planned signal.
#[derive(Clone, Copy, Debug)]
pub struct Shot {
    /// The process that gets it.
    pub target: Target,
    /// The signal.
    pub signal: Signal,
    /// The delay after the start.
    pub after: Duration,
    /// How long the process is stopped, if the signal stops it.
    pub pause: Duration,
    /// Selects one of several such processes.
    nth: usize,
}

impl Shot {
    /// A random signal to a job with or without shells and a launcher.
    pub fn new(random: &mut Random, shells: bool, launcher: bool) -> Self {
        let mut targets = vec![Target::Pe; 3];
        targets.extend(shells.then_some(Target::Shell));
        targets.extend(launcher.then_some(Target::Launcher));
        let target = random.pick(&targets);
        let signal = match target {
            Target::Launcher => {
                random.pick(&[Signal::SIGKILL, Signal::SIGTERM, Signal::SIGINT, Signal::SIGSTOP])
            }
            _ => random.pick(&[Signal::SIGKILL, Signal::SIGSEGV, Signal::SIGTERM, Signal::SIGSTOP]),
        };
        Self {
            target,
            signal,
            after: Duration::from_micros(random.below(100_000) as u64),
            pause: Duration::from_millis(50 + random.below(300) as u64),
            nth: random.below(1 << 20),
        }
    }

    /// Sends the signal to the job with this mark, whose PEs run `program`. Returns the process
    /// that got it.
    pub fn shoot(&self, mark: &str, program: &Path) -> Option<Member> {
        std::thread::sleep(self.after);
        let is_shell = |member: &Member| {
            let name = member.program.file_name().unwrap_or_default().to_string_lossy();
            ["sh", "dash", "bash"].contains(&&*name)
        };
        let is_launcher = |member: &Member| {
            let name = member.program.file_name().unwrap_or_default().to_string_lossy();
            ["oshrun", "mpiexec.hydra", "orterun"].contains(&&*name)
        };
        let mut targets: Vec<_> = processes::marked(mark)
            .into_iter()
            .filter(|member| match self.target {
                Target::Pe => member.program == program,
                Target::Shell => is_shell(member) && member.pe.is_some(),
                Target::Launcher => is_launcher(member),
            })
            .collect();
        if targets.is_empty() {
            return None;
        }
        let hit = targets.swap_remove(self.nth % targets.len());
        kill(hit.pid, self.signal).ok()?;
        if self.signal == Signal::SIGSTOP {
            std::thread::sleep(self.pause);
            let _ = kill(hit.pid, Signal::SIGCONT);
        }
        Some(hit)
    }
}
