//! Checks the language of what users read: no phrase of `tests/phrases.txt`, and no endless sentences.

use crate::{compile, tree};
use libtest_mimic::Trial;
use std::fs;
use std::path::{Path, PathBuf};

/// What users read: files, and folders with the endings of files in them.
const READ: [(&str, &[&str]); 15] = [
    ("README.md", &[]),
    ("ARCHITECTURE.md", &[]),
    ("CHANGELOG.md", &[]),
    ("CONTRIBUTING.md", &[]),
    ("SECURITY.md", &[]),
    ("bench/README.md", &[]),
    ("docs", &["md"]),
    ("docs/src", &["md"]),
    ("examples", &["c", "rs"]),
    ("include", &["h"]),
    ("interface", &["txt"]),
    ("interface/manual", &["txt"]),
    ("node/include", &["h"]),
    ("packaging/man", &["in"]),
    ("tools/src/cli", &["rs"]),
];
/// Those of which all sentences are measured.
const MEASURED: [&str; 5] =
    ["README.md", "CONTRIBUTING.md", "docs/", "interface/manual/", "packaging/man/"];
/// The most words up to the end of a sentence, a colon or a semicolon.
const MOST_WORDS: usize = 36;

/// The trials. They are the same for every library.
pub fn trials() -> Vec<Trial> {
    if tree::is_smartmap() || compile::is_elsewhere() {
        return Vec::new();
    }
    vec![
        Trial::test("prose/phrases", || Ok(phrases()?)),
        Trial::test("prose/sentences", || Ok(sentences()?)),
    ]
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// The texts with their paths in the repository.
fn texts() -> Result<Vec<(String, String)>, String> {
    let mut texts = Vec::new();
    for (name, endings) in READ {
        let path = tree::repository(name);
        if endings.is_empty() {
            texts.push((name.to_owned(), read(&path)?));
            continue;
        }
        let entries = fs::read_dir(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let files = entries.flatten().map(|entry| entry.path());
        let mut files: Vec<PathBuf> = files
            .filter(|file| {
                file.is_file() && file.extension().is_some_and(|e| endings.iter().any(|x| e == *x))
            })
            .collect();
        files.sort();
        if files.is_empty() {
            return Err(format!("{name} has none of the files that are checked"));
        }
        for file in files {
            let end = file.file_name().unwrap_or_default().to_string_lossy();
            texts.push((format!("{name}/{end}"), read(&file)?));
        }
    }
    Ok(texts)
}

/// Lower-case words, separated and surrounded by single blanks. What is not a letter is kept apart.
fn normal(text: &str) -> String {
    let spread: String = text
        .chars()
        .flat_map(|c| match c.is_alphanumeric() || "'-_?".contains(c) {
            true => vec![c.to_ascii_lowercase()],
            false if c.is_whitespace() || "*/\\\"".contains(c) => vec![' '],
            false => vec![' ', c, ' '],
        })
        .collect();
    format!(" {} ", spread.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn phrases() -> Result<(), String> {
    let list = read(&tree::repository("tests/phrases.txt"))?;
    let list = list.lines().filter(|line| !line.starts_with('#'));
    let list: Vec<(&str, &str)> = list.filter_map(|line| line.split_once(" = ")).collect();
    let mut found = Vec::new();
    for (name, text) in texts()? {
        let text = normal(&text);
        for (phrase, better) in &list {
            if let Some(at) = text.find(&format!(" {phrase} ")) {
                let context: String = text[at..].chars().take(60).collect();
                found.push(format!("{name}: \"{}...\"; better: {better}", context.trim()));
            }
        }
    }
    match (found.is_empty(), list.len()) {
        (true, 10..) => Ok(()),
        (true, few) => Err(format!("only {few} phrases in tests/phrases.txt")),
        (false, _) => Err(found.join("\n")),
    }
}

fn sentences() -> Result<(), String> {
    let (mut found, mut count) = (Vec::new(), 0);
    for (name, text) in texts()? {
        if !MEASURED.iter().any(|start| name.starts_with(start)) {
            continue;
        }
        let paragraphs = match name.rsplit('.').next() {
            Some("md") => markdown(&text),
            Some("in") => roff(&text),
            _ => statements(&text),
        };
        for sentence in paragraphs.iter().flat_map(|paragraph| split(paragraph)) {
            count += 1;
            let words = sentence.split_whitespace().count();
            if words > MOST_WORDS {
                found.push(format!("{name}: {words} words: {sentence}"));
            }
        }
    }
    match (found.is_empty(), count) {
        (true, 1000..) => Ok(()),
        (true, few) => Err(format!("only {few} sentences were found")),
        (false, _) => Err(found.join("\n")),
    }
}

/// The sentences of a paragraph. A colon or semicolon ends one, too.
fn split(paragraph: &str) -> Vec<String> {
    let mut sentences = vec![String::new()];
    for word in paragraph.split_whitespace() {
        let last = sentences.last_mut().expect("there is one");
        *last += word;
        last.push(' ');
        if word.trim_end_matches([')', '"', '*', '`']).ends_with(['.', '?', '!', ':', ';']) {
            sentences.push(String::new());
        }
    }
    sentences
}

/// Adds a line to the last paragraph.
fn add(paragraphs: &mut [String], line: &str) {
    if let Some(last) = paragraphs.last_mut() {
        last.push_str(line);
        last.push('\n');
    }
}

/// Paragraphs, items of lists and cells of tables, without blocks of code.
fn markdown(text: &str) -> Vec<String> {
    let (mut paragraphs, mut is_code) = (vec![String::new()], false);
    for line in text.lines() {
        let start = line.trim_start();
        if start.starts_with("```") {
            is_code = !is_code;
            paragraphs.push(String::new());
        } else if is_code {
        } else if start.starts_with('|') {
            paragraphs.extend(line.split('|').map(String::from));
            paragraphs.push(String::new());
        } else {
            let begins = start.starts_with(['-', '*', '#', '<', '!']);
            if begins || start.is_empty() || start.starts_with(|c: char| c.is_ascii_digit()) {
                paragraphs.push(String::new());
            }
            add(&mut paragraphs, line);
        }
    }
    paragraphs
}

/// The text of a manual page between requests other than those that change the font.
fn roff(text: &str) -> Vec<String> {
    let (mut paragraphs, mut is_code) = (vec![String::new()], false);
    for line in text.lines() {
        let (request, rest) = line.split_once(' ').unwrap_or((line, ""));
        match request {
            ".nf" | ".EX" => is_code = true,
            ".fi" | ".EE" => is_code = false,
            _ if is_code => {}
            ".B" | ".I" => add(&mut paragraphs, rest),
            // Alternating fonts: the words follow one another without a blank.
            ".BR" | ".RB" | ".BI" | ".IB" | ".IR" | ".RI" => {
                add(&mut paragraphs, &rest.replace(" (", "(").replace(' ', ""));
            }
            _ if line.starts_with('.') => paragraphs.push(String::new()),
            _ => add(&mut paragraphs, line),
        }
    }
    paragraphs
}

/// The texts of statements: what follows the first colon, and lines that begin with a blank.
fn statements(text: &str) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if !line.starts_with(' ') {
            paragraphs.push(String::new());
        }
        let text =
            if line.starts_with(' ') { line } else { line.split_once(':').map_or("", |s| s.1) };
        add(&mut paragraphs, text);
    }
    paragraphs
}

/// Tests of this file itself.
pub mod tests {
    use super::{markdown, normal, roff, split, statements};

    fn words_are_found_across_lines() {
        assert_eq!(normal("Tries\n * Again, and\tagain?"), " tries again , and again? ");
    }

    fn sentences_end_at_marks() {
        assert_eq!(split("One (two). Three: four").len(), 3);
    }

    fn code_is_no_text() {
        assert_eq!(
            markdown("a\nb\n```\nc\n```\n- g\n| e | f |").concat().replace('\n', ""),
            "ab- g e  f "
        );
        assert_eq!(roff(".TH X\na\n.B b\n.BR c (3)\n.EX\ng\n.EE").concat(), "a\nb\nc(3)\n");
        assert_eq!(statements("# a\nnote: b\n c\n").concat(), " b\n c\n");
    }

    crate::unit_trials! {
        words_are_found_across_lines,
        sentences_end_at_marks,
        code_is_no_text,
    }
}
