//! A process with as many mappings as the system allows. Alone in its process, which can do little afterwards.

use onenode_core::sys::{fd, map};
use std::os::fd::AsFd;

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
    let refused = (0..=most).find_map(|_| map::shared_anywhere(file.as_fd(), 0, page).err());
    let why = refused.expect("a mapping is refused").to_string();
    let limit = format!("mappings, and the system allows {most} (vm.max_map_count)");
    assert!(why.ends_with(&limit), "{why}");
}
