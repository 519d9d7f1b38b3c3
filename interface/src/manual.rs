//! Reads `manual/*.txt`: the text of reference pages that is not in `routines.txt`, which has the
//! prototypes and descriptions. The files are part of this crate, so a mistake in one ends the
//! program.
//!
//! ```text
//! group: 9.6                       what follows, up to the first page, holds for all pages after it
//! part: 9.6.1                      the same for some pages of a group, beside what holds for all
//! page rma.put: copy an array      a page, by the name of its family, and its purpose in few words
//! spec: 9.6.1.1                    the section of the specification
//! arg dest: text                   an argument; without it manual/arguments.txt is looked at
//! field config.rank: text          a field of the structure that an argument points to
//! text: text                       one more paragraph of the description
//! return: text                     what it returns
//! error: text                      when the job ends with a message: "The job ends if ..."
//! error ONENODE_EINVAL: text       when a function returns that number
//! note: text                       a paragraph of the notes
//! example: put                     the program manual/examples/put.c
//! see: shmem_get shmem_quiet       related pages
//! ```
//!
//! A line that begins with a blank continues the previous one.

use std::collections::BTreeMap;

/// The text of a page, of a part or of a group.
#[derive(Clone, Debug, Default)]
pub struct Words {
    /// The name of the page's family; empty if this is not a page.
    pub family: String,
    /// The purpose of the page, in a few words.
    pub purpose: String,
    /// The section of the specification.
    pub spec: String,
    /// Arguments, by name.
    pub arguments: BTreeMap<String, String>,
    /// Arguments that the part, the group or `arguments.txt` explains.
    pub shared: BTreeMap<String, String>,
    /// Fields of structures, as `argument.field`, in the order of the page.
    pub fields: Vec<(String, String)>,
    /// More paragraphs of the description.
    pub text: Vec<String>,
    /// The return value, as lines.
    pub returns: Vec<String>,
    /// The conditions under which the job ends with a message, or the call fails.
    pub errors: Vec<Failure>,
    /// Paragraphs of the notes.
    pub notes: Vec<String>,
    /// The example's name.
    pub example: Option<String>,
    /// Names of related pages.
    pub see: Vec<String>,
}

/// A failure.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The value returned; empty if the job ends instead, or no number tells the failure.
    pub code: String,
    /// The condition.
    pub text: String,
}

/// All of `manual/`.
#[derive(Debug, Default)]
pub struct Manual {
    /// The text of each page, by the name of its family.
    pub pages: BTreeMap<String, Words>,
    /// The words of `arguments.txt`.
    everywhere: Words,
}

const FILES: [(&str, &str); 10] = [
    ("setup", include_str!("../manual/setup.txt")),
    ("memory", include_str!("../manual/memory.txt")),
    ("teams", include_str!("../manual/teams.txt")),
    ("rma", include_str!("../manual/rma.txt")),
    ("atomics", include_str!("../manual/atomics.txt")),
    ("collectives", include_str!("../manual/collectives.txt")),
    ("active_sets", include_str!("../manual/active_sets.txt")),
    ("waits", include_str!("../manual/waits.txt")),
    ("extensions", include_str!("../manual/extensions.txt")),
    ("onenode", include_str!("../manual/onenode.txt")),
];
const ARGUMENTS: &str = include_str!("../manual/arguments.txt");

impl Manual {
    /// Reads all files.
    pub fn read() -> Self {
        let mut manual = Self::default();
        for (line, text) in statements(ARGUMENTS) {
            let (name, text) = pair("arguments", line, &text);
            manual.everywhere.arguments.insert(name, text);
        }
        for (file, text) in FILES {
            // A group, then perhaps a part of it, then perhaps a page.
            let mut open = vec![Words::default()];
            for (line, statement) in statements(text) {
                let (head, text) = pair(file, line, &statement);
                if head == "group" {
                    manual.close_page(&mut open);
                    open = vec![Words { spec: text, ..Words::default() }];
                } else if head == "part" {
                    manual.close_page(&mut open);
                    open.truncate(1);
                    open.push(Words { spec: text, ..Words::default() });
                } else if let Some(family) = head.strip_prefix("page ") {
                    manual.close_page(&mut open);
                    open.push(Words { family: family.into(), purpose: text, ..Words::default() });
                } else {
                    let is_known = open.last_mut().is_some_and(|w| w.take_in(&head, text));
                    assert!(is_known, "manual/{file}.txt:{line}: {head} is not known");
                }
            }
            manual.close_page(&mut open);
        }
        manual
    }

    /// Adds the page that is open, if one is, with what the levels above say.
    fn close_page(&mut self, open: &mut Vec<Words>) {
        if open.last().is_none_or(|last| last.family.is_empty()) {
            return;
        }
        let mut page = open.pop().expect("it is the last");
        open.iter().rev().chain([&self.everywhere]).for_each(|above| page.inherit(above));
        let before = self.pages.insert(page.family.clone(), page);
        assert!(before.is_none(), "manual/: two pages {}", before.unwrap_or_default().family);
    }
}

impl Words {
    fn inherit(&mut self, above: &Self) {
        if self.spec.is_empty() {
            self.spec.clone_from(&above.spec);
        }
        if self.returns.is_empty() {
            self.returns.clone_from(&above.returns);
        }
        self.example = self.example.take().or_else(|| above.example.clone());
        for (name, text) in &above.arguments {
            self.shared.entry(name.clone()).or_insert_with(|| text.clone());
        }
        self.text.extend_from_slice(&above.text);
        self.errors.extend_from_slice(&above.errors);
        self.notes.extend_from_slice(&above.notes);
        self.see.extend_from_slice(&above.see);
    }

    fn take_in(&mut self, head: &str, text: String) -> bool {
        match head.split_once(' ').unwrap_or((head, "")) {
            ("arg", name) if !name.is_empty() => {
                self.arguments.insert(name.into(), text);
            }
            ("field", name) if name.contains('.') => self.fields.push((name.into(), text)),
            ("spec", "") => self.spec = text,
            ("text", "") => self.text.push(text),
            ("return", "") => self.returns.push(text),
            ("error", code) => self.errors.push(Failure { code: code.into(), text }),
            ("note", "") => self.notes.push(text),
            ("example", "") => self.example = Some(text),
            ("see", "") => self.see.extend(text.split_whitespace().map(String::from)),
            _ => return false,
        }
        true
    }
}

fn pair(file: &str, line: usize, statement: &str) -> (String, String) {
    let Some((head, text)) = statement.split_once(':') else {
        panic!("manual/{file}.txt:{line}: a word and a colon are expected")
    };
    (head.trim().into(), text.trim().into())
}

/// Statements with their line numbers; continuation lines are joined.
fn statements(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        match found.last_mut() {
            Some((_, last)) if text.starts_with(' ') => {
                last.push(' ');
                last.push_str(text.trim());
            }
            _ if text.trim().is_empty() || text.starts_with('#') => {}
            _ => found.push((line, text.into())),
        }
    }
    found
}
