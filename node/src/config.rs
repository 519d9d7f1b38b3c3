//! Choices of a client when it opens a node.

use crate::Rank;
use crate::error::Error;
use std::os::fd::OwnedFd;

/// A node's settings.
#[derive(Default)]
pub struct Config {
    /// How memory is shared. All ranks must end up with the same backend.
    pub backend: BackendChoice,
    /// This process's own rank. `None`: peers are numbered in the order in which they are met.
    pub rank: Option<Rank>,
    /// The regions of this node that a forked child gets.
    pub fork: Fork,
    /// Whether ranks share CPUs.
    pub crowd: Crowd,
    /// The maximum number of regions at a time; 0 stands for 64.
    pub regions: u32,
    /// Bytes of this process's header for the client's own use: zeroed, reachable for every peer, and
    /// usable for futexes.
    pub extra: u64,
    /// Called on each turn of every wait.
    pub progress: Option<Box<Progress>>,
    /// Where this process's header lies. `None`: in a file of its own.
    pub file: Option<JobFile>,
}

/// The client's part in each wait. An error, for example [`Error::Stopped`], ends the wait and is
/// returned from it.
pub type Progress = dyn Fn() -> Result<(), Error> + Send + Sync;

/// How memory is shared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BackendChoice {
    /// XPMEM where it works, otherwise memory files.
    #[default]
    Auto,
    /// Memory files: stock Linux.
    Memfd,
    /// The XPMEM module; fails where it does not work.
    Xpmem,
}

/// The node's regions that a forked child gets. It never gets peers' memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fork {
    /// The same memory; with XPMEM, copies as of all other memory. For children that run another
    /// program at once (exec).
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
    /// They do: a waiting rank yields at once.
    Shared,
    /// They do not.
    Alone,
}

/// A sealed memory file that all ranks of the node get from their launcher. The header of rank `r`
/// starts at `offset + r * stride`, and the memory of its regions follows.
#[derive(Debug)]
pub struct JobFile {
    /// The file.
    pub file: OwnedFd,
    /// Where the header of rank 0 starts, in whole pages.
    pub offset: u64,
    /// Bytes from one header to the next, in whole pages. The file is sparse, so this may be large.
    pub stride: u64,
}

/// The state of a rank, as this process sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum State {
    /// Its card is not known.
    Unknown = 0,
    /// Its memory cannot be reached by load and store: another machine, PID namespace or user.
    Elsewhere = 1,
    /// It is on this node, but not attached yet.
    Here = 2,
    /// It is attached and running.
    Attached = 3,
    /// It has closed its node.
    Left = 4,
    /// It has ended without closing its node.
    Dead = 5,
}
