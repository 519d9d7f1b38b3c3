//! The routines' manual pages as chapters of the book: a preprocessor of mdBook, which hands over the book as JSON on
//! standard input and takes it back from standard output.

use crate::Files;
use serde_json::{Value, json};
use std::fmt::Write;
use std::io::{self, Error};

/// The book with the pages, which are reference pages of section 3, behind its last chapter.
pub fn with(input: &str, pages: &Files) -> io::Result<String> {
    let mut input: Value = serde_json::from_str(input)?;
    let items = input
        .pointer_mut("/1/items")
        .and_then(Value::as_array_mut)
        .ok_or_else(|| Error::other("mdBook passes no items of a book; expected version 0.5"))?;
    items.push(json!({ "PartTitle": "Manual" }));
    for (header, about) in [
        ("shmem.h", "The routines"),
        ("shmemx.h", "Extensions"),
        ("onenode.h", "The on-node layer"),
    ] {
        items.push(volume(header, about, pages)?);
    }
    Ok(input[1].to_string())
}

/// The chapter of a header, with those of its pages below.
fn volume(header: &str, about: &str, pages: &Files) -> io::Result<Value> {
    let include = format!("#include <{header}>");
    // The first of the headers that a page includes is its own.
    let is_own =
        |page: &str| page.find("#include <").is_some_and(|at| page[at..].starts_with(&include));
    let own = pages.iter().filter(|(_, page)| is_own(page) && !is_reference(page));
    let mut list = format!(
        "# {about}: {header}\n\nAlso as manual pages: `man shmem_put`.\n\n| | |\n|---|---|\n"
    );
    let name = format!("{about}: {header}");
    let mut chapters = Vec::new();
    for (file, page) in own {
        let title = file.trim_end_matches(".3");
        let text = markdown(page, pages).map_err(|why| Error::other(format!("{file}: {why}")))?;
        let purpose = text.lines().nth(2).unwrap_or_default();
        let _ = writeln!(list, "| [{title}]({title}.md) | {purpose} |");
        chapters.push(chapter(title, &text, title, vec![], vec![name.clone()]));
    }
    Ok(chapter(&name, &list, header, chapters, vec![]))
}

fn chapter(name: &str, text: &str, file: &str, below: Vec<Value>, above: Vec<String>) -> Value {
    json!({ "Chapter": {
        "name": name, "content": text, "number": null, "sub_items": below,
        "path": format!("manual/{file}.md"), "source_path": null, "parent_names": above,
    } })
}

fn is_reference(page: &str) -> bool {
    page.starts_with(".so ")
}

/// The page in which `name` is described.
fn page_of(name: &str, pages: &Files) -> Option<String> {
    let page = pages.get(&format!("{name}.3"))?;
    let other = page.strip_prefix(".so man3/").map(str::trim_end);
    Some(other.map_or(name, |file| file.trim_end_matches(".3")).to_owned())
}

/// A page of the few requests that reference pages have (`interface/src/man.rs`).
fn markdown(page: &str, pages: &Files) -> Result<String, String> {
    let mut out = String::new();
    let mut lines = page.lines();
    let mut is_code = false;
    while let Some(line) = lines.next() {
        let (request, rest) = line.split_once(' ').unwrap_or((line, ""));
        let mut next = || lines.next().ok_or_else(|| format!("nothing follows {line}"));
        match request {
            ".nf" | ".EX" => {
                is_code = true;
                let is_program =
                    lines.clone().next().is_some_and(|line| line.starts_with("#include"));
                out += if request == ".nf" || is_program { "\n```c\n" } else { "\n```text\n" };
            }
            ".fi" | ".EE" => {
                is_code = false;
                out += "```\n";
            }
            _ if is_code => {
                let _ = writeln!(out, "{}", plain(line));
            }
            ".TH" | ".ad" => {}
            ".SH" if rest == "NAME" => {
                let name = plain(next()?);
                let (title, purpose) = name.split_once(" - ").ok_or("a name without a purpose")?;
                let _ = writeln!(out, "# {title}\n\n{purpose}");
            }
            ".SH" => {
                let (first, others) = rest.split_at(1);
                let _ = writeln!(out, "\n## {first}{}\n", others.to_lowercase());
            }
            ".SS" => {
                let _ = writeln!(out, "\n### {}\n", plain(rest));
            }
            ".TP" => {
                let tag = next()?;
                let tag = tag.split_once(' ').ok_or_else(|| format!("the tag {tag}"))?.1;
                let _ = writeln!(out, "- *{}*: ", escaped(&plain(tag)));
            }
            ".IP" => out += "- ",
            ".PP" => out.push('\n'),
            ".BR" => {
                let (name, section) =
                    rest.split_once(" (").ok_or_else(|| format!("the line {line}"))?;
                let name = plain(name);
                let _ = match section.strip_prefix("3)") {
                    Some(after) => writeln!(out, "{}{after}", linked(&name, pages)),
                    None => writeln!(out, "`{name}`({section}"),
                };
            }
            _ if request.starts_with('.') => return Err(format!("the request {request}")),
            _ => {
                let _ = writeln!(out, "{}", text(line, pages));
            }
        }
    }
    Ok(out)
}

/// A line of text: words in bold are code, or, before `(3)`, a link to a page.
fn text(line: &str, pages: &Files) -> String {
    let mut parts = line.split("\\f");
    let mut out = escaped(&plain(parts.next().unwrap_or_default()));
    let mut bold = None;
    for part in parts {
        let (font, words) = part.split_at(1);
        let words = plain(words);
        match (font, bold.take()) {
            ("B", _) => bold = Some(words),
            ("I", _) => _ = write!(out, "*{}*", escaped(&words)),
            (_, Some(name)) => match words.strip_prefix("(3)") {
                Some(rest) => out += &(linked(&name, pages) + &escaped(rest)),
                None => _ = write!(out, "`{name}`{}", escaped(&words)),
            },
            (_, None) => out += &escaped(&words),
        }
    }
    out
}

fn linked(name: &str, pages: &Files) -> String {
    match page_of(name, pages) {
        Some(page) => format!("[{name}]({page}.md)"),
        None => format!("`{name}`"),
    }
}

/// Without fonts and escapes.
fn plain(line: &str) -> String {
    let line = ["\\fB", "\\fI", "\\fP", "\\fR", "\\%", "\\&"]
        .iter()
        .fold(line.to_owned(), |line, it| line.replace(it, ""));
    line.replace("\\-", "-").replace("\\(bu", "•").replace("\\e", "\\")
}

/// Without a meaning for Markdown or HTML.
fn escaped(text: &str) -> String {
    text.chars().fold(String::new(), |mut out, c| {
        if "\\`*_<>[]|".contains(c) {
            out.push('\\');
        }
        out.push(c);
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_becomes_a_chapter() {
        let pages = oneshmem_interface::man::pages("2026-01-01");
        let book = with(r#"[{}, {"items": [{"Separator": null}]}]"#, &pages).unwrap();
        let book: Value = serde_json::from_str(&book).unwrap();
        let items = book["items"].as_array().unwrap();
        assert_eq!((items.len(), &items[1]), (5, &json!({ "PartTitle": "Manual" })));
        let below = |item: &Value| item["Chapter"]["sub_items"].as_array().unwrap().clone();
        let chapters: Vec<Value> = items[2..].iter().flat_map(below).collect();
        let expected = pages.values().filter(|page| !is_reference(page)).count();
        assert_eq!(chapters.len(), expected);
        let put = chapters.iter().find(|it| it["Chapter"]["name"] == "shmem_put").unwrap();
        let put = put["Chapter"]["content"].as_str().unwrap();
        for words in [
            "# shmem_put\n\ncopy an array to another PE\n",
            "```c\n#include <shmem.h>\n```\n",
            "void shmem_put(TYPE *dest, const TYPE *source, size_t nelems, int pe);",
            "Copies *nelems* elements from *source*, any memory",
            "by the next [shmem_quiet](shmem_quiet.md).\n",
            "- *dest*: \nSymmetric address of the array",
            "- *pe* is not the number of a PE\n",
            "printf(\"%ld %ld ... %ld\\n\", all[0]",
            "[shmem_get](shmem_get.md),\n",
        ] {
            assert!(put.contains(words), "{words:?} is not in {put}");
        }
        assert!(with("[{}, {}]", &pages).unwrap_err().to_string().contains("expected version 0.5"));
    }
}
