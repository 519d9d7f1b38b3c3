//! Formats text for manual pages.

/// A paragraph. Words in backquotes are code, those among `arguments` are in italics; names of
/// manual pages get their section. Each sentence begins a line, as the formatter requires.
pub fn paragraph(text: &str, arguments: &[&str], is_page: impl Fn(&str) -> bool) -> String {
    let mut out = String::new();
    for (at, part) in text.split('`').enumerate() {
        if at % 2 == 0 {
            out += &plain(part);
        } else if arguments.contains(&part) {
            out += &format!("\\fI{}\\fP", code(part));
        } else if is_page(part) {
            out += &format!("\\fB{}\\fP(3)", word(part));
        } else {
            out += &format!("\\fB{}\\fP", word(part));
        }
    }
    sentences(&out)
}

/// Text that is not code. A hyphen before a digit is a minus sign.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    let mut before = ' ';
    while let Some(c) = chars.next() {
        match c {
            '\\' => out += "\\e",
            '-' if !before.is_alphanumeric() && chars.peek().is_some_and(char::is_ascii_digit) => {
                out += "\\-";
            }
            c => out.push(c),
        }
        before = c;
    }
    out
}

/// Code: each hyphen is the ASCII character, so that it can be copied.
pub fn code(text: &str) -> String {
    text.replace('\\', "\\e").replace('-', "\\-")
}

/// Code that is not broken at the end of a line.
pub fn word(text: &str) -> String {
    let parts: Vec<String> = text.split(' ').map(|part| format!("\\%{}", code(part))).collect();
    parts.join(" ")
}

/// Lines of code, none of which is a command.
pub fn lines(text: &str) -> String {
    text.lines().map(|line| guarded(&code(line))).collect()
}

/// A line of its own; escapes a first character that would make it a command.
fn guarded(text: &str) -> String {
    let guard = if text.starts_with(['.', '\'']) { "\\&" } else { "" };
    format!("{guard}{text}\n")
}

/// One line for each sentence, none of which is a command.
fn sentences(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut sentences = vec![String::new()];
    for (word, rest) in words(&text) {
        let last = sentences.last_mut().expect("there is one");
        if !last.is_empty() {
            last.push(' ');
        }
        last.push_str(word);
        let ends = word.trim_end_matches([')', '"']).ends_with(['.', '?', '!']);
        if ends
            && !word.ends_with("...")
            && rest.starts_with(|c: char| c.is_uppercase() || c == '\\')
        {
            sentences.push(String::new());
        }
    }
    sentences.iter().map(|text| guarded(text)).collect()
}

/// Each word with the text that follows it.
fn words(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
        rest = after;
        (!word.is_empty()).then_some((word, after))
    })
}

/// A prototype, broken between its parameters if it is longer than a line.
pub fn prototype(head: &str, parameters: &[String]) -> String {
    const WIDTH: usize = 70;
    let mut out = String::from("\\fB");
    out += &code(head);
    out += "(\\fP";
    let mut column = head.len() + 1;
    for (at, parameter) in parameters.iter().enumerate() {
        let end = if at + 1 == parameters.len() { ");" } else { "," };
        if at > 0 && column + parameter.len() + 1 + end.len() > WIDTH {
            out += "\n    ";
            column = 4;
        } else if at > 0 {
            out.push(' ');
            column += 1;
        }
        column += parameter.len() + end.len();
        let name = parameter.rfind([' ', '*']).map_or(0, |at| at + 1);
        let (kind, name) = parameter.split_at(name);
        match kind {
            "" => out += &format!("\\fB{}\\fP", code(name)),
            kind => out += &format!("\\fB{}\\fP\\fI{name}\\fP", code(kind)),
        }
        out += if end == "," { "," } else { "\\fB);\\fP" };
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::{lines, paragraph, prototype};

    #[test]
    fn code_arguments_and_pages_look_different() {
        let text = "Calls `shmem_quiet` for `pe`, or returns -1. See `-x`. A non-null `.x`";
        let found = paragraph(text, &["pe"], |name| name == "shmem_quiet");
        assert_eq!(
            found,
            "Calls \\fB\\%shmem_quiet\\fP(3) for \\fIpe\\fP, or returns \\-1.\nSee \\fB\\%\\-x\\fP.\nA \
             non-null \\fB\\%.x\\fP\n"
        );
    }

    #[test]
    fn no_line_is_a_command_by_accident() {
        assert_eq!(paragraph(".so on", &[], |_| false), "\\&.so on\n");
        assert_eq!(lines("'x'\n\n.y = -1\\"), "\\&'x'\n\n\\&.y = \\-1\\e\n");
    }

    #[test]
    fn long_prototypes_are_broken() {
        let parameters = ["shmem_team_t team", "const TYPE *source", "size_t nelems", "int root"];
        let text = prototype("int shmem_broadcast", &parameters.map(String::from));
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(text.contains("const TYPE *\\fP\\fIsource\\fP,"), "{text}");
    }
}
