//! Where things are: this folder, the build tree, the tools of the system.

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

/// Whether the library that is tested has SMARTMAP's addresses (`make test-smartmap`) and
/// serves position-dependent programs only.
pub fn is_smartmap() -> bool {
    std::env::var_os("ONESHMEM_SMARTMAP").is_some()
}

/// Where what the tests make is kept.
pub fn scratch(path: &str) -> PathBuf {
    let folder = if is_smartmap() { "build/tests-smartmap" } else { "build/tests" };
    repository(folder).join(path)
}

/// A program of the system, found as a shell would.
pub fn find(program: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|folder| folder.join(program))
        .find(|path| path.is_file())
}

/// Whether absence is allowed of what a trial needs.
pub fn may_be_absent() -> bool {
    std::env::var_os("ONESHMEM_TEST_ALL").is_none()
}

/// Whether a trial that needs this program is to be skipped: it is absent, and
/// absence is allowed.
pub fn skip_without(program: &str) -> bool {
    find(program).is_none() && may_be_absent()
}
