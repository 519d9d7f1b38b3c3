//! A job started from a terminal: what is typed, and the keys that signal.
#![allow(unsafe_code)]

mod support;
use support::*;

use nix::pty::{Winsize, openpty};
use nix::sys::termios::{LocalFlags, SetArg, tcgetattr, tcsetattr};
use nix::unistd::setsid;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::Duration;

/// A person at a terminal with a job in the foreground.
struct Terminal {
    child: Child,
    keyboard: File,
    screen: Arc<Mutex<String>>,
}

impl Terminal {
    fn with(mut command: Command) -> Self {
        let pty = openpty(&size(30, 100), None).unwrap();
        // Keys that signal do not discard what is to be shown.
        let mut flags = tcgetattr(&pty.slave).unwrap();
        flags.local_flags |= LocalFlags::NOFLSH;
        tcsetattr(&pty.slave, SetArg::TCSANOW, &flags).unwrap();
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

    fn resize(&mut self, rows: u16, columns: u16) {
        // SAFETY: the call reads the size.
        let rc = unsafe {
            libc::ioctl(self.keyboard.as_raw_fd(), libc::TIOCSWINSZ, &size(rows, columns))
        };
        assert_eq!(rc, 0);
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

fn size(ws_row: u16, ws_col: u16) -> Winsize {
    Winsize { ws_row, ws_col, ws_xpixel: 0, ws_ypixel: 0 }
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
fn control_z_stops_a_job_that_starts_and_fg_continues_it() {
    // A shell leaves a loop when the job in it stops, so it has no loop.
    let (oshrun, keys) = (env!("CARGO_BIN_EXE_oshrun"), 200);
    let continued = "fg 2>/dev/null\n".repeat(keys);
    let job = format!("{oshrun} -n 200 --no-pty true\n{continued}echo over");
    let mut bash = Command::new("bash");
    bash.args(["-m", "-c", &job]);
    let mut terminal = Terminal::with(bash);
    for _ in 0..keys {
        terminal.type_keys("\x1a");
        sleep(Duration::from_millis(3));
    }
    terminal.shows("over\r\n");
    terminal.shows("Stopped");
    terminal.ends_with(0);
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

#[test]
fn output_to_a_terminal_is_a_terminal_of_the_same_size() {
    let text = "[ -t 1 ] && [ ! -t 2 ] && stty size <&1
        trap 'stty size <&1; exit' WINCH; echo ready; while :; do sleep 0.01; done";
    let mut terminal = Terminal::with(script("-n 2 -l", text));
    for pe in 0..2 {
        // The terminal's own line ends, not doubled.
        terminal.shows(&format!("[{pe}] 30 100\r\n"));
        terminal.shows(&format!("[{pe}] ready\r\n"));
    }
    terminal.resize(40, 132);
    for pe in 0..2 {
        terminal.shows(&format!("[{pe}] 40 132\r\n"));
    }
    terminal.ends_with(0);
}

#[test]
fn a_pes_terminal_controls_nothing() {
    // The controlling terminal, the sixth field after the name, stays the launcher's (proc(5)).
    let field = "sed 's/.*) //' /proc/$1/stat | cut -d' ' -f5";
    let text = format!("set -- self; a=$({field}); set -- $PPID; b=$({field}); echo $a is $b");
    for option in ["--no-pty", "--pty"] {
        let terminal = Terminal::with(script(&format!("-n 1 {option}"), &text));
        terminal.shows("\r\n");
        let screen = terminal.screen.lock().unwrap().clone();
        let (own, launchers) = screen.trim_end().split_once(" is ").unwrap();
        assert_eq!(own, launchers, "{option}");
        terminal.ends_with(0);
    }
}

#[test]
fn nothing_is_lost_that_a_dead_pe_has_written_to_its_terminal() {
    let many = "i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done; kill -KILL $$";
    let terminal = Terminal::with(script("-n 1", many));
    terminal.shows("line 1999\r\n");
    terminal.shows("killed by signal 9");
    let screen = terminal.screen.lock().unwrap().clone();
    terminal.ends_with(128 + 9);
    assert_eq!(screen.matches("line ").count(), 2000);
    assert!(screen.find("line 1999") < screen.find("killed by"), "{screen}");
}
