//! The location of this installation. No path is compiled in: the tree may be moved, and is found
//! from the running command's own path.

use onenode_core::sys::program;
use std::io;
use std::path::{Path, PathBuf};

/// A link to the running command.
const OWN: &str = "/proc/self/exe";

/// An installed tree. Its commands, headers and libraries are in `bin`, `include` and `lib` below
/// one prefix, unless `share/oneshmem/layout` there names other folders.
#[derive(Debug)]
pub struct Installation {
    prefix: PathBuf,
    bin: PathBuf,
    include: PathBuf,
    lib: PathBuf,
}

impl Installation {
    /// The tree to which the running command belongs.
    pub fn of_this_command() -> io::Result<Self> {
        // The kernel has resolved links, so links to `bin/oshcc` may be anywhere.
        let command = std::fs::canonicalize(OWN).or_else(|error| {
            // Without /proc, what the kernel was asked to run. No command changes its directory before.
            let asked =
                program::path_asked_for().filter(|_| error.kind() == io::ErrorKind::NotFound);
            asked.and_then(|path| std::fs::canonicalize(path).ok()).ok_or_else(|| {
                let message = format!("following the link {OWN} (readlink) failed: {error}");
                io::Error::new(error.kind(), message)
            })
        })?;
        let (Some(bin), Some(prefix)) = (command.parent(), command.parent().and_then(Path::parent))
        else {
            return Err(io::Error::other(format!("{} is in no installation", command.display())));
        };
        let layout = prefix.join("share/oneshmem/layout");
        match std::fs::read_to_string(&layout) {
            Ok(text) => Self::with_layout(prefix, bin, &text)
                .map_err(|why| io::Error::other(format!("{}: {why}", layout.display()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::at(prefix)),
            Err(error) => Err(io::Error::other(format!("{}: {error}", layout.display()))),
        }
    }

    /// The tree with this root.
    pub fn at(prefix: &Path) -> Self {
        Self {
            prefix: prefix.into(),
            bin: prefix.join("bin"),
            include: prefix.join("include"),
            lib: prefix.join("lib"),
        }
    }

    /// The tree with this root whose folders `text` gives relative to `bin`: lines `include=FOLDER`
    /// and `lib=FOLDER`, written by `make install`.
    fn with_layout(prefix: &Path, bin: &Path, text: &str) -> Result<Self, String> {
        let mut tree = Self { bin: bin.into(), ..Self::at(prefix) };
        for line in text.lines() {
            let (folder, path) = match line.split_once('=') {
                Some(("include", path)) => (&mut tree.include, path),
                Some(("lib", path)) => (&mut tree.lib, path),
                _ => return Err(format!("expected include=FOLDER or lib=FOLDER, found '{line}'")),
            };
            let path = bin.join(path);
            *folder = std::fs::canonicalize(&path)
                .map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok(tree)
    }

    /// The root.
    pub fn prefix(&self) -> &Path {
        &self.prefix
    }
    /// The folder of commands.
    pub fn bin(&self) -> &Path {
        &self.bin
    }
    /// The folder of C headers.
    pub fn include(&self) -> &Path {
        &self.include
    }
    /// The folder of the library.
    pub fn lib(&self) -> &Path {
        &self.lib
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_names_other_folders() {
        let (prefix, bin) = (Path::new("/usr"), Path::new("/usr/bin"));
        let tree = Installation::with_layout(prefix, bin, "lib=../../dev\n").unwrap();
        assert_eq!((tree.lib(), tree.include()), (Path::new("/dev"), Path::new("/usr/include")));
        let fails = |text| Installation::with_layout(prefix, bin, text).unwrap_err();
        assert_eq!(
            fails("libs=../lib"),
            "expected include=FOLDER or lib=FOLDER, found 'libs=../lib'"
        );
        assert!(fails("lib=../no/such").contains("/usr/bin/../no/such: No such file"));
    }
}
