//! Code that depends on the processor stands in one place: `node/core/src/arch/` has a folder for each
//! architecture, all with the same items, and no other source asks which one it is compiled for. The
//! inline header does, whose code becomes part of programs.

use crate::{Result, tree};
use libtest_mimic::Trial;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The searched folders: all that is compiled into the libraries and commands.
const SOURCES: [&str; 8] =
    ["src", "array", "node", "interface", "kitten", "xpmem", "tools", "examples"];
/// Where the words may stand.
const PLACES: [&str; 2] = ["node/core/src/arch/", "interface/templates/shmem_inline.h"];
/// The words that ask for the architecture, or name instructions of one.
const WORDS: [&str; 9] = [
    "target_arch",
    "arch::x86_64",
    "arch::aarch64",
    "is_x86_feature_detected",
    "is_aarch64_feature_detected",
    "__x86_64__",
    "__aarch64__",
    "_mm_",
    "immintrin.h",
];

/// The trials.
pub fn trials() -> Vec<Trial> {
    vec![
        Trial::test("architectures/one-place", one_place),
        Trial::test("architectures/same-items", same_items),
    ]
}

fn one_place() -> Result {
    let (mut files, mut wrong) = (Vec::new(), Vec::new());
    for folder in SOURCES.iter().map(tree::repository) {
        list(&folder, &mut files)?;
    }
    for path in files {
        let name = relative(&path);
        if !PLACES.iter().any(|place| name.starts_with(place)) {
            let text = std::fs::read_to_string(&path).map_err(|e| format!("{name}: {e}"))?;
            wrong.extend(named(&text).into_iter().map(|what| format!("{name}: {what}")));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// The path in the repository.
fn relative(path: &Path) -> String {
    let root = tree::repository("");
    path.strip_prefix(&root).unwrap_or(path).to_string_lossy().into_owned()
}

/// Finds the sources below a folder.
fn list(folder: &Path, files: &mut Vec<PathBuf>) -> Result {
    for entry in std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            list(&path, files)?;
        } else if path.extension().is_some_and(|kind| ["rs", "h", "c"].iter().any(|it| kind == *it))
        {
            files.push(path);
        }
    }
    Ok(())
}

/// The words of a text that depend on the architecture. Assembly without an instruction does not: it only keeps
/// the compiler from something.
fn named(text: &str) -> Vec<String> {
    let mut found: Vec<String> =
        WORDS.iter().filter(|word| text.contains(**word)).map(|word| format!("{word:?}")).collect();
    for (at, _) in text.match_indices("asm!(") {
        let is_global = text[..at].ends_with("global_");
        if !is_global && !text[at + "asm!(".len()..].trim_start().starts_with("\"/*") {
            found.push("assembly".into());
        }
    }
    found
}

/// Checks that each architecture has the same files with the same public items. The compiler checks
/// their types where it is used.
fn same_items() -> Result {
    let root = tree::repository("node/core/src/arch");
    let mut all = Vec::new();
    for entry in std::fs::read_dir(&root)? {
        let folder = entry?.path();
        if folder.is_dir() {
            let mut files = Vec::new();
            list(&folder, &mut files)?;
            let mut items = BTreeSet::new();
            for path in files {
                let file = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                let text = std::fs::read_to_string(&path)?;
                items.extend(public(&text)?.into_iter().map(|item| format!("{file}: {item}")));
            }
            all.push((folder, items));
        }
    }
    let [first, others @ ..] = &all[..] else { return Err("there is no architecture".into()) };
    if others.is_empty() || first.1.is_empty() {
        return Err(format!("nothing to compare in {}", root.display()).into());
    }
    for other in others {
        let differ: Vec<_> = first.1.symmetric_difference(&other.1).cloned().collect();
        if !differ.is_empty() {
            let (first, other) = (relative(&first.0), relative(&other.0));
            return Err(format!("only in one of {first} and {other}: {}", differ.join(", ")).into());
        }
    }
    Ok(())
}

/// The public items of a file, and the public functions of its types.
fn public(text: &str) -> Result<Vec<String>> {
    let is_public = |visibility: &syn::Visibility| matches!(visibility, syn::Visibility::Public(_));
    let mut found = Vec::new();
    for item in syn::parse_file(text)?.items {
        let (visibility, name) = match item {
            syn::Item::Const(item) => (item.vis, item.ident),
            syn::Item::Fn(item) => (item.vis, item.sig.ident),
            syn::Item::Type(item) => (item.vis, item.ident),
            syn::Item::Mod(item) => (item.vis, item.ident),
            // A type, however it is made.
            syn::Item::Struct(item) => (item.vis, item.ident),
            syn::Item::Enum(item) => (item.vis, item.ident),
            syn::Item::Impl(item) => {
                let functions = item.items.into_iter().filter_map(|item| match item {
                    syn::ImplItem::Fn(item) => Some((item.vis, item.sig.ident)),
                    _ => None,
                });
                let public = functions.filter(|(visibility, _)| is_public(visibility));
                found.extend(public.map(|(_, name)| format!("::{name}")));
                continue;
            }
            _ => continue,
        };
        if is_public(&visibility) {
            found.push(name.to_string());
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_depends_on_the_architecture_is_found() {
        for text in [
            "#[cfg(target_arch = \"riscv64\")]",
            "use std::arch::x86_64::_mm_pause;",
            "#if defined(__aarch64__)",
            "asm!(\"nop\")",
            "asm!(\n    \"nop\")",
        ] {
            assert!(!named(text).is_empty(), "{text}");
        }
        for text in ["asm!(\"/* {0} */\", inout(reg) slot)", "global_asm!(\".weak a\")", "target"] {
            assert!(named(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn public_items_are_found() {
        let text = "pub fn a() {} fn b() {} pub enum C {} impl C { pub fn d() {} fn e() {} } pub const F: u8 = 1;";
        assert_eq!(public(text).unwrap(), ["a", "C", "::d", "F"]);
    }
}
