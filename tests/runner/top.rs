//! `oshrun --top` and `oshtop` show what the PEs of a running job do.

use crate::launch::{self, Outcome, Running, wait_until};
use crate::{Result, compile, nodes, tree};
use libtest_mimic::Trial;
use nix::pty::{OpenptyResult, Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::sys::termios::{Termios, tcgetattr};
use nix::unistd::Pid;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};

/// The trials.
pub fn trials() -> Vec<Trial> {
    let mut trials = vec![
        Trial::test("top/lines", lines),
        Trial::test("top/imbalance", imbalance),
        Trial::test("top/start", start),
        Trial::test("top/states-together", together),
        Trial::test("top/only-counts", only_counts),
        Trial::test("top/refused", refused),
        Trial::test("top/attached/lines", attached_lines),
        Trial::test("top/attached/not-counted", not_counted),
        Trial::test("top/attached/refused", attached_refused),
        Trial::test("top/attached/terminal", terminal),
        Trial::test("top/attached/killed", killed),
        Trial::test("top/attached/job-ends", job_ends),
    ];
    let cannot_tell = !std::path::Path::new("/proc/self/schedstat").exists();
    trials.push(Trial::test("top/lost", lost).with_ignored_flag(cannot_tell));
    trials.push(Trial::test("top/nodes", over_nodes).with_ignored_flag(nodes::no_ucx()));
    trials
}

/// A command that runs until it is told to end, and what it has written to a file.
struct Writing {
    running: Running,
    path: PathBuf,
}

impl Writing {
    /// Starts a command with one of its streams, 1 or 2, in a file.
    fn start(mut command: Command, stream: u32, name: &str) -> Result<Self> {
        let path = tree::scratch(format!("top-{name}.txt"));
        // What an earlier run has left is not this one's.
        let _ = fs::remove_file(&path);
        let mut shell = Command::new("sh");
        shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let redirect = format!("exec \"$@\" {stream}>'{}'", path.display());
        shell.args(["-c", &redirect, "sh"]).arg(command.get_program()).args(command.get_args());
        command = shell;
        Ok(Self { running: Running::start(command)?, path })
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.path).unwrap_or_default()
    }

    /// Waits until a line has all of these words.
    fn says(&self, words: &[&str]) -> Result<String> {
        let found = || {
            let text = self.text();
            let mut lines = text.lines();
            lines.find(|line| words.iter().all(|word| line.contains(word))).map(String::from)
        };
        wait_until(&format!("a line with {words:?}"), || found().is_some())
            .map_err(|why| format!("{}\n{}", why.message().unwrap_or_default(), self.text()))?;
        Ok(found().unwrap_or_default())
    }

    /// Waits until a table's line of these PEs fulfils a condition of its figures: calls and bytes a second, heap,
    /// CPU, time blocked, and the state.
    fn shows(&self, pes: &str, is_so: impl Fn(&[&str], &str) -> bool) -> Result {
        let holds = |line: &str| {
            let line = line.strip_prefix("oshrun: ").unwrap_or(line).trim_start();
            let Some(rest) = line.strip_prefix(pes) else { return false };
            let words: Vec<&str> = rest.split_whitespace().collect();
            words.len() > 5 && is_so(&words[..5], &words[5..].join(" "))
        };
        wait_until(&format!("a line of PEs {pes}"), || self.text().lines().any(holds))
            .map_err(|why| format!("{}\n{}", why.message().unwrap_or_default(), self.text()).into())
    }

    fn end(self) -> Result<Outcome> {
        kill(self.running.pid(), Signal::SIGTERM)?;
        let outcome = self.running.finish();
        let _ = fs::remove_file(self.path);
        outcome
    }
}

fn program() -> Result<PathBuf> {
    compile::plain("tests/programs/top.c", &[])
}

/// A job of the program, with its standard error in a file.
fn job(options: &[&str], pes: usize, name: &str) -> Result<Writing> {
    start_job(options, pes, name, &[])
}

fn start_job(options: &[&str], pes: usize, name: &str, arguments: &[&str]) -> Result<Writing> {
    let mut command = Command::new(tree::prefix("bin/oshrun"));
    command.args(options).arg("-n").arg(pes.to_string()).arg(program()?).args(arguments);
    Writing::start(command, 2, name)
}

/// What PE 0, PE 1 and PE 2 of the program do once it runs.
fn shows_all(lines: &Writing) -> Result {
    let is_none = |rate: &str| rate == "0";
    lines.shows("0 ", |figures, state| {
        let [calls, bytes, heap, cpu, blocked] = figures else { return false };
        !is_none(calls)
            && !is_none(bytes)
            && *calls != "-"
            && *heap == "1.0m"
            && *cpu != "0%"
            && *blocked == "0%"
            && state.starts_with("not waiting in the library, ")
    })?;
    lines.shows("1 ", |figures, state| {
        is_none(figures[0])
            && figures[2] == "1.0m"
            && percent(figures[4]) > Some(50)
            && state.starts_with(
                "in shmem_long_wait_until, waiting for an update of never, the data segment + 0x",
            )
            && state.contains(", for ")
    })?;
    lines.shows("2 ", |figures, state| {
        is_none(figures[0]) && figures[4] == "0%" && state == "not waiting in the library, sleeping"
    })?;
    lines.says(&[
        "3 PEs: 2 running, 1 waiting, ",
        " calls/s, ",
        " bytes/s, heap 3.0m, CPU ",
        ", blocked ",
    ])?;
    Ok(())
}

fn percent(figure: &str) -> Option<u32> {
    figure.strip_suffix('%')?.parse().ok()
}

/// PEs that wait for a slow one, each time for less than what counts as a long wait, are seen to be blocked.
fn imbalance() -> Result {
    let job = start_job(&["--top=0.5"], 3, "imbalance", &["slow"])?;
    for pe in ["0 ", "2 "] {
        job.shows(pe, |figures, _| percent(figures[4]) > Some(50))?;
    }
    job.shows("1 ", |figures, _| figures[0] != "0" && percent(figures[4]) < Some(50))?;
    job.end()?.ends(143, &[""; 0])
}

/// What a busy process takes of a PE's time is told.
fn lost() -> Result {
    let mut command = Command::new(tree::prefix("bin/oshrun"));
    command.args(["--top=0.5", "-n", "2"]);
    command.arg(compile::plain("tests/programs/beside_others.c", &[])?).arg("for-ever");
    command.env("SHMEM_WAIT", "spin");
    let job = Writing::start(command, 2, "lost")?;
    job.shows("0 ", |_, state| {
        state.contains(", lost ") && state.contains("% of its time to other processes on CPU ")
    })?;
    job.end()?.ends(143, &[""; 0])
}

/// A line for each PE, between the lines of the job itself.
fn lines() -> Result {
    let job = job(&["--top=0.2"], 3, "lines")?;
    // The first lines already have rates.
    job.says(&["oshrun: after ", "s, 3 PEs: "])?;
    wait_until("calls are counted", || job.text().contains(" calls/s, "))?;
    let runs = |line: &&str| line.contains("PEs: ") && line.contains(" running,");
    let first = job.text().lines().find(runs).map(String::from);
    let is_counted = first.as_ref().is_some_and(|line| line.contains(" calls/s, "));
    if !is_counted {
        return Err(format!("the first line with a running PE has no rates: {first:?}").into());
    }
    job.says(&["oshrun:   PE  calls/s  bytes/s    heap   CPU blocked  state"])?;
    shows_all(&job)?;
    let outcome = job.end()?;
    let own = ["PE 0 has a block: 1", "PE 1 has a block: 1", "PE 2 has a block: 1"];
    outcome.ends(143, &[""; 0])?;
    let all = own.iter().all(|line| outcome.stdout.contains(line));
    outcome.require(all, "the PEs' own output is not passed on")
}

/// How far the start of a job is: the last PE does not come to `shmem_init`.
fn start() -> Result {
    let mut command = Command::new(tree::prefix("bin/oshrun"));
    command.args(["--top=0.2", "-n", "2"]).arg(program()?);
    command.args([":", "-n", "1", "sleep", "1000"]);
    let job = Writing::start(command, 2, "start")?;
    job.says(&["3 PEs: 1 before shmem_init, 2 waiting, "])?;
    job.says(&[" 2 ", "has not called shmem_init, sleeping"])?;
    job.says(&[" 0 ", "waiting for PE 2", ", for "])?;
    job.end()?.ends(143, &[""; 0])
}

/// With many PEs, those in the same state share a line.
fn together() -> Result {
    let job = job(&["--top=0.5"], 26, "together")?;
    job.says(&["26 PEs: ", "1 waiting"])?;
    job.says(&["2-25 ", "not waiting in the library, sleeping"])?;
    job.end()?.ends(143, &[""; 0])
}

/// A job whose PEs only count says no more than others.
fn only_counts() -> Result {
    let program = compile::plain("tests/programs/statistics.c", &[])?;
    let mut command = launch::oshrun(2, std::path::Path::new("--top=0"));
    command.arg(program);
    let outcome = launch::run(command)?;
    outcome.success()?;
    outcome.silent()
}

fn refused() -> Result {
    for wrong in ["x", "-1", "0.01", "nan", ""] {
        let mut command = Command::new(tree::prefix("bin/oshrun"));
        command.arg(format!("--top={wrong}")).args(["-n", "1", "true"]);
        let words = ["--top", "expected a number of seconds from 0.1, or 0"];
        launch::run(command)?.ends(2, if wrong.is_empty() { &words[..1] } else { &words })?;
    }
    Ok(())
}

/// Each node tells of its own PEs.
fn over_nodes() -> Result {
    let mut command = nodes::oshrun("a,b", 4, nodes::DIRECT, &["--top=0.2"]);
    command.arg(program()?);
    let job = Writing::start(command, 2, "nodes")?;
    job.says(&["oshrun: on a: after ", "this node's PEs, 0 to 1 of 4: 1 running, 1 waiting, "])?;
    job.says(&["oshrun: on b: after ", "this node's PEs, 2 to 3 of 4: 2 running, "])?;
    job.shows("0 ", |figures, _| !["0", "-"].contains(&figures[0]))?;
    job.shows("3 ", |figures, _| figures[0] == "0" && figures[2] == "1.0m")?;
    job.end()?.ends(143, &[""; 0])
}

/// `oshtop` for a job.
fn oshtop(job: &Writing) -> Command {
    let mut command = Command::new(tree::prefix("bin/oshtop"));
    command.args(["--every", "0.2", &job.running.pid().to_string()]);
    command
}

/// Without a terminal, `oshtop` prints lines until the job ends.
fn attached_lines() -> Result {
    let job = job(&["--top=0"], 3, "attached")?;
    wait_for_pes(&job)?;
    let lines = Writing::start(oshtop(&job), 1, "attached-lines")?;
    shows_all(&lines)?;
    job.end()?.ends(143, &[""; 0])?;
    lines.running.finish()?.success()
}

/// Waits until a job's PEs are through their start.
fn wait_for_pes(job: &Writing) -> Result {
    let waits = || {
        let pes = job.running.descendants();
        pes.iter().filter(|pid| is_called(**pid, "top")).count() == 3
    };
    wait_until("the PEs are there", waits)
}

fn is_called(pid: Pid, name: &str) -> bool {
    fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|comm| comm.trim_end() == name)
}

/// A job that counts nothing has no rates, and all the rest.
fn not_counted() -> Result {
    let job = job(&[], 3, "silent")?;
    wait_for_pes(&job)?;
    let lines = Writing::start(oshtop(&job), 1, "silent-lines")?;
    lines.says(&["3 PEs: 2 running, 1 waiting, heap 3.0m, CPU "])?;
    lines.shows("0 ", |figures, _| figures[..3] == ["-", "-", "1.0m"] && figures[4] == "-")?;
    lines.end()?.ends(143, &[""; 0])?;
    job.end()?.ends(143, &[""; 0])
}

fn attached_refused() -> Result {
    let run = |argument: String| {
        let mut command = Command::new(tree::prefix("bin/oshtop"));
        command.arg(argument);
        launch::run(command)
    };
    let own = std::process::id();
    let words = format!("oshtop: process {own} has no job's file open: expected the PID");
    run(own.to_string())?.ends(1, &[words])?;
    let gone = i32::MAX;
    run(gone.to_string())?.ends(1, &[format!("cannot read /proc/{gone}/fd")])?;
    run("ring".into())?.ends(2, &["'ring'", "'[PID]'"])
}

/// A command at a terminal.
struct Screen {
    child: Child,
    pty: OpenptyResult,
    before: Termios,
    shown: Arc<Mutex<String>>,
}

impl Screen {
    fn start(mut command: Command) -> Result<Self> {
        let size = Winsize { ws_row: 20, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };
        let pty = openpty(&size, None)?;
        let before = tcgetattr(&pty.slave)?;
        let end = || pty.slave.try_clone();
        let child = command.stdin(end()?).stdout(end()?).stderr(end()?).spawn()?;
        let shown = Arc::new(Mutex::new(String::new()));
        let (show, mut screen) = (shown.clone(), File::from(pty.master.try_clone()?));
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            // An error when the other end has gone.
            while let Ok(bytes @ 1..) = screen.read(&mut buffer) {
                let mut shown = show.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                shown.push_str(&String::from_utf8_lossy(&buffer[..bytes]));
            }
        });
        Ok(Self { child, pty, before, shown })
    }

    fn text(&self) -> String {
        self.shown.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }

    /// Waits until the terminal gets these bytes.
    fn gets(&self, bytes: &str) -> Result {
        wait_until(&format!("the terminal gets {bytes:?}"), || self.text().contains(bytes)).map_err(
            |why| format!("{}\n{:?}", why.message().unwrap_or_default(), self.text()).into(),
        )
    }

    /// Waits until the screen shows words, apart from the blanks between them: the cursor jumps over these.
    fn shows(&self, words: &str) -> Result {
        let words = words.replace(' ', "");
        wait_until(&format!("the screen shows {words:?}"), || {
            letters(&self.text()).contains(&words)
        })
        .map_err(|why| format!("{}\n{:?}", why.message().unwrap_or_default(), self.text()).into())
    }

    fn types(&self, keys: &str) -> Result {
        Ok(File::from(self.pty.master.try_clone()?).write_all(keys.as_bytes())?)
    }

    /// Waits for the end with this status. The terminal is as it was, and shows what it showed, and `words`.
    fn ends(mut self, status: i32, words: &str) -> Result {
        let mut ended = None;
        wait_until("the command ends", || {
            ended = self.child.try_wait().ok().flatten();
            ended.is_some()
        })?;
        // The main screen again, and a cursor.
        self.gets("\x1b[?1049l")?;
        self.gets("\x1b[?25h")?;
        self.shows(words)?;
        if tcgetattr(&self.pty.slave)? != self.before {
            return Err("the terminal's settings are not what they were".into());
        }
        match ended.and_then(|it| it.code()) == Some(status) {
            true => Ok(()),
            false => Err(format!("{ended:?}, expected {status}\n{:?}", self.text()).into()),
        }
    }
}

/// What a terminal gets, without its escape sequences and blanks.
fn letters(text: &str) -> String {
    let mut parts = text.split('\x1b');
    let mut letters = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| c.is_ascii_alphabetic()).map_or(part.len(), |end| end + 1);
        letters.push_str(&part[end..]);
    }
    letters.replace(' ', "")
}

/// The view in a terminal: a table, keys, and an end that the job does not notice.
fn terminal() -> Result {
    let job = job(&["--top=0"], 3, "terminal")?;
    wait_for_pes(&job)?;
    let screen = Screen::start(oshtop(&job))?;
    screen.gets("\x1b[?1049h")?;
    screen.shows("3 PEs: ")?;
    // Only what changes is drawn, so not what this routine's name shares with one that came before.
    screen.shows("long_wait_until")?;
    screen.shows("1 to 3 of 3 lines")?;
    screen.types("g")?;
    screen.shows("a line for each PE")?;
    screen.types("q")?;
    screen.ends(0, "")?;
    if job.running.descendants().is_empty() {
        return Err("the job has ended with its view".into());
    }
    job.end()?.ends(143, &[""; 0])
}

/// A view that is told to end leaves a terminal that can be used.
fn killed() -> Result {
    let job = job(&["--top=0"], 3, "killed")?;
    wait_for_pes(&job)?;
    let screen = Screen::start(oshtop(&job))?;
    screen.shows("3 PEs: ")?;
    kill(Pid::from_raw(screen.child.id() as i32), Signal::SIGTERM)?;
    screen.ends(143, "")?;
    job.end()?.ends(143, &[""; 0])
}

/// A view ends with its job, and says so.
fn job_ends() -> Result {
    let job = job(&["--top=0"], 3, "over")?;
    wait_for_pes(&job)?;
    let screen = Screen::start(oshtop(&job))?;
    screen.shows("3 PEs: ")?;
    job.end()?.ends(143, &[""; 0])?;
    screen.ends(0, "oshtop: the job has ended")
}
