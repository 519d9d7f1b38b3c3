//! The book in `docs/`: its commands run and print what it shows, its programs compile, its links
//! lead somewhere, and it names only routines, variables and files that there are. CONTRIBUTING
//! says how blocks are marked.

mod page;

use crate::{compile, launch, nodes, tree};
use libtest_mimic::Trial;
use page::{Block, Page};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCES: &str = "docs/src";
/// Names here are also those of other implementations.
const ABROAD: &str = "moving.md";

/// A trial for the commands of each page, and those about all pages. Programs are compiled as on
/// the machine of a user, so there are none with SMARTMAP's addresses or without a compiler.
pub fn trials() -> Vec<Trial> {
    if tree::is_smartmap() || compile::is_elsewhere() {
        return Vec::new();
    }
    let mut trials = vec![
        Trial::test("book/summary", || Ok(summary()?)),
        Trial::test("book/links", || Ok(links()?)),
        Trial::test("book/names", || Ok(names()?)),
        Trial::test("book/paths", || Ok(paths()?)),
    ];
    for path in files() {
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        trials.push(Trial::test(format!("book/commands/{name}"), move || {
            Ok(commands(&path, &name)?)
        }));
    }
    trials
}

/// The files of the pages.
fn files() -> Vec<PathBuf> {
    let folder = fs::read_dir(tree::repository(SOURCES)).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = folder
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    files.sort();
    files
}

fn pages() -> Result<Vec<Page>, String> {
    let pages: Vec<Page> = files().iter().map(|path| Page::read(path)).collect::<Result<_, _>>()?;
    if pages.len() < 3 { Err(format!("{} pages in {SOURCES}?", pages.len())) } else { Ok(pages) }
}

fn verdict(problems: &[String]) -> Result<(), String> {
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}

/// What a page calls itself in messages.
fn name(page: &Page) -> String {
    page.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The table of contents has every page.
fn summary() -> Result<(), String> {
    let contents = Page::read(&tree::repository(SOURCES).join("SUMMARY.md"))?;
    let listed: BTreeSet<String> = contents.links().into_iter().collect();
    let there: BTreeSet<String> =
        pages()?.iter().map(name).filter(|name| name != "SUMMARY.md").collect();
    let problems: Vec<String> = listed
        .symmetric_difference(&there)
        .map(|name| format!("{name} is in SUMMARY.md or in {SOURCES}, expected in both"))
        .collect();
    verdict(&problems)
}

/// Links within the book lead to a file and a heading that there is; included files are there.
fn links() -> Result<(), String> {
    let mut problems = Vec::new();
    for page in pages()? {
        for link in page.links() {
            if link.contains("://") {
                continue;
            }
            let (file, heading) = link.split_once('#').unwrap_or((&link, ""));
            let target = match file {
                "" => page.path.clone(),
                file => page.path.with_file_name(file),
            };
            let is_there = match heading {
                "" => target.is_file(),
                heading => Page::read(&target)
                    .is_ok_and(|target| target.anchors().iter().any(|anchor| anchor == heading)),
            };
            if !is_there {
                problems.push(format!("{}: {link} leads nowhere", name(&page)));
            }
        }
        for file in page.includes().filter(|file| !page.path.with_file_name(file).is_file()) {
            problems.push(format!("{}: there is no {file} to include", name(&page)));
        }
    }
    verdict(&problems)
}

/// Routines and variables that the book names exist.
fn names() -> Result<(), String> {
    let mut known = BTreeSet::new();
    let headers = ["shmem.h", "shmemx.h", "shmem_generic.h"].map(|name| format!("include/{name}"));
    for path in headers.iter().map(String::as_str).chain(["README.md"]) {
        let text =
            fs::read_to_string(tree::repository(path)).map_err(|e| format!("{path}: {e}"))?;
        known.extend(words(&text).map(str::to_owned));
    }
    let mut problems = BTreeSet::new();
    for page in pages()?.iter().filter(|page| name(page) != ABROAD) {
        for word in words(&page.text).filter(|word| !known.contains(*word)) {
            problems.insert(format!("{}: there is no {word}", name(page)));
        }
    }
    verdict(&problems.into_iter().collect::<Vec<_>>())
}

/// Words that begin as the names of OpenSHMEM do; beginnings of names and parts of paths are none.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && !"_/".contains(c)).filter(|word| {
        ["shmem_", "shmemx_", "SHMEM_", "SMA_"].iter().any(|start| word.starts_with(start))
            && !word.ends_with('_')
    })
}

/// Files of the repository that the book and CONTRIBUTING name exist.
fn paths() -> Result<(), String> {
    let mut problems = Vec::new();
    let contributing = Page::read(&tree::repository("CONTRIBUTING.md"))?;
    for page in pages()?.iter().chain([&contributing]) {
        for word in page.code_words() {
            let top = word.split('/').next().unwrap_or_default();
            let is_path = word.contains('/')
                && word.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c))
                && top.starts_with(|c: char| c.is_ascii_lowercase())
                && !["build", "target"].contains(&top)
                && tree::repository(top).is_dir();
            if is_path && !word.contains("OPERATION") && !tree::repository(&word).exists() {
                problems.push(format!("{}: there is no {word}", name(page)));
            }
        }
    }
    verdict(&problems)
}

/// Writes the programs of a page to a folder of its own and runs its commands there, in order.
fn commands(path: &Path, name: &str) -> Result<(), String> {
    let page = Page::read(path)?;
    let folder = tree::scratch("book").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let mut waiting: Vec<&str> = Vec::new();
    for block in &page.blocks {
        let at = |why: String| format!("{}:{}: {why}", path.display(), block.line);
        if let Some(file) = &block.file {
            let text = block.lines.join("\n") + "\n";
            fs::write(folder.join(file), text).map_err(|error| at(error.to_string()))?;
            let is_program = file.ends_with(".c") && block.not_run.is_none();
            waiting.extend(is_program.then_some(file.as_str()));
        } else if block.language == "console" {
            let said = block.commands()?.into_iter().map(|shown| shown.command).collect::<String>();
            waiting.retain(|file| !said.contains(file));
            run(block, &folder).map_err(at)?;
        } else if block.language != "text" && block.not_run.is_none() {
            return Err(at(format!(
                "a block of kind {} has neither a file's name nor a remark why it is not run",
                block.language
            )));
        }
    }
    if waiting.is_empty() { Ok(()) } else { Err(format!("{name}: nothing uses {waiting:?}")) }
}

fn run(block: &Block, folder: &Path) -> Result<(), String> {
    if block.not_run.is_some() || block.needs.iter().any(|need| is_missing(need)) {
        return Ok(());
    }
    for shown in block.commands()? {
        let outcome = launch::run(shell(&shown.command, folder))?;
        outcome.success()?;
        if let Some(line) = shown.missing(&format!("{}{}", outcome.stdout, outcome.stderr)) {
            return Err(outcome.report(&format!("the page shows a line that is not there: {line}")));
        }
    }
    Ok(())
}

/// Whether what a block needs is absent, and may be.
fn is_missing(need: &str) -> bool {
    match need {
        "UCX" => nodes::no_ucx(),
        command => tree::skip_without(command),
    }
}

/// A command as a user types it whose PATH has the tree that is tested; what it writes for the
/// user stays in the folder.
fn shell(command: &str, folder: &Path) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(folder);
    let usual = std::env::var_os("PATH").unwrap_or_default();
    let paths = [tree::prefix("bin")].into_iter().chain(std::env::split_paths(&usual));
    // A folder whose name has a colon cannot be in PATH.
    shell.env("PATH", std::env::join_paths(paths).unwrap_or(usual));
    shell.env("PKG_CONFIG_PATH", tree::prefix("lib/pkgconfig"));
    shell.env("XDG_CONFIG_HOME", folder.join("config"));
    // It refuses to work for root, as which containers run, unless told twice.
    shell.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    // As all commands of a page share the folder, none removes what another one uses.
    shell.env("OMPI_MCA_orte_tmpdir_base", folder);
    shell
}
