//! Places of their own for each test.

use super::folder::{NAMES, paths};
use super::*;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::fs::symlink;

/// A base of its own for a test.
fn base(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("point-{}-{name}", process::pid()));
    DirBuilder::new().mode(0o700).create(&path).expect("made");
    path
}

fn lock_as(name: &str, bases: &[&Path]) -> Option<Rendezvous> {
    let bases = bases.iter().map(|base| base.to_path_buf()).collect();
    Rendezvous::lock_in(name, bases, None).expect("looked")
}

fn lock(bases: &[&Path]) -> Option<Rendezvous> {
    lock_as("x", bases)
}

fn entries(base: &Path) -> usize {
    fs::read_dir(base).expect("listed").count()
}

#[test]
fn guests_get_the_files_of_the_host_wherever_they_share_a_base() {
    let [a, b, c] = ["a", "b", "c"].map(base);
    let place = lock(&[&a, &b]).expect("locked");
    assert!(lock(&[&b, &c]).is_none(), "locked by another");
    assert!(place.guest().expect("looked").is_none());
    let file = fd::memfd(c"met").expect("a file");
    let inode = fd::inode(file.as_fd()).expect("its inode");
    let mut host = place.host(vec![file]).expect("host");
    drop(place);
    assert_eq!((entries(&a), entries(&b), entries(&c)), (1, 1, 0));
    let place = lock(&[&c, &b]).expect("locked again");
    let guest = place.guest().expect("looked").expect("there");
    drop(place);
    assert!(lock_as("y", &[&c, &b]).expect("locked").guest().expect("looked").is_none());
    assert!(guest.files().expect("asked").is_none());
    host.serve();
    let files = guest.files().expect("asked").expect("given");
    assert_eq!(fd::inode(files[0].as_fd()).expect("its inode"), inode);
    let place = lock(&[&a, &b]).expect("locked");
    place.remove();
    drop(place);
    drop(host);
    for base in [&a, &b, &c] {
        fs::remove_dir(base).expect("nothing is left");
    }
}

#[test]
fn a_base_whose_folder_has_just_gone_is_looked_at_again() {
    let base = base("gone");
    let mut place = Rendezvous { name: "x".into(), folders: Vec::new(), runtime: None };
    let found = Folder::all_in(&base, "x").expect("made");
    fs::remove_dir(&found[0].path).expect("removed");
    assert_eq!(place.take(found), Ok(false), "it has no name any more");
    assert_eq!(place.take(Vec::new()), Ok(false), "it was made, and removed");
    fs::remove_dir(base).expect("nothing is left");
}

#[test]
fn two_that_have_made_a_folder_each_meet_in_one() {
    let base = base("two");
    let [taken, later]: [PathBuf; 2] =
        std::array::from_fn(|i| paths(&base, "x").nth(i).expect("one"));
    File::create(&taken).expect("made");
    let host = lock(&[&base]).expect("locked").host(Vec::new()).expect("host");
    assert!(later.join("x").exists());
    fs::remove_file(&taken).expect("removed");
    fs::create_dir(&taken).expect("made");
    allow(&taken, 0o700).expect("the user's alone");
    let place = lock(&[&base]).expect("locked");
    assert!(place.guest().expect("looked").is_some());
    place.remove();
    drop(place);
    drop(host);
    fs::remove_dir(base).expect("nothing is left");
}

#[test]
fn what_the_dead_left_is_not_met_and_goes() {
    let a = base("dead");
    let place = lock(&[&a]).expect("locked");
    let mut host = place.host(Vec::new()).expect("host");
    host.listeners.clear();
    host.paths.clear();
    drop(place);
    let place = lock_as("kept", &[&a]).expect("locked");
    let kept = place.make(4096).expect("made");
    assert!(place.file().expect("looked").is_some());
    drop(place);
    let place = lock_as("file", &[&a]).expect("locked");
    drop(place.make(4096).expect("made"));
    assert!(place.file().expect("looked").is_none(), "nobody has it open");
    drop(place.make(4096).expect("made"));
    place.sweep();
    assert_eq!(entries(&place.folders[0].path), 1, "what is used stays");
    drop(place);
    let place = lock(&[&a]).expect("locked");
    assert!(place.guest().expect("looked").is_none());
    drop(kept);
    place.sweep();
    drop(place);
    fs::remove_dir(&a).expect("nothing is left");
}

#[test]
fn what_is_not_the_users_alone_is_not_used() {
    let a = base("others");
    let paths: Vec<_> = paths(&a, "x").collect();
    fs::create_dir(&paths[0]).expect("made");
    allow(&paths[0], 0o755).expect("open to all");
    symlink("/tmp", &paths[1]).expect("made");
    File::create(&paths[2]).expect("made");
    let used = || lock(&[&a]).expect("locked").folders[0].path.clone();
    assert_eq!(used(), paths[3]);
    assert_eq!(entries(&a), 3);
    for path in &paths[3..NAMES] {
        File::create(path).expect("made");
    }
    assert_eq!(used(), paths[NAMES], "of the name that only those who meet know");
    File::create(&paths[NAMES]).expect("made");
    let refused = |bases| Rendezvous::lock_in("x", bases, None).expect_err("refused").to_string();
    let error = refused(vec![a.clone()]);
    assert!(error.contains("all names are taken: "), "{error}");
    assert!(error.contains("is open to others (mode 0755)"), "{error}");
    assert_eq!(entries(&a), NAMES + 1);
    allow(&a, 0o755).expect("open to all");
    let error = refused(vec![a.clone(), "/nonexistent".into(), "x".into()]);
    for words in ["mode 0700", "/nonexistent: No such", "x: is no absolute path"] {
        assert!(error.contains(words), "{error}");
    }
    fs::remove_dir_all(&a).expect("removed");
}
