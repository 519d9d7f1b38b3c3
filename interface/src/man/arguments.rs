//! The arguments of a family's routines, and the fields of structures that they point to.

use super::{PageWriter, listed};
use crate::manual::Words;
use crate::roff;
use crate::table::Expansion;
use std::collections::BTreeSet;
use std::fmt::Write;

impl PageWriter<'_> {
    pub(super) fn arguments(&self, own: &Words) -> String {
        let mut out = String::new();
        let mut tables: Vec<(Expansion, Vec<String>)> = Vec::new();
        for prototype in self.family.prototypes.iter().filter(|p| p.over != Expansion::Nothing) {
            let name = format!("`{}`", prototype.name.replace("[_ctx]", ""));
            match tables.iter_mut().find(|(over, _)| *over == prototype.over) {
                Some((_, names)) => names.push(name),
                None => tables.push((prototype.over, vec![name])),
            }
        }
        for (over, names) in &tables {
            let of = match tables.len() {
                1 => String::new(),
                _ => format!("In {}: ", listed(names, "and")),
            };
            let (head, text) = match over {
                Expansion::Types(table) => ("TYPE, TYPENAME", self.types(table)),
                Expansion::Sizes(table) => ("SIZE", self.sizes(table)),
                Expansion::Nothing => continue,
            };
            let _ = write!(out, ".TP\n.I {head}\n{}", self.text(&format!("{of}{text}")));
        }
        let mut seen = BTreeSet::new();
        let mut explain = |name: &str| {
            if name.is_empty() || !seen.insert(name.to_owned()) {
                return;
            }
            let text = own.arguments.get(name).or_else(|| own.shared.get(name));
            let text = text.unwrap_or_else(|| panic!("{}: what is {name}?", self.family.name));
            let _ = write!(out, ".TP\n.I {name}\n{}", self.text(text));
            for (field, text) in own.fields.iter().filter(|(field, _)| owner(field) == name) {
                let _ = write!(out, ".TP\n.I {}\n{}", roff::word(field), self.text(text));
            }
        };
        for prototype in &self.family.prototypes {
            if prototype.ctx {
                explain("ctx");
            }
            prototype.params.iter().for_each(|param| explain(param.name));
        }
        let own_names = own.arguments.keys().map(String::as_str);
        let owners = own.fields.iter().map(|(field, _)| owner(field));
        let unknown: Vec<_> =
            own_names.chain(owners).filter(|name| !seen.contains(*name)).collect();
        assert!(unknown.is_empty(), "{} has no arguments {unknown:?}", self.family.name);
        if out.is_empty() { out } else { format!(".SH ARGUMENTS\n{out}") }
    }

    fn types(&self, table: &str) -> String {
        let entries = &self.table.type_table(table).entries;
        let one = |name: &&str| match self.table.ctype(name) {
            c if c == *name => format!("`{name}`"),
            c => format!("`{c}` ({name})"),
        };
        format!(
            "TYPE is a C type, and TYPENAME, in brackets where it differs, its name in the routine: {}.",
            listed(&entries.iter().map(one).collect::<Vec<_>>(), "or")
        )
    }

    fn sizes(&self, table: &str) -> String {
        let entries = &self.table.size_table(table).entries;
        let bits: Vec<String> =
            entries.iter().filter(|e| **e != "mem").map(|e| e.to_string()).collect();
        let bytes = if entries.contains(&"mem") {
            "; or `mem` for bytes, which need no alignment"
        } else {
            ""
        };
        format!(
            "SIZE is the number of bits of an element: {}{bytes}. Elements are aligned to their size.",
            listed(&bits, "or")
        )
    }
}

/// The argument that points to a field's structure.
pub(super) fn owner(field: &str) -> &str {
    field.split('.').next().unwrap_or(field)
}
