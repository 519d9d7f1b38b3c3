//! The walks through the code in ARCHITECTURE.md: each file has the functions that a walk names, and the first of
//! them is called from a file before it, so that a reader gets from one to the next.

use crate::{Result, tree};
use libtest_mimic::Trial;

/// The sections with walks, and the most files of each.
const WALKS: [(&str, usize); 3] = [("One reduction", 14), ("One attach", 14), ("One far put", 12)];

/// The trials.
pub fn trials() -> Vec<Trial> {
    let trial = |(title, most): (&'static str, usize)| {
        Trial::test(format!("walks/{}", title.replace(' ', "-")), move || walk(title, most))
    };
    WALKS.map(trial).into()
}

fn walk(title: &str, most: usize) -> Result {
    let page = tree::read(tree::repository("ARCHITECTURE.md"))?;
    let section = page.split("\n## ").find(|section| section.starts_with(title));
    let rows = section.ok_or("no such section")?.lines().filter(|line| line.starts_with("| `"));
    let rows: Vec<Vec<&str>> = rows.map(quoted).collect();
    if rows.is_empty() || rows.len() > most {
        return Err(format!("{} files; expected 1 to {most}", rows.len()).into());
    }
    let mut before = String::new();
    for row in rows {
        let [path, functions @ ..] = &row[..] else { return Err("an empty row".into()) };
        let text = tree::read(tree::repository(path))?;
        for name in functions {
            let defines = |end| text.contains(&format!("fn {name}{end}"));
            if !["(", "<"].into_iter().any(defines) {
                return Err(format!("{path} has no function {name}").into());
            }
        }
        let first = functions.first().ok_or_else(|| format!("{path}: no function"))?;
        let calls = |before: &str| {
            let ends_a_name = |at: usize| before[..at].ends_with(['.', ':', ' ', '(', '|', '!']);
            let call = format!("{first}(");
            before
                .match_indices(&call)
                .any(|(at, _)| ends_a_name(at) && !before[..at].ends_with("fn "))
        };
        if !before.is_empty() && !calls(&before) {
            return Err(format!("no file before {path} calls {first}").into());
        }
        before.push_str(&text);
    }
    Ok(())
}

/// The file and the functions of a row: what is quoted in its first two columns.
fn quoted(row: &str) -> Vec<&str> {
    let columns: Vec<&str> = row.split(" | ").take(2).collect();
    columns.into_iter().flat_map(|column| column.split('`').skip(1).step_by(2)).collect()
}
