//! The children of processes, read from proc(5). Not every kernel provides them.

use std::fs;
use std::path::Path;

/// The numbers in a file of /proc. None if it cannot be read.
pub fn numbers(file: impl AsRef<Path>) -> Vec<u32> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

/// The children of all threads of a process. None if it has ended.
pub fn children(pid: u32) -> impl Iterator<Item = u32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    threads.flat_map(|thread| numbers(thread.path().join("children")))
}
