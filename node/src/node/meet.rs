//! Meeting under a name, as an alternative to exchanging cards by the client's own means. All
//! processes of the user that know the name leave their cards on one table and read the others'.

use super::wait::{INTERVAL, Looks};
use super::{Inner, Node, deadline};
use crate::Rank;
use crate::card_table::{CardTable, MOST};
use crate::error::Error;
use crate::pause::{Habits, Pause, Waiting};
use crate::sys::hash::fnv1a;
use crate::sys::peer;
use crate::sys::point::{Directory, Host};
use crate::sys::{fd, process};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

impl Node {
    /// Exchanges cards with all ranks below `ranks`. Each of them calls this with the same key, as
    /// the same user, on this machine and in this PID namespace. Leaves no file and no process
    /// behind. Use a key for one meeting at a time.
    ///
    /// # Errors
    /// [`Error::Argument`] if this node has no rank of its own, another process has the same rank,
    /// or others pass a different number of ranks; [`Error::Died`] if a rank ends before all have
    /// arrived; [`Error::Time`], or an error of the progress function.
    pub fn meet(&self, key: &[u8], ranks: u32, limit: Duration) -> Result<(), Error> {
        self.0.check()?;
        let Some(rank) = self.0.rank else {
            return Err(Error::argument(
                "rank",
                "none",
                "a number, Config::rank, to meet others by",
            ));
        };
        if ranks == 0 || ranks > MOST || rank >= ranks {
            let expected = format!("more than this process's rank {rank}, {MOST} at most");
            return Err(Error::argument("ranks", ranks, expected));
        }
        let deadline = deadline(limit);
        let name = name(key);
        loop {
            let joined = Joined::join(self, &name, rank, ranks, deadline)?;
            match joined.await_all(&self.0, deadline) {
                Ok(true) => {}
                // The creator of the table has given up: there will be another table.
                Ok(false) => continue,
                Err(error) => {
                    if joined.withdraw(&self.0) {
                        return Err(error);
                    }
                }
            }
            for (rank, card) in joined.table.cards() {
                self.know(Some(rank), &card)?;
            }
            return Ok(());
        }
    }
}

/// A card table on which this process has left its card.
struct Joined<'k> {
    table: CardTable,
    name: &'k str,
    rank: Rank,
    /// Set if this process has created the table. Others find the table by this descriptor.
    made: Option<(OwnedFd, Host)>,
}

impl<'k> Joined<'k> {
    fn join(
        node: &Node,
        name: &'k str,
        rank: Rank,
        ranks: u32,
        deadline: Option<Instant>,
    ) -> Result<Self, Error> {
        let directory = lock(&node.0, deadline)?;
        let host = directory.host(name);
        let found = host.map(|host| peer::open(host.pid, host.descriptor, host.inode));
        let (table, made) = match found {
            Some(Ok(file)) => (CardTable::open(file.as_fd(), ranks)?, None),
            // No process is there, or one that is about to leave.
            None | Some(Err(_)) => {
                let (file, table) = CardTable::make(ranks)?;
                let host = Host {
                    pid: process::pid(),
                    started: process::own_start(),
                    descriptor: file.as_raw_fd(),
                    inode: fd::inode(file.as_fd())?,
                };
                directory.put(name, host)?;
                (table, Some((file, host)))
            }
        };
        if !table.leave(rank, &node.card()) {
            let expected = "a number that no other process has that meets at this key";
            return Err(Error::argument("rank", rank, expected));
        }
        let joined = Self { table, name, rank, made };
        if joined.table.is_complete() {
            if let Some(host) = directory.host(name) {
                directory.remove(name, host);
            }
        }
        Ok(joined)
    }

    /// Waits until all have arrived. Returns false if the table was abandoned.
    fn await_all(&self, node: &Inner, deadline: Option<Instant>) -> Result<bool, Error> {
        let looks = Looks::default();
        let mut pause = Pause::new(ForAll { node, table: &self.table, deadline, looks });
        while !self.table.is_complete() {
            if self.table.is_abandoned() {
                return Ok(false);
            }
            pause.step()?;
        }
        Ok(true)
    }

    /// Removes this process's card. Returns false if all have arrived in the meantime.
    fn withdraw(&self, node: &Inner) -> bool {
        // Limited, because a stopped process may hold the lock.
        let Ok(directory) = lock(node, Instant::now().checked_add(INTERVAL)) else { return true };
        if !self.table.take_away(self.rank) {
            return false;
        }
        if let Some((_, host)) = &self.made {
            directory.remove(self.name, *host);
            self.table.abandon();
        }
        true
    }
}

/// Waits until no other process has the meeting directory locked, and locks it.
fn lock(node: &Inner, deadline: Option<Instant>) -> Result<Directory, Error> {
    loop {
        match Directory::lock()? {
            Some(directory) => return Ok(directory),
            None => {
                process::yield_cpu();
                node.turn(deadline)?;
            }
        }
    }
}

/// The name of a key's link. It also depends on the PID namespace, because process numbers are
/// valid only within one.
fn name(key: &[u8]) -> String {
    let namespace = process::pid_namespace().to_le_bytes();
    format!("{:032x}", fnv1a(namespace.iter().chain(key)))
}

/// A wait for all processes that meet.
struct ForAll<'n> {
    node: &'n Inner,
    table: &'n CardTable,
    deadline: Option<Instant>,
    looks: Looks,
}

impl Waiting for ForAll<'_> {
    type Stop = Error;

    fn habits(&self) -> &Habits {
        &self.node.habits
    }

    fn turn(&mut self) -> Result<(), Error> {
        self.node.turn(self.deadline)
    }

    fn look(&mut self, _: Instant) -> Result<(), Error> {
        self.turn()?;
        if !self.looks.are_due() {
            return Ok(());
        }
        for (rank, card) in self.table.cards() {
            let address = card.read()?.address;
            if !process::is_running(address.pid, address.started) {
                return Err(Error::Died { rank });
            }
        }
        Ok(())
    }
}
