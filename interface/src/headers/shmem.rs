//! `shmem.h`, which users read to learn the interface, and `pshmem.h` and `pshmemx.h`.

use super::{broken, fill, heading};
use crate::constants::{Constant, constants};
use crate::expand::Symbol;
use crate::table::{Family, Interface, Prototype, Section};
use crate::{PROPOSED, extensions, twin};
use std::fmt::Write;

/// The text of `shmem.h`.
pub(super) fn shmem_h(table: &Interface) -> String {
    let routines = table.sections.iter().map(|section| section_of(table, section)).collect();
    fill(
        include_str!("../../templates/shmem.h"),
        &[
            ("CONSTANTS", all_constants()),
            ("ROUTINES", routines),
            ("DEPRECATED", deprecated(table)),
        ],
    )
}

/// The text of `pshmem.h`.
pub(super) fn pshmem_h(table: &Interface) -> String {
    let mut twins = String::new();
    for section in &table.sections {
        twins += &heading(section.title);
        for family in &section.families {
            let symbols = family.prototypes.iter().flat_map(|p| table.expand(section, family, p));
            let renamed: Vec<_> = symbols.map(|s| Symbol { name: twin(&s.name), ..s }).collect();
            twins += &declarations(&renamed);
            twins += "\n";
        }
    }
    fill(include_str!("../../templates/pshmem.h"), &[("TWINS", twins)])
}

/// The text of `pshmemx.h`.
pub(super) fn pshmemx_h() -> String {
    let own = |symbol: &Symbol| extensions().contains(&symbol.name);
    let symbols: Vec<_> = Interface::extensions().symbols().into_iter().filter(own).collect();
    let proposed = PROPOSED.iter().flat_map(|name| {
        let extension = name.replacen("shmem_", "shmemx_", 1);
        let same = symbols.iter().find(move |symbol| symbol.name == extension);
        same.map(|symbol| Symbol { name: (*name).into(), ..symbol.clone() })
    });
    let all = symbols.iter().cloned().chain(proposed);
    let renamed: Vec<_> = all.map(|s| Symbol { name: twin(&s.name), ..s }).collect();
    fill(include_str!("../../templates/pshmemx.h"), &[("TWINS", declarations(&renamed))])
}

fn all_constants() -> String {
    let mut out = String::new();
    let groups = constants();
    let has_old_name = |c: &&Constant| c.old_name;
    for group in &groups {
        let _ = writeln!(out, "/* {} */", group.doc.join("\n * "));
        for (kind, name) in group.constants.iter().filter_map(|c| Some((c.handle()?.0, c.name))) {
            let _ = writeln!(out, "ONESHMEM_SYMBOL const {kind} {name};");
        }
        for constant in &group.constants {
            let value = match constant.handle() {
                Some((kind, number)) => format!("ONESHMEM_CAST({kind}, {number}L)"),
                None => constant.value.clone(),
            };
            let line = format!("#define {:<30} {value}", constant.name);
            let comment = match (constant.doc, constant.deprecated) {
                ("", None) => String::new(),
                ("", Some(since)) => format!("/* deprecated since {since} */"),
                (doc, None) => format!("/* {doc} */"),
                (doc, Some(since)) => format!("/* {doc}; deprecated since {since} */"),
            };
            let _ = writeln!(out, "{}", format!("{line:<58} {comment}").trim_end());
        }
        out += "\n";
    }
    out += "/* The same under their old names, deprecated since 1.3. */\n";
    for constant in groups.iter().flat_map(|g| &g.constants).filter(has_old_name) {
        let _ = writeln!(out, "#define _{:<29} {}", constant.name, constant.name);
    }
    out + "\n"
}

/// A section, without its deprecated routines.
fn section_of(table: &Interface, section: &Section) -> String {
    let mut out = String::new();
    for family in &section.families {
        let (current, old): (Vec<_>, Vec<_>) =
            family.prototypes.iter().partition(|p| p.deprecated.is_none());
        if current.is_empty() {
            continue;
        }
        let mut doc = family.doc.join("\n * ");
        if let Some(name) = generic_name(&current).or(generic_name(&old)) {
            let _ = write!(doc, "\n * Type-generic: {name}.");
        }
        let _ = writeln!(out, "/* {doc} */");
        out += &expanded(table, section, family, &current);
        out += "\n";
    }
    if out.is_empty() { out } else { heading(section.title) + &out }
}

/// The deprecated routines of all sections.
fn deprecated(table: &Interface) -> String {
    let mut out = String::new();
    for (section, family) in table.families() {
        let (current, old): (Vec<_>, Vec<_>) =
            family.prototypes.iter().partition(|p| p.deprecated.is_none());
        let mut last_remark = String::new();
        for prototype in old {
            let Some(deprecated) = prototype.deprecated else { continue };
            let mut remark = String::new();
            if current.is_empty() {
                remark += &family.doc.join("\n * ");
                remark += "\n * ";
            }
            let _ = write!(remark, "Deprecated since {}", deprecated.since);
            if let Some(instead) = deprecated.instead {
                let _ = write!(remark, ": use {instead}");
            }
            if let Some(name) = generic_name(&[prototype]) {
                let _ = write!(remark, ". Type-generic: {name}");
            }
            if remark != last_remark {
                let gap = if out.is_empty() { "" } else { "\n" };
                let _ = writeln!(out, "{gap}/* {remark}. */");
                last_remark = remark;
            }
            out += &expanded(table, section, family, &[prototype]);
        }
    }
    out += "\n";
    out
}

fn generic_name(prototypes: &[&Prototype]) -> Option<String> {
    prototypes.iter().find_map(|p| p.generic.clone())
}

fn expanded(table: &Interface, section: &Section, family: &Family, some: &[&Prototype]) -> String {
    some.iter().map(|p| declarations(&table.expand(section, family, p))).collect()
}

/// Whether routines are so short that the cost of calling them matters. (For others it would only
/// add a symbol to bind at program start.)
fn is_short(family: &str) -> bool {
    let group = family.split('.').next();
    matches!(group, Some("rma" | "rma_nbi" | "amo" | "amo_nbi" | "signal"))
}

/// Declarations, with guards around those that need complex types.
fn declarations(symbols: &[Symbol]) -> String {
    let mut out = String::new();
    let mut guarded = false;
    for symbol in symbols {
        if symbol.is_complex() != guarded {
            out += if guarded { "#endif\n" } else { "#ifdef ONESHMEM_COMPLEX\n" };
            guarded = !guarded;
        }
        let before = match () {
            () if guarded => "ONESHMEM_COMPLEX ",
            () if symbol.family == "setup.global_exit" => "ONESHMEM_NORETURN ",
            () if is_short(symbol.family) => "ONESHMEM_DIRECT ",
            () => "",
        };
        let _ = writeln!(out, "{}", broken(&format!("{before}{symbol};")));
    }
    if guarded {
        out += "#endif\n";
    }
    out
}
