//! A place where processes of one user find each other by a name, in any order: folders in which
//! nobody else can make, read or remove anything. What lies there under a name is either a file that
//! all map, or a socket at which the first process hands its open files to the others, because files
//! that have no name cannot be opened through `/proc` from another user namespace, or without `/proc`.
//!
//! The folders lie in `$XDG_RUNTIME_DIR` and `/run/user/UID`, if they are the user's own, and in
//! `/dev/shm` and `/tmp`, if they are sticky, so that only the owner can rename or remove what is in
//! them. Any of these may be missing, read-only, or in a container another one for each process;
//! therefore sockets lie in all of them, and one that two processes share is enough.
//!
//! Why another user is kept out:
//! - In each base a folder has one of few fixed names. So no base is listed, and what others put there
//!   delays nobody. Others can take names in a sticky base; the first that is free is used. Who takes all
//!   of them has not taken the last one, which follows from what those that meet know, unless they know
//!   that, too. Then users that have no directory of their own cannot meet, and are told who it is.
//! - Nothing is secret: knowing the name of a folder of mode 0700 is of no use.
//! - That a folder is the user's own is shown by its owner, and by changing its mode, which only the
//!   owner may: in a user namespace, all users without a number there seem to be one, perhaps this
//!   one.
//!
//! If another user takes and frees names meanwhile, two processes of this user may make a folder each, under
//! two names. Therefore a process that has made one looks at all names again, locks all folders, and looks in
//! all of them: of two processes that come at the same time, at least one sees both folders, and locks the one
//! that the other uses. A lock (flock) ends with its process. While somebody holds it, nobody sees a partial
//! state; it is never held in order to wait for another process.
//!
//! Nothing is left for ever, and nothing dead is taken for alive: a socket that nobody listens at
//! refuses, and a file that somebody uses is locked. What is dead is removed by whoever finds it. Who
//! has locked a folder removes it, unless something is in it.

mod folder;
mod host;
#[cfg(test)]
mod tests;

use crate::error::Error;
use crate::sys::{fd, process};
use folder::{Folder, bases, unfit};
pub use host::{Guest, Host};
use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// The user's folders, locked by this process until the value is dropped, for those that meet under a name.
#[derive(Debug)]
pub struct Rendezvous {
    name: String,
    folders: Vec<Folder>,
    runtime: Option<PathBuf>,
}

impl Rendezvous {
    /// The place to meet under `name`, unless another process has locked it. `runtime` is the user's own
    /// directory (`$XDG_RUNTIME_DIR`), if one is known.
    ///
    /// # Errors
    /// If there can be no folder anywhere.
    pub fn lock(name: &str, runtime: Option<&Path>) -> Result<Option<Self>, Error> {
        Self::lock_in(name, bases(runtime), runtime)
    }

    fn lock_in(
        name: &str,
        bases: Vec<PathBuf>,
        runtime: Option<&Path>,
    ) -> Result<Option<Self>, Error> {
        let (folders, runtime) = (Vec::new(), runtime.map(Path::to_owned));
        let mut place = Self { name: name.to_owned(), folders, runtime };
        let mut reasons = Vec::new();
        for base in bases {
            let found = match unfit(&base) {
                Some(why) => Err(why),
                None => Folder::all_in(&base, name),
            };
            match found.and_then(|found| place.take(found)) {
                Ok(true) => {}
                Ok(false) => return Ok(None),
                Err(why) => reasons.push(format!("{}: {why}", base.display())),
            }
        }
        if place.folders.is_empty() {
            return Err(Error::NoWay(format!(
                "user {} has no place for processes to meet; expected one of these to be usable: {}",
                process::user(),
                reasons.join("; ")
            )));
        }
        Ok(Some(place))
    }

    /// Locks the folders of a base. False if there is none any more, or another process has locked one: who
    /// does without it may miss the others.
    fn take(&mut self, found: Vec<Folder>) -> Result<bool, String> {
        let is_there = !found.is_empty();
        for folder in found {
            // One directory may have two names.
            if self.folders.iter().any(|other| other.identity == folder.identity) {
                continue;
            }
            match fd::try_lock(folder.open.as_fd()) {
                Ok(true) if folder.is_there() => self.folders.push(folder),
                Ok(_) => return Ok(false),
                Err(error) => {
                    // Nobody can lock it.
                    let _ = fs::remove_dir(&folder.path);
                    return Err(format!("{} cannot be locked: {error}", folder.path.display()));
                }
            }
        }
        Ok(is_there)
    }

    /// The paths of the name.
    fn paths(&self) -> impl Iterator<Item = PathBuf> {
        self.folders.iter().map(|folder| folder.path.join(&self.name))
    }

    /// A connection to the process that hands out files, if there is one.
    pub fn guest(&self) -> Result<Option<Guest>, Error> {
        for path in self.paths() {
            match UnixStream::connect(&path) {
                Ok(stream) => return Ok(Some(Guest(stream))),
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                    let _ = fs::remove_file(&path);
                }
                Err(error) if is_absent(&error) => {}
                Err(source) => {
                    return Err(Error::System { call: "connecting to the process met", source });
                }
            }
        }
        Ok(None)
    }

    /// Makes this process the one that hands out `files`, where nobody does.
    pub fn host(&self, files: Vec<OwnedFd>) -> Result<Host, Error> {
        self.sweep();
        let (mut listeners, mut paths, mut failure) = (Vec::new(), Vec::new(), None);
        for path in self.paths() {
            let bound = UnixListener::bind(&path).and_then(|listener| {
                listener.set_nonblocking(true)?;
                allow(&path, 0o700).map(|()| listener)
            });
            match bound {
                Ok(listener) => {
                    listeners.push(listener);
                    paths.push(path);
                }
                Err(error) => {
                    let _ = fs::remove_file(&path);
                    failure = Some(error);
                }
            }
        }
        match failure {
            Some(source) if listeners.is_empty() => {
                Err(Error::System { call: "making a socket to meet at", source })
            }
            _ => {
                let (name, runtime) = (self.name.clone(), self.runtime.clone());
                Ok(Host { listeners, guests: Vec::new(), files, paths, name, runtime })
            }
        }
    }

    /// The file that other processes use, if there is one.
    pub fn file(&self) -> Result<Option<File>, Error> {
        for path in self.paths() {
            let failed = |source| Error::System { call: "opening the file to meet at", source };
            match File::options().read(true).write(true).open(&path) {
                Ok(file) if is_used(&file).map_err(failed)? => return Ok(Some(file)),
                Ok(_) => drop(fs::remove_file(&path)),
                Err(error) if is_absent(&error) => {}
                Err(error) => return Err(failed(error)),
            }
        }
        Ok(None)
    }

    /// Makes a file of that many zero bytes, where there is none. It is used as long as it is open.
    pub fn make(&self, bytes: u64) -> Result<File, Error> {
        self.sweep();
        let mut failure = None;
        for path in self.paths() {
            let mut options = File::options();
            options.read(true).write(true).create_new(true).mode(0o600);
            let failed = |source| Error::System { call: "making a file to meet at", source };
            let made = options.open(&path).and_then(|file| {
                allow(&path, 0o600)?;
                fd::share_lock(file.as_fd()).map(|_| file)
            });
            match made
                .map_err(failed)
                .and_then(|file| fd::extend(file.as_fd(), bytes).map(|()| file))
            {
                Ok(file) => return Ok(file),
                Err(error) => {
                    let _ = fs::remove_file(&path);
                    failure = Some(error);
                }
            }
        }
        Err(failure.unwrap_or_else(|| Error::NoWay("there is no folder to meet in".into())))
    }

    /// Removes what is there under the name.
    pub fn remove(&self) {
        self.paths().for_each(|path| drop(fs::remove_file(path)));
    }

    /// Removes what dead processes have left.
    pub fn sweep(&self) {
        for folder in &self.folders {
            for entry in fs::read_dir(&folder.path).into_iter().flatten().flatten() {
                let path = entry.path();
                let is_dead = match entry.file_type() {
                    Ok(kind) if kind.is_socket() => UnixStream::connect(&path)
                        .is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused),
                    Ok(kind) if kind.is_file() => {
                        File::open(&path).and_then(|file| is_used(&file)).is_ok_and(|used| !used)
                    }
                    _ => false,
                };
                if is_dead {
                    let _ = fs::remove_file(path);
                }
            }
        }
    }
}

impl Drop for Rendezvous {
    fn drop(&mut self) {
        for folder in &self.folders {
            // Fails if something is in it.
            let _ = fs::remove_dir(&folder.path);
            // Not by closing alone: a process forked meanwhile has the folder open, too.
            fd::unlock(folder.open.as_fd());
        }
    }
}

/// Gives the owner of what lies at `path`, in a folder of this user alone, what the umask may have taken.
fn allow(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(mode))
}

/// Whether there is nothing of that name.
fn is_absent(error: &io::Error) -> bool {
    error.kind() == ErrorKind::NotFound
}

/// Whether another process uses this file. If so, this one does from now on.
fn is_used(file: &File) -> io::Result<bool> {
    Ok(!fd::try_lock(file.as_fd())? && fd::share_lock(file.as_fd())?)
}
