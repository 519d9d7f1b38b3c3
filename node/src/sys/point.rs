//! A place where processes of one user find each other by name: a symbolic link whose text names
//! the process that is there, in a directory of the user.
//!
//! The directory is `/run/user/UID/onenode` or, on a system without `/run/user/UID`, `onenode-UID`
//! in `/dev/shm` or `/tmp`, where only the owner can remove it. In either case this code checks
//! that it belongs to this user and is closed to others. It is locked during every look and write,
//! so nobody sees a partial state; the lock ends with the process. The directory is removed with
//! the last link.

use crate::error::Error;
use crate::sys::{fd, process};
use std::fs::{self, DirBuilder, File};
use std::io::ErrorKind;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};

/// Directories where everybody may create files, and only the owner may remove them.
const STICKY: [&str; 2] = ["/dev/shm", "/tmp"];

/// A process and its descriptor for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Host {
    /// The process.
    pub pid: u32,
    /// When it started.
    pub started: u64,
    /// Its descriptor.
    pub descriptor: i32,
    /// The file's inode.
    pub inode: u64,
}

impl Host {
    /// The host named by a link's text, if it is in this PID namespace.
    fn parse(text: &str) -> Option<Self> {
        let mut fields = text.split(' ');
        let namespace: u64 = fields.next()?.parse().ok()?;
        let host = Self {
            pid: fields.next()?.parse().ok()?,
            started: fields.next()?.parse().ok()?,
            descriptor: fields.next()?.parse().ok()?,
            inode: fields.next()?.parse().ok()?,
        };
        (namespace == process::pid_namespace()).then_some(host)
    }

    fn text(&self) -> String {
        let Self { pid, started, descriptor, inode } = self;
        format!("{} {pid} {started} {descriptor} {inode}", process::pid_namespace())
    }

    fn runs(&self) -> bool {
        process::is_running(self.pid, self.started)
    }
}

/// The directory, locked by this process until the value is dropped.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    open: File,
}

impl Directory {
    /// The directory, unless another process has locked it.
    pub fn lock() -> Result<Option<Self>, Error> {
        Self::lock_at(&place())
    }

    fn lock_at(path: &Path) -> Result<Option<Self>, Error> {
        let failed = |call| move |source| Error::System { call, source };
        match DirBuilder::new().mode(0o700).create(path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                return Err(failed("making the directory to meet in")(error));
            }
            _ => {}
        }
        let flags = libc::O_DIRECTORY | libc::O_NOFOLLOW;
        let open = match File::options().read(true).custom_flags(flags).open(path) {
            Ok(open) => open,
            // Removed in between.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed("opening the directory to meet in")(error)),
        };
        let status = open.metadata().map_err(failed("fstat of the directory to meet in"))?;
        if status.uid() != process::user() || status.mode() & 0o077 != 0 {
            return Err(Error::NoWay(format!(
                "the directory to meet in, {}, is not user {}'s alone; expected mode 0700",
                path.display(),
                process::user()
            )));
        }
        if !fd::try_lock(open.as_fd()).map_err(failed("locking the directory to meet in"))? {
            return Ok(None);
        }
        // It may have been replaced meanwhile.
        let same = fs::symlink_metadata(path).is_ok_and(|there| there.ino() == status.ino());
        Ok(same.then(|| Self { path: path.into(), open }))
    }

    fn link(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}/{name}", self.open.as_raw_fd()))
    }

    fn named(&self, name: &str) -> Option<Host> {
        Host::parse(fs::read_link(self.link(name)).ok()?.to_str()?)
    }

    /// The host at `name`, if it still runs.
    pub fn host(&self, name: &str) -> Option<Host> {
        self.named(name).filter(Host::runs)
    }

    /// Puts `host` at `name`, replacing any other. Removes the links of processes that no longer
    /// run.
    pub fn put(&self, name: &str, host: Host) -> Result<(), Error> {
        for entry in fs::read_dir(&self.path).into_iter().flatten().flatten() {
            let host = entry.file_name().to_str().and_then(|name| self.named(name));
            if host.is_some_and(|host| !host.runs()) {
                let _ = fs::remove_file(entry.path());
            }
        }
        let _ = fs::remove_file(self.link(name));
        symlink(host.text(), self.link(name))
            .map_err(|source| Error::System { call: "making a link to meet at", source })
    }

    /// Removes the link at `name` if it names `host`.
    pub fn remove(&self, name: &str, host: Host) {
        if self.host(name) == Some(host) {
            let _ = fs::remove_file(self.link(name));
            // Fails if others meet there.
            let _ = fs::remove_dir(&self.path);
        }
    }
}

/// The directory where this user's processes meet.
fn place() -> PathBuf {
    let user = process::user();
    let own = PathBuf::from(format!("/run/user/{user}"));
    let private = |status: fs::Metadata| {
        status.is_dir() && status.uid() == user && status.mode() & 0o077 == 0
    };
    if fs::symlink_metadata(&own).is_ok_and(private) {
        return own.join("onenode");
    }
    let is_sticky = |path: &&str| {
        fs::metadata(path).is_ok_and(|status| status.is_dir() && status.mode() & 0o1000 != 0)
    };
    let sticky = STICKY.into_iter().find(is_sticky).unwrap_or(STICKY[1]);
    Path::new(sticky).join(format!("onenode-{user}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> Host {
        let (pid, started) = (process::pid(), process::own_start());
        Host { pid, started, descriptor: 3, inode: 4 }
    }

    fn path(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("onenode-test-{}-{name}", process::pid()))
    }

    #[test]
    fn one_at_a_time_reads_and_writes() {
        let path = path("lock");
        let lock = || Directory::lock_at(&path).expect("looked");
        let directory = lock().expect("locked");
        assert!(lock().is_none(), "locked by another");
        assert_eq!(directory.host("a"), None);
        directory.put("a", own()).expect("made");
        drop(directory);
        let directory = lock().expect("locked again");
        assert_eq!(directory.host("a"), Some(own()));
        directory.put("b", Host { started: 1, ..own() }).expect("made");
        assert_eq!(directory.host("b"), None, "it is no more");
        directory.put("c", own()).expect("made");
        let names = || fs::read_dir(&path).expect("listed").count();
        assert_eq!(names(), 2, "what is left is swept");
        directory.put("c", Host { descriptor: 4, ..own() }).expect("replaced");
        assert_eq!(directory.host("c"), Some(Host { descriptor: 4, ..own() }));
        directory.put("c", own()).expect("replaced");
        directory.remove("a", Host { pid: 1, ..own() });
        assert_eq!(names(), 2, "another's");
        directory.remove("a", own());
        directory.remove("c", own());
        assert!(!path.exists(), "the directory goes with the last link");
        assert!(lock().is_some(), "and can be made again");
        fs::remove_dir(&path).expect("removed");
    }

    #[test]
    fn a_directory_that_others_can_use_is_refused() {
        let path = path("open");
        DirBuilder::new().mode(0o755).create(&path).expect("made");
        let error = Directory::lock_at(&path).expect_err("refused").to_string();
        fs::remove_dir(&path).expect("removed");
        assert!(error.contains("0700"), "{error}");
        symlink("/tmp", &path).expect("made");
        let error = Directory::lock_at(&path);
        fs::remove_file(&path).expect("removed");
        assert!(error.is_err());
    }
}
