//! Jobs timed from outside: whether they did anything, and their references.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;

/// Whether `hello.c` has run on every PE.
pub fn all_greet(stdout: &str, pes: usize) -> bool {
    let mut greetings: Vec<&str> =
        stdout.lines().filter(|line| line.starts_with("HELLO ")).map(str::trim_end).collect();
    let mut expected: Vec<String> = (0..pes).map(|pe| format!("HELLO {pe} of {pes}")).collect();
    greetings.sort_unstable();
    expected.sort_unstable();
    greetings == expected
}

/// The time for this process to start and await as many processes that do nothing.
pub fn without_launcher(pes: usize) -> anyhow::Result<Duration> {
    let start = Instant::now();
    let spawn =
        |_| Command::new("/bin/true").stdin(Stdio::null()).spawn().context("cannot run /bin/true");
    let children = (0..pes).map(spawn).collect::<anyhow::Result<Vec<_>>>()?;
    for mut child in children {
        child.wait()?;
    }
    Ok(start.elapsed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pe_has_to_greet_once() {
        assert!(all_greet("HELLO 1 of 2\nnoise\nDONE\nHELLO 0 of 2\n", 2));
        assert!(!all_greet("HELLO 0 of 1\nHELLO 0 of 1\n", 2));
        assert!(!all_greet("HELLO 0 of 2\nHELLO 0 of 2\n", 2));
    }
}
