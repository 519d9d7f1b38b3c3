//! New processes of the launcher.
#![allow(unsafe_code)]

use super::failure::{Failure, cannot};
use nix::unistd::ForkResult;
use onenode_core::sys::threads;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Returns twice, as fork(2), for a child that executes no other program. `what` it is for.
pub fn fork(what: &'static str) -> Result<ForkResult, Failure> {
    check_alone();
    // SAFETY: this process has no other thread, which could hold a lock, so the child may run any code.
    unsafe { nix::unistd::fork() }.map_err(cannot(what))
}

/// Has a new process do something before it executes its program.
pub fn before_exec(
    command: &mut Command,
    work: impl FnMut() -> io::Result<()> + Send + Sync + 'static,
) {
    check_alone();
    // SAFETY: this process has no other thread, and starts none, so the new one may run any code.
    unsafe { command.pre_exec(work) };
}

fn check_alone() {
    assert!(threads::alone(), "the launcher has a single thread");
}
