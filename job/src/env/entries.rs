//! The variables as the documentation lists them: those of partitions, whose names contain a
//! number, are one entry.

use super::{ALL, MAX_PARTITIONS, partitions};

/// A variable as the documentation describes it.
#[derive(Debug)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// Its other names.
    pub others: &'static [&'static str],
    /// The possible values and their unit.
    pub values: String,
    /// The default.
    pub default: &'static str,
    /// Its effect, in one sentence.
    pub help: &'static str,
}

/// All variables, in the order of display.
pub fn entries() -> Vec<Entry> {
    let mut entries: Vec<Entry> = ALL
        .iter()
        .map(|variable| Entry {
            name: variable.name,
            others: variable.others,
            values: variable.values(),
            default: variable.default,
            help: variable.help,
        })
        .collect();
    let place = entries.iter().position(|entry| entry.name == MAX_PARTITIONS.name);
    let (name, others) = partitions::DOCUMENTED;
    let partition = Entry {
        name,
        others,
        values: partitions::VALUES.into(),
        default: "not set",
        help: partitions::HELP,
    };
    entries.insert(place.unwrap_or(0), partition);
    entries
}
