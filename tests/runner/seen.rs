//! Core dumps and valgrind with a large heap that is mostly unused.

use crate::{Result, compile, launch, tree};
use libtest_mimic::Trial;
use std::fs;
use std::path::PathBuf;

/// The heap of each PE, and the maximum size of its core dump. 29 MB are in use.
const HEAP: &str = "4g";
const MOST: u64 = 128 << 20;

/// The trials.
pub fn trials() -> Vec<Trial> {
    // A core dump may also be sent to a program unknown to this test.
    let pattern = fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap_or_default();
    let elsewhere = pattern.contains(['|', '/']);
    vec![
        Trial::test("seen/core", || dump("abort")).with_ignored_flag(elsewhere),
        Trial::test("seen/gcore", || dump("gcore")).with_ignored_flag(tree::skip_without("gcore")),
        Trial::test("seen/valgrind", valgrind).with_ignored_flag(tree::skip_without("valgrind")),
    ]
}

fn program() -> Result<PathBuf> {
    compile::plain("tests/programs/dumped.c", &[])
}

/// A core dump contains the memory in use, and not the rest.
fn dump(how: &str) -> Result {
    let program = program()?;
    let folder = tree::Folder::new(&format!("dump-{how}"))?;
    let mut command = launch::oshrun(2, &program);
    command.arg(how).env("SHMEM_SYMMETRIC_SIZE", HEAP).current_dir(&*folder);
    let outcome = launch::run(command)?;
    let made = fs::read_dir(&*folder)?.flatten().next();
    let path = made.ok_or_else(|| format!("no dump was made: {}", outcome.stderr))?.path();
    let bytes = fs::metadata(&path)?.len();
    if bytes > MOST {
        return Err(format!("the dump has {bytes} bytes, expected at most {MOST}").into());
    }
    let text = fs::read(&path)?;
    let has = |word: &[u8]| text.windows(word.len()).any(|bytes| bytes == word);
    match (has(b"marker-0-of-the-heap"), has(b"marker-1-of-the-heap")) {
        (true, false) => Ok(()),
        (own, peer) => Err(format!("the dump has the own heap: {own}, the peer's: {peer}").into()),
    }
}

/// memcheck finds no errors, and its leak check of all memory ends, also with the default heap.
fn valgrind() -> Result {
    let valgrind = tree::find("valgrind").ok_or("valgrind is not installed")?;
    let mut command = launch::oshrun(2, &valgrind);
    command
        .args([
            "--leak-check=full",
            "--show-leak-kinds=definite",
            "--errors-for-leak-kinds=definite",
        ])
        .args(["--error-exitcode=9", "-q"])
        .arg(program()?);
    launch::run(command)?.success()
}
