//! The table against the specification, as data in `spec/`: nothing missing,
//! nothing more, and every detail the same.

mod support;
use oneshmem_interface::{Expansion, Interface, constants};
use std::collections::{BTreeMap, BTreeSet};
use support::{ctypes, functions, rows, tables};

/// Compares two sets of lines and shows what only one of them has.
#[track_caller]
fn same(what: &str, expected: Vec<String>, found: Vec<String>) {
    let (expected_len, found_len) = (expected.len(), found.len());
    let expected: BTreeSet<_> = expected.into_iter().collect();
    let found: BTreeSet<_> = found.into_iter().collect();
    assert_eq!(expected.len(), expected_len, "{what}: the specification repeats a line");
    assert_eq!(found.len(), found_len, "{what}: the table repeats a line");
    let missing: Vec<_> = expected.difference(&found).collect();
    let extra: Vec<_> = found.difference(&expected).collect();
    assert!(
        missing.is_empty() && extra.is_empty(),
        "{what}: missing {missing:#?} extra {extra:#?}"
    );
}

#[test]
fn every_routine_with_its_signature() {
    let expected = functions().into_iter().map(|row| {
        format!(
            "{} {}({}) {} {} {}",
            row["return type"],
            row["name"],
            row["arguments"],
            row["section"],
            row["family"],
            row["deprecated_since"]
        )
    });
    let table = Interface::openshmem();
    let found = table.symbols().into_iter().map(|s| {
        let deprecated = s.deprecated.map(|d| d.since).unwrap_or_default();
        format!(
            "{} {}({}) {} {} {deprecated}",
            s.ret,
            s.name,
            s.parameter_list(),
            s.section,
            s.family
        )
    });
    let found: Vec<_> = found.collect();
    assert_eq!(found.len(), 1795);
    same("routines", expected.collect(), found);
}

#[test]
fn every_table_of_types() {
    let mut expected = tables();
    // The specification's only table that is the union of two others.
    let union = expected.remove("p2p_sync_deprecated_table").expect("in types.csv");
    let parts = ["p2p", "p2p_single_deprecated_extra"].iter().flat_map(|t| expected[*t].clone());
    assert_eq!(parts.collect::<BTreeSet<_>>(), union.into_iter().collect());

    let table = Interface::openshmem();
    let tables = table.types.iter().chain(&table.sizes);
    let entries = |entries: &[&str]| entries.iter().map(|e| e.to_string()).collect();
    let mut found: BTreeMap<String, Vec<String>> =
        tables.map(|t| (t.name.to_string(), entries(&t.entries))).collect();
    found.remove("rma_bits").expect("our own: the sizes without mem");
    assert_eq!(expected, found);
}

#[test]
fn every_name_of_a_type() {
    let mut expected = ctypes();
    // The names of sizes.
    expected.retain(|_, ctype| ctype != "void");
    let names = Interface::openshmem().typenames.into_iter();
    assert_eq!(expected, names.map(|t| (t.name.to_string(), t.c.to_string())).collect());
}

#[test]
fn every_type_generic_name() {
    let table = Interface::openshmem();
    let expected: Vec<_> = rows("generics.csv")
        .into_iter()
        .map(|row| {
            // Of the two that are not about types the list names the form with a context.
            let arguments = row["arguments without ctx"].replace("shmem_ctx_t ctx, ", "");
            let selects = row["selects_on"].replace("arg0 is shmem_ctx_t ? arg1 : arg0", "arg0");
            format!(
                "{} {}({arguments}) {} ctx {} by {selects} deprecated {}",
                row["return type"],
                row["name"],
                row["type_table"],
                row["ctx_variant"],
                row["deprecated_since"],
            )
        })
        .collect();
    assert_eq!(expected.len(), 73);
    let found = table.generics().into_iter().map(|generic| {
        let prototype = generic.prototype();
        let tables = match prototype.over {
            Expansion::Types(_) => generic.tables().join(" + "),
            _ if prototype.ctx => "(none: uint64_t)".into(),
            _ => "(none: shmem_team_t)".into(),
        };
        format!(
            "{} {}({}) {tables} ctx {} by arg{} deprecated {}",
            prototype.ret,
            generic.name,
            oneshmem_interface::expand::parameter_list(&prototype.params),
            if prototype.ctx { "yes" } else { "no" },
            generic.decides(),
            prototype.deprecated.map(|d| d.since).unwrap_or_default(),
        )
    });
    same("generics", expected, found.collect());
}

#[test]
fn every_constant() {
    let expected = rows("constants.csv")
        .into_iter()
        .filter(|row| ["constant", "handle"].contains(&row["kind"].as_str()))
        .map(|row| format!("{} deprecated {}", row["name"], row["deprecated_since"]));
    let found = constants::constants().into_iter().flat_map(|g| g.constants).flat_map(|c| {
        let name = format!("{} deprecated {}", c.name, c.deprecated.unwrap_or_default());
        let old = c.old_name.then(|| format!("_{} deprecated 1.3", c.name));
        [Some(name), old].into_iter().flatten()
    });
    same("constants", expected.collect(), found.collect());
}
