//! Meeting under a name, as an alternative to exchanging cards by the client's own means. All
//! processes of the user that know the name leave their cards on one table and read the others'.

use super::wait::INTERVAL;
use super::{Inner, Node, deadline};
use crate::Rank;
use crate::card_table::{CardTable, MOST};
use crate::error::Error;
use onenode_core::sys::hash::fnv1a;
use onenode_core::sys::point::Rendezvous;
use onenode_core::sys::{fd, process};
use std::fs::File;
use std::os::fd::AsFd;
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
        let joined = JoinedTable::join(self, name(key), rank, ranks, deadline)?;
        if let Err(error) = joined.await_all(&self.0, deadline) {
            if joined.withdraw(&self.0) {
                return Err(error);
            }
        }
        for (rank, card) in joined.table.cards() {
            self.know(Some(rank), &card)?;
        }
        Ok(())
    }
}

/// A card table on which this process has left its card.
struct JoinedTable {
    table: CardTable,
    rank: Rank,
    name: String,
    /// While it is open, others find the table.
    file: File,
}

impl JoinedTable {
    fn join(
        node: &Node,
        name: String,
        rank: Rank,
        ranks: u32,
        deadline: Option<Instant>,
    ) -> Result<Self, Error> {
        let place = lock(&node.0, &name, deadline)?;
        let (file, table) = match place.file()? {
            Some(file) => {
                let table = CardTable::open(file.as_fd(), ranks)?;
                (file, table)
            }
            None => {
                let file = place.make(CardTable::bytes(ranks) as u64)?;
                let table = CardTable::begin(file.as_fd(), ranks)?;
                (file, table)
            }
        };
        if !table.leave(rank, &node.card()?) {
            let expected = "a number that no other process has that meets at this key";
            return Err(Error::argument("rank", rank, expected));
        }
        if table.is_complete() {
            place.remove();
        }
        Ok(Self { table, rank, name, file })
    }

    /// Waits until all have arrived.
    fn await_all(&self, node: &Inner, deadline: Option<Instant>) -> Result<(), Error> {
        let mut pause = node.wait(deadline, || {
            self.table.cards().try_for_each(|(rank, card)| {
                let address = card.read()?.address;
                match process::is_running(address.pid, address.started) {
                    true => Ok(()),
                    false => Err(Error::Died { rank }),
                }
            })
        });
        while !self.table.is_complete() {
            pause.step()?;
        }
        Ok(())
    }

    /// Removes this process's card. Returns false if all have arrived in the meantime.
    fn withdraw(&self, node: &Inner) -> bool {
        // Limited, because a stopped process may hold the lock.
        let Ok(place) = lock(node, &self.name, Instant::now().checked_add(INTERVAL)) else {
            return true;
        };
        if !self.table.take_away(self.rank) {
            return false;
        }
        fd::unlock(self.file.as_fd());
        place.sweep();
        true
    }
}

/// Waits until no other process has the place to meet locked, and locks it.
fn lock(node: &Inner, name: &str, deadline: Option<Instant>) -> Result<Rendezvous, Error> {
    loop {
        match Rendezvous::lock(name, None)? {
            Some(place) => return Ok(place),
            None => {
                process::yield_cpu();
                node.turn(deadline)?;
            }
        }
    }
}

/// The name of a key's table. It also depends on the PID namespace, because process numbers are
/// valid only within one.
fn name(key: &[u8]) -> String {
    let namespace = process::pid_namespace().to_le_bytes();
    format!("{:032x}", fnv1a(namespace.iter().chain(key)))
}
