//! The folders in which processes of one user meet: where they can be, and which are the user's own.

use crate::sys::process;
use nix::fcntl::AT_FDCWD;
use nix::sys::stat::FchmodatFlags::NoFollowSymlink;
use nix::sys::stat::{Mode, fchmodat};
use std::fmt::Display;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// How many fixed names a folder may have in each base. More than one, because in a sticky base another user can
/// take a name; few, because each is looked at each time.
pub(super) const NAMES: usize = 8;

/// The paths that this user's folder may have in `base`. The last one serves only the processes that meet under
/// this name, and what they left there nobody else finds: it is for when others have taken all that they can know.
pub(super) fn paths(base: &Path, name: &str) -> impl Iterator<Item = PathBuf> {
    let fixed = (0..NAMES).map(|number| number.to_string());
    let names = fixed.chain(std::iter::once(name.to_owned()));
    let user = process::user();
    names.map(move |name| base.join(format!("onenode-{user}-{name}")))
}

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

/// The object at a path.
enum Found {
    Nothing,
    Own(Folder),
    /// Something that is no folder of this user alone: why not.
    Other(String),
}

impl Folder {
    /// The user's folders in `base` for a meeting, one of which is made if there is none. None if other processes are making or
    /// removing them at this moment.
    ///
    /// # Errors
    /// Why there can be none.
    pub fn all_in(base: &Path, name: &str) -> Result<Vec<Self>, String> {
        match Self::look(base, name)? {
            (own, _) if !own.is_empty() => Ok(own),
            (_, Err(taken)) => Err(format!("all names are taken: {taken}")),
            (_, Ok(path)) => match DirBuilder::new().mode(0o700).create(&path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(Vec::new()),
                Err(error) => Err(error.to_string()),
                Ok(()) => {
                    // The umask may have taken the owner's permissions. What that leaves is seen below.
                    let _ = fchmodat(AT_FDCWD, &path, Mode::S_IRWXU, NoFollowSymlink);
                    let seen = Self::of_use(&path).and_then(|()| Self::look(base, name));
                    if seen.is_err() {
                        let _ = fs::remove_dir(&path);
                    }
                    Ok(seen?.0)
                }
            },
        }
    }

    /// Fails if what lies at `path`, made by this process, is of no use even to it.
    fn of_use(path: &Path) -> Result<(), String> {
        match Self::at(path)? {
            Found::Other(why) => Err(why),
            Found::Own(_) | Found::Nothing => Ok(()),
        }
    }

    /// The user's folders in `base`, and the first name that is free; if all are taken, by what the first is.
    fn look(base: &Path, name: &str) -> Result<(Vec<Self>, Result<PathBuf, String>), String> {
        let (mut own, mut free, mut taken) = (Vec::new(), None, None);
        for path in paths(base, name) {
            match Self::at(&path)? {
                Found::Own(folder) => own.push(folder),
                Found::Nothing => free = free.or(Some(path)),
                Found::Other(why) => taken = taken.or(Some(why)),
            }
        }
        Ok((own, free.ok_or(taken.unwrap_or_default())))
    }

    /// Looks at the object at `path`.
    ///
    /// # Errors
    /// Why this process cannot know.
    fn at(path: &Path) -> Result<Found, String> {
        let is = |what: &dyn Display| Ok(Found::Other(format!("{} {what}", path.display())));
        let flags = libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_NONBLOCK;
        let open = match File::options().read(true).custom_flags(flags).open(path) {
            Ok(open) => open,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Found::Nothing),
            Err(error) => match error.raw_os_error() {
                Some(libc::ENOTDIR | libc::ELOOP) => return is(&"is no directory"),
                Some(libc::EACCES) => {
                    let owner = fs::symlink_metadata(path).map_or(0, |status| status.uid());
                    // If it is this user's, its maker has died before it could set the mode.
                    let _ = fs::remove_dir(path);
                    return is(&format_args!("of user {owner} cannot be opened"));
                }
                _ => return Err(format!("{}: {error}", path.display())),
            },
        };
        let status = open.metadata().map_err(|error| error.to_string())?;
        if status.uid() != process::user() {
            return is(&format_args!("belongs to user {}", status.uid()));
        }
        if status.mode() & 0o077 != 0 {
            return is(&format_args!("is open to others (mode {:04o})", status.mode() & 0o7777));
        }
        match open.set_permissions(Permissions::from_mode(0o700)) {
            Ok(()) => {
                let (path, identity) = (path.to_owned(), (status.dev(), status.ino()));
                Ok(Found::Own(Self { path, open, identity }))
            }
            Err(error) => is(&format_args!("cannot be made this user's alone: {error}")),
        }
    }

    /// Whether it still has its name.
    pub fn is_there(&self) -> bool {
        let there = fs::symlink_metadata(&self.path);
        there.is_ok_and(|status| (status.dev(), status.ino()) == self.identity)
    }
}
