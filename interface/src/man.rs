//! Reference pages: one for each family of routines, in section 3 of the manual. The prototypes and
//! the first paragraph come from `routines.txt`, `extensions.txt` and `onenode.txt`, everything else
//! from `manual/`.

mod arguments;
mod synopsis;
mod volume;

use crate::PROPOSED;
use crate::examples::{EXAMPLES, Example};
use crate::manual::{Failure, Manual, Words};
use crate::roff;
use crate::table::{Expansion, Family, Interface, Section};
use std::collections::BTreeMap;
use std::fmt::Write;
use volume::Volume;

/// Pages from templates, with their sections.
pub const OTHERS: [(&str, u8); 10] = [
    ("oneshmem", 7),
    ("oneshmem-partitions", 7),
    ("shmem_environment", 7),
    ("onenode", 7),
    ("onenode-mpi", 1),
    ("oshcc", 1),
    ("oshinfo", 1),
    ("oshrun", 1),
    ("oshtop", 1),
    ("oshtune", 1),
];

/// All pages: file name and text. Every routine and every type-generic name has a page; if it is
/// not the name of a page itself, its page only refers to that page. `date` is printed at the foot
/// of each.
pub fn pages(date: &str) -> BTreeMap<String, String> {
    let manual = Manual::read();
    let tables = [Interface::openshmem(), Interface::extensions(), Interface::onenode()];
    let names: BTreeMap<String, String> = tables.iter().flat_map(names).collect();
    let mut pages: BTreeMap<String, String> =
        names.iter().map(|(name, title)| (format!("{name}.3"), reference(title))).collect();
    pages.extend(PROPOSED.map(|name| (format!("{name}.3"), reference("shmemx_partition_malloc"))));
    for table in &tables {
        for (section, family) in table.families() {
            let title = title(table, section, family);
            let maker = PageWriter {
                table,
                manual: &manual,
                section,
                family,
                title: &title,
                volume: Volume::of(section),
                names: &names,
                date,
            };
            pages.insert(format!("{title}.3"), maker.page());
        }
    }
    pages
}

/// A page that only refers to another.
fn reference(title: &str) -> String {
    format!(".so man3/{title}.3\n")
}

/// Every name that has a page, with the title of that page.
fn names(table: &Interface) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    for (section, family) in table.families() {
        let title = title(table, section, family);
        let symbols = family.prototypes.iter().flat_map(|p| table.expand(section, family, p));
        for name in symbols.map(|s| s.name).chain(generic_names(family)) {
            names.insert(name, title.clone());
        }
    }
    for (section, family) in table.families() {
        let title = title(table, section, family);
        names.insert(title.clone(), title);
    }
    names
}

/// The name of a family's page: its first routine, without a TYPENAME.
pub fn title(table: &Interface, section: &Section, family: &Family) -> String {
    let first = &family.prototypes[0];
    match first.over {
        Expansion::Types(_) => first.name.replace("[_ctx]", "").replace("_TYPENAME", ""),
        _ => table.expand(section, family, first)[0].name.clone(),
    }
}

fn generic_names(family: &Family) -> impl Iterator<Item = String> {
    family.prototypes.iter().filter_map(|p| p.generic.clone())
}

struct PageWriter<'a> {
    table: &'a Interface,
    manual: &'a Manual,
    section: &'a Section,
    family: &'a Family,
    title: &'a str,
    volume: Volume,
    /// Every name that has a page.
    names: &'a BTreeMap<String, String>,
    date: &'a str,
}

impl PageWriter<'_> {
    fn page(&self) -> String {
        let title = self.title;
        let own = self.manual.pages.get(self.family.name);
        let own = own.unwrap_or_else(|| panic!("manual/ has no page {}", self.family.name));
        let mut out = format!(
            ".TH {} 3 \"{}\" \"oneshmem {}\" \"{}\"\n.ad l\n.SH NAME\n{title} \\- {}\n",
            title.to_uppercase(),
            self.date,
            env!("CARGO_PKG_VERSION"),
            self.volume.title(),
            own.purpose
        );
        out += &self.synopsis(own);
        out += ".SH DESCRIPTION\n";
        out += &self.text(&self.family.doc.join(" "));
        for text in &own.text {
            out += ".PP\n";
            out += &self.text(text);
        }
        out += &self.deprecations();
        out += &self.arguments(own);
        out += ".SH RETURN VALUE\n";
        match own.returns[..] {
            [] => out += "None.\n",
            _ => out += &self.paragraphs(&own.returns),
        }
        out += &self.errors(&own.errors);
        out += ".SH NOTES\n";
        let remark = self.volume.remark(self);
        let notes = [&own.notes[..], remark.as_slice()].concat();
        out += &self.paragraphs(&notes);
        let name = own.example.as_deref();
        let name = name.unwrap_or_else(|| panic!("{} has no example", self.family.name));
        let example = EXAMPLES.iter().find(|example| example.name == name);
        out += &shown(example.unwrap_or_else(|| panic!("there is no example {name}")));
        out += &self.see(own);
        out
    }

    fn errors(&self, errors: &[Failure]) -> String {
        let mut out = String::new();
        for Failure { code, text } in errors {
            match code.is_empty() {
                true => out += ".IP \\(bu 2\n",
                false => _ = write!(out, ".TP\n.B {code}\n"),
            }
            out += &self.text(text);
        }
        match out.is_empty() {
            true => out,
            false => format!(".SH ERRORS\n{}{out}", self.text(self.volume.failures())),
        }
    }

    fn text(&self, text: &str) -> String {
        let mut arguments = vec!["ctx"];
        for prototype in &self.family.prototypes {
            arguments.extend(prototype.params.iter().map(|param| param.name));
        }
        let is_other = |name: &str| self.names.get(name).is_some_and(|page| *page != self.title);
        roff::paragraph(text, &arguments, is_other)
    }

    fn paragraphs(&self, texts: &[String]) -> String {
        texts.iter().map(|text| self.text(text)).collect::<Vec<_>>().join(".PP\n")
    }

    /// Which routines replace the deprecated ones.
    fn deprecations(&self) -> String {
        let mut remarks: Vec<(String, Vec<String>)> = Vec::new();
        for prototype in &self.family.prototypes {
            let Some(deprecated) = prototype.deprecated else { continue };
            let instead = match deprecated.instead {
                Some(other) => format!("; use {}", spoken(other)),
                None => String::new(),
            };
            let remark = format!("deprecated since version {}{instead}.", deprecated.since);
            let name = format!("`{}`", prototype.name.replace("[_ctx]", ""));
            match remarks.iter_mut().find(|(known, _)| *known == remark) {
                Some((_, names)) => names.push(name),
                None => remarks.push((remark, vec![name])),
            }
        }
        let mut out = String::new();
        for (remark, names) in remarks {
            let verb = if names.len() == 1 { "is" } else { "are" };
            let text = format!("{} {verb} {remark}", listed(&names, "and"));
            let _ = write!(out, ".PP\n{}", self.text(&text));
        }
        out
    }

    fn see(&self, own: &Words) -> String {
        let mut out = String::from(".SH SEE ALSO\n");
        let mut names: Vec<&str> = Vec::new();
        for name in &own.see {
            if name != self.title && !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        let section =
            |name: &str| OTHERS.iter().find(|(other, _)| *other == name).map_or(3, |o| o.1);
        names.sort_by_key(|name| (section(name), *name));
        for (at, name) in names.iter().enumerate() {
            let comma = if at + 1 == names.len() { "" } else { "," };
            let _ = writeln!(out, ".BR {} ({}){comma}", roff::word(name), section(name));
        }
        if !own.spec.is_empty() {
            let _ =
                writeln!(out, ".PP\nOpenSHMEM specification, version 1.6, section {}", own.spec);
        }
        out
    }
}

/// Formats names in a remark as code.
fn spoken(names: &str) -> String {
    let word = |word: &str| match word.starts_with("shmem") {
        true => format!("`{word}`"),
        false => word.to_owned(),
    };
    names.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// `a, b and c`.
fn listed(items: &[String], and: &str) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} {and} {last}", first.join(", ")),
    }
}

fn shown(example: &Example) -> String {
    let parts = example.parts();
    let says = roff::paragraph(&parts.says, &[], |_| false);
    let mut out = format!(".SH EXAMPLES\n{says}.PP\n.EX\n{}.EE\n", roff::lines(&parts.program));
    for (command, output) in &parts.runs {
        let (command, output) = (roff::code(command), roff::lines(&output.join("\n")));
        let _ = write!(out, ".PP\n.EX\n$ {command}\n{output}.EE\n");
    }
    out
}
