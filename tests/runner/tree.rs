//! Paths: of this folder, the build tree, and the system's tools.

use crate::Result;
use std::ops::Deref;
use std::path::{Path, PathBuf};

/// A file or folder of the repository.
pub fn repository(path: impl AsRef<Path>) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("tests/ lies in the repository")
        .join(path)
}

/// A file of the build tree, which is laid out like an installed one.
pub fn prefix(path: &str) -> PathBuf {
    match std::env::var_os("ONESHMEM_PREFIX") {
        Some(prefix) => PathBuf::from(prefix).join(path),
        None => repository("build").join(path),
    }
}

/// Whether the tested library has SMARTMAP's addresses (`make test-smartmap`), and so supports
/// position-dependent programs only.
pub fn is_smartmap() -> bool {
    std::env::var_os("ONESHMEM_SMARTMAP").is_some()
}

/// Whether the tests run over XPMEM.
pub fn is_xpmem() -> bool {
    std::env::var("SHMEM_BACKEND").is_ok_and(|backend| backend == "xpmem")
}

/// Where to compile what the selected trials run, if they are not to be run: for a machine without
/// a compiler.
pub fn prepared() -> Option<PathBuf> {
    std::env::var_os("ONESHMEM_PREPARE").map(PathBuf::from)
}

/// Whether the tests take little time rather than all ways, as in `make test`.
pub fn is_few() -> bool {
    std::env::var_os("ONESHMEM_TEST_FEW").is_some()
}

/// The path of a file made by the tests.
pub fn scratch(path: impl AsRef<Path>) -> PathBuf {
    if let Some(folder) = prepared() {
        return folder.join(path);
    }
    let folder = match () {
        () if is_smartmap() => "build/tests-smartmap",
        () if is_few() => "build/tests-few",
        () => "build/tests",
    };
    repository(folder).join(path)
}

/// The same, in a folder that is there.
pub fn place(path: impl AsRef<Path>) -> Result<PathBuf> {
    let path = scratch(path);
    std::fs::create_dir_all(path.parent().unwrap_or(&path))?;
    Ok(path)
}

/// The folder of cargo's profile with which this program is made. It is in the folder deps/ there.
pub fn profile() -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    let profile = own.ancestors().nth(2).ok_or("this program is in no folder of cargo")?;
    Ok(profile.to_owned())
}

/// A new, empty folder, which is removed with what is in it when this is dropped.
pub struct Folder(PathBuf);

impl Folder {
    /// Makes the folder, with a name that no other run of these tests uses.
    pub fn new(name: &str) -> Result<Self> {
        let folder = Self(scratch(format!("{name}-{}", std::process::id())));
        let _ = std::fs::remove_dir_all(&folder.0);
        std::fs::create_dir_all(&folder.0)?;
        Ok(folder)
    }
}

impl Deref for Folder {
    type Target = Path;
    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The text of a file.
pub fn read(path: impl AsRef<Path>) -> Result<String> {
    let path = path.as_ref();
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()).into())
}

/// Writes a file.
pub fn write(path: impl AsRef<Path>, text: impl AsRef<[u8]>) -> Result {
    let path = path.as_ref();
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()).into())
}

/// A program of the system, found as a shell would.
pub fn find(program: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|folder| folder.join(program))
        .find(|path| path.is_file())
}

/// Whether things that a trial needs may be absent.
pub fn may_be_absent() -> bool {
    std::env::var_os("ONESHMEM_TEST_ALL").is_none()
}

/// Whether to skip a trial that needs this program: it is absent, and its absence is allowed.
pub fn skip_without(program: &str) -> bool {
    find(program).is_none() && may_be_absent()
}

/// Other versions of something than the system's, by name: the folders with this file in the one that the variable
/// names; none without it.
pub fn other_versions(variable: &str, file: &str) -> Vec<(String, PathBuf)> {
    let Some(all) = std::env::var_os(variable) else { return Vec::new() };
    let entries = std::fs::read_dir(&all).unwrap_or_else(|error| panic!("{all:?}: {error}"));
    let folders = entries.flatten().map(|entry| (entry.file_name(), entry.path()));
    let with_it = folders.filter(|(_, folder)| folder.join(file).exists());
    with_it.map(|(name, folder)| (name.to_string_lossy().into_owned(), folder)).collect()
}

/// The library's name for this machine, in tuning files.
pub fn machine() -> Result<String> {
    let info = read("/proc/cpuinfo")?;
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let online = read("/sys/devices/system/cpu/online")?;
    let cpus: usize = online
        .trim()
        .split(',')
        .map(|part| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            Some(last.parse::<usize>().ok()? + 1 - first.parse::<usize>().ok()?)
        })
        .sum::<Option<usize>>()
        .ok_or_else(|| format!("CPUs {online}?"))?;
    Ok(format!("{cpus} {}", model.map_or("unknown", |(_, model)| model.trim())))
}
