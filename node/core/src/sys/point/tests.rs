//! Places of their own for each test.

use super::folder::PREFIX;
use super::*;
use std::fs::{DirBuilder, Permissions};
use std::os::unix::fs::symlink;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};

/// A base of its own for a test.
fn base(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("point-{}-{name}", process::pid()));
    DirBuilder::new().mode(0o700).create(&path).expect("made");
    path
}

fn lock(bases: &[&Path]) -> Option<Place> {
    Place::lock_in(bases.iter().map(|base| base.to_path_buf()).collect(), None).expect("looked")
}

fn names(base: &Path) -> usize {
    fs::read_dir(base).expect("listed").count()
}

#[test]
fn guests_get_the_files_of_the_host_wherever_they_share_a_base() {
    let [a, b, c] = ["a", "b", "c"].map(base);
    let place = lock(&[&a, &b]).expect("locked");
    assert!(lock(&[&b, &c]).is_none(), "locked by another");
    assert!(place.guest("x").expect("looked").is_none());
    let file = fd::memfd(c"met").expect("a file");
    let inode = fd::inode(file.as_fd()).expect("its inode");
    let mut host = place.host("x", vec![file]).expect("host");
    drop(place);
    assert_eq!((names(&a), names(&b), names(&c)), (1, 1, 1), "the one in c awaits another try");
    let place = lock(&[&c, &b]).expect("locked again");
    let guest = place.guest("x").expect("looked").expect("there");
    assert!(place.guest("y").expect("looked").is_none());
    drop(place);
    assert!(guest.files().expect("asked").is_none());
    host.serve();
    let files = guest.files().expect("asked").expect("given");
    assert_eq!(fd::inode(files[0].as_fd()).expect("its inode"), inode);
    let place = lock(&[&a, &b]).expect("locked");
    place.remove("x");
    drop(place);
    drop(host);
    for base in [&a, &b, &c] {
        fs::remove_dir(base).expect("nothing is left");
    }
}

#[test]
fn a_base_whose_folder_has_just_gone_is_looked_at_again() {
    let [a, b] = ["gone-a", "gone-b"].map(base);
    let made = Folder::make_in(&a).expect("made");
    let both = |of_b| [(a.clone(), None), (b.clone(), of_b)];
    assert!(find(&both(None)).is_none(), "it was there before");
    assert!(find(&both(Some(b.join("gone")))).is_none(), "it was made, and removed");
    let foreign = b.join("foreign");
    fs::create_dir(&foreign).expect("made");
    let found = find(&both(Some(foreign))).expect("b never fits");
    assert_eq!(found.into_iter().map(|folder| folder.path).collect::<Vec<_>>(), [made]);
    for base in [a, b] {
        fs::remove_dir_all(base).expect("removed");
    }
}

#[test]
fn what_the_dead_left_is_not_met_and_goes() {
    let a = base("dead");
    let place = lock(&[&a]).expect("locked");
    let mut host = place.host("x", Vec::new()).expect("host");
    host.listeners.clear();
    host.paths.clear();
    drop(place.make("file", 4096).expect("made"));
    let kept = place.make("kept", 4096).expect("made");
    assert!(place.file("file").expect("looked").is_none(), "nobody has it open");
    assert!(place.file("kept").expect("looked").is_some());
    drop(place.make("file", 4096).expect("made"));
    place.sweep();
    assert_eq!(names(&place.folders[0].path), 1, "what is used stays");
    assert!(place.guest("x").expect("looked").is_none());
    drop(kept);
    place.sweep();
    drop(place);
    fs::remove_dir(&a).expect("nothing is left");
}

#[test]
fn folders_that_others_can_use_are_not_used() {
    let a = base("others");
    let open = a.join(format!("{PREFIX}open"));
    DirBuilder::new().mode(0o755).create(&open).expect("made");
    symlink("/tmp", a.join(format!("{PREFIX}link"))).expect("made");
    File::create(a.join(format!("{PREFIX}file"))).expect("made");
    let place = lock(&[&a]).expect("locked");
    assert_eq!(place.folders.len(), 1);
    assert_ne!(place.folders[0].path, open);
    drop(place);
    assert_eq!(names(&a), 3);
    fs::set_permissions(&a, Permissions::from_mode(0o755)).expect("open to all");
    let error = Place::lock_in(vec![a.clone(), "/nonexistent".into(), "x".into()], None);
    let error = error.expect_err("refused").to_string();
    for words in ["mode 0700", "/nonexistent: No such", "x: is no absolute path"] {
        assert!(error.contains(words), "{error}");
    }
    fs::remove_dir_all(&a).expect("removed");
}
