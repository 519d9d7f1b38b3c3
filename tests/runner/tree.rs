//! Paths: of this folder, the build tree, and the system's tools.

use std::path::{Path, PathBuf};

/// A file or folder of the repository.
pub fn repository(path: &str) -> PathBuf {
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

/// Where to compile what the selected trials run, if they are not to be run: for a machine without
/// a compiler.
pub fn prepared() -> Option<PathBuf> {
    std::env::var_os("ONESHMEM_PREPARE").map(PathBuf::from)
}

/// The path of a file made by the tests.
pub fn scratch(path: &str) -> PathBuf {
    if let Some(folder) = prepared() {
        return folder.join(path);
    }
    let folder = if is_smartmap() { "build/tests-smartmap" } else { "build/tests" };
    repository(folder).join(path)
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
