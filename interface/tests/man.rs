//! The reference pages.

use oneshmem_interface::examples::EXAMPLES;
use oneshmem_interface::manual::Manual;
use oneshmem_interface::records::{self, HEADER};
use oneshmem_interface::{Family, Interface, Section, extensions, man};
use std::collections::{BTreeMap, BTreeSet};

fn pages() -> BTreeMap<String, String> {
    man::pages("2026-01-01")
}

fn tables() -> [Interface; 3] {
    [Interface::openshmem(), Interface::extensions(), Interface::onenode()]
}

/// Calls `check` for each family, with the title of its page.
fn each_family(mut check: impl FnMut(&Interface, &Section, &Family, String)) {
    for table in tables() {
        for (section, family) in table.families() {
            check(&table, section, family, man::title(&table, section, family));
        }
    }
}

#[test]
fn every_name_has_a_page() {
    let pages = pages();
    let table = Interface::openshmem();
    let routines = table.symbols().into_iter().map(|s| s.name);
    for name in routines.chain(table.generics().into_iter().map(|g| g.name)).chain(extensions()) {
        let page = pages.get(&format!("{name}.3")).unwrap_or_else(|| panic!("{name} has no page"));
        let text = match page.strip_prefix(".so man3/") {
            Some(other) => &pages[other.trim()],
            None => page,
        };
        assert!(text.starts_with(".TH "), "{name}: {text}");
    }
}

#[test]
fn every_family_has_a_page_of_its_own() {
    let pages = pages();
    let mut titles = Vec::new();
    each_family(|_, _, _, title| titles.push(title));
    assert_eq!(titles.iter().collect::<BTreeSet<_>>().len(), titles.len(), "{titles:?}");
    let own = titles.iter().filter(|t| pages[&format!("{t}.3")].starts_with(".TH "));
    assert_eq!(own.count(), titles.len());
}

#[test]
fn pages_have_their_sections_in_order() {
    let pages = pages();
    each_family(|_, _, family, title| {
        let page = &pages[&format!("{title}.3")];
        let found: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix(".SH ")).collect();
        let has_arguments = family.prototypes.iter().any(|p| p.ctx || !p.params.is_empty());
        let wanted = [
            ("NAME", true),
            ("SYNOPSIS", true),
            ("DESCRIPTION", true),
            ("ARGUMENTS", has_arguments),
            ("RETURN VALUE", true),
            ("ERRORS", page.contains(".SH ERRORS")),
            ("NOTES", true),
            ("EXAMPLES", true),
            ("SEE ALSO", true),
        ];
        let wanted: Vec<&str> =
            wanted.iter().filter(|(_, is)| *is).map(|(name, _)| *name).collect();
        assert_eq!(found, wanted, "{title}");
        assert!(page.contains(&format!(".SH NAME\n{title} \\- ")), "{title}");
        let returns = family.prototypes.iter().any(|p| p.ret != "void");
        assert_eq!(returns, !page.contains(".SH RETURN VALUE\nNone.\n"), "{title}: {page}");
    });
}

/// Each text of `manual/` belongs to a family that there is; arguments are checked as pages are made.
#[test]
fn the_manual_says_nothing_of_what_is_not_there() {
    let manual = Manual::read();
    let mut families = BTreeSet::new();
    each_family(|_, _, family, _| {
        families.insert(family.name.to_owned());
    });
    assert_eq!(families, manual.pages.keys().cloned().collect());
    for (family, words) in &manual.pages {
        let purpose = &words.purpose;
        assert!(!purpose.is_empty() && !purpose.ends_with('.') && purpose.len() < 80, "{family}");
    }
}

#[test]
fn see_also_leads_somewhere_and_says_enough() {
    let pages = pages();
    let is_page = |name: &str, section: u8| {
        man::OTHERS.contains(&(name, section))
            || section == 3
                && pages.get(&format!("{name}.3")).is_some_and(|p| p.starts_with(".TH "))
    };
    each_family(|_, _, _, title| {
        let (_, see) = pages[&format!("{title}.3")].split_once(".SH SEE ALSO\n").unwrap();
        let links: Vec<&str> = see.lines().filter_map(|line| line.strip_prefix(".BR ")).collect();
        assert!(!links.is_empty(), "{title}");
        for link in links {
            let (name, rest) = link.split_once(" (").unwrap();
            let name = name.replace("\\-", "-").replace("\\%", "");
            let section = rest.trim_end_matches([')', ',']).parse().unwrap();
            assert!(is_page(&name, section) && name != title, "{title}: {name}({section})");
        }
    });
}

/// An example shows a routine of its page.
#[test]
fn examples_are_about_their_pages() {
    let manual = Manual::read();
    let mut used = BTreeSet::new();
    each_family(|table, section, family, title| {
        let name = manual.pages[family.name].example.clone().unwrap();
        let example = EXAMPLES.iter().find(|e| e.name == name).unwrap();
        let symbols = family.prototypes.iter().flat_map(|p| table.expand(section, family, p));
        let generics = family.prototypes.iter().filter_map(|p| p.generic.clone());
        let mut routines = symbols.map(|s| s.name).chain(generics);
        let program = example.parts().program;
        let calls = |name: &str| {
            program.match_indices(&format!("{name}(")).any(|(at, _)| {
                !program[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
            })
        };
        assert!(routines.any(|name| calls(&name)), "{title}: {name}.c calls none of its routines");
        used.insert(name);
    });
    let listed: BTreeSet<String> = EXAMPLES.iter().map(|e| e.name.to_owned()).collect();
    assert_eq!(used, listed);
    let folder =
        std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/manual/examples")).unwrap();
    let files = folder.map(|entry| entry.unwrap().path());
    let files = files.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned());
    assert_eq!(files.collect::<BTreeSet<_>>(), listed);
}

/// Programs fit on a terminal with 80 columns, under a page's indentation.
#[test]
fn examples_fit() {
    for example in EXAMPLES {
        let parts = example.parts();
        assert!(!parts.says.is_empty() && !parts.runs.is_empty(), "{}", example.name);
        for line in parts.program.lines() {
            assert!(line.len() <= 73, "{}: {line}", example.name);
        }
    }
}

/// The words of a header that begin so.
fn words_of(header: &str, prefix: &str) -> BTreeSet<String> {
    let code = records::uncommented(header);
    let words = code.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter(|w| w.starts_with(prefix) && !w.ends_with('_')).map(String::from).collect()
}

/// The functions of a table are those of its header, whose names begin with one of `prefixes`.
fn are_declared(table: &Interface, header: &str, prefixes: &[&str]) {
    let code = records::uncommented(header).split_whitespace().collect::<Vec<_>>().join(" ");
    for symbol in table.symbols() {
        // Macros and inline functions.
        let is_called = |before: &str| code.contains(&format!("{before}{}(", symbol.name));
        let is_defined = is_called("#define ") || is_called("ONENODE_INLINE_ void *");
        assert!(code.contains(&format!("{symbol};")) || is_defined, "{symbol}");
    }
    let names = prefixes.iter().flat_map(|prefix| words_of(header, prefix));
    let functions = names.filter(|name| code.contains(&format!("{name}(")));
    let documented = table.symbols().into_iter().map(|symbol| symbol.name);
    assert_eq!(functions.collect::<BTreeSet<_>>(), documented.collect());
}

#[test]
fn extensions_are_declared() {
    are_declared(&Interface::extensions(), include_str!("../templates/shmemx.h"), &["shmemx_"]);
}

#[test]
fn functions_of_onenode_are_declared() {
    are_declared(&Interface::onenode(), HEADER, &["onenode_", "ONENODE_"]);
}

/// Every field and constant of the on-node layer's header is explained.
#[test]
fn fields_and_constants_of_onenode_are_explained() {
    let manual = Manual::read();
    let table = Interface::onenode();
    let mut explained = String::new();
    let mut structures = BTreeSet::new();
    for (_, family) in table.families() {
        let words = &manual.pages[family.name];
        for param in family.prototypes.iter().flat_map(|prototype| &prototype.params) {
            let name = param.ctype.trim_start_matches("const ").trim_end_matches([' ', '*']);
            let Some(declared) = records::declaration(name) else { continue };
            let explained: Vec<&str> = words.fields.iter().map(|(f, _)| f.as_str()).collect();
            if !explained.iter().any(|f| f.starts_with(&format!("{}.", param.name))) {
                continue;
            }
            structures.insert(name.to_owned());
            let fields =
                declared.lines().filter(|line| line.ends_with(';') && line.starts_with(' '));
            let fields = fields.map(|line| match line.split_once("(*") {
                Some((_, name)) => name.split(')').next().unwrap(),
                None => line.trim_end_matches(';').rsplit([' ', '*']).next().unwrap(),
            });
            let fields: Vec<String> = fields.map(|f| format!("{}.{f}", param.name)).collect();
            assert_eq!(explained, fields, "{name}");
        }
        let texts = [&words.text, &words.returns, &words.notes].into_iter().flatten();
        let texts = texts.chain(words.arguments.values()).chain(words.fields.iter().map(|f| &f.1));
        texts.for_each(|text| explained += text);
        words.errors.iter().for_each(|f| explained += &format!("`{}` {}", f.code, f.text));
    }
    let expected =
        ["collective", "config", "memory", "table"].map(|name| format!("onenode_{name}"));
    assert_eq!(structures, BTreeSet::from(expected));
    let documented = table.symbols().into_iter().map(|symbol| symbol.name).collect::<BTreeSet<_>>();
    for constant in words_of(HEADER, "ONENODE_") {
        // The guard of the header.
        let is_other = constant == "ONENODE_H" || documented.contains(&constant);
        assert!(is_other || explained.contains(&format!("`{constant}`")), "{constant}");
    }
}

/// The overviews name every page but those of what is deprecated.
#[test]
fn the_overviews_are_complete() {
    let mut missing = Vec::new();
    each_family(|_, section, family, title| {
        let overview = match section.name {
            "onenode" => include_str!("../../packaging/man/onenode.7.in"),
            _ => include_str!("../../packaging/man/oneshmem.7.in"),
        };
        let is_current = family.prototypes.iter().any(|p| p.deprecated.is_none());
        if is_current && !overview.contains(&format!("\n.BR {title} (3)")) {
            missing.push(title);
        }
    });
    assert!(missing.is_empty(), "the overviews lack {missing:?}");
}
