//! `shmem_generic.h`: the type-generic names of C11.
//!
//! A macro selects by the type of one argument, the *deciding* one: a pointer to the type in
//! question. If there is a form with a context, the macro also looks at the first argument.

use super::{distinct, fill, heading};
use crate::expand::Generic;
use crate::table::Interface;

/// The text of `shmem_generic.h`.
pub(super) fn shmem_generic_h(table: &Interface) -> String {
    let generics = table.generics();
    let template = include_str!("../../templates/shmem_generic.h");
    fill(template, &[("TABLES", tables(table, &generics)), ("NAMES", names(table, &generics))])
}

/// A macro for each table of types that a generic name needs.
fn tables(table: &Interface, generics: &[Generic<'_>]) -> String {
    let mut written: Vec<String> = Vec::new();
    let mut out = String::new();
    for generic in generics.iter().filter(|g| !g.tables().is_empty()) {
        let name = list_name(generic);
        if written.contains(&name) {
            continue;
        }
        let same_as = match generic.tables()[..] {
            [one] => table.type_table(one).same_as.map(|other| format!("ONESHMEM_{other}")),
            _ => None,
        };
        out += &match same_as {
            Some(other) if written.contains(&other) => format!("#define {name} {other}\n\n"),
            _ => list(table, &name, &generic.tables()),
        };
        written.push(name);
    }
    out
}

/// The name of the macro that lists the types of `generic`.
fn list_name(generic: &Generic<'_>) -> String {
    format!("ONESHMEM_{}", generic.tables().join("_or_"))
}

/// The macro `name`: an association for `_Generic` for each type of the tables.
fn list(table: &Interface, name: &str, tables: &[&str]) -> String {
    let types: Vec<_> = tables.iter().flat_map(|t| distinct(table, t)).collect();
    let mut lines = vec![format!("#define {name}(qualifier, prefix, op)")];
    for (ctype, typename) in types {
        lines.push(format!("    qualifier {ctype} *: prefix##{typename}##op,"));
    }
    // The lines of a macro end with backslashes in one column, except the last line.
    let width = lines.iter().map(String::len).max().unwrap_or_default();
    let last = lines.pop().unwrap_or_default();
    let lines: String = lines.iter().map(|line| format!("{line:width$} \\\n")).collect();
    format!("{lines}{}\n\n", last.trim_end_matches(','))
}

/// The definitions of the generic names, section by section.
fn names(table: &Interface, generics: &[Generic<'_>]) -> String {
    let mut out = String::new();
    for section in &table.sections {
        let definitions: String = section
            .families
            .iter()
            .flat_map(|family| &family.prototypes)
            .flat_map(|p| generics.iter().find(|g| std::ptr::eq(g.prototype(), p)))
            .map(definition)
            .collect();
        if !definitions.is_empty() {
            out += &format!("{}{definitions}\n", heading(section.title));
        }
    }
    out
}

/// The macro that defines the generic name.
fn definition(generic: &Generic<'_>) -> String {
    let name = &generic.name;
    let prototype = generic.prototype();
    if generic.tables().is_empty() {
        // Not for types: the first argument selects, which is a context or a team.
        let (handle, routine) = match prototype.ctx {
            true => ("shmem_ctx_t", prototype.name.replace("[_ctx]", "_ctx")),
            false => ("shmem_team_t", prototype.name.to_string()),
        };
        return format!(
            "#define {name}(...)                  \\\n    _Generic(ONESHMEM_FIRST(__VA_ARGS__), \\\n        \
             {handle}: {routine}, default: {name})(__VA_ARGS__)\n"
        );
    }
    let how = match (prototype.ctx, generic.decides()) {
        (true, 0) => "WITH_CTX",
        (false, 0) => "BY_FIRST",
        (false, 1) => "BY_SECOND",
        other => panic!("{name}: there is no macro for a routine of the form {other:?}"),
    };
    let access = if generic.decides_const() { "READ" } else { "WRITTEN" };
    let op = name.replacen("shmem", "", 1);
    let types = list_name(generic);
    let call = format!("ONESHMEM_{how}(ONESHMEM_{access}, {types}, {op}, __VA_ARGS__)");
    format!("#define {name}(...) \\\n    {call}\n")
}
