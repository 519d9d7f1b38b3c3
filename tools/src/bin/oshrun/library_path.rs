//! The library path for PEs whose program has no run path. CMake installs such programs, and
//! pkg-config's flags link them.

use super::failure::Failure;
use oneshmem_tools::installation::Installation;
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The variable that the loader reads.
pub const VARIABLE: &str = "LD_LIBRARY_PATH";

/// The folder to add to the variable: that of this installation's library, unless the loader
/// searches it anyway.
pub fn folder() -> Result<Option<PathBuf>, Failure> {
    let lib = match Installation::of_this_command() {
        Ok(installation) => installation.lib().to_owned(),
        // Without /proc the installation cannot be found.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Failure::own(error)),
    };
    Ok((lib.join("libshmem.so.1").exists() && is_useful(&lib)).then_some(lib))
}

/// Whether to add the folder. A system folder in the variable would take precedence over the run
/// paths of programs.
fn is_useful(lib: &Path) -> bool {
    let system =
        ["/lib", "/lib64", "/usr/lib", "/usr/lib64"].iter().any(|dir| lib.starts_with(dir));
    // The variable cannot quote these characters.
    let divides = |byte: &u8| b":;".contains(byte);
    !system && !lib.as_os_str().as_encoded_bytes().iter().any(divides)
}

/// The variable's value with the folder appended.
pub fn with(value: Option<OsString>, folder: &Path) -> OsString {
    match value {
        Some(mut value) if !value.is_empty() => {
            value.push(OsStr::new(":"));
            value.push(folder);
            value
        }
        // An empty entry would mean the current directory.
        _ => folder.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_comes_last() {
        let with = |value: Option<&str>| with(value.map(OsString::from), Path::new("/opt/one/lib"));
        assert_eq!(with(None), "/opt/one/lib");
        assert_eq!(with(Some("")), "/opt/one/lib");
        assert_eq!(with(Some("/a:/b")), "/a:/b:/opt/one/lib");
    }

    #[test]
    fn folders_of_the_system_and_such_that_cannot_be_written_are_left_out() {
        let useful = |path: &str| is_useful(Path::new(path));
        assert!(useful("/opt/one/lib") && useful("/usr/local/lib") && useful("/home/a b/lib"));
        assert!(!useful("/usr/lib/x86_64-linux-gnu") && !useful("/lib64"));
        assert!(!useful("/opt/a:b/lib"));
    }
}
