//! The synopsis of a page: prototypes, and the structures that they need.

use super::PageWriter;
use super::arguments::owner;
use crate::expand::declarator;
use crate::manual::Words;
use crate::table::Prototype;
use crate::{records, roff};
use std::fmt::Write;

impl PageWriter<'_> {
    pub(super) fn synopsis(&self, own: &Words) -> String {
        let header = self.volume.header();
        let mut out = format!(".SH SYNOPSIS\n.nf\n\\fB#include <{header}>\\fP\n.fi\n");
        let (old, now): (Vec<&Prototype>, Vec<_>) =
            self.family.prototypes.iter().partition(|p| p.deprecated.is_some());
        let generic: Vec<_> = now.iter().filter(|p| p.generic.is_some()).copied().collect();
        if !generic.is_empty() {
            out += ".SS C11 and C++\n.nf\n";
            out += &generic.into_iter().map(in_generic_form).collect::<String>();
            out += ".fi\n";
        }
        for (title, prototypes) in [("C and C++", now), ("Deprecated", old)] {
            if !prototypes.is_empty() {
                let _ = writeln!(out, ".SS {title}\n.nf");
                out += &prototypes.into_iter().map(in_c).collect::<String>();
                out += ".fi\n";
            }
        }
        for name in self.structures(own) {
            let text = records::declaration(&name);
            let text = text.unwrap_or_else(|| panic!("{name} is not declared"));
            out += ".SS Structure\n.nf\n";
            out += &roff::lines(&text);
            out += ".fi\n";
        }
        out
    }

    /// The structures of which the page names fields.
    fn structures(&self, own: &Words) -> Vec<String> {
        let params = self.family.prototypes.iter().flat_map(|prototype| &prototype.params);
        let mut names = Vec::new();
        for param in params {
            let name = param.ctype.trim_start_matches("const ").trim_end_matches([' ', '*']);
            let has_fields = own.fields.iter().any(|(field, _)| owner(field) == param.name);
            if has_fields && !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        names
    }
}

/// The type-generic forms of a prototype.
fn in_generic_form(prototype: &Prototype) -> String {
    let name = prototype.generic.as_deref().unwrap_or_default();
    let forms = if prototype.ctx { &[false, true][..] } else { &[false] };
    forms.iter().map(|ctx| form(prototype, name, *ctx)).collect()
}

/// The C forms of a prototype, with their placeholders.
fn in_c(prototype: &Prototype) -> String {
    let plain = form(prototype, &prototype.name.replace("[_ctx]", ""), false);
    match prototype.ctx {
        true => plain + &form(prototype, &prototype.name.replace("[_ctx]", "_ctx"), true),
        false => plain,
    }
}

fn form(prototype: &Prototype, name: &str, ctx: bool) -> String {
    let mut parameters: Vec<String> = Vec::new();
    parameters.extend(ctx.then(|| "shmem_ctx_t ctx".into()));
    let own = prototype.params.iter();
    parameters.extend(own.map(|p| format!("{}{}", declarator(&p.ctype), p.name).trim_end().into()));
    if parameters.is_empty() {
        parameters.push("void".into());
    }
    roff::prototype(&format!("{}{name}", declarator(prototype.ret)), &parameters)
}
