//! Checks that no public safe function takes the word of its caller for an address: safe code would
//! then reach any memory, without a word of `unsafe`. A function that accesses, maps or unmaps what an
//! argument leads to is `unsafe`, or takes an operand, a borrow or a value that owns the range. Only
//! files that may have unsafe code are looked at: others cannot do anything with an address.

use crate::{Result, tree};
use libtest_mimic::Trial;
use std::collections::BTreeSet;
use std::path::Path;
use syn::visit::{self, Visit};

/// The folders of the crates.
const CRATES: [&str; 9] =
    [".", "array", "interface/capi", "job", "kitten", "node", "node/capi", "node/core", "xpmem"];

/// Functions that take an address and are safe all the same, and why.
const SAFE: [(&str, &[&str]); 5] = [
    (
        "it calculates with the address, or compares it",
        &[
            "node/src/node/regions.rs Regions::of",
            "node/src/node/regions.rs Regions::record",
            "src/sys/symbols.rs variable_at",
            "src/translate/shift.rs TranslationTable::has_room",
            "src/translate/shift.rs TranslationTable::miss",
            "src/translate/shift.rs TranslationTable::surely_symmetric",
            "src/translate/table.rs TranslationTable::has_room",
            "src/translate/table.rs TranslationTable::miss",
            "src/translate/table.rs TranslationTable::surely_symmetric",
        ],
    ),
    (
        "it translates the address for `hot`, which answers for what it does there",
        &[
            "src/translate/shift.rs pointer",
            "src/translate/shift.rs translate",
            "src/translate/shift.rs translate_copy",
            "src/translate/table.rs pointer",
            "src/translate/table.rs translate",
            "src/translate/table.rs translate_copy",
        ],
    ),
    (
        "it compares the address with the symmetric memory, or the mapping, that is known",
        &[
            "interface/capi/src/extensions.rs shmemx_device_ptr",
            "interface/capi/src/extensions.rs shmemx_partition_of",
            "interface/capi/src/extensions.rs shmemx_partition_persist",
            "src/collectives/counterparts.rs check",
            "node/core/src/layout/reserved.rs MirrorPlace::of",
            "node/core/src/sys/map.rs OwnMapping::part",
            "node/src/node/attached.rs Attached::map",
            "node/src/node/group/lock.rs Group::lock",
            "node/src/node/group/lock.rs Group::unlock",
        ],
    ),
    (
        "the kernel or a driver looks whether there is such memory, and no byte of it changes",
        &[
            "node/core/src/sys/map.rs advise_huge",
            "node/core/src/sys/map.rs dump",
            "node/core/src/sys/map.rs inherit",
            "node/core/src/sys/map.rs is_mapped",
            "node/core/src/sys/map.rs populate",
            "node/core/src/sys/map.rs write_back",
            "node/core/src/sys/numa.rs bind",
            "node/core/src/sys/numa.rs interleave",
            "node/core/src/sys/numa.rs prefer",
            "node/core/src/sys/numa.rs prefer_any",
            "node/core/src/sys/raw.rs futex_wait",
            "node/core/src/sys/raw.rs futex_wake",
            "node/core/src/sys/persistent.rs Persistent::flush",
            "src/device/cuda.rs Cuda::is_device",
        ],
    ),
    (
        "it maps only where nothing is",
        &[
            "node/core/src/sys/map.rs OwnMapping::reserve_at",
            "node/core/src/sys/map.rs OwnMapping::reserve_if_free",
            "node/core/src/sys/map.rs reserve_all",
            "node/core/src/sys/map.rs reserve_at",
        ],
    ),
];

/// The trials.
pub fn trials() -> Vec<Trial> {
    vec![Trial::test("addresses", check)]
}

fn check() -> Result {
    let mut found = BTreeSet::new();
    for folder in CRATES {
        search(&tree::repository(folder).join("src"), &mut found)?;
    }
    let allowed: BTreeSet<String> =
        SAFE.iter().flat_map(|(_, functions)| *functions).map(|name| (*name).to_owned()).collect();
    let mut wrong: Vec<String> = found
        .difference(&allowed)
        .map(|name| format!("{name} is public and safe, and takes an address"))
        .collect();
    wrong.extend(allowed.difference(&found).map(|name| format!("{name} is listed and takes none")));
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// Adds the functions of the files below `folder`.
fn search(folder: &Path, found: &mut BTreeSet<String>) -> Result {
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", folder.display());
    for entry in std::fs::read_dir(folder).map_err(|error| failed(&error))? {
        let path = entry.map_err(|error| failed(&error))?.path();
        if path.is_dir() {
            search(&path, found)?;
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            let text = std::fs::read_to_string(&path).map_err(|error| failed(&error))?;
            let root = tree::repository(".");
            let name = path.strip_prefix(&root).unwrap_or(&path).to_string_lossy().into_owned();
            let name = name.trim_start_matches("./");
            found.extend(in_file(&text)?.into_iter().map(|function| format!("{name} {function}")));
        }
    }
    Ok(())
}

/// The public safe functions of a file that take an address, if the file may have unsafe code.
fn in_file(text: &str) -> Result<Vec<String>> {
    if !text.lines().any(|line| line.trim() == "#![allow(unsafe_code)]") {
        return Ok(Vec::new());
    }
    let file = syn::parse_file(text)?;
    let mut seen = Seen::default();
    seen.visit_file(&file);
    Ok(seen.functions)
}

#[derive(Default)]
struct Seen {
    /// The type whose functions are visited.
    of: String,
    functions: Vec<String>,
}

impl Seen {
    fn note(&mut self, visibility: &syn::Visibility, signature: &syn::Signature) {
        let is_open = matches!(visibility, syn::Visibility::Public(_));
        if is_open && signature.unsafety.is_none() && signature.inputs.iter().any(is_address) {
            self.functions.push(format!("{}{}", self.of, signature.ident));
        }
    }
}

impl<'ast> Visit<'ast> for Seen {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.note(&item.vis, &item.sig);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.note(&item.vis, &item.sig);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if let syn::Type::Path(of) = &*item.self_ty {
            let name = of.path.segments.last().map(|segment| segment.ident.to_string());
            self.of = name.map(|name| name + "::").unwrap_or_default();
        }
        visit::visit_item_impl(self, item);
        self.of.clear();
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if item.ident != "tests" {
            visit::visit_item_mod(self, item);
        }
    }
}

/// Whether an argument is an address: a pointer, a range of numbers, or a number of that name.
fn is_address(argument: &syn::FnArg) -> bool {
    let syn::FnArg::Typed(argument) = argument else { return false };
    let mut ty = Ty::default();
    ty.visit_type(&argument.ty);
    let syn::Pat::Ident(name) = &*argument.pat else { return ty.is_pointer || ty.is_range };
    if name.ident == "near" {
        return false; // The PEs of a node, by number.
    }
    let is_named = ["addr", "address", "at", "here", "place", "there", "word"]
        .iter()
        .any(|it| name.ident == it);
    ty.is_pointer || ty.is_range || ty.is_number && is_named
}

#[derive(Default)]
struct Ty {
    is_pointer: bool,
    is_range: bool,
    is_number: bool,
}

impl<'ast> Visit<'ast> for Ty {
    fn visit_type_ptr(&mut self, _: &'ast syn::TypePtr) {
        self.is_pointer = true;
    }

    /// A closure that a function takes calculates with its own arguments.
    fn visit_type_impl_trait(&mut self, _: &'ast syn::TypeImplTrait) {}

    fn visit_path_segment(&mut self, segment: &'ast syn::PathSegment) {
        self.is_pointer |= segment.ident == "NonNull";
        self.is_range |= segment.ident == "Range";
        self.is_number |= segment.ident == "usize";
        visit::visit_path_segment(self, segment);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_take_addresses_are_found() {
        let found = |text: &str| in_file(&format!("#![allow(unsafe_code)]\n{text}")).unwrap();
        assert_eq!(found("pub fn free(at: *mut u8) {}"), ["free"]);
        assert_eq!(found("impl A { pub fn map(&self, range: &Range<usize>) {} }"), ["A::map"]);
        assert_eq!(found("pub fn discard(address: usize, bytes: usize) {}"), ["discard"]);
        assert_eq!(found("mod inner { pub fn wake(place: NonNull<u64>) {} }"), ["wake"]);
        for text in [
            "pub unsafe fn free(at: *mut u8) {}",
            "fn free(at: *mut u8) {}",
            "pub(crate) fn free(at: *mut u8) {}",
            "pub fn length(bytes: usize) {}",
            "mod tests { pub fn free(at: *mut u8) {} }",
        ] {
            assert!(found(text).is_empty(), "{text}");
        }
        assert!(in_file("pub fn free(at: *mut u8) {}").unwrap().is_empty(), "no unsafe code");
    }
}
