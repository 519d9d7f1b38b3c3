//! Values of options.

use crate::place::{Map, Place};
use nix::sched::CpuSet;
use onenode_core::sys::lists;
use oneshmem::translate::MAX_PES;
use std::time::Duration;

/// A list of CPUs or PEs, ascending and without duplicates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbers(pub Vec<usize>);

/// The PEs that an option applies to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pes {
    /// All of the job.
    All,
    /// These.
    Some(Vec<usize>),
}

impl Pes {
    /// Whether this includes a PE.
    pub fn contain(&self, pe: usize) -> bool {
        match self {
            Self::All => true,
            Self::Some(pes) => pes.contains(&pe),
        }
    }
}

/// Parses a number of PEs.
pub fn count(text: &str) -> Result<u16, String> {
    let number = text.parse().ok().filter(|number| (1..=MAX_PES).contains(&usize::from(*number)));
    number.ok_or_else(|| format!("expected a number of PEs from 1 to {MAX_PES}"))
}

/// Parses a list of CPUs.
pub fn cpus(text: &str) -> Result<Numbers, String> {
    let end = CpuSet::count();
    lists::numbers(text, end).map(Numbers).map_err(|wrong| {
        format!(
            "expected numbers of CPUs below {end} and ranges of them, for example 0-3,8; found \
             '{wrong}'"
        )
    })
}

/// Parses a list of PEs, or `all`.
pub fn pes(text: &str) -> Result<Pes, String> {
    if text == "all" {
        return Ok(Pes::All);
    }
    lists::numbers(text, MAX_PES).map(Pes::Some).map_err(|wrong| {
        format!("expected numbers of PEs and ranges of them, for example 0,4-7; found '{wrong}'")
    })
}

/// Parses how PEs are mapped.
pub fn map(text: &str) -> Result<Map, String> {
    let words: Vec<&str> = text.split(':').collect();
    let map = match words[..] {
        [by @ ("core" | "l3" | "numa" | "socket")] => (Place::named(by), Some(None)),
        ["ppr", each, by] => {
            let each = each.parse().ok().filter(|each| (1..=MAX_PES).contains(each));
            (Place::named(by), each.map(Some))
        }
        _ => (None, None),
    };
    match map {
        (Some(by), Some(each)) => Ok(Map { by, each }),
        _ => Err("expected core, l3, numa, socket, or ppr:N:WHAT (N PEs for each core, l3, numa, \
                  socket or node), for example ppr:2:socket"
            .into()),
    }
}

/// Parses a time in seconds.
pub fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 => Duration::try_from_secs_f64(seconds)
            .map_err(|_| "expected a smaller number of seconds".into()),
        _ => Err("expected a number of seconds, more than 0, for example 60 or 0.5".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_pes() {
        assert_eq!(count("1"), Ok(1));
        let more = (MAX_PES + 1).to_string();
        let expected = format!("expected a number of PEs from 1 to {MAX_PES}");
        assert_eq!(count(&MAX_PES.to_string()), u16::try_from(MAX_PES).map_err(|_| String::new()));
        for wrong in ["0", &more, "70000", "-3", "x", "", "1.5"] {
            assert_eq!(count(wrong), Err(expected.clone()));
        }
    }
}
