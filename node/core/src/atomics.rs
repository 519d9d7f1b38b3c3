//! The only source of atomics for the library.
//!
//! Algorithms that involve other processes use these types only, so that a model checker can
//! compile the same source with its own types under this module's name: the crate in
//! `tests/models` does that with `loom`. A test below checks that no other file names `std::sync::atomic`.

pub use std::sync::atomic::{
    AtomicBool, AtomicI32, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize,
    Ordering, compiler_fence, fence,
};

/// Stands between a sequentially consistent read-modify-write and such a load. They are ordered
/// without it, but `loom` treats them as weaker and has a fence here.
#[inline(always)]
pub fn in_order() {}

#[cfg(test)]
mod tests {
    use std::path::Path;

    fn offenders(folder: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                offenders(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs")
                && !path.ends_with("node/core/src/atomics.rs")
                && std::fs::read_to_string(&path).unwrap().contains("sync::atomic")
            {
                found.push(path.display().to_string());
            }
        }
    }

    #[test]
    fn no_other_file_names_the_standard_atomics() {
        let mut found = Vec::new();
        let crates = Path::new(env!("CARGO_MANIFEST_DIR"));
        for source in ["src", "../src", "../../src"] {
            offenders(&crates.join(source), &mut found);
        }
        assert!(found.is_empty(), "use crate::atomics in {found:?}");
    }
}
