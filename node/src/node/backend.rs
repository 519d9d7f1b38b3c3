//! The backend that shares a node's memory, and why it was chosen.

use crate::config::BackendChoice;
use crate::error::Error;
use onenode_core::backend::xpmem::Xpmem;
use onenode_core::packed;

/// A backend that works here.
pub(super) enum Backend {
    /// Memory files.
    Memfd,
    /// The XPMEM module.
    Xpmem(Xpmem),
}

impl Backend {
    /// The backend to use for a choice, and the reason.
    pub fn choose(choice: BackendChoice) -> Result<(Self, String), Error> {
        if choice == BackendChoice::Memfd {
            return Ok((Self::Memfd, "asked for".into()));
        }
        match (Xpmem::open(), choice) {
            (Ok(xpmem), BackendChoice::Auto) => {
                Ok((Self::Xpmem(xpmem), "/dev/xpmem is usable".into()))
            }
            (Ok(xpmem), _) => Ok((Self::Xpmem(xpmem), "asked for".into())),
            (Err(error), BackendChoice::Auto) => Ok((Self::Memfd, format!("no xpmem: {error}"))),
            (Err(error), _) => Err(Error::NoWay(format!("backend xpmem cannot work: {error}"))),
        }
    }

    /// The backend's name, for users.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Memfd => "memfd",
            Self::Xpmem(_) => "xpmem",
        }
    }

    /// The backend's name, as the word in a header.
    pub fn word(&self) -> u64 {
        packed::word(self.name().as_bytes())
    }
}
