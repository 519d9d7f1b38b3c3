//! Adds lines of source to the addresses in messages of the library, on the host where the program is.
//!
//! ```text
//! oneshmem: PE 1: called from main+0x1b in /home/me/ring(+0x1151)
//!                                                              at ring.c:14      added here
//! ```
//!
//! Anybody can write such a line, and name any file. So another process reads the file, with limits on its
//! time and memory ([`super::source_lookup`]), and what it answers is checked. If it fails, the line stays
//! as it is.

use super::source_lookup::OPTION;
use nix::poll::{PollFd, PollFlags, poll};
use oneshmem_tools::names::demangled;
use oneshmem_tools::poll_timeout;
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The maximum time for the lookups of one piece of text, and of a job.
const PATIENCE: Duration = Duration::from_secs(2);
const PATIENCE_IN_ALL: Duration = Duration::from_secs(10);
/// The maximum number of addresses looked up for a job.
const LOOKUPS: usize = 1024;
/// The maximum length of a path. Requests for this many bytes fit a pipe, pipe(7).
const PATH_BYTES: usize = 1024;
const REQUEST_BYTES: usize = 32 << 10;
/// The maximum length of an answer, and of what is added to one piece of text, which then still fits a
/// frame to the hub.
const ANSWER_BYTES: usize = 1024;
const ADDED_BYTES: usize = 256 << 10;

/// An address in a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CodeAddress {
    address: u64,
    path: String,
}

/// The lines of source that this job's messages have named.
#[derive(Default)]
pub struct SourceLines {
    /// Lines found so far; `None` if there is no line, or it cannot be found.
    known: HashMap<CodeAddress, Option<String>>,
    /// The time spent on lookups.
    spent: Duration,
}

impl SourceLines {
    /// The text, which a PE has written to standard error, with what is to be added.
    pub fn complete<'t>(&mut self, text: &'t [u8]) -> Cow<'t, [u8]> {
        let lines = || text.split_inclusive(|byte| *byte == b'\n');
        let mut unknown = Vec::new();
        let mut found = false;
        for place in lines().filter_map(CodeAddress::of_line) {
            found = true;
            if !self.known.contains_key(&place) && !unknown.contains(&place) {
                unknown.push(place);
            }
        }
        if !found {
            return text.into();
        }
        self.look_up(unknown);
        let mut completed = Vec::with_capacity(text.len() + 64);
        let mut room = ADDED_BYTES;
        for line in lines() {
            let place = CodeAddress::of_line(line);
            let call = std::str::from_utf8(line).ok().filter(|_| place.is_some());
            let shown = call.and_then(with_name).map_or(line.into(), Cow::from);
            let source = place.and_then(|place| self.known.get(&place)?.as_deref());
            let line = match shown.len().saturating_sub(line.len()) {
                longer if longer <= room => {
                    room -= longer;
                    shown
                }
                _ => line.into(),
            };
            match source.map(|source| format!(" at {source}\n")).filter(|it| it.len() <= room) {
                Some(source) => {
                    room -= source.len();
                    completed.extend_from_slice(line.strip_suffix(b"\n").unwrap_or(&line));
                    completed.extend_from_slice(source.as_bytes());
                }
                None => completed.extend_from_slice(&line),
            }
        }
        completed.into()
    }

    /// The lines of addresses in files.
    pub fn of(&mut self, places: &[CodeAddress]) -> Vec<Option<String>> {
        let mut unknown: Vec<CodeAddress> = Vec::new();
        for place in places {
            if !self.known.contains_key(place) && !unknown.contains(place) {
                unknown.push(place.clone());
            }
        }
        self.look_up(unknown);
        places.iter().map(|place| self.known.get(place)?.clone()).collect()
    }

    fn look_up(&mut self, mut places: Vec<CodeAddress>) {
        places.truncate(LOOKUPS.saturating_sub(self.known.len()));
        let left = PATIENCE_IN_ALL.saturating_sub(self.spent).min(PATIENCE);
        if places.is_empty() || left.is_zero() {
            return;
        }
        let begin = Instant::now();
        let answers = ask(&places, begin + left).unwrap_or_default();
        self.spent += begin.elapsed();
        let here = std::env::current_dir().unwrap_or_default();
        let answers = String::from_utf8_lossy(&answers);
        let mut answers = answers.split_terminator('\n');
        for place in places {
            let source = answers.next().and_then(|answer| source(answer, &here));
            self.known.insert(place, source);
        }
    }
}

impl CodeAddress {
    /// This address in the program that a process runs.
    pub fn in_program_of(pid: u32, address: u64) -> Option<Self> {
        let path = std::fs::read_link(format!("/proc/{pid}/exe")).ok()?.into_os_string();
        Self::new(address, &path.into_string().ok()?)
    }

    /// This address in this file, if its path can be looked up.
    pub fn new(address: u64, path: &str) -> Option<Self> {
        let fits = path.len() <= PATH_BYTES && !path.contains('\n');
        fits.then(|| Self { address, path: path.to_owned() })
    }

    /// The place that a line names, if it is one of the library's about a call.
    fn of_line(line: &[u8]) -> Option<Self> {
        let line = line.strip_suffix(b"\n")?.strip_prefix(b"oneshmem: ")?;
        let line = std::str::from_utf8(line).ok()?;
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let said = match line.strip_prefix("PE ").and_then(|rest| rest.split_once(": ")) {
            Some((pe, said)) if digits(pe) => said,
            _ => line,
        };
        let call = match said.strip_prefix("called from ") {
            Some(call) => call,
            // One of a backtrace, with its number.
            None => said.trim_start().split_once(' ').filter(|(number, _)| digits(number))?.1,
        };
        let (file, address) = call.strip_suffix(')')?.rsplit_once("(+0x")?;
        let path = file.split_once(" in ").map_or(file, |(_, path)| path);
        let address = u64::from_str_radix(address, 16).ok()?;
        let fits = path.len() <= PATH_BYTES && !path.is_empty();
        fits.then(|| Self { address, path: path.into() })
    }
}

/// The line, with the name of a function as its author wrote it, if it has one.
fn with_name(line: &str) -> Option<Vec<u8>> {
    let (name, file) = line.split_once(" in ")?;
    Some(format!("{} in {file}", demangled(name)).into_bytes())
}

/// A line of source as it is shown, if it is one: shorter if the file is below this folder.
fn source(answer: &str, here: &Path) -> Option<String> {
    let (file, line) = answer.rsplit_once(':')?;
    let is_line = line.parse::<u32>().is_ok_and(|line| line > 0);
    if !is_line || answer.len() > ANSWER_BYTES || answer.contains(char::is_control) {
        return None;
    }
    let shown = Path::new(file).strip_prefix(here).ok().and_then(Path::to_str).unwrap_or(file);
    Some(format!("{shown}:{line}"))
}

/// The answers to as many places as fit, a line each, as far as they come in time.
fn ask(places: &[CodeAddress], until: Instant) -> std::io::Result<Vec<u8>> {
    let mut requests = Vec::new();
    for CodeAddress { address, path } in places {
        let request = format!("{address:x} {path}\n");
        if requests.len() + request.len() > REQUEST_BYTES {
            break;
        }
        requests.extend_from_slice(request.as_bytes());
    }
    let child = Command::new("/proc/self/exe")
        .arg0("oshrun")
        .arg(OPTION)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()?;
    let mut child = KilledOnDrop(child);
    if let Some(mut input) = child.0.stdin.take() {
        input.write_all(&requests)?;
    }
    let mut answers = Vec::new();
    let Some(mut output) = child.0.stdout.take() else { return Ok(answers) };
    let mut buffer = [0; 4096];
    while answers.len() < places.len() * (ANSWER_BYTES + 1) {
        let mut polled = [PollFd::new(output.as_fd(), PollFlags::POLLIN)];
        if poll(&mut polled, poll_timeout(Some(until)))? == 0 {
            break;
        }
        match output.read(&mut buffer)? {
            0 => break,
            bytes => answers.extend_from_slice(&buffer[..bytes]),
        }
    }
    Ok(answers)
}

/// A process that ends with this value.
struct KilledOnDrop(Child);

impl Drop for KilledOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        // One that reads from a file system that hangs is collected later, with orphans.
        let until = Instant::now() + Duration::from_millis(100);
        while matches!(self.0.try_wait(), Ok(None)) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_librarys_lines_about_calls_name_places() {
        let place =
            |line: &str| CodeAddress::of_line(line.as_bytes()).map(|it| (it.address, it.path));
        for (line, address, path) in [
            ("oneshmem: PE 1: called from main+0x1b in /a b/ring(+0x1151)\n", 0x1151, "/a b/ring"),
            ("oneshmem: called from /ring(+0x1151)\n", 0x1151, "/ring"),
            ("oneshmem: PE 12:   10 f+0x1 in ./a (1)(+0xf)\n", 0xf, "./a (1)"),
            ("oneshmem: PE 12:    0 /x(+0x1)\n", 1, "/x"),
        ] {
            assert_eq!(place(line), Some((address, path.into())), "{line}");
        }
        let long = format!("oneshmem: called from {}(+0x1)\n", "/x".repeat(PATH_BYTES));
        for line in [
            "oneshmem: PE 1: called from main+0x1b in /ring(+0x1151)", // not whole
            "oneshmem: PE 1: called from 0x401151\n",
            "oneshmem: PE 1: called from /ring(+0x)\n",
            "oneshmem: PE 1: called from /ring(+0x11111111111111111)\n",
            "oneshmem: PE 1: called from (+0x1)\n",
            "oneshmem: PE 1: shmem_long_p: pe = 2 in /ring(+0x1)\n",
            " oneshmem: PE 1: called from /ring(+0x1)\n",
            "oshrun: called from /ring(+0x1)\n",
            &long,
        ] {
            assert_eq!(place(line), None, "{line}");
        }
        assert_eq!(CodeAddress::of_line(b"oneshmem: called from /\xff(+0x1)\n"), None);
    }

    #[test]
    fn no_more_is_added_than_has_room() {
        let name = "_RINvC1a1bTyyyyyyETB7_B7_B7_B7_ETBf_Bf_Bf_Bf_Bf_Bf_EE";
        let text = format!("oneshmem: called from {name}+0x4 in /ring(+0x1)\n").repeat(2000);
        let completed = SourceLines::default().complete(text.as_bytes()).len();
        assert!((text.len() + 1..=text.len() + ADDED_BYTES).contains(&completed), "{completed}");
    }

    #[test]
    fn an_answer_is_a_file_and_a_line() {
        let source = |answer| source(answer, Path::new("/home/me"));
        assert_eq!(source("/home/me/src/ring.c:14").as_deref(), Some("src/ring.c:14"));
        assert_eq!(source("/home/you/ring.c:14").as_deref(), Some("/home/you/ring.c:14"));
        let long = format!("/{}:1", "x".repeat(ANSWER_BYTES));
        for answer in ["", "ring.c", "ring.c:0", "ring.c:x", "\x1b[2Jring.c:14", &long] {
            assert_eq!(source(answer), None, "{answer:?}");
        }
    }
}
