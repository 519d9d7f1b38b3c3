//! Writes all manual pages, and what shells complete.
//!
//! ```text
//! oneshmem-pages TEMPLATES SHARE DATE
//! oneshmem-pages --book DATE
//! ```
//!
//! Reference pages come from the table of the interface, the others from the templates in a folder, with the
//! definitions of the commands and of the environment variables. `SHARE` is the folder that gets `man/` and
//! the completions. The date is printed at the foot of each page. The second form is a preprocessor of mdBook, which adds the reference pages.

mod book;
mod completions;
mod manual;

use oneshmem_interface::{man, write_changed};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// Names below the folder for shared files, and what is to be there.
type Files = BTreeMap<String, String>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        // mdBook asks first whether a kind of output is supported: any is.
        ["--book", _, "supports", _] => Ok(()),
        ["--book", date] => io::read_to_string(io::stdin())
            .and_then(|input| book::with(&input, &man::pages(date)))
            .map(|book| println!("{book}")),
        [templates, share, date] => {
            all(Path::new(templates), date).and_then(|files| write_changed(Path::new(share), files))
        }
        _ => {
            eprintln!(
                "usage: oneshmem-pages TEMPLATES SHARE DATE\n       oneshmem-pages --book DATE"
            );
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("oneshmem-pages: {error}");
            ExitCode::FAILURE
        }
    }
}

fn all(templates: &Path, date: &str) -> io::Result<Files> {
    let mut files = completions::all();
    files.extend(
        man::pages(date).into_iter().map(|(name, text)| (format!("man/man3/{name}"), text)),
    );
    for (name, section) in man::OTHERS {
        let text = manual::page(date, templates, &format!("{name}.{section}"))?;
        files.insert(format!("man/man{section}/{name}.{section}"), text);
    }
    Ok(files)
}
