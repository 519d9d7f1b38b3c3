//! The headers in `include/` are those that the table makes.

use oneshmem_interface::{Interface, headers};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn include() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../include")
}

#[test]
fn headers_are_up_to_date() {
    for (name, expected) in headers::all(&Interface::openshmem()) {
        let path = include().join(name);
        let found = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            found == expected,
            "{} is not what the table says: run `make headers`",
            path.display()
        );
    }
}

#[test]
fn no_header_is_left_over() {
    let expected: BTreeSet<PathBuf> = headers::all(&Interface::openshmem())
        .iter()
        .map(|(name, _)| include().join(name))
        .collect();
    let folders = [include(), include().join("mpp")];
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).expect("a folder"));
    let found: BTreeSet<PathBuf> =
        files.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_file()).collect();
    assert_eq!(expected, found);
}
