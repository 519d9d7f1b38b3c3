//! The C interface of OpenSHMEM 1.6 as one table, and what is generated from it.
//!
//! The sources are `routines.txt` and `constants.txt`, beside this crate's manifest: open them
//! first. `extensions.txt`, `onenode.txt` and `manual/` are for the reference pages. [`Interface`] is the parsed
//! form, [`Interface::symbols`] expands it to every function that a C program can call,
//! [`Interface::generics`] to every type-generic name. The C headers ([`headers`]), the library's
//! entry points (crate `oneshmem-capi`) and the reference pages ([`man`]) are generated from those,
//! and a test compares them with the specification.

pub mod constants;
pub mod examples;
pub mod expand;
pub mod headers;
pub mod man;
pub mod manual;
mod parse;
pub mod records;
pub mod roff;
mod table;

use std::path::Path;
use std::{fs, io};

pub use constants::{Constant, ConstantGroup};
pub use expand::{Generic, Symbol};
pub use table::{
    Deprecated, Expansion, Family, Interface, Param, Prototype, Section, TypeName, TypeTable,
};

/// Writes those of `files`, names below `folder` with their texts, that differ from what is there,
/// so that `make` sees no change where there is none.
pub fn write_changed<N: AsRef<Path>>(
    folder: &Path,
    files: impl IntoIterator<Item = (N, String)>,
) -> io::Result<()> {
    for (name, text) in files {
        let path = folder.join(name);
        if fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| fs::write(&path, text))
            .map_err(|error| io::Error::other(format!("{}: {error}", path.display())))?;
    }
    Ok(())
}

/// Names that `shmem.h` declares beside the specification's, as they have been proposed for OpenSHMEM.
const PROPOSED: [&str; 4] = [
    "shmem_partition_malloc",
    "shmem_partition_align",
    "shmem_partition_calloc",
    "shmem_partition_free",
];

/// Routines beyond the specification that the library has. One of `extensions.txt` is in a library of
/// its own.
pub fn extensions() -> Vec<String> {
    let symbols = Interface::extensions().symbols().into_iter();
    let own = symbols.filter(|symbol| symbol.family != "x.openmp_maps").map(|symbol| symbol.name);
    own.chain(PROPOSED.map(String::from)).collect()
}

/// The name of the routine `name` in the profiling interface.
pub fn twin(name: &str) -> String {
    format!("p{name}")
}
