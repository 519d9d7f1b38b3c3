//! Where statistics go and in which format, as `SHMEM_STATS` says.

use super::data;
use super::text::Report;
use crate::heap::sites;
use crate::message;
use oneshmem_job::env;
use oneshmem_job::error::Error;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

/// The format of statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Table,
    /// A table, and symmetric memory by call.
    Heap,
    Json,
    Csv,
}

/// Format and destination.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Destination {
    form: Format,
    /// A file; `None` is standard error.
    file: Option<PathBuf>,
}

impl Destination {
    /// The destination that the user asks for; `None` for no statistics.
    pub(crate) fn of_environment() -> Result<Option<Self>, Error> {
        if !env::STATS.is_on() {
            return Ok(None);
        }
        let Some((_, value)) = env::STATS.raw() else { return Ok(None) };
        Self::parse(&value.to_string_lossy()).map(Some).ok_or_else(|| env::STATS.invalid())
    }

    fn parse(value: &str) -> Option<Self> {
        let (word, file) = match value.split_once(':') {
            Some((word, file)) => (word, Some(file)),
            None => (value, None),
        };
        let form = match &*word.trim().to_ascii_lowercase() {
            "json" => Format::Json,
            "csv" => Format::Csv,
            "heap" if file.is_none() => Format::Heap,
            // As for every switch, any other value means on.
            _ if file.is_none() => Format::Table,
            _ => return None,
        };
        match file {
            Some("") => None,
            _ => Some(Self { form, file: file.map(PathBuf::from) }),
        }
    }

    /// Whether symmetric memory is recorded by the calls that allocate it.
    pub(crate) fn has_calls(&self) -> bool {
        self.form == Format::Heap
    }

    /// Checks that the file can be written, before the job runs in vain.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let Some(path) = &self.file else { return Ok(()) };
        match File::options().append(true).create(true).open(path) {
            Ok(_) => Ok(()),
            Err(error) => Err(env::STATS.refused(format!("the file cannot be written: {error}"))),
        }
    }

    /// Writes the statistics of a finished job; reports a failure to do so.
    pub(crate) fn write(&self, report: &Report) {
        let text = match self.form {
            Format::Table => return message::say(report),
            Format::Heap => {
                message::say(report);
                return sites::print();
            }
            Format::Json => data::json(report),
            Format::Csv => data::csv(report),
        };
        let written = match &self.file {
            Some(path) => std::fs::write(path, text),
            // In one call, so that lines of others do not come between.
            None => io::stderr().write_all(text.as_bytes()),
        };
        if let Err(error) = written {
            message::say(format_args!("{}: {error}", env::STATS.shown()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_and_files() {
        let read = |value| Destination::parse(value).map(|it| (it.form, it.file));
        for value in ["1", "yes", "", "on", "jsn"] {
            assert_eq!(read(value), Some((Format::Table, None)), "{value}");
        }
        assert_eq!(read("json"), Some((Format::Json, None)));
        assert_eq!(read("CSV"), Some((Format::Csv, None)));
        assert_eq!(read("csv:a:b"), Some((Format::Csv, Some("a:b".into()))));
        assert_eq!(read("json:/tmp/x"), Some((Format::Json, Some("/tmp/x".into()))));
        for value in ["csv:", "xml:file", "1:file", ":"] {
            assert_eq!(read(value), None, "{value}");
        }
    }
}
