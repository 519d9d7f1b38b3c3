//! The meeting point of a foreign launcher's job: a symbolic link in a directory, and beside it a
//! notice for each PE that joins too late.
//!
//! No other user can occupy, read or remove either. The directory is the user's own
//! (`$XDG_RUNTIME_DIR`), or one where only the owner can remove a file (`/dev/shm`, `/tmp`, which
//! are sticky). There, the link's name cannot be predicted: part of it is derived from the
//! addresses at which the kernel has laid out the launching process (`/proc/PID/auxv`). They are
//! random, and only processes of the same user can read them, so all PEs know them and no other
//! user does. Once the link exists its name is no longer secret, but no longer free either. If the
//! launching process belongs to another user, or its addresses are not random, only a directory of
//! the user's own is used.
//!
//! If a job was killed as a whole, the user's next job removes what it left behind.

use crate::sys::environment;
use onenode::sys::process;
use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

/// Directories where every user can create files, and only the owner can remove them.
const STICKY: [&str; 2] = ["/dev/shm", "/tmp"];
/// `ADDR_NO_RANDOMIZE` of personality(2).
const NOT_RANDOM: u32 = 0x0004_0000;

/// The meeting point of one job.
#[derive(Debug)]
pub(super) struct Point {
    link: PathBuf,
    /// The launching process, as it appears at the end of each link's text.
    launcher: String,
}

/// The process that created the job's file, and its descriptors, each plus 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Host {
    pub pid: u32,
    pub started: u64,
    pub files: [i32; 2],
}

impl Host {
    fn parse(text: &str) -> Option<Self> {
        let mut fields = text.split(' ');
        Some(Self {
            pid: fields.next()?.parse().ok()?,
            started: fields.next()?.parse().ok()?,
            files: [fields.next()?.parse().ok()?, fields.next()?.parse().ok()?],
        })
    }
}

impl Point {
    /// The meeting point of the job `name` with `npes` PEs, whose processes carry `variable`.
    pub fn find(variable: &str, name: &str, npes: usize) -> Result<Self, String> {
        let (pid, started) = launching_process(variable);
        let secret = random_addresses(pid);
        let directory = directory(secret.is_some()).ok_or_else(|| {
            format!(
                "the PEs have no place to meet that is this user's alone; expected \
                 XDG_RUNTIME_DIR to name a directory that belongs to user {} and has mode 0700",
                process::user()
            )
        })?;
        let mut hash = DefaultHasher::new();
        (name, npes, pid, started, secret).hash(&mut hash);
        let link = format!("{}{:016x}", prefix(), hash.finish());
        let launcher = format!("{} {pid} {started}", process::pid_namespace());
        Ok(Self { link: directory.join(link), launcher })
    }

    /// The host to join; `None` if there is no link.
    pub fn read(&self) -> Result<Option<Host>, String> {
        let shown = self.link.display();
        let text = match fs::read_link(&self.link) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(format!("the meeting point {shown}: {error}")),
        };
        match Host::parse(&text.to_string_lossy()) {
            Some(host) if owned(&self.link) => Ok(Some(host)),
            // It has just been removed.
            Some(_) if !self.link.is_symlink() => Ok(None),
            _ => Err(format!("the meeting point {shown} is not one of user {}", process::user())),
        }
    }

    /// Creates the link; `false` if it exists already.
    pub fn host(&self, host: Host) -> Result<bool, String> {
        let Host { pid, started, files: [file, huge] } = host;
        let text = format!("{pid} {started} {file} {huge} {}", self.launcher);
        match symlink(text, &self.link) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(format!("making {}: {error}", self.link.display())),
        }
    }

    /// Removes the link.
    pub fn remove(&self) {
        let _ = fs::remove_file(&self.link);
    }

    fn notice(&self, pe: usize) -> PathBuf {
        self.link.with_extension(pe.to_string())
    }

    /// Leaves a notice for PE `pe` with the word that ended the job.
    pub fn leave_notice(&self, pe: usize, word: u64) {
        // On failure, the PE waits for the others until the startup timeout.
        let _ = symlink(format!("{word} {}", self.launcher), self.notice(pe));
    }

    /// Removes the notice for PE `pe` and returns its word, if there is one.
    pub fn take_notice(&self, pe: usize) -> Option<u64> {
        let notice = self.notice(pe);
        let text = fs::read_link(&notice).ok().filter(|_| owned(&notice))?;
        let _ = fs::remove_file(&notice);
        text.to_str()?.split(' ').next()?.parse().ok()
    }

    /// Removes links left by jobs of this user whose launching process has ended.
    pub fn sweep(&self) {
        let Some(directory) = self.link.parent() else { return };
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        let ours = |name: &OsStr| name.to_str().is_some_and(|name| name.starts_with(&prefix()));
        for path in entries.filter(|entry| ours(&entry.file_name())).map(|entry| entry.path()) {
            let text = fs::read_link(&path).unwrap_or_default();
            if owned(&path) && text.to_str().is_some_and(is_stale) {
                let _ = fs::remove_file(&path);
            }
        }
    }
}

/// The prefix of the names of all links of this user.
fn prefix() -> String {
    format!("oneshmem-{}-", process::user())
}

/// Whether a link with this text was left by a job whose launching process has ended.
fn is_stale(text: &str) -> bool {
    let mut fields = text.rsplit(' ').map(str::parse::<u64>);
    let (Some(Ok(started)), Some(Ok(pid)), Some(Ok(namespace))) =
        (fields.next(), fields.next(), fields.next())
    else {
        return false;
    };
    namespace == process::pid_namespace()
        && process::status(pid as u32).is_none_or(|status| status.started != started)
}

fn owned(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|status| status.uid() == process::user())
}

/// The directory to meet in; `None` if a predictable name would have to lie where other users can
/// create files.
fn directory(unforeseeable: bool) -> Option<PathBuf> {
    let own = environment::variable("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| {
        let private = |status: fs::Metadata| {
            status.is_dir() && status.uid() == process::user() && status.mode() & 0o077 == 0
        };
        path.is_absolute() && fs::symlink_metadata(path).is_ok_and(private)
    });
    let sticky = || {
        let is_sticky = |path: &PathBuf| {
            fs::metadata(path).is_ok_and(|status| status.is_dir() && status.mode() & 0o1000 != 0)
        };
        STICKY.map(PathBuf::from).into_iter().find(is_sticky).filter(|_| unforeseeable)
    };
    own.or_else(sticky)
}

/// The addresses at which a process of this user was laid out, if they are random.
fn random_addresses(pid: u32) -> Option<Vec<u8>> {
    let random = fs::read_to_string("/proc/sys/kernel/randomize_va_space").ok()?.trim() != "0";
    let personality = fs::read_to_string(format!("/proc/{pid}/personality")).ok()?;
    let personality = u32::from_str_radix(personality.trim(), 16).ok()?;
    let vector = fs::read(format!("/proc/{pid}/auxv")).ok().filter(|bytes| !bytes.is_empty())?;
    (random && personality & NOT_RANDOM == 0).then_some(vector)
}

/// The process that launched the job, with its start time, so that a reused process ID is not
/// mistaken for it. It is the nearest ancestor that does not carry the launcher's variable itself
/// (those that do are scripts around the PE).
fn launching_process(variable: &str) -> (u32, u64) {
    let mut pid = process::parent();
    loop {
        let (parent, started) = process::status(pid).map_or((0, 0), |s| (s.parent, s.started));
        let carries = fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environment| {
            environment
                .split(|byte| *byte == 0)
                .any(|entry| entry.starts_with(variable.as_bytes()) && entry.contains(&b'='))
        });
        if !carries || parent == 0 {
            return (pid, started);
        }
        pid = parent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(name: &str) -> Point {
        let launcher = process::status(process::pid()).expect("/proc").started;
        let launcher = format!("{} {} {launcher}", process::pid_namespace(), process::pid());
        let link = format!("{}test-{}-{name}", prefix(), process::pid());
        Point { link: std::env::temp_dir().join(link), launcher }
    }

    #[test]
    fn one_is_first_and_the_others_read_who() {
        let point = point("first");
        assert_eq!(point.read(), Ok(None));
        let host = Host { pid: 7, started: 9, files: [4, 0] };
        assert_eq!(point.host(host), Ok(true));
        assert_eq!(point.host(Host { pid: 8, ..host }), Ok(false));
        assert_eq!(point.read(), Ok(Some(host)));
        point.remove();
        assert_eq!(point.read(), Ok(None));
    }

    #[test]
    fn a_notice_is_for_one_pe_and_for_once() {
        let point = point("notice");
        point.leave_notice(3, 77);
        assert_eq!(point.take_notice(2), None);
        assert_eq!(point.take_notice(3), Some(77));
        assert_eq!(point.take_notice(3), None);
    }

    #[test]
    fn only_what_a_dead_launcher_left_is_swept() {
        let (live, mut dead) = (point("live"), point("dead"));
        dead.launcher = format!("{} {} 1", process::pid_namespace(), process::pid());
        let mut elsewhere = point("elsewhere");
        elsewhere.launcher = format!("1 {} 1", process::pid());
        for point in [&live, &dead, &elsewhere] {
            point.leave_notice(0, 1);
        }
        live.sweep();
        assert_eq!(dead.take_notice(0), None);
        assert_eq!(live.take_notice(0), Some(1));
        assert_eq!(elsewhere.take_notice(0), Some(1), "its numbers are of another namespace");
    }

    #[test]
    fn what_is_no_link_of_ours_is_refused() {
        let point = point("garbage");
        symlink("what is this", &point.link).expect("made");
        assert!(point.read().is_err());
        point.remove();
    }

    #[test]
    fn the_addresses_of_a_process_of_this_user_are_known() {
        let own = random_addresses(process::pid());
        assert_eq!(own, random_addresses(process::pid()));
        // A kernel thread has none; and another user's process cannot be read.
        assert_eq!(random_addresses(2), None);
    }
}
