//! What a client can choose when it opens a node.

use crate::Rank;
use crate::error::Error;
use std::os::fd::OwnedFd;

/// A node's settings.
#[derive(Default)]
pub struct Config {
    /// How memory is shared. It must come out equal in all ranks.
    pub backend: Choice,
    /// This process's own number; `None`: peers are numbered as they are met.
    pub rank: Option<Rank>,
    /// What a forked child has of this node's regions.
    pub fork: Fork,
    /// Whether ranks share CPUs.
    pub crowd: Crowd,
    /// Most regions at a time; 0: 64.
    pub regions: u32,
    /// Bytes of this process's home for the client itself: zeroed, reachable for every peer, and
    /// futexes work there.
    pub extra: u64,
    /// Called in every wait, each turn.
    pub progress: Option<Box<Progress>>,
    /// Where this process's home lies; `None`: in a file of its own.
    pub file: Option<JobFile>,
}

/// A client's part in each wait; an error ends the wait, and is its error:
/// [`Error::Stopped`], for example.
pub type Progress = dyn Fn() -> Result<(), Error> + Send + Sync;

/// How memory is shared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// By XPMEM where it works, else by memory files.
    #[default]
    Auto,
    /// By memory files: stock Linux.
    Memfd,
    /// By the XPMEM module, or not at all.
    Xpmem,
}

/// What a forked child has of the node's regions. Peers' memory it never has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fork {
    /// The very same memory, or over XPMEM copies as of all other memory: for children that run
    /// another program at once (exec).
    #[default]
    Shares,
    /// Nothing: the child's access faults.
    Drops,
}

/// Whether ranks share CPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Crowd {
    /// They do if the node knows of more ranks than there are CPUs.
    #[default]
    FindOut,
    /// They do: who waits yields at once.
    Shared,
    /// They do not.
    Alone,
}

/// A sealed memory file that all ranks of the node have, from their launcher: the home of rank
/// `r` lies at `offset + r * stride`, and its regions' memory behind it.
#[derive(Debug)]
pub struct JobFile {
    /// The file.
    pub file: OwnedFd,
    /// Where the home of rank 0 starts; whole pages.
    pub offset: u64,
    /// Bytes from one home to the next; whole pages. Sparse, so it may be large.
    pub stride: u64,
}

/// What a rank is, as this process sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum State {
    /// No card of it has been given.
    Unknown = 0,
    /// Its memory cannot be reached by load and store: another machine, PID namespace or user.
    Elsewhere = 1,
    /// It is on this node, not attached yet.
    Here = 2,
    /// It is attached, and runs.
    Attached = 3,
    /// It has closed its node.
    Left = 4,
    /// It has ended without closing its node.
    Dead = 5,
}
