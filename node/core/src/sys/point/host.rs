//! The process that hands out its files at a place, and those that come for them.

use super::Rendezvous;
use crate::sys::pass;
use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::time::Duration;

/// How often, and after how long each time, a leaving host tries to lock the place.
const TRIES: u32 = 50;
const AGAIN: Duration = Duration::from_millis(2);

/// The process that hands out its files.
#[derive(Debug)]
pub struct Host {
    pub(super) listeners: Vec<UnixListener>,
    pub(super) guests: Vec<UnixStream>,
    pub(super) files: Vec<OwnedFd>,
    /// Where its sockets are.
    pub(super) paths: Vec<PathBuf>,
    pub(super) name: String,
    pub(super) runtime: Option<PathBuf>,
}

impl Host {
    /// Hands the files to those who have come, without waiting.
    pub fn serve(&mut self) {
        self.guests.retain(|guest| {
            let still = guest.set_nonblocking(true).and_then(|()| (&*guest).read(&mut [0]));
            still.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
        });
        for listener in &self.listeners {
            while let Ok((guest, _)) = listener.accept() {
                if pass::give(&guest, &self.files).is_ok() {
                    self.guests.push(guest);
                }
            }
        }
    }

    /// Waits until somebody comes or goes, but no longer than `limit`.
    pub fn wait(&self, limit: Duration) {
        let listeners = self.listeners.iter().map(AsFd::as_fd);
        pass::wait(listeners.chain(self.guests.iter().map(AsFd::as_fd)), limit);
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.listeners.clear();
        if !self.paths.iter().any(|path| path.exists()) {
            return; // The last guest has removed it.
        }
        // If this fails, the next process that meets somebody does it.
        for _ in 0..TRIES {
            match Rendezvous::lock(&self.name, self.runtime.as_deref()) {
                Ok(None) => std::thread::sleep(AGAIN),
                Ok(Some(place)) => return place.sweep(),
                Err(_) => return,
            }
        }
    }
}

/// A connection to the process that hands out its files. Closing it tells that process.
#[derive(Debug)]
pub struct Guest(pub(super) UnixStream);

impl Guest {
    /// The files, or `None` if they have not come yet.
    ///
    /// # Errors
    /// [`ErrorKind::UnexpectedEof`] if the process has gone.
    pub fn files(&self) -> io::Result<Option<Vec<OwnedFd>>> {
        pass::take(&self.0)
    }

    /// Waits until there is news, but no longer than `limit`.
    pub fn wait(&self, limit: Duration) {
        pass::wait(std::iter::once(self.0.as_fd()), limit);
    }
}
