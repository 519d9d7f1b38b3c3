//! Where this installation lies. Nothing is compiled in: the tree may be moved,
//! and is found from where the running command is.

use std::io;
use std::path::{Path, PathBuf};

/// An installed tree: `bin`, `include` and `lib` beneath one prefix.
#[derive(Debug)]
pub struct Installation {
    prefix: PathBuf,
}

impl Installation {
    /// The tree the running command belongs to.
    pub fn of_this_command() -> io::Result<Self> {
        // The link is resolved by the kernel, so `bin/oshcc` may be linked to from elsewhere.
        let command = std::fs::canonicalize("/proc/self/exe")?;
        match command.parent().and_then(Path::parent) {
            Some(prefix) => Ok(Self::at(prefix)),
            None => Err(io::Error::other(format!("{} lies in no tree", command.display()))),
        }
    }

    /// The tree with this root.
    pub fn at(prefix: &Path) -> Self {
        Self { prefix: prefix.into() }
    }

    /// Its root.
    pub fn prefix(&self) -> &Path {
        &self.prefix
    }
    /// Where the C headers are.
    pub fn include(&self) -> PathBuf {
        self.prefix.join("include")
    }
    /// Where the library is.
    pub fn lib(&self) -> PathBuf {
        self.prefix.join("lib")
    }
}
