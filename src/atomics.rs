//! The one place the library takes its atomics from.
//!
//! Algorithms that other processes take part in (barrier, lock, allocator,
//! rendezvous, wait) name these types only, so that building with
//! `--cfg loom` checks the very same text under the `loom` model checker. A test
//! below sees to it that no other file names `std::sync::atomic`.

#[cfg(not(loom))]
pub use std::sync::atomic::{
    AtomicBool, AtomicI32, AtomicPtr, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering,
    compiler_fence, fence,
};

#[cfg(loom)]
pub use loom::sync::atomic::{
    AtomicBool, AtomicI32, AtomicPtr, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};
#[cfg(loom)]
pub use std::sync::atomic::compiler_fence;

#[cfg(all(test, not(loom)))]
mod tests {
    use std::path::Path;

    fn offenders(folder: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                offenders(&path, found);
            } else if !path.ends_with("src/atomics.rs")
                && std::fs::read_to_string(&path).unwrap().contains("sync::atomic")
            {
                found.push(path.display().to_string());
            }
        }
    }

    #[test]
    fn no_other_file_names_the_standard_atomics() {
        let mut found = Vec::new();
        offenders(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
        assert!(found.is_empty(), "use crate::atomics in {found:?}");
    }
}
