//! Where this library is installed.

use onenode_core::sys::maps;
use std::path::{Path, PathBuf};

/// The launcher of the installation that this library belongs to. `None` if this library is part of
/// a static program, or lies outside an installation.
pub fn oshrun() -> Option<PathBuf> {
    let own = maps::at(oshrun as *const () as usize).ok()??;
    let library = Path::new(&own.name);
    if !library.file_name()?.to_str()?.starts_with("lib") {
        return None;
    }
    // lib/ in its own installation; lib/MACHINE/ in the system's, where another implementation may
    // have the usual name.
    let folders = library.parent()?.ancestors().skip(1).take(2);
    let names = ["oshrun.oneshmem", "oshrun"];
    folders
        .flat_map(|folder| names.map(|name| folder.join("bin").join(name)))
        .find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_has_the_library_in_it_is_no_installation() {
        assert_eq!(oshrun(), None);
    }
}
