//! Reads `routines.txt`, `extensions.txt` and `onenode.txt`. They are part of this crate, so a mistake in one is a
//! programming error: it ends the program with a message that names the line.

use crate::table::{
    Deprecated, Expansion, Family, Interface, Param, Prototype, Section, TypeName, TypeTable,
};

const ROUTINES: &str = include_str!("../routines.txt");
const EXTENSIONS: &str = include_str!("../extensions.txt");
const ONENODE: &str = include_str!("../onenode.txt");

/// A description of what is wrong with a statement.
type Mistake = String;

impl Interface {
    /// The interface of OpenSHMEM 1.6.
    pub fn openshmem() -> Self {
        Self::read("routines.txt", ROUTINES)
    }

    /// The library's extensions to it, for the reference pages.
    pub fn extensions() -> Self {
        Self::read("extensions.txt", EXTENSIONS)
    }

    /// The interface of the on-node layer, for the reference pages.
    pub fn onenode() -> Self {
        Self::read("onenode.txt", ONENODE)
    }

    fn read(file: &str, text: &'static str) -> Self {
        let mut table = Self::default();
        for (line, statement) in statements(text) {
            if let Err(mistake) = table.take_in(statement) {
                panic!("{file}:{line}: {mistake}");
            }
        }
        table
    }

    fn take_in(&mut self, statement: &'static str) -> Result<(), Mistake> {
        let (word, rest) = statement.split_once(' ').unwrap_or((statement, ""));
        let rest = rest.trim();
        match word {
            "|" => self.family()?.doc.push(rest),
            "typename" => {
                let (name, c) = rest.split_once(' ').ok_or("a name and a C type are expected")?;
                self.typenames.push(TypeName { name, c: c.trim() });
            }
            "table" => {
                let known = |name: &str| self.typenames.iter().any(|t| t.name == name);
                let table = type_table(rest, &self.types, known)?;
                self.types.push(table);
            }
            "sizes" => {
                let known = |size: &str| size == "mem" || size.parse::<u32>().is_ok();
                let table = type_table(rest, &self.sizes, known)?;
                self.sizes.push(table);
            }
            "section" => {
                let (name, title) =
                    rest.split_once(": ").ok_or("a name and a title are expected")?;
                self.sections.push(Section { name, title, families: Vec::new() });
            }
            "family" => {
                let section = self.sections.last_mut().ok_or("a family before any section")?;
                section.families.push(Family {
                    name: rest,
                    doc: Vec::new(),
                    prototypes: Vec::new(),
                });
            }
            _ => {
                let prototype = prototype(statement)?;
                self.family()?.prototypes.push(prototype);
            }
        }
        Ok(())
    }

    fn family(&mut self) -> Result<&mut Family, Mistake> {
        let section = self.sections.last_mut();
        Ok(section.and_then(|s| s.families.last_mut()).ok_or("this belongs to a family")?)
    }
}

/// The statements with their line numbers. One line is one statement, except that an indented line
/// continues the previous one.
fn statements(text: &'static str) -> Vec<(usize, &'static str)> {
    let mut found: Vec<(usize, &'static str)> = Vec::new();
    for (i, line) in text.lines().enumerate() {
        if line.starts_with(' ') {
            let (_, last) = found.last_mut().expect("routines.txt starts with a statement");
            *last = joined(text, last, line);
        } else if !line.trim().is_empty() && !line.starts_with('#') {
            found.push((i + 1, line));
        }
    }
    found
}

/// The part of `text` from the start of `first` to the end of `last`.
fn joined(text: &'static str, first: &str, last: &str) -> &'static str {
    let offset = |part: &str| part.as_ptr() as usize - text.as_ptr() as usize;
    &text[offset(first)..offset(last) + last.len()]
}

fn prototype(statement: &'static str) -> Result<Prototype, Mistake> {
    let (text, remarks) = statement.split_once(';').ok_or("a prototype ends with a semicolon")?;
    let (head, params) = text.split_once('(').ok_or("a parameter list is expected")?;
    let mut params = params.trim().strip_suffix(')').ok_or("the parameter list does not end")?;
    let (ret, name) = type_and_name(head)?;

    let ctx = params.starts_with("[ctx");
    if ctx {
        (_, params) = params.split_once(']').ok_or("the bracket does not end")?;
    }
    if ctx != name.contains("[_ctx]") {
        return Err("[_ctx] and [ctx,] belong together".into());
    }
    let params = match params.trim() {
        "void" | "" => Vec::new(),
        list => list.split(',').map(|p| param(p.trim())).collect::<Result<_, _>>()?,
    };

    let mut prototype = Prototype {
        ret,
        name,
        params,
        ctx,
        over: Expansion::Nothing,
        generic: None,
        deprecated: None,
    };
    for remark in remarks.split(',').map(str::trim).filter(|r| !r.is_empty()) {
        let (word, rest) = remark.split_once(' ').unwrap_or((remark, ""));
        match word {
            "for" if name.contains("TYPENAME") => prototype.over = Expansion::Types(rest),
            "for" => prototype.over = Expansion::Sizes(rest),
            "generic" if rest.is_empty() => {
                prototype.generic = Some(name.replace("[_ctx]", "").replace("_TYPENAME", ""));
            }
            "generic" => prototype.generic = Some(rest.into()),
            "deprecated" => {
                let (since, instead) = match rest.split_once(": ") {
                    Some((since, instead)) => (since, Some(instead)),
                    None => (rest, None),
                };
                prototype.deprecated = Some(Deprecated { since, instead });
            }
            _ => return Err(format!("`{remark}` is not a remark")),
        }
    }
    let placeholder = name.contains("TYPENAME") || name.contains("SIZE");
    if placeholder != (prototype.over != Expansion::Nothing) {
        return Err("a placeholder and `for` belong together".into());
    }
    Ok(prototype)
}

fn param(text: &'static str) -> Result<Param, Mistake> {
    if text == "..." {
        return Ok(Param { ctype: text.into(), name: "" });
    }
    // The parameters of a macro have no types.
    let (ctype, name) = if is_word(text) { ("", text) } else { type_and_name(text)? };
    Ok(Param { ctype: ctype.into(), name })
}

fn is_word(text: &str) -> bool {
    !text.contains([' ', '*'])
}

/// Splits `const TYPE *source` into type and name.
fn type_and_name(text: &'static str) -> Result<(&'static str, &'static str), Mistake> {
    let at = text.rfind([' ', '*']).ok_or("a type and a name are expected")? + 1;
    Ok((text[..at].trim(), &text[at..]))
}

/// Parses `NAME ENTRY...`, where an entry can be the name of an earlier table.
fn type_table(
    text: &'static str,
    earlier: &[TypeTable],
    known: impl Fn(&str) -> bool,
) -> Result<TypeTable, Mistake> {
    let mut words = text.split_whitespace();
    let name = words.next().ok_or("a name is expected")?;
    let words: Vec<_> = words.collect();
    let mut table = TypeTable { name, entries: Vec::new(), same_as: None };
    for &word in &words {
        if let Some(other) = earlier.iter().find(|t| t.name == word) {
            table.entries.extend(&other.entries);
            table.same_as = (words.len() == 1).then_some(other.name);
        } else if known(word) {
            table.entries.push(word);
        } else {
            return Err(format!("`{word}` is neither an entry nor an earlier table"));
        }
    }
    Ok(table)
}
