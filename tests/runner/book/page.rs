//! A page of the book: its code blocks, links and headings.

use crate::tree;
use std::path::{Path, PathBuf};

/// A fenced code block.
#[derive(Clone, Debug)]
pub struct Block {
    /// The number of its first line.
    pub line: usize,
    /// The anchor of the heading above it.
    pub heading: String,
    /// The first word after the fence.
    pub language: String,
    /// The second word: the file to which the block is written.
    pub file: Option<String>,
    /// The lines of the block.
    pub lines: Vec<String>,
    /// From `<!-- needs: ... -->` before the block: commands that it needs, or UCX, or OpenMP.
    pub needs: Vec<String>,
    /// From `<!-- not run: ... -->` before the block: why it is not run.
    pub not_run: Option<String>,
}

/// A command, and the output shown for it.
#[derive(Debug, PartialEq, Eq)]
pub struct Shown {
    /// The command line for a shell.
    pub command: String,
    /// Lines that the output must contain. `...` stands for any text.
    pub output: Vec<String>,
}

/// A page.
#[derive(Debug)]
pub struct Page {
    /// The page's file.
    pub path: PathBuf,
    /// The whole text.
    pub text: String,
    /// The blocks, in order.
    pub blocks: Vec<Block>,
}

impl Page {
    /// Reads a page.
    pub fn read(path: &Path) -> crate::Result<Self> {
        let text = tree::read(path)?;
        let blocks = blocks(&text).map_err(|why| format!("{}:{why}", path.display()))?;
        Ok(Self { path: path.to_owned(), text, blocks })
    }

    /// The text outside blocks, line by line.
    pub fn prose(&self) -> impl Iterator<Item = &str> {
        let mut inside = false;
        self.text.lines().filter(move |line| {
            let is_fence = line.trim_start().starts_with("```");
            inside ^= is_fence;
            !inside && !is_fence
        })
    }

    /// The targets of links and pictures, as written.
    pub fn links(&self) -> Vec<String> {
        self.prose()
            .flat_map(|line| line.split("](").skip(1))
            .filter_map(|rest| Some(rest.split_once(')')?.0.to_owned()))
            .collect()
    }

    /// The files that mdBook includes in the page.
    pub fn includes(&self) -> impl Iterator<Item = &str> {
        let parts = self.text.split("{{#include ").skip(1);
        parts.filter_map(|rest| Some(rest.split_once("}}")?.0.trim()))
    }

    /// The anchors that mdBook creates for the headings.
    pub fn anchors(&self) -> Vec<String> {
        let headings = self.prose().filter(|line| line.starts_with('#'));
        headings.map(|line| anchor(line.trim_start_matches('#').trim())).collect()
    }

    /// Words of the prose set as code.
    pub fn code_words(&self) -> Vec<String> {
        let prose = self.prose().collect::<Vec<_>>().join("\n");
        let code = prose.split('`').skip(1).step_by(2);
        code.flat_map(str::split_whitespace).map(str::to_owned).collect()
    }
}

fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter_map(|c| match c {
        c if c.is_alphanumeric() || c == '_' || c == '-' => Some(c.to_ascii_lowercase()),
        c if c.is_whitespace() => Some('-'),
        _ => None,
    });
    kept.collect()
}

fn blocks(text: &str) -> Result<Vec<Block>, String> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open: Option<Block> = None;
    let (mut needs, mut not_run, mut heading) = (Vec::new(), None, String::new());
    for (line, text) in (1..).zip(text.lines()) {
        if let Some(block) = &mut open {
            if text == "```" {
                blocks.extend(open.take());
            } else {
                block.lines.push(text.to_owned());
            }
        } else if let Some(info) = text.strip_prefix("```") {
            let mut words = info.split_whitespace().map(str::to_owned);
            open = Some(Block {
                line,
                heading: heading.clone(),
                language: words.next().ok_or_else(|| format!("{line}: a block of which kind?"))?,
                file: words.next(),
                lines: Vec::new(),
                needs: std::mem::take(&mut needs),
                not_run: not_run.take(),
            });
        } else if let Some(list) = remark(text, "needs") {
            needs = list.split(',').map(|need| need.trim().to_owned()).collect();
        } else if let Some(reason) = remark(text, "not run") {
            if reason.is_empty() {
                return Err(format!("{line}: why is it not run?"));
            }
            not_run = Some(reason.to_owned());
        } else if text.starts_with('#') {
            heading = anchor(text.trim_start_matches('#').trim());
        } else if !text.is_empty() && (!needs.is_empty() || not_run.is_some()) {
            return Err(format!("{line}: a remark is followed by text, not by a block"));
        }
    }
    match open {
        Some(block) => Err(format!("{}: a block without an end", block.line)),
        None => Ok(blocks),
    }
}

/// The text of a comment of this kind.
fn remark<'a>(line: &'a str, kind: &str) -> Option<&'a str> {
    let inner = line.strip_prefix("<!--")?.strip_suffix("-->")?.trim();
    Some(inner.strip_prefix(kind)?.strip_prefix(':')?.trim())
}

impl Block {
    /// The commands in a console block with their output, or a script block as a single command.
    pub fn commands(&self) -> Result<Vec<Shown>, String> {
        if self.language == "sh" {
            let command = format!("set -e\n{}", self.lines.join("\n"));
            return Ok(vec![Shown { command, output: Vec::new() }]);
        }
        let mut commands: Vec<Shown> = Vec::new();
        for line in &self.lines {
            match (line.strip_prefix("$ "), commands.last_mut()) {
                (Some(command), _) => {
                    commands.push(Shown { command: command.to_owned(), output: Vec::new() });
                }
                (None, Some(last)) => match line.strip_prefix("> ") {
                    Some(more) if last.output.is_empty() => {
                        last.command = format!("{}\n{more}", last.command);
                    }
                    _ => last.output.push(line.clone()),
                },
                (None, None) => {
                    return Err(format!("{}: output without a command: {line}", self.line));
                }
            }
        }
        Ok(commands)
    }
}

impl Shown {
    /// The first line shown that the output lacks.
    pub fn missing(&self, output: &str) -> Option<&str> {
        let printed: Vec<String> = output.lines().map(squeezed).collect();
        let is_there =
            |line: &&String| printed.iter().any(|printed| matches(&squeezed(line), printed));
        self.output.iter().find(|line| !is_there(line)).map(String::as_str)
    }

    /// How what is printed differs from exactly these lines in any order, where a line `...` stands for any others.
    pub fn difference<'a>(
        lines: &[String],
        printed: impl Iterator<Item = &'a str>,
    ) -> Option<String> {
        let mut expected: Vec<&str> = lines.iter().map(String::as_str).collect();
        // Lines of any text last, so that they do not take what another one names.
        expected.sort_by_key(|line| line.matches("...").count());
        let allows_others = expected.iter().position(|line| *line == "...");
        let allows_others = allows_others.map(|at| expected.remove(at)).is_some();
        for line in printed {
            match expected.iter().position(|pattern| matches(pattern, line)) {
                Some(at) => _ = expected.remove(at),
                None if allows_others => {}
                None => return Some(format!("expected no line {line:?}")),
            }
        }
        expected.first().map(|missing| format!("expected a line {missing:?}"))
    }
}

/// Reduces blanks to single spaces.
fn squeezed(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a line matches the pattern, in which `...` is any text.
fn matches(pattern: &str, line: &str) -> bool {
    let Some((first, rest)) = pattern.split_once("...") else { return pattern == line };
    let Some(mut line) = line.strip_prefix(first) else { return false };
    let parts: Vec<&str> = rest.split("...").collect();
    let Some((last, middle)) = parts.split_last() else { return true };
    for part in middle {
        let Some(at) = line.find(part) else { return false };
        line = &line[at + part.len()..];
    }
    line.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::{Shown, anchor, blocks, matches};

    #[test]
    fn dots_are_any_text() {
        for (pattern, line, expected) in [
            ("as it is", "as it is", true),
            ("as it is", "as it is not", false),
            ("...", "", true),
            ("PE 0: ... of 4", "PE 0: this of 4", true),
            ("PE 0: ... of 4", "PE 0: this of 5", false),
            ("a...b...c", "a b c", true),
            ("a...b...c", "a c b", false),
        ] {
            assert_eq!(matches(pattern, line), expected, "{pattern:?} {line:?}");
        }
    }

    #[test]
    fn lines_are_compared_in_any_order_and_once_each() {
        for (expected, printed, is_same) in [
            (&["a ...", "a b"][..], &["a b", "a c"][..], true),
            (&["a"], &["a", "a"], false),
            (&["a", "a"], &["a"], false),
            (&["...", "b"], &["a", "b", "c"], true),
            (&["..."], &[], true),
            (&[], &["a"], false),
            (&["a  b"], &["a b"], false),
        ] {
            let lines: Vec<String> = expected.iter().map(|line| (*line).to_owned()).collect();
            let found = Shown::difference(&lines, printed.iter().copied());
            assert_eq!(found.is_none(), is_same, "{expected:?} {printed:?}: {found:?}");
        }
    }

    #[test]
    fn blocks_have_commands_and_remarks() {
        let text = "# T\n\n<!-- needs: gdb, xterm -->\n```console\n$ a \\\n> b\nc\n$ d\n```\n";
        let found = blocks(text).unwrap();
        assert_eq!((found.len(), found[0].line), (1, 4));
        assert_eq!(found[0].needs, ["gdb", "xterm"]);
        let commands = found[0].commands().unwrap();
        assert_eq!(commands[0].command, "a \\\nb");
        assert_eq!(commands[0].output, ["c"]);
        assert_eq!(commands[1].missing("e\n"), None);
        assert_eq!(commands[0].missing("e\n"), Some("c"));
        for text in ["```\n```\n", "```c\n", "<!-- not run: -->\n", "<!-- needs: a -->\ntext\n"] {
            assert!(blocks(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn headings_become_anchors() {
        assert_eq!(anchor("Open MPI's `mpirun`: options"), "open-mpis-mpirun-options");
    }
}
