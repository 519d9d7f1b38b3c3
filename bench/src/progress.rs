//! What a long command says while it works: a bar with the remaining time on a terminal, else a
//! line for each step.

use std::io::{IsTerminal, stderr};

use indicatif::{ProgressBar, ProgressStyle};

/// The steps of a command.
pub struct Progress {
    bar: Option<ProgressBar>,
    done: u64,
    all: u64,
}

impl Progress {
    /// Of so many steps.
    pub fn of(all: usize) -> Self {
        let all = all as u64;
        let template = "{bar:30} {pos}/{len} {elapsed} (still {eta}) {msg}";
        let style =
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = stderr().is_terminal().then(|| ProgressBar::new(all).with_style(style));
        Self { bar, done: 0, all }
    }

    /// Begins a step.
    pub fn step(&mut self, what: &str) {
        match &self.bar {
            Some(bar) => {
                bar.set_position(self.done);
                bar.set_message(what.to_owned());
            }
            None => eprintln!("[{}/{}] {what}", self.done + 1, self.all),
        }
        self.done += 1;
    }

    /// Clears the bar.
    pub fn end(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}
