//! Finds the program before anything is started, so that a wrong name leads to one clear message
//! instead of one from each PE.

use super::failure::Failure;
use nix::unistd::{AccessFlags, access};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// The exit status when the program is not found, as in shells.
pub const NOT_FOUND: u8 = 127;
/// The exit status when it cannot be executed.
pub const NOT_EXECUTABLE: u8 = 126;

/// Searched if PATH is not set: confstr(3) of _CS_PATH with glibc and musl, which execvp(3) uses.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// Checks the PEs' working directory.
pub fn check_directory(wdir: &Path) -> Result<(), Failure> {
    let fail = |why: String| Err(Failure::own(format!("--wdir {}: {why}", wdir.display())));
    match fs::metadata(wdir) {
        Err(error) => fail(error.to_string()),
        Ok(metadata) if !metadata.is_dir() => fail("not a directory".into()),
        Ok(_) => match access(wdir, AccessFlags::X_OK) {
            Err(errno) => fail(errno.desc().into()),
            Ok(()) => Ok(()),
        },
    }
}

/// The path to execute for `name`, valid in `wdir`. This is the name itself if it contains a slash.
/// Otherwise it is the first executable of that name in `path` (the value of PATH) or, if PATH is
/// not set, where execvp(3) then searches.
pub fn find(name: &OsStr, wdir: &Path, path: Option<&OsStr>) -> Result<PathBuf, Failure> {
    let shown = name.to_string_lossy();
    if name.as_encoded_bytes().contains(&b'/') {
        let program = PathBuf::from(name);
        return match look(&wdir.join(&program)) {
            Look::Executable => Ok(program),
            Look::Not(why) => Err(not_executable(&program, why)),
            Look::Absent(why) => {
                Err(Failure { status: NOT_FOUND, message: format!("{shown}: {why}") })
            }
        };
    }
    let (path, called) = match path {
        Some(path) => (path, "PATH"),
        None => (OsStr::new(DEFAULT_PATH), "/bin or /usr/bin (PATH is not set)"),
    };
    let mut refused = None;
    for directory in std::env::split_paths(path) {
        // An empty entry of PATH means the current directory.
        let program = Path::new(".").join(directory).join(name);
        match look(&wdir.join(&program)) {
            Look::Executable => return Ok(program),
            Look::Not(why) => refused = refused.or(Some((program, why))),
            Look::Absent(_) => {}
        }
    }
    if let Some((program, why)) = refused {
        return Err(not_executable(&program, why));
    }
    let hint = match look(&wdir.join(name)) {
        Look::Executable => format!("; did you mean ./{shown}?"),
        _ => String::new(),
    };
    Err(Failure { status: NOT_FOUND, message: format!("{shown}: not found in {called}{hint}") })
}

fn not_executable(program: &Path, why: String) -> Failure {
    let message = format!("{}: cannot be executed: {why}", program.display());
    Failure { status: NOT_EXECUTABLE, message }
}

enum Look {
    Executable,
    Not(String),
    Absent(String),
}

fn look(file: &Path) -> Look {
    match fs::metadata(file) {
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            Look::Not(error.to_string())
        }
        Err(error) => Look::Absent(error.to_string()),
        Ok(metadata) if metadata.is_dir() => Look::Not("it is a directory".into()),
        Ok(metadata) if !metadata.is_file() => Look::Not("it is not a file".into()),
        Ok(_) => match access(file, AccessFlags::X_OK) {
            Ok(()) => Look::Executable,
            Err(errno) => Look::Not(errno.desc().into()),
        },
    }
}
