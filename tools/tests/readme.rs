//! What the README and the manual pages say of options and variables is so.

mod support;
use support::*;

use oneshmem::env;
use std::fs;
use std::path::Path;

fn text(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    fs::read_to_string(root.join(path)).unwrap()
}

#[test]
fn the_table_of_variables_is_that_of_the_library() {
    let readme = text("README.md");
    for variable in env::ALL {
        let alias = variable.alias.map_or(" ".into(), |alias| format!(" `{alias}` "));
        let env::Variable { name, default, help, .. } = variable;
        let row = format!("| `{name}` |{alias}| {default} | {help} |\n");
        assert!(readme.contains(&row), "README.md lacks the row\n{row}");
    }
    // A row for all partitions: their numbers are part of the names.
    let (name, old) = ("`SHMEM_SYMMETRIC_PARTITION<id>`", "`SMA_SYMMETRIC_PARTITION<id>`");
    let row = format!("| {name} | {old} | not set | {} |\n", env::partitions::HELP);
    assert!(readme.contains(&row), "README.md lacks the row\n{row}");
    let rows = readme.lines().filter(|line| line.starts_with("| `SHMEM_")).count();
    assert_eq!(rows, env::ALL.len() + 1, "README.md has a variable that the library lacks");
}

#[test]
fn the_manual_page_of_variables_has_them_all() {
    let page = text("packaging/man/shmem_environment.7.in");
    for env::Variable { name, alias, default, help, .. } in env::ALL {
        let old = alias.map(|alias| format!("\\fR, \\fP{alias}")).unwrap_or_default();
        let entry = format!(".TP\n.B {name}{old}\n{help}\nDefault: {default}.\n");
        assert!(page.contains(&entry), "shmem_environment.7 lacks\n{entry}");
    }
    let entries = page.lines().filter(|line| line.starts_with(".B SHMEM_")).count();
    assert_eq!(entries, env::ALL.len() + 1, "one for partitions, and those of the library");
}

#[test]
fn every_option_is_described() {
    let help = run(oshrun("--help")).ended_with(0).stdout;
    let (options, _) = help.split_once("Every option").unwrap();
    let words = options.split([' ', ',', '\n']).map(|word| word.trim_end_matches('.'));
    let options: Vec<_> = words.filter(|word| word.starts_with('-') && word.len() > 1).collect();
    assert!(options.len() > 10, "{options:?}");
    let (readme, manual) = (text("README.md"), text("packaging/man/oshrun.1.in").replace('\\', ""));
    for option in options {
        // Long options may be written with one dash.
        let name = option.trim_start_matches('-');
        let described = |text: &str| text.contains(&format!("-{name}"));
        assert!(described(&manual), "oshrun.1 lacks {option}");
        assert!(described(&readme) || ["h", "V"].contains(&name), "README.md: {option}");
    }
}
