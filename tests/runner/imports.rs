//! Imports point downwards. The files of a crate have no import cycles, except between a `mod.rs`
//! (or `name.rs`) and the files of its folder, and the folders of the two libraries keep to the
//! floors in their `src/floors.txt`.

use crate::{Result, tree};
use libtest_mimic::Trial;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};

/// The crates checked, by folder.
const CRATES: [&str; 13] = [
    "",
    "array",
    "bench",
    "interface/capi",
    "interface",
    "kitten",
    "node",
    "node/core",
    "tools",
    "tools/info",
    "tools/plots",
    "tools/tune",
    "xpmem",
];

/// The crates that have a table of floors.
const WITH_FLOORS: [&str; 3] = ["", "node", "node/core"];

/// The trials.
pub fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = CRATES
        .into_iter()
        .map(|folder| {
            Trial::test(format!("imports/{}/no-circle", name(folder)), move || no_circle(folder))
        })
        .collect();
    trials.extend(WITH_FLOORS.map(|folder| {
        Trial::test(format!("imports/{}/floors", name(folder)), move || floors(folder))
    }));
    trials
}

/// The name of the trial for the crate in `folder`.
fn name(folder: &str) -> &str {
    if folder.is_empty() { "oneshmem" } else { folder }
}

/// The imports of a crate's modules, by path.
type Imports = BTreeMap<String, BTreeSet<String>>;

/// The imports between the files of the crate in `folder`, except for tests.
fn imports(folder: &str) -> Result<Imports> {
    let root = tree::repository(folder).join("src");
    let mut files = BTreeMap::new();
    list(&root, &root, &mut files)?;
    let modules: BTreeSet<String> = files.keys().cloned().collect();
    let mut imports = Imports::new();
    for (module, path) in &files {
        let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let file = syn::parse_file(&text).map_err(|e| format!("{}: {e}", path.display()))?;
        let mut seen = Seen { module, modules: &modules, found: BTreeSet::new() };
        seen.visit_file(&file);
        seen.found.remove(module);
        imports.insert(module.clone(), seen.found);
    }
    Ok(imports)
}

/// Finds the files below `folder` with the paths of their modules. The crate's own path is empty.
fn list(root: &Path, folder: &Path, files: &mut BTreeMap<String, PathBuf>) -> Result {
    let entries = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && stem != "tests" {
            list(root, &path, files)?;
        } else if path.extension().is_some_and(|kind| kind == "rs") && stem != "tests" {
            let relative = path.strip_prefix(root)?.with_extension("");
            let mut parts: Vec<_> =
                relative.iter().map(|part| part.to_string_lossy().into_owned()).collect();
            if ["mod", "lib", "main"].contains(&stem.as_str()) {
                parts.pop();
            }
            files.insert(parts.join("::"), path);
        }
    }
    Ok(())
}

/// The imports of one file.
struct Seen<'a> {
    module: &'a str,
    modules: &'a BTreeSet<String>,
    found: BTreeSet<String>,
}

impl Seen<'_> {
    /// Notes the module to which a path leads.
    fn note(&mut self, path: &[String]) {
        let own: Vec<&str> = self.module.split("::").filter(|part| !part.is_empty()).collect();
        let mut base: Vec<&str> = Vec::new();
        let mut rest = path.iter().map(String::as_str).peekable();
        match rest.peek().copied() {
            Some("crate") => {
                rest.next();
            }
            Some("self") => {
                rest.next();
                base = own;
            }
            Some("super") => {
                base = own;
                while rest.next_if_eq(&"super").is_some() {
                    base.pop();
                }
            }
            // A child module, or another crate.
            _ => base = own,
        }
        base.extend(rest);
        let module = (1..=base.len())
            .rev()
            .map(|n| base[..n].join("::"))
            .find(|module| self.modules.contains(module));
        self.found.extend(module);
    }

    fn note_tree(&mut self, before: &[String], tree: &syn::UseTree) {
        let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        match tree {
            syn::UseTree::Path(path) => self.note_tree(&with(&path.ident), &path.tree),
            syn::UseTree::Name(name) if name.ident == "self" => self.note(before),
            syn::UseTree::Name(name) => self.note(&with(&name.ident)),
            syn::UseTree::Rename(name) => self.note(&with(&name.ident)),
            syn::UseTree::Glob(_) => self.note(before),
            syn::UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.note_tree(before, tree));
            }
        }
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Ident>().is_ok_and(|ident| ident == "test")
    })
}

impl Visit<'_> for Seen<'_> {
    fn visit_item_mod(&mut self, item: &syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }
    fn visit_item_use(&mut self, item: &syn::ItemUse) {
        if !is_test(&item.attrs) {
            self.note_tree(&[], &item.tree);
        }
    }
    fn visit_path(&mut self, path: &syn::Path) {
        let names: Vec<String> =
            path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if ["crate", "super"].contains(&names[0].as_str()) {
            self.note(&names);
        }
        visit::visit_path(self, path);
    }
}

/// Whether one is the file of the folder that contains the other.
fn are_family(a: &str, b: &str) -> bool {
    let parent = |child: &str| child.rsplit_once("::").map_or(String::new(), |(p, _)| p.into());
    parent(a) == b || parent(b) == a
}

/// A cycle of imports, if there is one.
fn circle(imports: &Imports) -> Option<Vec<&str>> {
    // Remove modules that import none of the rest or are imported by none of it, until only cycles
    // remain.
    let mut left: BTreeSet<&str> = imports.keys().map(String::as_str).collect();
    let targets = |module: &str| -> Vec<&String> {
        imports[module].iter().filter(|to| !are_family(module, to)).collect()
    };
    loop {
        let before = left.len();
        let imported: BTreeSet<&str> =
            left.iter().flat_map(|from| targets(from)).map(String::as_str).collect();
        let stays = |module: &&str| {
            imported.contains(*module)
                && targets(module).iter().any(|to| left.contains(to.as_str()))
        };
        left = left.iter().copied().filter(stays).collect();
        if left.len() == before {
            break;
        }
    }
    (!left.is_empty()).then(|| left.into_iter().collect())
}

fn no_circle(folder: &str) -> Result {
    let imports = imports(folder)?;
    if imports.len() < 2 {
        return Err(format!("{folder}: found {} files", imports.len()).into());
    }
    match circle(&imports) {
        None => Ok(()),
        Some(modules) => {
            Err(format!("these files import each other in a circle: {modules:?}").into())
        }
    }
}

/// Each line of the table is a floor: files, or folders with all their files, that may import each
/// other and anything on the floors below.
fn floors(folder: &str) -> Result {
    let path = tree::repository(folder).join("src/floors.txt");
    let table = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let lines = table.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let floors: Vec<Vec<&str>> = lines.map(|line| line.split_whitespace().collect()).collect();
    let floor = |module: &str| {
        let mut name = module;
        loop {
            // The longest name counts: a file may be on another floor than its folder.
            if let Some(floor) = floors.iter().position(|names| names.contains(&name)) {
                return Some(floor);
            }
            name = name.rsplit_once("::")?.0;
        }
    };
    let mut wrong = Vec::new();
    for (module, targets) in imports(folder)?.iter().filter(|(module, _)| !module.is_empty()) {
        let Some(own) = floor(module) else {
            wrong.push(format!("{module} is on no floor"));
            continue;
        };
        for target in targets.iter().filter(|to| !to.is_empty() && !are_family(module, to)) {
            if floor(target).is_some_and(|floor| floor < own) {
                wrong.push(format!("{module} imports {target}, which is above it"));
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// Tests of this file itself.
pub mod tests {
    use super::*;

    fn graph(edges: &[(&str, &str)]) -> Imports {
        let mut imports = Imports::new();
        for (from, to) in edges {
            imports.entry((*from).into()).or_default().insert((*to).into());
            imports.entry((*to).into()).or_default();
        }
        imports
    }

    fn circles_are_found_and_families_are_none() {
        assert_eq!(circle(&graph(&[("a", "b"), ("b", "c")])), None);
        let round = graph(&[("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]);
        assert_eq!(circle(&round), Some(vec!["a", "b", "c"]));
        assert_eq!(circle(&graph(&[("a", "a::b"), ("a::b", "a")])), None);
    }

    fn paths_lead_to_files() {
        let modules = ["", "a", "a::b", "c"].map(String::from).into();
        let mut seen = Seen { module: "a::b", modules: &modules, found: BTreeSet::new() };
        let file = "use crate::c::{X, y::Z}; use super::W; #[cfg(test)] mod t { use crate::q; }";
        seen.visit_file(&syn::parse_file(file).expect("a file"));
        assert_eq!(seen.found, ["a", "c"].map(String::from).into());
    }

    crate::unit_trials! {
        circles_are_found_and_families_are_none,
        paths_lead_to_files,
    }
}
