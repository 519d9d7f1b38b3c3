//! `--env-file`: variables for the PEs.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

/// Reads the variables in a file of lines `VAR=VALUE`. Values are taken literally. Empty lines and
/// lines that begin with `#` are ignored.
pub fn read(path: &Path) -> Result<Vec<(OsString, OsString)>, String> {
    let fail = |why: String| format!("--env-file {}: {why}", path.display());
    let text = fs::read_to_string(path).map_err(|error| fail(error.to_string()))?;
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let variable = |(index, line): (usize, &str)| match line.split_once('=') {
        Some((name, value)) if is_name(name) && !value.contains('\0') => {
            Ok((name.into(), value.into()))
        }
        _ => Err(fail(format!("line {}: expected VAR=VALUE, found '{line}'", index + 1))),
    };
    lines.map(variable).collect()
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c.is_control())
}
