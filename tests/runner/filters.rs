//! A filter that selects no test is an error: its author expects one to run. The suite is run by itself, so it
//! knows all names that are meant.

use crate::directives::Variant;
use crate::{compile, launch, tree};
use libtest_mimic::{Arguments, Trial};
use std::fs::DirEntry;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// Fails if the arguments select none of the trials.
pub fn check(arguments: &Arguments, trials: &[Trial]) -> Result<(), String> {
    if trials.iter().any(|trial| !arguments.is_filtered_out(trial)) {
        return Ok(());
    }
    let filter = arguments.filter.as_deref().unwrap_or("the given options");
    Err(format!(
        "none of the {} tests is selected by {filter:?}: expected a part of a name that --list prints",
        trials.len()
    ))
}

/// The trials; `names` are those of all others.
pub fn trials(names: Vec<String>) -> Vec<Trial> {
    let mut trials = vec![Trial::test("filters/nothing-selected", nothing_selected)];
    if !compile::is_elsewhere() {
        trials.push(Trial::test("filters/prepared", prepared));
    }
    let all = std::env::var_os("ONESHMEM_TEST_PES").is_none();
    if all && !tree::is_smartmap() && !compile::is_elsewhere() {
        trials.push(Trial::test("filters/documented", move || documented(&names)));
    }
    trials
}

/// This runner with these arguments.
fn runner(arguments: &[&str]) -> crate::Result<Command> {
    let mut runner = Command::new(std::env::current_exe()?);
    runner.args(arguments);
    Ok(runner)
}

/// For a machine without a compiler, what the selected trials run is compiled, and nothing else; the
/// second time, nothing is.
fn prepared() -> crate::Result {
    let folder = tree::Folder::new("prepared")?;
    let programs = folder.join(Variant::usual().name());
    let prepare = |name: &str| -> crate::Result<_> {
        let mut command = runner(&["--exact", name])?;
        command.env("ONESHMEM_PREPARE", &*folder);
        launch::run(command)?.success()?;
        Ok(files(&programs)?)
    };
    let first = prepare("faults/ends")?;
    let second = prepare("faults/ends")?;
    let third = prepare("failures/unheard/oshrun/11")?;
    let paths = |made: &[(PathBuf, SystemTime)]| -> Vec<PathBuf> {
        made.iter().map(|(path, _)| path.clone()).collect()
    };
    let expected = ["faults", "unheard"].map(|name| programs.join(name));
    match paths(&first) == expected[..1] && second == first && paths(&third) == expected {
        true => Ok(()),
        false => Err(format!("compiled were {first:?}, then {second:?}, then {third:?}").into()),
    }
}

/// The files in a folder, and when they were changed, sorted.
fn files(folder: &Path) -> std::io::Result<Vec<(PathBuf, SystemTime)>> {
    let file = |entry: std::io::Result<DirEntry>| {
        let entry = entry?;
        Ok((entry.path(), entry.metadata()?.modified()?))
    };
    let mut files = std::fs::read_dir(folder)?.map(file).collect::<std::io::Result<Vec<_>>>()?;
    files.sort();
    Ok(files)
}

fn nothing_selected() -> crate::Result {
    for arguments in [&["c/no-such/test"][..], &["--exact", "c/order"], &["--skip", ""]] {
        launch::run(runner(arguments)?)?.fails(&["none of the"])?;
    }
    Ok(())
}

/// Filters that documentation and makefiles pass to this runner select tests. Some are there only under
/// variables of the environment, which the same files name.
fn documented(names: &[String]) -> crate::Result {
    const CONDITIONAL: [&str; 2] = ["far/", "/partition"];
    let mut found = 0;
    let mut wrong = Vec::new();
    for file in ["CONTRIBUTING.md", "Makefile"] {
        for filter in filters(&tree::repository(file))? {
            found += 1;
            let selects = |name: &String| match &filter {
                Filter::Part(part) => name.contains(part.as_str()),
                Filter::Exact(whole) => name == whole,
            };
            if !CONDITIONAL.contains(&filter.text()) && !names.iter().any(selects) {
                wrong.push(format!("{file}: {}", filter.text()));
            }
        }
    }
    match (found, &wrong[..]) {
        (0, _) => Err("no filter is documented".into()),
        (_, []) => Ok(()),
        (_, wrong) => Err(format!("these filters select no test: {}", wrong.join(", ")).into()),
    }
}

enum Filter {
    Part(String),
    Exact(String),
}

impl Filter {
    fn text(&self) -> &str {
        let (Self::Part(text) | Self::Exact(text)) = self;
        text
    }
}

/// The filters in the commands of a file: those behind the package's name and two hyphens, and those of
/// `make test-xpmem`.
fn filters(path: &Path) -> crate::Result<Vec<Filter>> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path:?}: {error}"))?;
    let ends = |c: char| c.is_whitespace() || c == '`' || c == '#';
    let word =
        |text: &str| text.split(ends).next().filter(|word| !word.is_empty()).map(String::from);
    let after = |mark: &'static str| text.match_indices(mark).map(move |(at, _)| at + mark.len());
    let mut filters: Vec<Filter> = after("--workspace --test suite -- ")
        .filter_map(|at| match text[at..].strip_prefix("--exact ") {
            Some(rest) => word(rest).map(Filter::Exact),
            None => word(&text[at..]).filter(|word| !word.starts_with("--")).map(Filter::Part),
        })
        .collect();
    filters.extend(after(" FILTER=").filter_map(|at| word(&text[at..])).map(Filter::Part));
    Ok(filters)
}
