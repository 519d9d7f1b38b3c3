//! Checks that the node layer leaves the process alone: its sources do not print, exit, read the
//! environment or handle signals, and its statics are those that `ARCHITECTURE.md` lists.

use crate::tree;
use libtest_mimic::Trial;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};

/// The folders with the sources.
const FOLDERS: [&str; 2] = ["node/src", "node/capi/src"];

/// Words that none of them may contain.
const WORDS: [&str; 21] = [
    "println!",
    "print!",
    "dbg!",
    "stdout()",
    "stderr()",
    "process::exit",
    "process::abort",
    "libc::exit",
    "libc::_exit",
    "SYS_exit",
    "libc::abort",
    "atexit",
    "env::",
    "getenv",
    "environ",
    "static mut",
    "sigaction",
    "libc::signal",
    "atfork",
    "thread::spawn",
    "Builder::spawn",
];

/// Exceptions, with reasons.
const ALLOWED: [(&str, &str, &str); 3] = [
    ("node/src/sys/process.rs", "atfork", "handlers for a client that asks for them"),
    (
        "node/src/sys/raw.rs",
        "SYS_exit",
        "the end of suspend's helper, which is no thread of the program",
    ),
    ("node/src/sys/raw.rs", "sigaction", "hold's signal where ptrace is refused, put back at once"),
];

/// The trials.
pub fn trials() -> Vec<Trial> {
    vec![
        Trial::test("manners/words", || Ok(words()?)),
        Trial::test("manners/statics", || Ok(statics()?)),
    ]
}

/// All sources without their tests, by path from the top of the repository.
fn sources() -> Result<Vec<(String, syn::File, String)>, String> {
    let mut folders: Vec<PathBuf> = FOLDERS.map(tree::repository).into();
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).map_err(|error| error.to_string())?.flatten() {
            let path = entry.path();
            if matches!(path.file_stem().and_then(|stem| stem.to_str()), Some("tests")) {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                sources.push(source(&path)?);
            }
        }
    }
    Ok(sources)
}

fn source(path: &Path) -> Result<(String, syn::File, String), String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path:?}: {error}"))?;
    let file = syn::parse_file(&text).map_err(|error| format!("{path:?}: {error}"))?;
    let name = path.strip_prefix(tree::repository("")).unwrap_or(path).display().to_string();
    // Tests are at the end of a file. Comments may contain any word.
    let ends = ["\n#[cfg(test)]\nmod tests {", "\n#[cfg(test)]\n#[test]\n"];
    let end = ends.iter().filter_map(|end| text.find(end)).min().unwrap_or(text.len());
    let text = &text[..end];
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    Ok((name, file, lines.collect::<Vec<_>>().join("\n")))
}

fn words() -> Result<(), String> {
    let mut found = BTreeSet::new();
    for (name, _, text) in sources()? {
        let said = WORDS.iter().filter(|word| text.contains(**word));
        found.extend(said.map(|word| (name.clone(), (*word).to_owned())));
    }
    let allowed: BTreeSet<_> =
        ALLOWED.iter().map(|(name, word, _)| ((*name).to_owned(), (*word).to_owned())).collect();
    let more: Vec<_> = found.difference(&allowed).collect();
    let less: Vec<_> = allowed.difference(&found).collect();
    match (more.is_empty(), less.is_empty()) {
        (true, true) => Ok(()),
        _ => Err(format!("said without leave: {more:?}; leave that nobody uses: {less:?}")),
    }
}

/// Finds statics, including thread-locals and those in functions, except in tests.
#[derive(Default)]
struct Statics(BTreeSet<String>);

impl<'ast> Visit<'ast> for Statics {
    fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
        self.0.insert(item.ident.to_string());
        visit::visit_item_static(self, item);
    }
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if item.ident != "tests" {
            visit::visit_item_mod(self, item);
        }
    }
    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        if called.path.segments.last().is_some_and(|last| last.ident == "thread_local") {
            let tokens = called.tokens.to_string();
            let names = tokens.split("static ").skip(1);
            self.0.extend(names.filter_map(|text| Some(text.split_once(':')?.0.trim().to_owned())));
        }
    }
}

/// Checks that the statics are those of the table in `ARCHITECTURE.md`, whose rows begin with
/// `` | `NAME`, `NAME` in `file` | ``.
fn statics() -> Result<(), String> {
    let mut found = BTreeSet::new();
    for (name, file, _) in sources()? {
        let mut statics = Statics::default();
        statics.visit_file(&file);
        found.extend(statics.0.into_iter().map(|item| format!("{item} in {name}")));
    }
    let path = tree::repository("ARCHITECTURE.md");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{path:?}: {error}"))?;
    let (_, table) =
        text.split_once("\n| static of the node layer |").ok_or("no table of statics")?;
    let mut listed = BTreeSet::new();
    for line in table.lines().skip(2).take_while(|line| line.starts_with('|')) {
        let cell = line.split('|').nth(1).unwrap_or_default();
        let (names, file) = cell.split_once(" in ").ok_or(format!("no file: {line}"))?;
        let file = file.trim().trim_matches('`');
        listed.extend(
            names.split(',').map(|name| format!("{} in {file}", name.trim().trim_matches('`'))),
        );
    }
    if found == listed {
        return Ok(());
    }
    let (more, less): (Vec<_>, Vec<_>) =
        (found.difference(&listed).collect(), listed.difference(&found).collect());
    Err(format!("not in the table: {more:?}; not in the sources: {less:?}"))
}
