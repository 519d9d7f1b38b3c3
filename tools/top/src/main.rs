//! `oshtop`: shows what the PEs of a running job on this machine do. It reads the job's file and /proc; the
//! job does not notice.

mod events;
mod find;
mod view;

use anyhow::{Context, Result};
use events::{Event, Events};
use nix::unistd::isatty;
use onenode_core::sys::process;
use oneshmem_tools::cli;
use oneshmem_tools::live::{Live, Sample};
use ratatui::Terminal;
use ratatui::backend::TermionBackend;
use ratatui::termion::raw::IntoRawMode;
use ratatui::termion::screen::IntoAlternateScreen;
use std::io::{Write, stdout};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use view::View;

fn main() -> ExitCode {
    let matches = cli::oshtop::command().get_matches();
    let every = *matches.get_one::<Duration>("every").expect("it has a default");
    match run(matches.get_one::<u32>("pid").copied(), every) {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            eprintln!("oshtop: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(pid: Option<u32>, every: Duration) -> Result<u8> {
    let job = find::job(pid)?;
    let events = Events::take().context("cannot receive signals")?;
    let mut watched = Watched { live: Live::attached(Arc::new(job.file)), pid: job.pid, every };
    match isatty(stdout())? {
        true => watched.show(&events),
        false => watched.print(&events),
    }
}

/// The job that is watched.
struct Watched {
    live: Live,
    /// The process by which it was found.
    pid: u32,
    every: Duration,
}

impl Watched {
    /// The PEs now; `None` if the job has ended.
    fn sample(&mut self) -> Result<Option<Sample>> {
        let runs = process::status(self.pid).is_some_and(|it| !it.ended);
        let sample = self.live.sample(None)?;
        Ok((runs && !sample.is_over()).then_some(sample))
    }

    /// Prints lines until the job ends.
    fn print(&mut self, events: &Events) -> Result<u8> {
        let begin = Instant::now();
        self.sample()?;
        loop {
            match events.wait(Instant::now() + self.every, false)? {
                Some(Event::Signal(signal)) => return Ok(128 + signal as u8),
                Some(Event::Resized) => continue,
                Some(Event::Key(_)) | None => {}
            }
            let Some(sample) = self.sample()? else { return Ok(0) };
            let mut out = stdout().lock();
            sample.report(begin.elapsed()).iter().try_for_each(|line| writeln!(out, "{line}"))?;
        }
    }

    /// Shows the job on the terminal until it ends or the user has seen enough. Leaves the terminal as it was.
    fn show(&mut self, events: &Events) -> Result<u8> {
        let why = "cannot use the terminal";
        let screen = stdout().into_raw_mode().and_then(IntoAlternateScreen::into_alternate_screen);
        let mut terminal = Terminal::new(TermionBackend::new(screen.context(why)?)).context(why)?;
        let mut view = View::new(self.pid);
        let keys = isatty(std::io::stdin()).unwrap_or(false);
        let mut next = Instant::now();
        loop {
            if next <= Instant::now() {
                let Some(sample) = self.sample()? else { break };
                view.take(sample);
                next = Instant::now() + self.every;
            }
            terminal.draw(|frame| view.draw(frame)).context(why)?;
            match events.wait(next, keys)? {
                Some(Event::Signal(signal)) => return Ok(128 + signal as u8),
                Some(Event::Key(key)) if view.is_left_by(key) => return Ok(0),
                _ => {}
            }
        }
        drop(terminal);
        println!("oshtop: the job has ended");
        Ok(0)
    }
}
