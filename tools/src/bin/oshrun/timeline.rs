//! The output file of `--trace`. PE 0 writes it when all PEs finalise; if they do not, the launcher writes what the
//! PEs have recorded until then.

use super::failure::{Failure, OWN_FAILURE};
use super::source_lines::{CodeAddress, SourceLines};
use oneshmem_job::jobfile::JobFile;
use oneshmem_job::jobfile::control::Control;
use oneshmem_job::timeline::{self, CALLED, PROGRAM};
use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Lines, Write};
use std::path::Path;
use std::sync::Arc;

/// The file.
pub struct Timeline<'a> {
    path: &'a Path,
}

impl<'a> Timeline<'a> {
    /// Creates the file, empty. Done before the job runs, so that a wrong path fails early.
    pub fn create(path: &'a Path) -> Result<Self, Failure> {
        match File::create(path) {
            Ok(_) => Ok(Self { path }),
            Err(error) => Err(Failure::own(format!("--trace {}: {error}", path.display()))),
        }
    }

    /// Sees to it that the timeline of a job that has ended with this status is written. Returns the status to
    /// exit with.
    pub fn finish(&self, job: &Arc<JobFile>, status: i32) -> i32 {
        if fs::metadata(self.path).is_ok_and(|data| data.len() > 0) {
            // If not, the addresses stay.
            let _ = add_lines(self.path);
            return status;
        }
        let programs = (0..job.npes()).map(|pe| job.programs(pe)).max().unwrap_or(0);
        let written = match programs.checked_sub(1) {
            None => Err("no PE has called shmem_init, so there is nothing to write".into()),
            Some(last) => Control::of(job.clone(), last)
                .map_err(|error| error.to_string())
                .and_then(|control| timeline::write_of(&control, self.path)),
        };
        match written {
            Ok(()) => status,
            Err(why) => {
                eprintln!("oshrun: --trace {}: {why}", self.path.display());
                if status == 0 { OWN_FAILURE.into() } else { status }
            }
        }
    }
}

/// Calls for which lines of source are asked at a time.
const ASKED: usize = 64;

/// Replaces the addresses of calls by lines of source, as far as they are known.
fn add_lines(path: &Path) -> io::Result<()> {
    let (mut program, mut calls) = (None, BTreeSet::new());
    for line in read(path)? {
        let line = line?;
        program = program.or_else(|| Some(value(&line, PROGRAM)?.1.to_owned()));
        calls.extend(address(&line));
    }
    let Some(program) = program else { return Ok(()) };
    let calls: Vec<u64> = calls.into_iter().collect();
    let (mut lines, mut sources) = (HashMap::new(), SourceLines::default());
    for calls in calls.chunks(ASKED) {
        let places: Vec<_> =
            calls.iter().filter_map(|at| CodeAddress::new(*at, &program)).collect();
        let found = sources.of(&places).into_iter().zip(calls);
        lines.extend(found.filter_map(|(line, at)| Some((*at, line?))));
    }
    let mut new = path.as_os_str().to_owned();
    new.push(".lines");
    let mut to = BufWriter::new(File::create_new(&new)?);
    let written = read(path)?.try_for_each(|line| {
        let line = line?;
        let source = address(&line).and_then(|at| lines.get(&at)).zip(value(&line, CALLED));
        match source.filter(|(source, _)| !source.contains(['"', '\\'])) {
            Some((source, (before, _, after))) => writeln!(to, "{before}{source}{after}"),
            None => writeln!(to, "{line}"),
        }
    });
    match written.and_then(|()| to.flush()) {
        Ok(()) => fs::rename(&new, path),
        failed => {
            let _ = fs::remove_file(&new);
            failed
        }
    }
}

fn read(path: &Path) -> io::Result<Lines<BufReader<File>>> {
    Ok(BufReader::new(File::open(path)?).lines())
}

/// The value behind `name` in a line, with the text before and after it.
fn value<'l>(line: &'l str, name: &str) -> Option<(&'l str, &'l str, &'l str)> {
    let start = line.find(name)? + name.len();
    let end = start + line[start..].find('"')?;
    Some((&line[..start], &line[start..end], &line[end..]))
}

/// The address from which an event's routine was called.
fn address(line: &str) -> Option<u64> {
    u64::from_str_radix(value(line, CALLED)?.1.strip_prefix("0x")?, 16).ok()
}
