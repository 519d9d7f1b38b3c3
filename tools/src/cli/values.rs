//! Values of options.

use crate::place::{Bind, Map, Place};
use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command};
use nix::sched::CpuSet;
use onenode_core::sys::lists;
use oneshmem_job::jobfile::MAX_PES;
use std::ffi::OsStr;
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

/// Parses a number of CPUs for each PE.
pub fn cpus_per_pe(text: &str) -> Result<usize, String> {
    let most = CpuSet::count();
    let number = text.parse().ok().filter(|number| (1..=most).contains(number));
    number.ok_or_else(|| format!("expected a number of CPUs from 1 to {most}"))
}

/// A value with the number of CPUs for each PE, if it has one.
type WithCpus<T> = (T, Option<usize>);

/// Parses how PEs are mapped.
pub fn map(text: &str) -> Result<WithCpus<Map>, String> {
    let wrong = || {
        "expected hwthread, slot, core, l3, numa, socket or node, or ppr:N:WHAT (N PEs for each of \
         these), and perhaps :PE=N (N CPUs for each PE), for example ppr:2:socket or core:PE=4"
            .to_string()
    };
    let (what, cpus) = match text.rsplit_once(":PE=").or_else(|| text.rsplit_once(":pe=")) {
        Some((what, cpus)) => (what, Some(cpus_per_pe(cpus)?)),
        None => (text, None),
    };
    let (by, each) = match what.split(':').collect::<Vec<_>>()[..] {
        [by] => (by, None),
        ["ppr", each, by] => {
            let each = each.parse().ok().filter(|each| (1..=MAX_PES).contains(each));
            (by, Some(each.ok_or_else(wrong)?))
        }
        _ => return Err(wrong()),
    };
    let by = Place::named(by).ok_or_else(wrong)?;
    Ok((Map { by, each }, cpus))
}

/// Parses what PEs are bound to.
#[derive(Clone)]
pub struct Binds;

impl Binds {
    const NAMES: [&'static str; 8] =
        ["none", "hwthread", "slot", "core", "l3", "numa", "socket", "node"];

    fn read(text: &str) -> Result<WithCpus<Bind>, String> {
        let (name, cpus) = match text.split_once(':') {
            Some((name, cpus)) => (name, Some(cpus)),
            None => (text, None),
        };
        match (name, Place::named(name), cpus) {
            ("none", _, None) => Ok((Bind::None, None)),
            (_, Some(place), None) => Ok((Bind::To(place), None)),
            (_, Some(place @ (Place::HwThread | Place::Core)), Some(cpus)) => {
                Ok((Bind::To(place), Some(cpus_per_pe(cpus)?)))
            }
            _ => Err(format!(
                "expected {}, or core:N or hwthread:N (N of them for each PE)",
                Self::NAMES.join(", ")
            )),
        }
    }
}

impl TypedValueParser for Binds {
    type Value = WithCpus<Bind>;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, clap::Error> {
        Self::read.parse_ref(command, arg, value)
    }

    /// For completions.
    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Self::NAMES.into_iter().map(PossibleValue::new)))
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

/// The shortest interval: what is shown more often nobody can read.
const SHORTEST: Duration = Duration::from_millis(100);

/// Parses how often to look.
pub fn repetition(text: &str) -> Result<Duration, String> {
    let shortest = SHORTEST.as_secs_f64();
    match text.parse::<f64>() {
        // More than a year is as good as never; a node's launcher gets milliseconds.
        Ok(seconds) if (shortest..=1e8).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err(format!("expected a number of seconds from {shortest}")),
    }
}

/// Parses how often to look, or 0 for never.
pub fn interval(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(0.0) => Ok(Duration::ZERO),
        _ => repetition(text).map_err(|why| format!("{why}, or 0")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals() {
        assert_eq!(interval("0"), Ok(Duration::ZERO));
        assert_eq!(interval("0.5"), Ok(Duration::from_millis(500)));
        let expected = Err("expected a number of seconds from 0.1, or 0".to_string());
        for wrong in ["", "x", "-1", "0.01", "nan", "inf", "1e9"] {
            assert_eq!(interval(wrong), expected, "{wrong}");
        }
    }

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
