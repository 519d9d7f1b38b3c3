//! Files that users write: text of a size that a person would write.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Longer files, and devices that never end, are refused. A host file has at most some 260 bytes for
/// each of 4096 hosts.
const LIMIT: u64 = 16 << 20;

/// The text of a file.
pub fn read(path: &Path) -> Result<String, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let mut text = Vec::new();
    file.take(LIMIT + 1).read_to_end(&mut text).map_err(|error| error.to_string())?;
    if text.len() as u64 > LIMIT {
        return Err(format!("it has more than {} MiB, expected a text file", LIMIT >> 20));
    }
    String::from_utf8(text).map_err(|_| "it is not text in UTF-8".into())
}
