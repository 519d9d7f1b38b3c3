//! Files named by the user.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The text of a regular file of at most `most` bytes. Never waits for the writer of a FIFO, and
/// never reads a device or a growing file without end.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    let file =
        File::options().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut text = String::new();
    // Reads one byte more than allowed, to detect that there is more. The file's size is not
    // reliable, for example in /proc.
    file.take(most + 1).read_to_string(&mut text)?;
    if text.len() as u64 > most {
        return Err(io::Error::other(format!("it has more than {most} bytes")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::read_text;
    use std::path::Path;

    #[test]
    fn only_small_regular_files_are_read() {
        let path = std::env::temp_dir().join(format!("oneshmem-file-{}", std::process::id()));
        std::fs::write(&path, "four").unwrap();
        let read = |most| read_text(&path, most).map_err(|error| error.to_string());
        let (all, less) = (read(4), read(3));
        std::fs::remove_file(&path).unwrap();
        assert_eq!(all, Ok("four".into()));
        assert_eq!(less, Err("it has more than 3 bytes".into()));
        for path in ["/dev/zero", "/dev/null", "/tmp", "/dev/ptmx"] {
            let error = read_text(Path::new(path), 1 << 20).unwrap_err();
            assert_eq!(error.to_string(), "it is no regular file", "{path}");
        }
    }
}
