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
//! - A folder's name is random, and processes find it by its owner and mode. So nobody can occupy a
//!   name beforehand, and nothing need be secret: knowing the name of a folder of mode 0700 is of no
//!   use.
//! - That a folder is the user's own is shown by its owner, and by changing its mode, which only the
//!   owner may: in a user namespace, all users without a number there seem to be one, perhaps this
//!   one.
//!
//! Two processes that make a folder at the same time make two. Therefore a process first makes one,
//! then looks for all, locks them all, and looks in all of them: of two processes that come at the same
//! time, at least one sees both folders, and locks the one that the other uses. A lock (flock) ends
//! with its process. While somebody holds it, nobody sees a partial state; it is never held in order
//! to wait for another process.
//!
//! Nothing is left for ever, and nothing dead is taken for alive: a socket that nobody listens at
//! refuses, and a file that somebody uses is locked. What is dead is removed by whoever finds it. A
//! folder is removed with the last thing in it.

mod folder;
mod host;
#[cfg(test)]
mod tests;

use crate::error::Error;
use crate::sys::{fd, process};
use folder::{Folder, bases, unfit};
pub use host::{Guest, Host};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// The user's folders, locked by this process until the value is dropped.
#[derive(Debug)]
pub struct Place {
    folders: Vec<Folder>,
    runtime: Option<PathBuf>,
}

impl Place {
    /// The place, unless another process has locked it. `runtime` is the user's own directory
    /// (`$XDG_RUNTIME_DIR`), if one is known.
    ///
    /// # Errors
    /// If there can be no folder anywhere.
    pub fn lock(runtime: Option<&Path>) -> Result<Option<Self>, Error> {
        Self::lock_in(bases(runtime), runtime)
    }

    fn lock_in(bases: Vec<PathBuf>, runtime: Option<&Path>) -> Result<Option<Self>, Error> {
        let mut reasons = Vec::new();
        let mut fit = Vec::new();
        for base in bases {
            let made = match unfit(&base) {
                Some(why) => Err(why),
                None if !Folder::all_in(&base).is_empty() => Ok(None),
                None => Folder::make_in(&base).map(Some).map_err(|error| error.to_string()),
            };
            match made {
                Ok(made) => fit.push((base, made)),
                Err(why) => reasons.push(format!("{}: {why}", base.display())),
            }
        }
        if fit.is_empty() {
            return Err(Error::NoWay(format!(
                "user {} has no place for processes to meet; expected one of these to be usable: {}",
                process::user(),
                reasons.join("; ")
            )));
        }
        let mut folders: Vec<Folder> = Vec::new();
        let Some(found) = find(&fit) else { return Ok(None) };
        for folder in found {
            // One directory may have two names.
            if folders.iter().any(|other| other.identity == folder.identity) {
                continue;
            }
            let failed = |source| Error::System { call: "locking a folder to meet in", source };
            if !fd::try_lock(folder.open.as_fd()).map_err(failed)? || !folder.is_there() {
                return Ok(None);
            }
            folders.push(folder);
        }
        let runtime = runtime.map(Path::to_owned);
        // All may have been removed meanwhile.
        Ok((!folders.is_empty()).then_some(Self { folders, runtime }))
    }

    /// The paths of `name`.
    fn paths(&self, name: &str) -> impl Iterator<Item = PathBuf> {
        self.folders.iter().map(move |folder| folder.path.join(name))
    }

    /// A connection to the process that hands out files at `name`, if there is one.
    pub fn guest(&self, name: &str) -> Result<Option<Guest>, Error> {
        for path in self.paths(name) {
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

    /// Makes this process the one that hands out `files` at `name`, where nobody is.
    pub fn host(&self, name: &str, files: Vec<OwnedFd>) -> Result<Host, Error> {
        self.sweep();
        let (mut listeners, mut paths, mut failure) = (Vec::new(), Vec::new(), None);
        for path in self.paths(name) {
            let bound = UnixListener::bind(&path)
                .and_then(|listener| listener.set_nonblocking(true).map(|()| listener));
            match bound {
                Ok(listener) => {
                    listeners.push(listener);
                    paths.push(path);
                }
                Err(error) => failure = Some(error),
            }
        }
        match failure {
            Some(source) if listeners.is_empty() => {
                Err(Error::System { call: "making a socket to meet at", source })
            }
            _ => {
                let runtime = self.runtime.clone();
                Ok(Host { listeners, guests: Vec::new(), files, paths, runtime })
            }
        }
    }

    /// The file at `name` that other processes use, if there is one.
    pub fn file(&self, name: &str) -> Result<Option<File>, Error> {
        for path in self.paths(name) {
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

    /// Makes a file of that many zero bytes at `name`, where there is none. It is used as long as it
    /// is open.
    pub fn make(&self, name: &str, bytes: u64) -> Result<File, Error> {
        self.sweep();
        let mut failure = None;
        for path in self.paths(name) {
            let mut options = File::options();
            options.read(true).write(true).create_new(true).mode(0o600);
            let failed = |source| Error::System { call: "making a file to meet at", source };
            let made =
                options.open(&path).and_then(|file| fd::share_lock(file.as_fd()).map(|_| file));
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

    /// Removes what is at `name`.
    pub fn remove(&self, name: &str) {
        self.paths(name).for_each(|path| drop(fs::remove_file(path)));
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

impl Drop for Place {
    fn drop(&mut self) {
        for folder in &self.folders {
            // Fails if something is in it.
            let _ = fs::remove_dir(&folder.path);
            // Not by closing alone: a process forked meanwhile has the folder open, too.
            fd::unlock(folder.open.as_fd());
        }
    }
}

/// The folders in these bases, each with the folder that has just been made there, if one has. `None` if a
/// base has none any more: its last user has removed it, and the next ones to come will make another. Who does
/// not lock that may miss them, if the other bases are its own.
fn find(bases: &[(PathBuf, Option<PathBuf>)]) -> Option<Vec<Folder>> {
    let mut all = Vec::new();
    for (base, made) in bases {
        let folders = Folder::all_in(base);
        // Where files belong to somebody else than their maker (a network's, say), it is there and never fits.
        let is_unfit = || made.as_ref().is_some_and(|made| made.symlink_metadata().is_ok());
        if folders.is_empty() && !is_unfit() {
            return None;
        }
        all.extend(folders);
    }
    Some(all)
}

/// Whether there is nothing of that name.
fn is_absent(error: &io::Error) -> bool {
    error.kind() == ErrorKind::NotFound
}

/// Whether another process uses this file. If so, this one does from now on.
fn is_used(file: &File) -> io::Result<bool> {
    Ok(!fd::try_lock(file.as_fd())? && fd::share_lock(file.as_fd())?)
}
