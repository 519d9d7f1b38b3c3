//! Checks the manual pages: their programs compile and print what the page says, and formatters
//! have no complaints.

use crate::book::shell;
use crate::{Result, compile, launch, openmp, tree};
use libtest_mimic::Trial;
use oneshmem_interface::examples::{EXAMPLES, Example};
use oneshmem_interface::man;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// The example that needs a compiler with offloading.
const OFFLOADING: &str = "openmp_maps";
/// The options for compiling the programs of a page.
const STRICT: [&str; 5] = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror"];

/// The formatters that check pages, with their options, and words of messages to ignore.
const CHECKERS: [(&str, &[&str], &[&str]); 3] = [
    ("groff", &["-ww", "-z", "-t", "-man", "-Tutf8", "-Kutf8", "-rLL=78n"], &[]),
    ("mandoc", &["-Tlint", "-Wwarning"], &["referenced manual not found", ": See "]),
    ("man", &["--warnings", "-l"], &[]),
];

/// The trials. Programs are compiled as on a user's machine.
pub fn trials() -> Vec<Trial> {
    if compile::is_elsewhere() {
        return Vec::new();
    }
    let mut trials = Vec::new();
    for example in EXAMPLES {
        let title = format!("manual/example/{}", example.name);
        let trial = Trial::test(title, move || runs(example));
        let is_absent = example.name == OFFLOADING && openmp::oshcc().is_none();
        trials.push(trial.with_ignored_flag(is_absent));
    }
    for (name, options, ignored) in CHECKERS {
        let trial =
            Trial::test(format!("manual/format/{name}"), move || is_clean(name, options, ignored));
        trials.push(trial.with_ignored_flag(tree::skip_without(name)));
    }
    trials.push(Trial::test("manual/programs", programs));
    trials
}

/// Compiles an example and compares the output of its commands, in any order, with what it says.
fn runs(example: &Example) -> Result {
    let folder = fresh(example.name)?;
    let source = format!("{}.c", example.name);
    fs::write(folder.join(&source), example.text)?;
    let mut oshcc = match example.name {
        OFFLOADING => openmp::oshcc().ok_or("no clang with offloading")??,
        _ => Command::new(tree::prefix("bin/oshcc")),
    };
    let threads = example.text.contains("<pthread.h>").then_some("-pthread");
    let node = example.text.contains("<onenode.h>").then_some("-lonenode");
    oshcc.args(STRICT).args(threads).args([&source, "-o", example.name]).args(node);
    oshcc.current_dir(&folder);
    launch::run(oshcc)?.success()?;
    for (command, expected) in example.parts().runs {
        let outcome = launch::run(shell(&command, &folder))?;
        outcome.success()?;
        let mut printed: Vec<&str> = outcome.stdout.lines().collect();
        let mut expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        printed.sort_unstable();
        expected.sort_unstable();
        outcome.require(printed == expected, format!("expected, in any order: {expected:#?}"))?;
    }
    Ok(())
}

fn fresh(name: &str) -> Result<PathBuf> {
    let folder = tree::scratch("manual").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// All pages, except those that only refer to another page.
fn pages() -> Result<Vec<PathBuf>> {
    let mut pages = Vec::new();
    for section in ["man1", "man3", "man7"] {
        let folder = tree::prefix("share/man").join(section);
        let entries = fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        for path in entries.flatten().map(|entry| entry.path()) {
            let is_link = path.is_symlink();
            if !is_link && !tree::read(&path)?.starts_with(".so ") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    match pages.len() {
        100.. => Ok(pages),
        few => {
            Err(format!("{few} manual pages in {}?", tree::prefix("share/man").display()).into())
        }
    }
}

fn is_clean(name: &str, options: &[&str], ignored: &[&str]) -> Result {
    let mut problems = Vec::new();
    for page in pages()? {
        let mut command = Command::new(name);
        command.args(options).arg(&page);
        command.env("MANWIDTH", "78").env("LC_ALL", "C.UTF-8").env("MANROFFSEQ", "");
        let outcome = launch::run(command)?;
        let remarks = match name {
            "mandoc" => &outcome.stdout,
            _ => &outcome.stderr,
        };
        let of_concern =
            remarks.lines().filter(|line| !ignored.iter().any(|words| line.contains(words)));
        problems.extend(of_concern.map(|line| format!("{}: {line}", page.display())));
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n").into()) }
}

/// Checks that the complete programs compile in pages not made from the interface's table.
fn programs() -> Result {
    let folder = fresh("programs")?;
    let generated = man::pages("");
    let mut found = Vec::new();
    for page in pages()? {
        let name = page.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        if generated.contains_key(&name) {
            continue;
        }
        for (at, program) in blocks(&tree::read(&page)?).iter().enumerate() {
            if !program.contains("int main(") {
                continue;
            }
            let source = folder.join(format!("{name}-{at}.c"));
            fs::write(&source, program)?;
            let mut oshcc = Command::new(tree::prefix("bin/oshcc"));
            oshcc.args(STRICT).args(["-D_GNU_SOURCE", "-o"]).arg(source.with_extension(""));
            oshcc.arg(&source).args(program.contains("<onenode.h>").then_some("-lonenode"));
            launch::run(oshcc)?.success()?;
            found.push(name.clone());
        }
    }
    match found.iter().any(|name| name == "oneshmem.7") && found.iter().any(|n| n == "onenode.7") {
        true => Ok(()),
        false => Err(format!("only {found:?} have programs").into()),
    }
}

/// The literal blocks of a page.
fn blocks(page: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut open: Option<String> = None;
    for line in page.lines() {
        match line {
            ".nf" | ".EX" => open = Some(String::new()),
            ".fi" | ".EE" => blocks.extend(open.take()),
            line => {
                if let Some(block) = &mut open {
                    *block += &line.replace("\\&", "").replace("\\-", "-").replace("\\e", "\\");
                    block.push('\n');
                }
            }
        }
    }
    blocks
}
