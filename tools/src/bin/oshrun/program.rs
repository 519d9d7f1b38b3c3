//! Finds the program before anything is started, so that a wrong name leads to one clear message
//! instead of one from each PE.

use super::failure::Failure;
use nix::unistd::{AccessFlags, access};
use object::elf::{DT_NEEDED, FileHeader64};
use object::read::ReadCache;
use object::read::elf::{Dyn, FileHeader};
use oneshmem_tools::installation::Installation;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// The exit status when the program is not found, as in shells.
pub const NOT_FOUND: u8 = 127;
/// The exit status when it cannot be executed.
pub const NOT_EXECUTABLE: u8 = 126;

/// Searched if PATH is not set: confstr(3) of _CS_PATH with glibc and musl, which execvp(3) uses.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// How the names of other implementations' libraries begin: Open MPI's, Sandia's and Cray's, and
/// OSHMPI's.
const OTHERS: [&str; 3] = ["liboshmem.so", "libsma.so", "liboshmpi.so"];
/// How that of this one begins.
const OURS: &str = "libshmem.so";

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
            Executability::Executable => Ok(program),
            Executability::Not(why) => Err(not_executable(&program, why)),
            Executability::Absent(why) => {
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
            Executability::Executable => return Ok(program),
            Executability::Not(why) => refused = refused.or(Some((program, why))),
            Executability::Absent(_) => {}
        }
    }
    if let Some((program, why)) = refused {
        return Err(not_executable(&program, why));
    }
    let hint = match look(&wdir.join(name)) {
        Executability::Executable => format!("; did you mean ./{shown}?"),
        _ => String::new(),
    };
    Err(Failure { status: NOT_FOUND, message: format!("{shown}: not found in {called}{hint}") })
}

/// Refuses a program that is linked with another implementation of OpenSHMEM: it would not find this
/// launcher, and each PE would be PE 0 of 1. Anything else may be a program of a job: scripts, MPI
/// programs, wrappers, static programs.
pub fn check_library(program: &Path) -> Result<(), Failure> {
    // What cannot be read or is in another format is not refused.
    let needed = File::open(program).ok().and_then(|file| libraries(file).ok()).unwrap_or_default();
    let is_other = |name: &&String| OTHERS.iter().any(|other| name.starts_with(other));
    let Some(other) = needed.iter().find(is_other) else { return Ok(()) };
    if needed.iter().any(|name| name.starts_with(OURS)) {
        return Ok(());
    }
    let oshcc = Installation::of_this_command()
        .map_or_else(|_| PathBuf::from("oshcc"), |it| it.bin().join("oshcc"));
    let message = format!(
        "{}: it needs {other}, the library of another OpenSHMEM implementation, whose programs this \
         launcher cannot start as one job; compile it with {}",
        program.display(),
        oshcc.display()
    );
    Err(Failure { status: NOT_EXECUTABLE, message })
}

/// The names of the shared libraries that a program is linked with.
fn libraries(program: File) -> object::read::Result<Vec<String>> {
    let data = &ReadCache::new(program);
    let header = FileHeader64::<object::Endianness>::parse(data)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, data)?;
    let Some((entries, names)) = sections.dynamic(endian, data)? else { return Ok(Vec::new()) };
    let names = sections.strings(endian, data, names)?;
    let needed = entries.iter().filter(|entry| entry.tag32(endian) == Some(DT_NEEDED));
    let name = |entry| names.get(Dyn::val32(entry, endian)?).ok();
    Ok(needed.filter_map(name).map(|name| String::from_utf8_lossy(name).into()).collect())
}

fn not_executable(program: &Path, why: String) -> Failure {
    let message = format!("{}: cannot be executed: {why}", program.display());
    Failure { status: NOT_EXECUTABLE, message }
}

enum Executability {
    Executable,
    Not(String),
    Absent(String),
}

fn look(file: &Path) -> Executability {
    match fs::metadata(file) {
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            Executability::Not(error.to_string())
        }
        Err(error) => Executability::Absent(error.to_string()),
        Ok(metadata) if metadata.is_dir() => Executability::Not("it is a directory".into()),
        Ok(metadata) if !metadata.is_file() => Executability::Not("it is not a file".into()),
        Ok(_) => match access(file, AccessFlags::X_OK) {
            Ok(()) => Executability::Executable,
            Err(errno) => Executability::Not(errno.desc().into()),
        },
    }
}
