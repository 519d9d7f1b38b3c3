//! A process with as many mappings as the system allows. Alone in its process, which can do little afterwards.

#![allow(unsafe_code)]

use onenode_core::sys::map::{self, OwnMapping};
use onenode_core::sys::relocate::Relocation;
use onenode_core::sys::{fd, suspend};
use std::os::fd::{AsFd, AsRawFd};

#[test]
fn too_many_mappings_are_told_from_a_lack_of_memory() {
    /// A system that allows more than so many is not worth the time.
    const MOST: usize = 1 << 20;
    let most = std::fs::read_to_string("/proc/sys/vm/max_map_count").expect("Linux has it");
    let most: usize = most.trim().parse().expect("a number");
    if most > MOST {
        return;
    }
    let file = fd::memfd(c"mappings").expect("a memory file");
    let page = map::page_size();
    fd::resize_and_seal(file.as_fd(), page as u64).expect("its size");
    let memory = map::private_anywhere(3 * page).expect("three pages");
    let mut filled = Vec::with_capacity(most);
    let refused = (0..=most).find_map(|_| {
        OwnMapping::shared(file.as_fd(), 0, page).map(|mapping| filled.push(mapping)).err()
    });
    let limit = format!("mappings, and the system allows {most} (vm.max_map_count)");
    let is_told = |why: String| assert!(why.ends_with(&limit), "{why}");
    is_told(refused.expect("a mapping is refused").to_string());

    // Moving a page in the middle needs a few, and any of them may be the one too many.
    let work = Relocation {
        start: memory + page,
        end: memory + 2 * page,
        spared: [memory + 2 * page; 2],
        pieces: Default::default(),
        protected: Default::default(),
        page,
        file: file.as_raw_fd(),
        offset: 0,
        pagemap: -1,
    };
    // SAFETY: the page is this test's, which has nothing in it and does not use it.
    let refusals = std::iter::from_fn(|| unsafe { suspend::relocate(&work) }.err());
    for why in refusals {
        is_told(why.to_string());
        filled.pop().expect("a move takes a few");
    }
}
