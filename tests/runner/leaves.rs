//! Checks that unsafe code stays in the files listed in each library's `src/unsafe.txt`. Code that
//! needs it elsewhere belongs in a listed file. The compiler denies unsafe code unless a file
//! allows it, but a folder's own file that allows it allows it for the whole folder, too. So this
//! test checks each file by itself.

use crate::tree;
use libtest_mimic::Trial;
use std::collections::BTreeSet;
use std::path::Path;

/// The folders of the crates that have a list.
const CRATES: [&str; 2] = ["", "node"];

/// The attribute that allows unsafe code in a file.
const ALLOWED: &str = "#![allow(unsafe_code)]";

/// The trials.
pub fn trials() -> Vec<Trial> {
    let name = |folder: &str| if folder.is_empty() { "oneshmem" } else { "onenode" }.to_owned();
    CRATES
        .map(|folder| Trial::test(format!("leaves/{}", name(folder)), || Ok(check(folder)?)))
        .into()
}

fn check(folder: &str) -> Result<(), String> {
    let root = tree::repository(folder).join("src");
    let list = root.join("unsafe.txt");
    let list = std::fs::read_to_string(&list).map_err(|e| format!("{}: {e}", list.display()))?;
    let listed: Vec<&str> =
        list.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#')).collect();
    let mut wrong = Vec::new();
    if !listed.is_sorted() {
        wrong.push("the list is not sorted".to_owned());
    }
    let mut found = BTreeSet::new();
    for_each(&root, &root, &mut |file, text| {
        found.insert(file.to_owned());
        wrong.extend(fault(text, listed.contains(&file)).map(|fault| format!("{file} {fault}")));
    })?;
    let lost = listed.iter().filter(|file| !found.contains(**file));
    wrong.extend(lost.map(|file| format!("{file} is on the list and does not exist")));
    println!("{} of {} files may have unsafe code", listed.len(), found.len());
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// What is wrong with a file, listed or not.
fn fault(text: &str, is_listed: bool) -> Option<&'static str> {
    let (opens, has) = (text.lines().any(|line| line.trim() == ALLOWED), has_unsafe(text));
    match (is_listed, opens, has) {
        (false, true, _) => Some("allows unsafe code and is not on the list"),
        (false, _, true) => Some("has unsafe code and is not on the list"),
        (true, false, _) => Some("is on the list and does not allow unsafe code itself"),
        (true, _, false) => Some("is on the list and has no unsafe code"),
        _ => None,
    }
}

/// Whether the keyword occurs in a file's code, including attributes and macros.
fn has_unsafe(text: &str) -> bool {
    let code = text.lines().filter_map(|line| line.split("//").next());
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    code.flat_map(|line| line.split(|c| !is_name(c))).any(|word| word == "unsafe")
}

/// Calls `call` with the name, relative to `root`, and the text of each source file below `folder`.
fn for_each(root: &Path, folder: &Path, call: &mut impl FnMut(&str, &str)) -> Result<(), String> {
    let entries = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            for_each(root, &path, call)?;
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            let text =
                std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            let name = path.strip_prefix(root).map_err(|e| e.to_string())?;
            call(&name.to_string_lossy(), &text);
        }
    }
    Ok(())
}

/// Tests of this file itself.
pub mod tests {
    use super::*;

    fn the_keyword_is_told_from_what_looks_like_it() {
        assert!(has_unsafe("let x = unsafe { y() };"));
        assert!(has_unsafe("#[unsafe(no_mangle)]"));
        assert!(has_unsafe("macro_rules! m { () => { unsafe fn f() {} } }"));
        assert!(!has_unsafe(
            "// Nothing unsafe.\n#![allow(unsafe_code)]\nlet is_unsafe = 1; // unsafe"
        ));
    }

    fn files_are_on_the_list_if_and_only_if_they_need_it() {
        let (plain, opened) = ("fn f() {}", "#![allow(unsafe_code)]\nfn f() { unsafe { g() } }");
        assert_eq!((fault(plain, false), fault(opened, true)), (None, None));
        for (text, is_listed) in [
            (opened, false),
            (plain, true),
            ("fn f() { unsafe { g() } }", false),
            ("fn f() { unsafe { g() } }", true),
            ("#![allow(unsafe_code)]", true),
            ("#![allow(unsafe_code)]", false),
        ] {
            assert!(fault(text, is_listed).is_some(), "{text} {is_listed}");
        }
    }

    crate::unit_trials! {
        the_keyword_is_told_from_what_looks_like_it,
        files_are_on_the_list_if_and_only_if_they_need_it,
    }
}
