//! Writes what is generated from the definitions of the commands and of the environment variables.
//!
//! ```text
//! oneshmem-pages man DIRECTORY DATE TEMPLATE...   manual pages from templates, to man1/ and so on
//! oneshmem-pages completions DIRECTORY            what bash, zsh and fish complete, in their folders
//! ```

mod completions;
mod manual;

use std::path::Path;
use std::process::ExitCode;
use std::{fs, io};

const USAGE: &str = "usage: oneshmem-pages man DIRECTORY DATE TEMPLATE... | completions DIRECTORY";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let files = match words[..] {
        ["man", _, date, _, ..] => manual::pages(date, &words[3..]),
        ["completions", _] => Ok(completions::all()),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match files.and_then(|files| write_all(Path::new(words[1]), files)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("oneshmem-pages: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Paths, and what is to be there.
type Files = Vec<(String, String)>;

fn write_all(directory: &Path, files: Files) -> io::Result<()> {
    for (name, text) in files {
        let path = directory.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        let failed = |error| io::Error::other(format!("{}: {error}", path.display()));
        fs::write(&path, text).map_err(failed)?;
    }
    Ok(())
}
