//! `--env-file`: variables for the PEs.

use super::text_file;
use std::ffi::OsString;
use std::path::Path;

/// Reads the variables in a file of lines `VAR=VALUE`. Values are taken literally. Empty lines and
/// lines that begin with `#` are ignored.
pub fn read(path: &Path) -> Result<Vec<(OsString, OsString)>, String> {
    let fail = |why: String| format!("--env-file {}: {why}", path.display());
    let text = text_file::read(path).map_err(fail)?;
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let variable = |(index, line): (usize, &str)| match line.split_once('=') {
        Some((name, value)) if is_name(name.as_bytes()) && !value.contains('\0') => {
            Ok((name.into(), value.into()))
        }
        _ => Err(fail(format!("line {}: expected VAR=VALUE, found '{line}'", index + 1))),
    };
    lines.map(variable).collect()
}

/// Whether this can name a variable.
pub fn is_name(name: &[u8]) -> bool {
    let is_odd = |byte: &u8| byte.is_ascii_whitespace() || byte.is_ascii_control() || *byte == b'=';
    !name.is_empty() && !name.iter().any(is_odd)
}
