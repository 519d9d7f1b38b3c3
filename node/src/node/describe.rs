//! A node in words, for an information option of the client.

use super::{Mapping, Node, View};
use onenode_core::pages::{Bytes, Pages};
use onenode_core::sys::mutex;
use std::fmt::{self, Display, Formatter};

/// A node's properties, one per line: its backend with the reason, the ranks, the regions, the
/// mappings.
impl Display for Node {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let node = &*self.0;
        match node.rank {
            Some(rank) => write!(f, "rank {rank}, ")?,
            None => write!(f, "no rank of its own, ")?,
        }
        writeln!(f, "backend {} ({})", node.backend.name(), node.reason)?;
        let (known, attached) = node.known();
        writeln!(f, "{known} other ranks known, {attached} attached")?;
        for owned in mutex::lock(&node.regions).all() {
            let (range, pages) = (owned.region.range(), Pages::from_word(owned.published.pages));
            let (key, bytes) = (owned.region.key.0, Bytes(range.len()));
            writeln!(f, "region {key:#x}: {:#x}..{:#x}, {bytes}, {pages}", range.start, range.end)?;
        }
        for view in node.views() {
            let (ranks, bytes) = view.mapped();
            writeln!(
                f,
                "view of {} regions: {} mapped of {ranks} ranks",
                view.regions(),
                Bytes(bytes)
            )?;
        }
        writeln!(f, "{} mapped by ranges", Bytes(node.in_pieces()))
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("View").field(&self.bounds()).finish()
    }
}

impl fmt::Debug for Mapping {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Mapping").field(&self.range()).finish()
    }
}
