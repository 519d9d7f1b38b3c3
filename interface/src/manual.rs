//! Reads `manual/*.txt`: the text of reference pages that is not in `routines.txt`, which has the
//! prototypes and descriptions. The files are part of this crate, so a mistake in one ends the
//! program.
//!
//! ```text
//! group: 9.6                       what follows, up to the first page, holds for all pages after it
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

/// The text of a page, or of all pages of a group.
#[derive(Clone, Debug, Default)]
pub struct Words {
    /// The purpose of the page, in a few words.
    pub purpose: String,
    /// The section of the specification.
    pub spec: String,
    /// Arguments, by name.
    pub arguments: BTreeMap<String, String>,
    /// Fields of structures, as `argument.field`, in the order of the page.
    pub fields: Vec<(String, String)>,
    /// More paragraphs of the description.
    pub text: Vec<String>,
    /// What is returned.
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
    /// What is returned; empty if the job ends instead, or no number tells the failure.
    pub code: String,
    /// The condition.
    pub text: String,
}

/// All of `manual/`.
#[derive(Debug, Default)]
pub struct Manual {
    /// By the name of the family: the page's own text, and the index of its group.
    pub pages: BTreeMap<String, (Words, usize)>,
    /// Text shared by the pages of a group.
    pub groups: Vec<Words>,
    /// Arguments that have the same meaning everywhere.
    pub arguments: BTreeMap<String, String>,
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
            manual.arguments.insert(name, text);
        }
        for (file, text) in FILES {
            let mut page: Option<String> = None;
            manual.groups.push(Words::default());
            for (line, statement) in statements(text) {
                let (head, text) = pair(file, line, &statement);
                let group = manual.groups.len() - 1;
                if head == "group" {
                    manual.groups.push(Words { spec: text, ..Words::default() });
                    page = None;
                } else if let Some(family) = head.strip_prefix("page ") {
                    let words = Words { purpose: text, ..Words::default() };
                    let before = manual.pages.insert(family.into(), (words, group));
                    assert!(before.is_none(), "manual/{file}.txt:{line}: a second {family}");
                    page = Some(family.into());
                } else {
                    let words = match page.as_ref().and_then(|page| manual.pages.get_mut(page)) {
                        Some((words, _)) => words,
                        None => &mut manual.groups[group],
                    };
                    let is_known = words.take_in(&head, text);
                    assert!(is_known, "manual/{file}.txt:{line}: {head} is not known");
                }
            }
        }
        manual
    }
}

impl Words {
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
