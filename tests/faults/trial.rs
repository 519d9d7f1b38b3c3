//! One trial: its random choices, its run, and the verdict on its end.

use super::processes::{self, MARK, Member};
use super::random::Random;
use super::signals::{Shot, Target};
use super::{BOUND, End, FaultKind, Problem, Report, control_area, launchers, variables};
use crate::launch::Outcome;
use crate::launchers::Launcher;
use crate::{compile, tree};
use nix::sys::signal::Signal;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How a PE ends by itself, words of the message that also names the PE, and whether the job ends.
/// Without words no message is required.
const ENDS: [(&str, &[&str], bool); 13] = [
    ("exit0", &["without calling shmem_finalize"], true),
    ("exit7", &["status 7", "without calling shmem_finalize"], true),
    ("_exit0", &["without calling shmem_finalize"], true),
    ("_exit7", &["status 7", "without calling shmem_finalize"], true),
    ("abort", &["signal 6", "without calling shmem_finalize"], true),
    ("segv", &["signal 11", "without calling shmem_finalize"], true),
    ("kill", &["signal 9", "without calling shmem_finalize"], true),
    ("term", &["signal 15", "without calling shmem_finalize"], true),
    ("exec", &["exec", "another program", "without"], true),
    ("exec_self", &["exec", "another program", "without"], true),
    ("global_exit", &[], true),
    ("closefrom", &[], false),
    ("close_output", &[], false),
];

/// The random choices of a trial.
struct Trial {
    kind: FaultKind,
    launcher: Launcher,
    pes: usize,
    shells: bool,
    /// The PE that has the fault, the step at which it occurs, and the fault.
    pe: usize,
    step: i64,
    late: bool,
    how: usize,
    shot: Option<Shot>,
    environment: Vec<(String, String)>,
    mark: String,
}

/// How long PEs wait for others to arrive. Nobody tells the PEs of a killed foreign launcher that it did
/// not start the rest.
const ARRIVAL: Duration = Duration::from_secs(10);
const STEPS: i64 = 300;
/// The steps before `shmem_init` and after `shmem_finalize`.
const BEFORE: i64 = -1;
const AFTER: i64 = STEPS + 1;

/// Runs trial `index` of the campaign `seed`, of one kind.
///
/// # Errors
/// If it cannot be run: the program does not compile, or a command cannot be started.
pub fn run(seed: u64, index: u64, kind: FaultKind) -> crate::Result<Report> {
    let mut random = Random::new(seed, index * FaultKind::ALL.len() as u64 + kind as u64);
    let program = compile::plain("tests/programs/faults.c", &[])?;
    let (trial, file) = draw(&mut random, seed, index, kind)?;
    let what = trial.describe();
    let kind = kind.near();
    let running = trial.start(&program, random.next())?;

    let mut flipped = None;
    let hit = match trial.kind {
        FaultKind::Signals => trial.shot.and_then(|shot| shot.shoot(&trial.mark, &program)),
        FaultKind::ControlArea => {
            flipped = control_area::flip(&mut random, &trial.mark);
            None
        }
        _ => None,
    };
    let bound = if kind == FaultKind::ControlArea { BOUND / 10 } else { BOUND };
    let deadline = Instant::now() + bound;
    let mut outcomes = Vec::new();
    let mut end = Ok(End::Well);
    for job in running {
        match job.finish_within(deadline.saturating_duration_since(Instant::now())) {
            Ok(outcome) => outcomes.push(outcome),
            Err(why) => {
                let why = why.message().unwrap_or_default();
                end = Err(Problem::LeftBehind(why.to_owned()));
            }
        }
    }
    if end.is_ok() {
        end = trial.judge(&outcomes, hit.as_ref());
    }
    if end.is_ok() {
        end = end.and_then(|end| trial.nothing_left().map(|()| end));
    }
    processes::end(&trial.mark);
    if let Some(file) = file {
        let _ = std::fs::remove_file(file);
    }
    let hit = hit.map_or(String::new(), |hit| format!(", hit {hit:?}"));
    let flipped = flipped.map_or(String::new(), |flipped| format!(", flipped{flipped}"));
    Ok(Report { index, what: format!("{what}{hit}{flipped}"), end })
}

fn draw(
    random: &mut Random,
    seed: u64,
    index: u64,
    kind: FaultKind,
) -> crate::Result<(Trial, Option<PathBuf>)> {
    let launcher = random.pick(&launchers(kind));
    let pes = match launcher {
        Launcher::None => 1,
        Launcher::Oshrun => random.pick(&[1, 2, 3, 5, 8, 16]),
        Launcher::Hosts => random.pick(&[2, 3, 5, 8]),
        _ => random.pick(&[2, 3, 5]),
    };
    let mark = format!("{}-{seed}-{}-{index}", std::process::id(), kind.name());
    let kind = kind.near();
    let shells = matches!(kind, FaultKind::Ends | FaultKind::Signals)
        && matches!(launcher, Launcher::Oshrun | Launcher::Hydra)
        && random.below(4) == 0;
    let launches = !matches!(launcher, Launcher::Slurm | Launcher::None);
    let mut trial = Trial {
        kind,
        launcher,
        pes,
        shells,
        pe: random.below(pes),
        step: match random.below(10) {
            0 | 1 => BEFORE,
            2 => STEPS,
            3 => AFTER,
            _ => random.below(STEPS as usize) as i64,
        },
        late: random.below(2) == 0,
        how: match random.below(ENDS.len()) {
            // UCX needs its descriptors.
            how if launcher == Launcher::Hosts && ENDS[how].0 == "closefrom" => how + 1,
            how => how,
        },
        shot: (kind == FaultKind::Signals).then(|| Shot::new(random, shells, launches)),
        environment: vec![("SHMEM_SYMMETRIC_SIZE".into(), "8m".into())],
        mark,
    };
    let mut file = None;
    match kind {
        FaultKind::Variables => {
            let drawn = variables::environment(random);
            trial.environment.retain(|(name, _)| drawn.iter().all(|(other, _)| other != name));
            trial.environment.extend(drawn);
        }
        FaultKind::Tuning => {
            let path = tree::scratch(format!("faults-{}", trial.mark));
            let text = variables::tuning_file(random, &tree::machine()?);
            std::fs::write(&path, text)?;
            trial.environment.push(("SHMEM_TUNING".into(), path.display().to_string()));
            file = Some(path);
        }
        _ => {}
    }
    Ok((trial, file))
}

impl Trial {
    fn describe(&self) -> String {
        let Self { kind, launcher, pes, .. } = self;
        let mut what = format!("{}, {} PEs under {}", kind.name(), pes, launcher.name());
        if self.shells {
            what += " in shells";
        }
        match kind {
            FaultKind::Ends => {
                what += &format!(
                    ", {} on PE {} at {}, late {}",
                    ENDS[self.how].0, self.pe, self.step, self.late
                )
            }
            FaultKind::Signals => what += &format!(", {:?}", self.shot),
            FaultKind::Variables => what += &format!(", {:?}", self.environment),
            _ => {}
        }
        what
    }

    fn start(&self, program: &Path, seed: u64) -> crate::Result<Vec<crate::launch::Running>> {
        let steps = match self.kind {
            FaultKind::ControlArea => 10 * STEPS,
            FaultKind::Signals => 4 * STEPS,
            _ => STEPS,
        };
        let (seed, steps) = (seed.to_string(), steps.to_string());
        let arrival = ARRIVAL.as_secs().to_string();
        let (pe, step) = (self.pe.to_string(), self.step.to_string());
        let how = if self.kind == FaultKind::Ends { ENDS[self.how].0 } else { "nothing" };
        let text = program.display().to_string();
        let mut arguments = vec![&*seed, &*steps, &*pe, &*step, how];
        arguments.extend(self.late.then_some("late"));
        let mut executable = program;
        if self.shells {
            executable = Path::new("/bin/sh");
            arguments.splice(0..0, ["-c", "\"$0\" \"$@\"; exit $?", &text]);
        }
        let mut environment: Vec<(&str, &str)> =
            self.environment.iter().map(|(name, value)| (&**name, &**value)).collect();
        environment.push((MARK, &self.mark));
        if !self.environment.iter().any(|(name, _)| name == "SHMEM_STARTUP_TIMEOUT") {
            environment.push(("SHMEM_STARTUP_TIMEOUT", &arrival));
        }
        self.launcher.start(self.pes, executable, &arguments, &environment)
    }

    fn judge(&self, outcomes: &[Outcome], hit: Option<&Member>) -> Result<End, Problem> {
        let all = |problem: &str| {
            outcomes.iter().map(|outcome| outcome.shown(problem)).collect::<Vec<_>>().join("\n")
        };
        if outcomes.iter().any(|outcome| outcome.hung) {
            if self.kind == FaultKind::ControlArea {
                return Ok(End::Stuck);
            }
            return Err(Problem::Hung(all("hung")));
        }
        let mut text: String = outcomes.iter().map(|outcome| outcome.stderr.as_str()).collect();
        if self.launcher == Launcher::Hydra {
            // Hydra prints its messages to standard output.
            text.extend(outcomes.iter().map(|outcome| outcome.stdout.as_str()));
        }
        let done = outcomes.iter().map(|o| o.stdout.matches("done PE ").count()).sum::<usize>();
        let failed = outcomes.iter().any(|outcome| outcome.status != 0);
        let wrong = |why: &str| Err(Problem::Wrong(all(why)));

        let injected = self.injected(hit);
        let mut faults = vec!["SIGSEGV", "SIGBUS", "panicked"];
        if !injected.ored {
            faults.extend(["signal 11", "signal 7", "Segmentation"]);
        }
        if !injected.faults && faults.iter().any(|word| text.contains(word)) {
            return wrong("a fault that nobody has made");
        }
        if outcomes.iter().any(|outcome| outcome.status == 99) || text.contains(": wrong ") {
            return match self.kind {
                // A fault that writes there could just as well change the data.
                FaultKind::ControlArea => Ok(End::Misled),
                _ => wrong("a wrong result"),
            };
        }
        if !failed {
            return match done == self.pes || injected.may_be_silent {
                true => Ok(End::Well),
                false => wrong("status 0, but not all PEs came to the end"),
            };
        }
        if injected.nothing {
            return wrong("nothing has happened to it, but it failed");
        }
        // A PE that a signal ends on its way out of the job leaves no other that could report it, and
        // no launcher: there is only the status.
        let last_out = self.kind == FaultKind::Signals
            && matches!(self.launcher, Launcher::Slurm | Launcher::None)
            && done + 1 == self.pes;
        if text.trim().is_empty() && !injected.may_be_silent && !last_out {
            return wrong("it failed without a word");
        }
        let named = match self.kind {
            FaultKind::Variables => {
                self.environment.iter().any(|(name, _)| text.contains(&name["SHMEM_".len()..]))
            }
            _ => {
                let pe = injected.pe;
                let names =
                    |pe: usize| [format!("PE {pe} "), format!("PE {pe}:"), format!("rank {pe} ")];
                pe.is_none_or(|pe| names(pe).iter().any(|name| text.contains(name)))
                    && (injected.words.is_empty()
                        || injected.words.iter().any(|word| text.contains(word)))
            }
        };
        if !named
            && matches!(self.launcher, Launcher::Oshrun | Launcher::Hosts)
            && matches!(self.kind, FaultKind::Ends | FaultKind::Signals)
        {
            return wrong("the message does not name PE and cause");
        }
        if self.kind == FaultKind::Tuning {
            return wrong("a tuning file must not end a job");
        }
        Ok(if named { End::Named } else { End::Unnamed })
    }

    /// The fault done to the job, which determines the messages to expect.
    fn injected(&self, hit: Option<&Member>) -> Injected {
        let mut injected = Injected::default();
        match self.kind {
            FaultKind::Ends => {
                let (how, words, ends) = ENDS[self.how];
                injected.faults = how == "segv";
                injected.may_be_silent = how == "global_exit" || how == "close_output";
                injected.pe = (!words.is_empty()).then_some(self.pe);
                injected.words = words;
                injected.nothing = !ends;
                // A process that is not a PE yet, or no longer, may end in any way, and the others
                // may not notice. (Without the launcher's descriptor it cannot become a PE.)
                if self.step == BEFORE || self.step == AFTER {
                    injected.nothing &= how != "closefrom";
                    injected.words = &[];
                    injected.may_be_silent = true;
                    // If a PE exits after its work is done, its status is all there is.
                    let says_status = self.step == AFTER && how.ends_with("exit7");
                    injected.pe = injected.pe.filter(|_| !self.shells && !says_status);
                }
            }
            FaultKind::Signals => {
                let (Some(shot), Some(hit)) = (self.shot, hit) else {
                    injected.nothing = true;
                    return injected;
                };
                injected.faults = shot.signal == Signal::SIGSEGV;
                injected.nothing = shot.signal == Signal::SIGSTOP;
                injected.may_be_silent = shot.target == Target::Launcher;
                injected.words = match (shot.target, shot.signal) {
                    (Target::Launcher, _) => &[],
                    (_, Signal::SIGKILL) => &["signal 9", "137", "without calling"],
                    (_, Signal::SIGSEGV) => &["signal 11", "139", "without calling"],
                    (_, Signal::SIGTERM) => &["signal 15", "143", "without calling"],
                    _ => &[],
                };
                injected.pe = hit.pe.filter(|_| shot.target != Target::Launcher);
                injected.ored = shot.target == Target::Launcher && self.launcher == Launcher::Hydra;
            }
            _ => {}
        }
        injected
    }

    /// Waits briefly for the last processes. Then reports those that remain.
    fn nothing_left(&self) -> Result<(), Problem> {
        let deadline = Instant::now() + ARRIVAL + Duration::from_secs(5);
        loop {
            let left = processes::marked(&self.mark);
            if left.is_empty() {
                return Ok(());
            }
            if Instant::now() > deadline {
                return Err(Problem::LeftBehind(format!("processes left: {left:?}")));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[derive(Default)]
struct Injected {
    /// Whether the fault is a SIGSEGV.
    faults: bool,
    /// Whether nothing was done that may end the job.
    nothing: bool,
    /// Whether the launcher may name a signal that no process got. Hydra combines the statuses by a
    /// bitwise or, so SIGINT (2) and SIGKILL (9) of two PEs read as SIGSEGV (11).
    ored: bool,
    /// Whether the job may end without a message.
    may_be_silent: bool,
    /// The PE that messages must name, and the words of which they must contain one.
    pe: Option<usize>,
    words: &'static [&'static str],
}
