//! Busy neighbours of jobs: processes that compute all the time on the same CPUs.

use std::process::{Child, Command, Stdio};

use anyhow::Context;

/// A neighbour, which also ends if this process is killed: then its input ends.
const BUSY: &str = "exec 3<&0; { read -r _ <&3; kill $$ 2>/dev/null; } & while :; do :; done";

/// Busy neighbours, which end when this is dropped.
#[derive(Default)]
pub struct Neighbours(Vec<Child>);

impl Neighbours {
    /// As many as the text says, in the session of the job: `2`; or each in a session of its own: `2 apart`. With autogroup, Linux
    /// divides CPUs among sessions.
    pub fn start(text: &str) -> anyhow::Result<Self> {
        let (number, apart) = text.split_once(' ').unwrap_or((text, ""));
        let number: usize = number.parse().with_context(|| format!("not neighbours: {text}"))?;
        let words: &[&str] = if apart.is_empty() { &["sh", "-c"] } else { &["setsid", "sh", "-c"] };
        let mut all = Self::default();
        for _ in 0..number {
            let mut command = Command::new(words[0]);
            command.args(&words[1..]).arg(BUSY).stdin(Stdio::piped());
            all.0.push(command.spawn().with_context(|| format!("cannot run {}", words[0]))?);
        }
        Ok(all)
    }
}

impl Drop for Neighbours {
    fn drop(&mut self) {
        for neighbour in &mut self.0 {
            // An error means that it has ended.
            let _ = neighbour.kill();
            let _ = neighbour.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_end() {
        let neighbours = Neighbours::start("2 apart").unwrap();
        let ids: Vec<u32> = neighbours.0.iter().map(Child::id).collect();
        assert_eq!(ids.len(), 2);
        drop(neighbours);
        assert!(ids.iter().all(|id| !std::path::Path::new(&format!("/proc/{id}")).exists()));
    }
}
