//! The folders in which processes of one user meet: where they can be, and which are the user's own.

use crate::error::Error;
use crate::sys::process;
use std::fs::{self, DirBuilder, File, Permissions};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// What the names of all folders begin with.
pub(super) const PREFIX: &str = "onenode-";

/// Where this user's folders may lie. `runtime` is the user's own directory, if one is known.
pub(super) fn bases(runtime: Option<&Path>) -> Vec<PathBuf> {
    let own = format!("/run/user/{}", process::user());
    let others = [own.as_str(), "/dev/shm", "/tmp"].map(PathBuf::from);
    runtime.map(Path::to_owned).into_iter().chain(others).collect()
}

/// Why no folder in `base` would be safe.
pub(super) fn unfit(base: &Path) -> Option<String> {
    match fs::metadata(base) {
        _ if !base.is_absolute() => Some("is no absolute path".into()),
        Err(error) => Some(error.to_string()),
        Ok(status) if !status.is_dir() => Some("is no directory".into()),
        Ok(status) if status.mode() & 0o1000 != 0 => None,
        Ok(status) if status.uid() == process::user() && status.mode() & 0o077 == 0 => None,
        Ok(_) => Some("is neither this user's alone (mode 0700) nor sticky".into()),
    }
}

/// A folder of the user.
#[derive(Debug)]
pub(super) struct Folder {
    pub path: PathBuf,
    pub open: File,
    /// Device and inode.
    pub identity: (u64, u64),
}

impl Folder {
    /// The user's folders in `base`.
    pub fn all_in(base: &Path) -> Vec<Self> {
        let mut paths: Vec<_> = fs::read_dir(base)
            .into_iter()
            .flatten()
            .flatten()
            .filter(|entry| entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes()))
            .map(|entry| entry.path())
            .collect();
        paths.sort_unstable();
        paths.into_iter().filter_map(Self::own).collect()
    }

    /// The folder at `path`, if it is the user's own and nobody else's.
    fn own(path: PathBuf) -> Option<Self> {
        let flags = libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_NONBLOCK;
        let open = File::options().read(true).custom_flags(flags).open(&path).ok()?;
        let status = open.metadata().ok()?;
        let is_own = status.uid() == process::user()
            && status.mode() & 0o077 == 0
            && open.set_permissions(Permissions::from_mode(0o700)).is_ok();
        is_own.then(|| Self { path, open, identity: (status.dev(), status.ino()) })
    }

    /// Makes one. Returns its path.
    pub fn make_in(base: &Path) -> Result<PathBuf, Error> {
        let path = base.join(format!("{PREFIX}{:016x}", process::random()?));
        let made = DirBuilder::new().mode(0o700).create(&path);
        made.map(|()| path)
            .map_err(|source| Error::System { call: "making a folder to meet in", source })
    }

    /// Whether it still has its name.
    pub fn is_there(&self) -> bool {
        let there = fs::symlink_metadata(&self.path);
        there.is_ok_and(|status| (status.dev(), status.ino()) == self.identity)
    }
}
