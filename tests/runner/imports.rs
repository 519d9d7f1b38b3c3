//! Imports point downwards. The files of a crate have no import cycles, except between a `mod.rs`
//! (or `name.rs`) and the files of its folder. The rooms of the libraries, which are the folders and files
//! right below `src`, have none at all, and keep to the floors in `src/floors.txt`.

use crate::{Result, tree};
use libtest_mimic::Trial;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};

/// The crates checked, by folder.
const CRATES: [&str; 14] = [
    "",
    "array",
    "bench",
    "interface/capi",
    "interface",
    "job",
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
const WITH_FLOORS: [&str; 4] = ["", "job", "node", "node/core"];

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

/// The room of a module: the folder below `src` that it is in, or its own file there.
fn room(module: &str) -> &str {
    module.split("::").next().unwrap_or(module)
}

/// The imports between rooms. The crate's own file is in none.
fn rooms(imports: &Imports) -> Imports {
    let mut rooms = Imports::new();
    for (module, targets) in imports.iter().filter(|(module, _)| !module.is_empty()) {
        let own = room(module);
        let others = targets.iter().map(|target| room(target));
        let others = others.filter(|target| !target.is_empty() && *target != own);
        rooms.entry(own.into()).or_default().extend(others.map(String::from));
    }
    rooms
}

/// Each line of the table is a floor: rooms that may import each other, though not in a circle, and
/// anything on the floors below.
fn floors(folder: &str) -> Result {
    let path = tree::repository(folder).join("src/floors.txt");
    let table = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let wrong = misplaced(&table, &imports(folder)?);
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// The faults in the imports of a crate that has this table of floors, a sentence each.
fn misplaced(table: &str, imports: &Imports) -> Vec<String> {
    let lines = table.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let floors: Vec<Vec<&str>> = lines.map(|line| line.split_whitespace().collect()).collect();
    let floor = |module: &str| floors.iter().position(|names| names.contains(&room(module)));
    let rooms = rooms(imports);
    let mut wrong = Vec::new();
    let named = floors.iter().flatten();
    wrong.extend(
        named.filter(|name| !rooms.contains_key(**name)).map(|name| format!("{name} is no room")),
    );
    wrong.extend(
        rooms.keys().filter(|it| floor(it).is_none()).map(|it| format!("{it} is on no floor")),
    );
    for (module, targets) in imports {
        let above =
            |to: &&String| floor(to).zip(floor(module)).is_some_and(|(floor, own)| floor < own);
        let above = targets.iter().filter(above);
        wrong.extend(above.map(|to| format!("{module} imports {to}, which is above it")));
    }
    if let Some(knot) = circle(&rooms) {
        wrong.push(format!("these rooms import each other in a circle: {knot:?}"));
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[(&str, &str)]) -> Imports {
        let mut imports = Imports::new();
        for (from, to) in edges {
            imports.entry((*from).into()).or_default().insert((*to).into());
            imports.entry((*to).into()).or_default();
        }
        imports
    }

    #[test]
    fn circles_are_found_and_families_are_none() {
        assert_eq!(circle(&graph(&[("a", "b"), ("b", "c")])), None);
        let round = graph(&[("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]);
        assert_eq!(circle(&round), Some(vec!["a", "b", "c"]));
        assert_eq!(circle(&graph(&[("a", "a::b"), ("a::b", "a")])), None);
    }

    #[test]
    fn rooms_keep_to_their_floors() {
        let edges = [("a::x", "b"), ("b", "c::y"), ("c::z", "d"), ("", "d"), ("d", "")];
        let imports = graph(&edges);
        assert_eq!(misplaced("# top\na\n\nb\nc d\n", &imports), [""; 0]);
        assert_eq!(misplaced("b\na\nc d", &imports), ["a::x imports b, which is above it"]);
        assert_eq!(misplaced("a b\nc", &imports), ["d is on no floor"]);
        assert_eq!(misplaced("a b c\nc::y d e", &imports), ["c::y is no room", "e is no room"]);
    }

    #[test]
    fn a_knot_of_rooms_is_found_where_no_files_import_each_other_in_a_circle() {
        let imports = graph(&[("a::x", "b::x"), ("b::y", "a::z"), ("b::y", "c")]);
        assert_eq!(circle(&imports), None);
        let knot = "these rooms import each other in a circle: [\"a\", \"b\"]";
        assert_eq!(misplaced("a b\nc", &imports), [knot]);
    }

    #[test]
    fn paths_lead_to_files() {
        let modules = ["", "a", "a::b", "c"].map(String::from).into();
        let mut seen = Seen { module: "a::b", modules: &modules, found: BTreeSet::new() };
        let file = "use crate::c::{X, y::Z}; use super::W; #[cfg(test)] mod t { use crate::q; }";
        seen.visit_file(&syn::parse_file(file).expect("a file"));
        assert_eq!(seen.found, ["a", "c"].map(String::from).into());
    }
}
