//! Checks the book in `docs/`, and other pages with commands. Commands run and print what the page
//! shows, programs compile, links have a target, and the routines, variables, options and files
//! named exist. CONTRIBUTING explains how blocks are marked.

pub(crate) mod page;

use crate::{Result, compile, containers, launch, nodes, openmp, transcripts, tree, verdict};
use libtest_mimic::{Failed, Trial};
use page::{Block, Page};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCES: &str = "docs/src";
/// The page that also has names of other implementations.
const ABROAD: &str = "moving.md";
/// The languages of blocks that are documentation tests of the crate, of several in one process or each in one of
/// its own: see `src/lib.rs`.
const RUST: [&str; 2] = ["rust", "rust,standalone_crate"];
/// Pages outside the book that have commands.
const OUTSIDE: [&str; 4] =
    ["README.md", "CONTRIBUTING.md", "bench/README.md", "packaging/wheel/README.md"];
/// More pages whose links are checked.
const WITHOUT_COMMANDS: [&str; 2] = ["ARCHITECTURE.md", "tests/RULES.md"];
/// Commands of others, whose options are not checked, and options of docker, srun and valgrind that
/// appear alone.
const OTHER_COMMANDS: [&str; 8] =
    ["cargo", "cmake", "docker", "gdb", "make", "mpirun", "podman", "srun"];
const OTHER_OPTIONS: [&str; 3] = ["--device", "--mpi", "--log-file"];
/// The number of blocks that are not run. Each states why. Adding one requires raising this number.
const NOT_RUN: usize = 37;

/// A trial for the commands of each page, and trials for all pages together. Programs are compiled
/// as on a user's machine, so there are none with SMARTMAP's addresses or without a compiler.
pub fn trials() -> Vec<Trial> {
    if compile::is_elsewhere() {
        return Vec::new();
    }
    let mut trials = vec![
        Trial::test("book/summary", summary),
        Trial::test("book/links", links),
        Trial::test("book/names", names),
        Trial::test("book/options", options),
        Trial::test("book/paths", paths),
        Trial::test("book/not-run", not_run),
        Trial::test("book/outside", outside),
    ];
    let build = Trial::test("book/build", build);
    trials.push(build.with_ignored_flag(tree::skip_without("mdbook")));
    for path in files().into_iter().chain(OUTSIDE.map(tree::repository)) {
        let name = path.strip_prefix(tree::repository("")).unwrap_or(&path).with_extension("");
        let name = name.to_string_lossy().replace("docs/src/", "").replace('/', "-");
        trials.push(Trial::test(format!("book/commands/{name}"), move || commands(&path, &name)));
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

fn pages() -> Result<Vec<Page>> {
    let pages: Vec<Page> = files().iter().map(|path| Page::read(path)).collect::<Result<_>>()?;
    if pages.len() < 3 {
        Err(format!("{} pages in {SOURCES}?", pages.len()).into())
    } else {
        Ok(pages)
    }
}

/// The pages outside the book.
fn others() -> Result<Vec<Page>> {
    let names = OUTSIDE.iter().chain(&WITHOUT_COMMANDS);
    names.map(|name| Page::read(&tree::repository(name))).collect()
}

/// A page's name in messages.
fn name(page: &Page) -> String {
    let path = page.path.strip_prefix(tree::repository("")).unwrap_or(&page.path);
    path.strip_prefix(SOURCES).unwrap_or(path).to_string_lossy().into_owned()
}

/// Checks that the table of contents lists every page.
fn summary() -> Result {
    let contents = Page::read(&tree::repository(SOURCES).join("SUMMARY.md"))?;
    let listed: BTreeSet<String> = contents.links().into_iter().collect();
    let there: BTreeSet<String> =
        pages()?.iter().map(name).filter(|name| name != "SUMMARY.md").collect();
    let problems: Vec<String> = listed
        .symmetric_difference(&there)
        .map(|name| format!("{name} is in SUMMARY.md or in {SOURCES}, expected in both"))
        .collect();
    verdict(problems)
}

/// Checks that links lead to an existing file and heading, and that included files exist.
fn links() -> Result {
    let mut problems = Vec::new();
    for page in pages()?.into_iter().chain(others()?) {
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
                "" => target.exists(),
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
    verdict(problems)
}

/// Checks that routines and variables named in the book exist.
fn names() -> Result {
    let mut known = BTreeSet::new();
    let headers = ["shmem.h", "shmemx.h", "shmem_generic.h"];
    let headers = headers.map(|name| tree::prefix("include").join(name));
    for path in headers.into_iter().chain([tree::repository("README.md")]) {
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        known.extend(words(&text).map(str::to_owned));
    }
    let mut problems = BTreeSet::new();
    for page in pages()?.iter().filter(|page| name(page) != ABROAD) {
        for word in words(&page.text).filter(|word| !known.contains(*word)) {
            problems.insert(format!("{}: there is no {word}", name(page)));
        }
    }
    verdict(problems)
}

/// Checks that the project's commands have the options named in the book. The page about other
/// implementations names ours in the second column of its tables.
fn options() -> Result {
    let mut known = BTreeSet::from(["--version".to_owned()]);
    for command in ["oshrun", "oshinfo", "oshtop", "oshtune"] {
        let mut help = Command::new(tree::prefix("bin").join(command));
        help.arg("--help");
        known.extend(launch::run(help)?.stdout.split_whitespace().flat_map(long_options));
    }
    let mut problems = BTreeSet::new();
    for page in pages()? {
        let prose: String = page
            .prose()
            .map(|line| match (name(&page) == ABROAD, line.strip_prefix('|')) {
                (true, Some(row)) => row.split(" |").nth(1).unwrap_or_default(),
                (true, None) => "",
                (false, _) => line,
            })
            .flat_map(|line| [line, "\n"])
            .collect();
        for span in prose.split('`').skip(1).step_by(2) {
            let is_other = OTHER_COMMANDS.iter().any(|command| span.starts_with(command));
            let words = span.split_whitespace().flat_map(long_options);
            let foreign = |option: &str| is_other || OTHER_OPTIONS.contains(&option);
            for option in words.filter(|option| !foreign(option) && !known.contains(option)) {
                problems.insert(format!("{}: no command has the option {option}", name(&page)));
            }
        }
    }
    verdict(problems)
}

/// The long option in a word, without value and punctuation.
fn long_options(word: &str) -> Option<String> {
    let word = word.trim_start_matches(|c: char| "([\x1b".contains(c));
    let name = word.strip_prefix("--")?;
    let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(name.len());
    (end > 0).then(|| format!("--{}", &name[..end]))
}

/// Checks that the number of blocks not run is as stated, and that each has a reason.
fn not_run() -> Result {
    let mut found = Vec::new();
    for page in pages()?.into_iter().chain(others()?) {
        for block in &page.blocks {
            if let Some(reason) = &block.not_run {
                found.push(format!("{}:{}: {reason}", name(&page), block.line));
            }
        }
    }
    match found.len() == NOT_RUN {
        true => Ok(()),
        false => Err(format!("{} blocks are not run:\n{}", found.len(), found.join("\n")).into()),
    }
}

/// Checks that no other page in the tree has commands.
fn outside() -> Result {
    let root = tree::repository("");
    let mut problems = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)?.flatten() {
            let (path, file) = (entry.path(), entry.file_name());
            let file = file.to_string_lossy();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                let is_source = !file.starts_with('.') && !["build", "target"].contains(&&*file);
                folders.extend(is_source.then_some(path));
            } else if file.ends_with(".md") {
                let name = path.strip_prefix(&root).unwrap_or(&path).to_string_lossy();
                let ours = [SOURCES, transcripts::FOLDER].iter().any(|top| name.starts_with(top));
                let known = ours || OUTSIDE.contains(&&*name);
                let text = fs::read_to_string(&path)?;
                if !known && ["\n```sh", "\n```console"].iter().any(|fence| text.contains(fence)) {
                    problems.push(format!("{name} has commands that no test runs: see OUTSIDE"));
                }
            }
        }
    }
    verdict(problems)
}

/// Checks that mdbook builds the book without complaints.
fn build() -> Result {
    let mut mdbook = Command::new("mdbook");
    mdbook.arg("build").arg(tree::repository("docs")).arg("--dest-dir").arg(tree::scratch("pages"));
    let outcome = launch::run(mdbook)?;
    outcome.success()?;
    let said = format!("{}{}", outcome.stdout, outcome.stderr);
    match said.contains("WARN") || said.contains("ERROR") {
        true => Err(outcome.report("mdbook complains")),
        false => Ok(()),
    }
}

/// Words that begin like OpenSHMEM's names, except incomplete names and parts of paths.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && !"_/".contains(c)).filter(|word| {
        ["shmem_", "shmemx_", "SHMEM_", "SMA_"].iter().any(|start| word.starts_with(start))
            && !word.ends_with('_')
    })
}

/// Checks that files of the repository named on the pages exist.
fn paths() -> Result {
    let mut problems = Vec::new();
    for page in pages()?.iter().chain(&others()?) {
        for word in page.code_words() {
            let top = word.split('/').next().unwrap_or_default();
            let is_path = word.contains('/')
                && word.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c))
                && top.starts_with(|c: char| c.is_ascii_lowercase())
                && !["build", "target"].contains(&top)
                && tree::repository(top).is_dir();
            let is_there =
                tree::repository(&word).exists() || page.path.with_file_name(&word).exists();
            if is_path && !word.contains("OPERATION") && !is_there {
                problems.push(format!("{}: there is no {word}", name(page)));
            }
        }
    }
    verdict(problems)
}

/// Writes the programs of a page to a folder of its own and runs its commands there, in order.
fn commands(path: &Path, name: &str) -> Result {
    let page = Page::read(path)?;
    let folder = tree::scratch("book").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    // The commands are written for the top of the source tree.
    for part in ["bench", "examples", "tests"] {
        let link = folder.join(part);
        symlink(tree::repository(part), link)?;
    }
    symlink(tree::prefix(""), folder.join("build"))?;
    let mut waiting: Vec<&str> = Vec::new();
    for block in &page.blocks {
        let at = |why: &str| Failed::from(format!("{}:{}: {why}", path.display(), block.line));
        if let Some(file) = &block.file {
            tree::write(folder.join(file), block.lines.join("\n") + "\n")?;
            let is_program = file.ends_with(".c") && block.not_run.is_none();
            waiting.extend(is_program.then_some(file.as_str()));
        } else if ["console", "sh"].contains(&block.language.as_str()) {
            let said = block.commands()?.into_iter().map(|shown| shown.command).collect::<String>();
            waiting.retain(|file| !said.contains(file));
            run(block, &folder).map_err(|why| at(why.message().unwrap_or_default()))?;
        } else if block.language != "text"
            && !RUST.contains(&block.language.as_str())
            && block.not_run.is_none()
        {
            let kind = &block.language;
            return Err(at(&format!(
                "a block of kind {kind} has neither a file's name nor a remark why it is not run"
            )));
        }
    }
    if !waiting.is_empty() {
        return Err(format!("{name}: nothing uses {waiting:?}").into());
    }
    // Cargo warns of links that lead back, wherever it lists the files of the source tree.
    Ok(fs::remove_dir_all(&folder)?)
}

fn run(block: &Block, folder: &Path) -> Result {
    if block.not_run.is_some() || block.needs.iter().any(|need| is_missing(need)) {
        return Ok(());
    }
    for shown in block.commands()? {
        let outcome = launch::run(shell(&shown.command, folder))?;
        outcome.success()?;
        if let Some(line) = shown.missing(&format!("{}{}", outcome.stdout, outcome.stderr)) {
            return Err(outcome.report(format!("the page shows a line that is not there: {line}")));
        }
    }
    Ok(())
}

/// Whether something that a block needs is absent, and its absence is allowed.
pub fn is_missing(need: &str) -> bool {
    match need {
        "UCX" => nodes::no_ucx(),
        "OpenMP" => openmp::oshcc().is_none(),
        "network namespaces" => nodes::no_namespaces(),
        "namespaces" => !containers::can_unshare(),
        command => tree::skip_without(command),
    }
}

/// Runs a command as if typed by a user, with the tested tree in PATH. Files that it writes for the
/// user stay in the folder.
pub fn shell(command: &str, folder: &Path) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]);
    of_user(shell, folder)
}

/// A command in a folder, with the environment of such a user.
pub fn of_user(mut shell: Command, folder: &Path) -> Command {
    shell.current_dir(folder);
    let usual = std::env::var_os("PATH").unwrap_or_default();
    let paths = [tree::prefix("bin")].into_iter().chain(std::env::split_paths(&usual));
    // A folder with a colon in its name cannot be in PATH.
    shell.env("PATH", std::env::join_paths(paths).unwrap_or(usual));
    shell.env("PKG_CONFIG_PATH", tree::prefix("lib/pkgconfig"));
    shell.env("XDG_CONFIG_HOME", folder.join("config"));
    // Open MPI does not run as root, as in containers, unless both are set.
    shell.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    // All commands of a page share this folder, so that none removes a folder that another uses.
    shell.env("OMPI_MCA_orte_tmpdir_base", folder);
    shell
}
