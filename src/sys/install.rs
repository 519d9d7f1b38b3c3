//! Where this library is installed.

use std::path::{Path, PathBuf};

/// The launcher of the installation that this library belongs to. `None` if this library is part of
/// a static program, or lies outside an installation.
pub fn oshrun() -> Option<PathBuf> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let library = object_at(&maps, oshrun as *const () as usize)?;
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

/// The file that `address` is mapped from, according to the lines of `/proc/self/maps` (proc(5)).
fn object_at(maps: &str, address: usize) -> Option<&Path> {
    let line = maps.lines().find(|line| {
        let range = line.split(' ').next().and_then(|range| range.split_once('-'));
        range.is_some_and(|(start, end)| {
            let [start, end] = [start, end].map(|text| usize::from_str_radix(text, 16));
            start.is_ok_and(|start| start <= address) && end.is_ok_and(|end| address < end)
        })
    })?;
    line.find('/').map(|start| Path::new(&line[start..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_found_in_its_file() {
        let maps = "10000-20000 r-xp 00000000 fe:01 77   /opt/one two/lib/libshmem.so.1.0\n\
                    20000-30000 rw-p 00000000 00:00 0 \n";
        let path = Some(Path::new("/opt/one two/lib/libshmem.so.1.0"));
        assert_eq!(object_at(maps, 0x10000), path);
        assert_eq!(object_at(maps, 0x1ffff), path);
        assert_eq!(object_at(maps, 0x20000), None);
        assert_eq!(object_at(maps, 0xffff), None);
    }

    #[test]
    fn a_program_that_has_the_library_in_it_is_no_installation() {
        assert_eq!(oshrun(), None);
    }
}
