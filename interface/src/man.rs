//! Reference pages: one for each family of routines, in section 3 of the manual.

use crate::expand::Generic;
use crate::table::{Family, Interface, Over, Prototype, Section};
use crate::twin;
use std::collections::BTreeMap;
use std::fmt::Write;

/// All pages: file name and text. Every routine and every type-generic name has a
/// page; those that are not the name of a page only refer to it.
pub fn pages(table: &Interface) -> BTreeMap<String, String> {
    let mut pages = BTreeMap::new();
    let generics = table.generics();
    for (section, family) in table.families() {
        let title = title(table, section, family);
        let symbols = family.prototypes.iter().flat_map(|p| table.expand(section, family, p));
        for name in symbols.map(|s| s.name).chain(generic_names(family)) {
            pages.insert(format!("{name}.3"), format!(".so man3/{title}.3\n"));
        }
        pages.insert(format!("{title}.3"), page(table, section, family, &title, &generics));
    }
    pages
}

/// The name of a family's page: its first routine, a TYPENAME left out.
pub fn title(table: &Interface, section: &Section, family: &Family) -> String {
    let first = &family.prototypes[0];
    match first.over {
        Over::Types(_) => first.name.replace("[_ctx]", "").replace("_TYPENAME", ""),
        _ => table.expand(section, family, first)[0].name.clone(),
    }
}

fn generic_names(family: &Family) -> impl Iterator<Item = String> {
    family.prototypes.iter().filter_map(|p| p.generic.clone())
}

fn page(
    table: &Interface,
    section: &Section,
    family: &Family,
    title: &str,
    generics: &[Generic<'_>],
) -> String {
    let mut out = format!(
        ".TH {} 3 \"\" \"oneshmem {}\" \"OpenSHMEM 1.6\"\n.SH NAME\n{title} \\- {}\n.SH SYNOPSIS\n.nf\n#include <shmem.h>\n\n",
        title.to_uppercase(),
        env!("CARGO_PKG_VERSION"),
        lowered(section.title),
    );
    let mut used: Vec<(&str, &str, String)> = Vec::new();
    for prototype in &family.prototypes {
        let _ = writeln!(out, "{}", synopsis(prototype));
        match prototype.over {
            Over::Types(name) => {
                used.push(("TYPENAME", name, table.type_table(name).entries.join(", ")));
            }
            Over::Sizes(name) => {
                used.push(("SIZE", name, table.size_table(name).entries.join(", ")));
            }
            Over::Nothing => {}
        }
    }
    let own: Vec<_> = generics
        .iter()
        .filter(|g| family.prototypes.iter().any(|p| std::ptr::eq(p, g.prototype())))
        .collect();
    if !own.is_empty() {
        out += "\n/* C11 and C++ */\n";
        for generic in own {
            let ctx = if generic.prototype().ctx { "[shmem_ctx_t ctx, ]" } else { "" };
            let _ = writeln!(out, "{} {}({ctx}...);", generic.prototype().ret, generic.name);
        }
    }
    let _ = write!(out, ".fi\n.SH DESCRIPTION\n{}\n", family.doc.join("\n").replace('`', ""));
    used.dedup();
    for (placeholder, _, entries) in &used {
        let _ = writeln!(out, ".PP\n.I {placeholder}\nis one of {entries}.");
    }
    for prototype in &family.prototypes {
        if let Some(deprecated) = prototype.deprecated {
            let instead = deprecated.instead.map(|i| format!("; use {i}")).unwrap_or_default();
            let name = prototype.name.replace("[_ctx]", "");
            let _ = writeln!(
                out,
                ".PP\n{name} is deprecated since version {}{instead}.",
                deprecated.since
            );
        }
    }
    let example = table.expand(section, family, &family.prototypes[0])[0].name.clone();
    let _ = writeln!(
        out,
        ".SH NOTES\nEach routine has a second name for profiling tools, as {} for {example}.\n.SH SEE ALSO\n.BR oshcc (1),\n.BR oshrun (1)",
        twin(&example)
    );
    out
}

/// A prototype as it stands in the table, its brackets kept.
fn synopsis(prototype: &Prototype) -> String {
    let params = crate::expand::parameter_list(&prototype.params);
    let params = match (prototype.ctx, params.as_str()) {
        (true, "void") => "[shmem_ctx_t ctx]".into(),
        (true, list) => format!("[shmem_ctx_t ctx, ]{list}"),
        (false, list) => list.to_string(),
    };
    format!("{}{}({params});", crate::expand::declarator(prototype.ret), prototype.name)
}

fn lowered(title: &str) -> String {
    let mut chars = title.chars();
    chars.next().map(|c| c.to_lowercase().chain(chars).collect()).unwrap_or_default()
}
