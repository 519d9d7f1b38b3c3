//! The variables that request partitions: one per partition, with its number in the name.

use crate::sys::environment;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt::Write;

/// The prefixes of the names; the number follows.
const NAMES: [&str; 2] = ["SHMEM_SYMMETRIC_PARTITION", "SMA_SYMMETRIC_PARTITION"];

/// The current and the historical name, as the documentation writes them.
pub const DOCUMENTED: (&str, &[&str]) =
    ("SHMEM_SYMMETRIC_PARTITION<id>", &["SMA_SYMMETRIC_PARTITION<id>"]);

/// The possible values.
pub const VALUES: &str = "a size in bytes, then traits: see oneshmem-partitions(7)";

/// The effect of each of them, in one sentence.
pub const HELP: &str = "A partition in addition to the symmetric heap: size and traits.";

/// The partition that a variable of this name is for; `None` if it is another variable. The error
/// is that the number is not written as it should be.
pub fn id_of(name: &str) -> Option<Result<usize, Malformed>> {
    let number = NAMES.iter().find_map(|start| name.strip_prefix(start))?;
    let digits = number.strip_prefix(['+', '-', '_']).unwrap_or(number);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let is_plain = number == "0" || !number.starts_with(['0', '+', '-', '_']);
    Some(number.parse().ok().filter(|_| is_plain).ok_or(Malformed))
}

/// The number in a variable's name has a sign or leading zeros, or is too large for any partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// A variable whose name has a malformed number: name and value as the user wrote them.
pub fn malformed() -> Option<String> {
    let names = environment::names_that_begin(&NAMES);
    let name = names.into_iter().filter(|name| id_of(name) == Some(Err(Malformed))).min()?;
    let value = environment::variable(&name).unwrap_or_default();
    Some(format!("{name}={:?}", value.to_string_lossy()))
}

/// The numbers of the requested partitions.
pub fn ids() -> BTreeSet<usize> {
    environment::names_that_begin(&NAMES).iter().filter_map(|name| id_of(name)?.ok()).collect()
}

/// The value of partition `id`'s variable, looked up by `value_of`.
pub fn value_by(id: usize, value_of: impl Fn(&str) -> Option<OsString>) -> Option<OsString> {
    named(id, value_of).map(|(_, value)| value)
}

/// The variable's name and value as the user wrote them.
pub fn shown(id: usize) -> String {
    let (name, value) = named(id, environment::variable).unwrap_or_default();
    format!("{name}={:?}", value.to_string_lossy())
}

fn named(id: usize, value_of: impl Fn(&str) -> Option<OsString>) -> Option<(String, OsString)> {
    NAMES.iter().map(|start| format!("{start}{id}")).find_map(|name| {
        let value = value_of(&name)?;
        Some((name, value))
    })
}

/// All variables that are set, as text: name, value and meaning.
pub(super) fn table() -> String {
    let mut text = String::new();
    for (name, value) in ids().into_iter().filter_map(|id| named(id, environment::variable)) {
        let value = value.to_string_lossy();
        let _ = writeln!(text, "  {name:<24} {value}\n      {HELP}\n      Values: {VALUES}.");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Malformed, id_of};

    #[test]
    fn only_plain_numbers_name_partitions() {
        for (name, id) in [
            ("SHMEM_SYMMETRIC_PARTITION0", Some(Ok(0))),
            ("SMA_SYMMETRIC_PARTITION12", Some(Ok(12))),
            ("SHMEM_SYMMETRIC_PARTITION01", Some(Err(Malformed))),
            ("SHMEM_SYMMETRIC_PARTITION00", Some(Err(Malformed))),
            ("SHMEM_SYMMETRIC_PARTITION+1", Some(Err(Malformed))),
            ("SHMEM_SYMMETRIC_PARTITION_1", Some(Err(Malformed))),
            ("SMA_SYMMETRIC_PARTITION-1", Some(Err(Malformed))),
            ("SHMEM_SYMMETRIC_PARTITION99999999999999999999", Some(Err(Malformed))),
            ("SHMEM_SYMMETRIC_PARTITION", None),
            ("SHMEM_SYMMETRIC_PARTITIONS", None),
            ("SHMEM_SYMMETRIC_SIZE", None),
        ] {
            assert_eq!(id_of(name), id, "{name}");
        }
    }
}
