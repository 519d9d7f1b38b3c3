//! A job started from a terminal: what is typed, and the keys that signal.
#![allow(unsafe_code)]

mod support;
use support::*;

use nix::pty::openpty;
use nix::unistd::setsid;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};

/// A person at a terminal with a job in the foreground.
struct Terminal {
    child: Child,
    keyboard: File,
    screen: Arc<Mutex<String>>,
}

impl Terminal {
    fn with(mut command: Command) -> Self {
        let pty = openpty(None, None).unwrap();
        let end = || pty.slave.try_clone().unwrap();
        command.stdin(end()).stdout(end()).stderr(end());
        let own_session = || {
            setsid()?;
            // SAFETY: makes standard input this new session's terminal; no memory is passed.
            match unsafe { libc::ioctl(0, libc::TIOCSCTTY, 0) } {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        };
        // SAFETY: two system calls, which allocate nothing.
        unsafe { command.pre_exec(own_session) };
        let child = command.spawn().unwrap();
        drop(command);
        let keyboard = File::from(pty.master);
        let mut screen = keyboard.try_clone().unwrap();
        let shown = Arc::new(Mutex::new(String::new()));
        let show = shown.clone();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            // An error when the other end has gone.
            while let Ok(bytes) = screen.read(&mut buffer) {
                show.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..bytes]));
            }
        });
        Self { child, keyboard, screen: shown }
    }

    fn type_keys(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    fn shows(&self, text: &str) {
        eventually(&format!("the screen shows {text:?}"), || {
            self.screen.lock().unwrap().contains(text).then_some(())
        });
    }

    fn ends_with(mut self, status: i32) {
        let ended = eventually("oshrun ends", || self.child.try_wait().unwrap());
        assert_eq!(ended.code(), Some(status), "{}", self.screen.lock().unwrap());
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn what_is_typed_goes_to_pe_0() {
    let mut terminal = Terminal::with(oshrun("-n 3 -l cat"));
    terminal.type_keys("hello\n");
    terminal.shows("[0] hello");
    // Control-D, the end of the input, ends `cat`.
    terminal.type_keys("\x04");
    terminal.ends_with(0);
}

#[test]
fn a_question_is_shown_before_it_is_answered() {
    let mut terminal = Terminal::with(script("-n 1", "printf 'how many? '; read n; echo $n it is"));
    terminal.shows("how many? ");
    terminal.type_keys("12\n");
    terminal.shows("12 it is");
    terminal.ends_with(0);
}

#[test]
fn control_c_ends_the_job() {
    let scratch = Scratch::new("terminal");
    let sleeper = format!("echo $$ > {}/$$; exec sleep 1000", scratch.0.display());
    let mut terminal = Terminal::with(script("-n 3", &sleeper));
    let pids = scratch.pids(3);
    terminal.type_keys("\x03");
    terminal.ends_with(128 + 2);
    all_gone(&pids);
}

#[test]
fn a_job_in_the_background_leaves_the_terminal_alone() {
    // An interactive shell gives each job a process group; `cat` is in the foreground.
    let job = format!(
        "{} -n 2 cat & sleep 0.2; cat; kill -TERM %1; wait %1",
        env!("CARGO_BIN_EXE_oshrun")
    );
    let mut bash = Command::new("bash");
    bash.args(["-m", "-c", &job]);
    let mut terminal = Terminal::with(bash);
    terminal.type_keys("mine\n");
    // Echoed by the terminal, then by the shell's `cat`: the job took nothing.
    terminal.shows("mine\r\nmine\r\n");
    terminal.type_keys("\x04");
    terminal.ends_with(128 + 15);
}
