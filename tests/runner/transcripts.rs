//! The transcripts in `tests/transcripts`: command lines, what they print and how they end.
//!
//! Each heading of such a page is a trial. The commands of its blocks run in turn in an empty folder. The lines
//! below a command are all that it prints on both streams, in any order; `...` in a line stands for any text, and
//! a line `...` for further lines. `[3]` at the end is the status, which else is 0. No process that a command has
//! started may outlive it.
//!
//! `<!-- needs: gdb, pe.c -->` before a block names commands and files without which it is skipped, and programs of
//! `tests/programs` or `tests/c`, which lie in its folder as `./pe`. `tests/transcripts/functions.sh` has what
//! else a command may call.

use crate::book::page::{Block, Page, Shown};
use crate::{Result, book, compile, launch, tree};
use libtest_mimic::{Failed, Trial};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

/// The folder of the pages.
pub const FOLDER: &str = "tests/transcripts";
/// The variable by which the processes of a command are found, whatever session they have moved to.
const MARK: &str = "TRANSCRIPT";

/// A trial for each heading with commands.
pub fn trials() -> Vec<Trial> {
    let folder = std::fs::read_dir(tree::repository(FOLDER)).into_iter().flatten().flatten();
    folder
        .map(|entry| entry.path())
        .filter(|path| path.extension() == Some("md".as_ref()))
        .flat_map(|path| {
            let page = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            Page::read(&path)
                .map(|read| of_page(&page, &read.blocks))
                .unwrap_or_else(|why| vec![Trial::test(format!("transcripts/{page}"), || Err(why))])
        })
        .collect()
}

fn of_page(page: &str, blocks: &[Block]) -> Vec<Trial> {
    let under_headings = blocks.chunk_by(|first, second| first.heading == second.heading);
    let trial = |blocks: &[Block]| {
        let needs = blocks.iter().flat_map(|block| &block.needs);
        let mut commands = needs.filter(|need| !need.ends_with(".c"));
        let skipped = commands.any(|command| is_missing(command));
        let (name, blocks) = (format!("{page}/{}", blocks[0].heading), blocks.to_vec());
        let title = format!("transcripts/{name}");
        Trial::test(title, move || run(&name, &blocks)).with_ignored_flag(skipped)
    };
    under_headings.map(trial).collect()
}

/// Whether something that a page needs is absent, and its absence is allowed: of few tests, that of the commands
/// that `make quick` leaves out.
fn is_missing(need: &str) -> bool {
    match need {
        "oshinfo" | "oshtop" | "oshtune" => {
            tree::is_few() && !tree::prefix("bin").join(need).exists()
        }
        file if file.starts_with('/') => !Path::new(file).exists(),
        other => book::is_missing(other),
    }
}

fn run(name: &str, blocks: &[Block]) -> Result {
    let folder = tree::Folder::new(&format!("transcripts/{name}"))?;
    let needs = blocks.iter().flat_map(|block| &block.needs);
    for program in needs.filter_map(|need| need.strip_suffix(".c")) {
        let folders = ["tests/programs", "tests/c"].map(|it| format!("{it}/{program}.c"));
        let source = folders.into_iter().find(|source| tree::repository(source).exists());
        let made = compile::plain(source.ok_or(format!("no program {program}.c"))?, &[])?;
        if !folder.join(program).exists() {
            symlink(made, folder.join(program))?;
        }
    }
    for block in blocks {
        for (turn, shown) in block.commands()?.iter().enumerate() {
            let mark = format!("{name}:{}-{turn}-{}", block.line, std::process::id());
            let told = compare(shown, &folder, &mark);
            told.map_err(|why| {
                let why = why.message().unwrap_or_default();
                Failed::from(format!("the block of line {}: {why}", block.line))
            })?;
        }
    }
    Ok(())
}

/// Runs a command, and compares what it prints and leaves with what is shown.
fn compare(shown: &Shown, folder: &Path, mark: &str) -> Result {
    let functions = tree::repository(FOLDER).join("functions.sh");
    let line = format!(". '{}'; {}", functions.display(), shown.command);
    // Whoever runs the tests may ignore signals (nohup does), and that is inherited.
    let mut command = Command::new("env");
    command
        .args(["--default-signal", "bash", "-c", &line])
        .env(MARK, mark)
        .env("MACHINE", tree::machine()?);
    let left = || launch::marked(MARK, mark);
    // What runs into the watchdog has left its jobs in sessions of their own.
    let outcome =
        launch::run(book::of_user(command, folder)).inspect_err(|_| launch::kill_each(left()))?;
    let end = launch::wait_until("all its processes end", || left().is_empty());
    launch::kill_each(left());
    end.map_err(|why| outcome.report(why.message().unwrap_or_default()))?;
    let (status, lines) = status_and_lines(shown);
    outcome.ends(status, launch::NO_WORDS)?;
    let printed = outcome.stdout.lines().chain(outcome.stderr.lines());
    Shown::difference(lines, printed).map_or(Ok(()), |problem| Err(outcome.report(problem)))
}

fn status_and_lines(shown: &Shown) -> (i32, &[String]) {
    let parts = shown.output.split_last();
    let status = |last: &String| last.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    match parts.and_then(|(last, lines)| Some((status(last)?, lines))) {
        Some((status, lines)) => (status, lines),
        None => (0, &shown.output),
    }
}
