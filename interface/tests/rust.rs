//! The table in the documentation of the Rust interface names every routine.

use oneshmem_interface::{Interface, Prototype};

const FAMILIES: &str = include_str!("../../src/shmem/families.md");

/// The type-generic name, or the only one.
fn plain_name(prototype: &Prototype) -> String {
    prototype.name.replace("[_ctx]", "").replace("TYPENAME_", "")
}

#[test]
fn every_family_that_is_not_deprecated_is_in_the_table() {
    let table = Interface::openshmem();
    let mut missing = Vec::new();
    for (section, family) in table.families() {
        let first = &family.prototypes[0];
        // One line stands for all nonblocking atomics.
        let covered = first.deprecated.is_some() || section.name == "amo_nbi";
        if !covered && !FAMILIES.contains(&format!("| `{}` |", plain_name(first))) {
            missing.push(plain_name(first));
        }
    }
    assert!(missing.is_empty(), "not in src/shmem/families.md: {missing:?}");
}
