//! `--debug`: a debugger for each PE, in its own window.
//!
//! The PE remains a child of this command. It is stopped at its first instruction (see
//! [`super::process`]), and the debugger attaches to it from its window.

use super::failure::Failure;
use super::program;
use super::signals;
use super::steps;
use oneshmem_tools::cli::values::Pes;
use oneshmem_tools::live::number;
use std::cell::RefCell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The supported debuggers in search order, each with the arguments before and after the process
/// ID.
///
/// A debugger that attaches to a stopped process leaves a SIGSTOP pending, which would stop the
/// program again when it continues. The arguments make the debugger discard it.
const DEBUGGERS: [(&str, &[&str], [&str; 2]); 2] = [
    ("gdb", &["-q", "-p"], ["-ex", "handle SIGSTOP nostop noprint nopass"]),
    ("lldb", &["-p"], ["-o", "process handle -s false -n false -p false SIGSTOP"]),
];

/// Where windows open.
enum Windows {
    /// In the tmux session in which this command was started.
    Session,
    /// On the screen.
    Xterm(PathBuf),
    /// In this command's own tmux server of this name.
    Server(String),
    /// Nowhere: the user starts the debuggers by hand.
    Nowhere,
}

/// The debuggers of a job.
pub struct Debuggers<'a> {
    pes: &'a Pes,
    /// The debugger, and its arguments as in `DEBUGGERS`.
    debugger: Option<(PathBuf, &'static [&'static str], [&'static str; 2])>,
    windows: Windows,
    /// The windows opened in the user's session.
    opened: RefCell<Vec<String>>,
    /// The socket of the tmux server, once it has been started.
    socket: RefCell<Option<PathBuf>>,
}

impl<'a> Debuggers<'a> {
    /// Looks for a debugger and for a place to open windows.
    pub fn new(pes: &'a Pes, npes: usize) -> Result<Self, Failure> {
        if let Pes::Some(pes) = pes {
            if let Some(pe) = pes.iter().find(|pe| **pe >= npes) {
                return Err(Failure::own(format!(
                    "--debug: the job has {}, and no PE {pe}",
                    number(npes)
                )));
            }
        }
        let path = std::env::var_os("PATH");
        let find = |name: &str| program::find(name.as_ref(), Path::new("."), path.as_deref()).ok();
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let debugger = DEBUGGERS
            .into_iter()
            .find_map(|(name, before, behind)| Some((find(name)?, before, behind)));
        let windows = match (find("tmux"), find("xterm")) {
            _ if debugger.is_none() => Windows::Nowhere,
            (Some(_), _) if set("TMUX") => Windows::Session,
            (_, Some(xterm)) if set("DISPLAY") => Windows::Xterm(xterm),
            (Some(_), _) => Windows::Server(format!("oshrun-{}", std::process::id())),
            (None, _) => Windows::Nowhere,
        };
        Ok(Self { pes, debugger, windows, opened: RefCell::default(), socket: RefCell::default() })
    }

    /// Whether this PE is debugged.
    pub fn has(&self, pe: usize) -> bool {
        self.pes.contain(pe)
    }

    /// Opens the window of a stopped PE. Returns a message for the user, and the process group of
    /// what was started if it has to be ended with the job.
    pub fn open(&self, pe: usize, pid: u32) -> Result<(Option<String>, Option<u32>), Failure> {
        let title = format!("PE {pe}");
        let Some((debugger, before, behind)) = &self.debugger else {
            let note = format!(
                "PE {pe} is stopped, and there is neither gdb nor lldb: attach a debugger to process \
                 {pid}, or let it go on with kill -CONT {pid}"
            );
            return Ok((Some(note), None));
        };
        let mut command = vec![debugger.clone().into_os_string()];
        command.extend(before.iter().map(OsString::from));
        command.push(pid.to_string().into());
        command.extend(behind.iter().map(OsString::from));
        match &self.windows {
            Windows::Nowhere => {
                let words = command.iter().map(|word| word.to_string_lossy());
                let words: Vec<_> = words.map(|word| quoted(&word)).collect();
                let command = words.join(" ");
                let note = format!("PE {pe} is stopped until a debugger attaches: {command}");
                Ok((Some(note), None))
            }
            Windows::Session => {
                let what = ["new-window", "-d", "-P", "-F", "#{window_id}", "-n", &title, "--"];
                let window = tmux(None, &what, &command)?;
                self.opened.borrow_mut().push(window);
                Ok((None, None))
            }
            Windows::Xterm(xterm) => {
                let mut xterm = Command::new(xterm);
                xterm.args(["-T", &title, "-e"]).args(&command);
                xterm.stdin(Stdio::null());
                signals::set_apart_before(&mut xterm);
                let child =
                    xterm.spawn().map_err(|error| failure("xterm", &steps::in_words(error)))?;
                Ok((None, Some(child.id())))
            }
            Windows::Server(name) => {
                let first = self.socket.borrow().is_none();
                let verb = if first { "new-session" } else { "new-window" };
                let what = [verb, "-d", "-P", "-F", "#{pid} #{socket_path}", "-n", &title, "--"];
                let server = tmux(Some(name), &what, &command)?;
                let (pid, socket) = server.split_once(' ').unwrap_or((&server, ""));
                self.socket.replace(Some(socket.into()));
                let note = format!("the debuggers are in a tmux session: tmux -L {name} attach");
                Ok((first.then_some(note), pid.parse().ok().filter(|_| first)))
            }
        }
    }
}

impl Drop for Debuggers<'_> {
    fn drop(&mut self) {
        // The user may have closed some of them already.
        for window in self.opened.take() {
            let _ = tmux(None, &["kill-window", "-t", &window], &[]);
        }
        if let (Windows::Server(name), Some(socket)) = (&self.windows, self.socket.take()) {
            let _ = tmux(Some(name), &["kill-server"], &[]);
            // tmux leaves it behind.
            let _ = std::fs::remove_file(socket);
        }
    }
}

/// Runs tmux with the server of this name or that of the current session, and returns its output.
fn tmux(server: Option<&str>, what: &[&str], command: &[OsString]) -> Result<String, Failure> {
    let mut tmux = Command::new("tmux");
    if let Some(name) = server {
        tmux.args(["-L", name]);
    }
    signals::set_apart_before(&mut tmux);
    let output = tmux.args(what).args(command).stdin(Stdio::null()).output();
    let output = output.map_err(|error| failure("tmux", &steps::in_words(error)))?;
    if !output.status.success() {
        return Err(failure("tmux", String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| word.into(), |word| word.into_owned())
}

fn failure(program: &str, why: &str) -> Failure {
    Failure::own(format!("--debug: {program}: {why}"))
}
