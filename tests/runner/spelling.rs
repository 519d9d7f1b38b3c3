//! Checks the spelling of the tree with codespell. `.codespellrc` lists exceptions.

use crate::{compile, launch, tree};
use libtest_mimic::Trial;
use std::process::Command;

/// The trial. It is the same for every library.
pub fn trials() -> Vec<Trial> {
    if tree::is_smartmap() || compile::is_elsewhere() {
        return Vec::new();
    }
    let trial = Trial::test("spelling", || Ok(check()?));
    vec![trial.with_ignored_flag(tree::skip_without("codespell"))]
}

fn check() -> Result<(), String> {
    let mut codespell = Command::new("codespell");
    codespell.current_dir(tree::repository("."));
    launch::run(codespell)?.success()
}
