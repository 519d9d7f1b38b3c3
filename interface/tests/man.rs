//! The reference pages.

use oneshmem_interface::{Interface, man};
use std::collections::BTreeSet;

#[test]
fn every_name_has_a_page() {
    let table = Interface::openshmem();
    let pages = man::pages(&table);
    let routines = table.symbols().into_iter().map(|s| s.name);
    for name in routines.chain(table.generics().into_iter().map(|g| g.name)) {
        let page = pages.get(&format!("{name}.3")).unwrap_or_else(|| panic!("{name} has no page"));
        let text = match page.strip_prefix(".so man3/") {
            Some(other) => &pages[other.trim()],
            None => page,
        };
        assert!(text.starts_with(".TH ") && text.contains(".SH DESCRIPTION\n"), "{name}: {text}");
    }
}

#[test]
fn every_family_has_a_page_of_its_own() {
    let table = Interface::openshmem();
    let titles: Vec<_> = table.families().map(|(s, f)| man::title(&table, s, f)).collect();
    assert_eq!(titles.iter().collect::<BTreeSet<_>>().len(), titles.len(), "{titles:?}");
    let pages = man::pages(&table);
    let own = titles.iter().filter(|t| pages[&format!("{t}.3")].starts_with(".TH "));
    assert_eq!(own.count(), titles.len());
}

/// A line that starts with a dot or an apostrophe is a command to the formatter.
#[test]
fn descriptions_are_text() {
    for (_, family) in Interface::openshmem().families() {
        assert!(!family.doc.is_empty(), "{} says nothing", family.name);
        for line in &family.doc {
            assert!(!line.starts_with(['.', '\'']), "{}: {line}", family.name);
        }
    }
}
