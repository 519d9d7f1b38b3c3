//! A header as its owner and its peers see it.

use super::*;
use crate::Key;
use onenode_core::sys::fd;
use std::os::fd::{AsFd, OwnedFd};

const SHAPE: HeaderSizes = HeaderSizes { regions: 3, extra: 5000 };

fn file() -> OwnedFd {
    let file = fd::memfd(c"header").expect("a memory file");
    fd::resize_and_seal(file.as_fd(), 1 << 30).expect("its size");
    file
}

fn owner() -> Owner {
    Owner { mark: 1, pid: 2, started: 3, rank: Some(0), backend: 4 }
}

#[test]
fn a_peer_finds_what_the_owner_has_published() {
    let file = file();
    assert!(Header::find(file.as_fd(), 4096, 1 << 22).expect("looked").is_none(), "nobody yet");
    let own = Header::make(file.as_fd(), 4096, SHAPE, &owner()).expect("made");
    let peer = Header::find(file.as_fd(), 4096, 1 << 22).expect("looked").expect("there");
    assert_eq!((peer.owner(), peer.shape), (owner(), SHAPE));
    assert_eq!(peer.regions(0).count(), 0);
    let region = |key, place| Published {
        key: Key(key),
        start: 0x7000_1000,
        bytes: 0x3000,
        place,
        pages: 1,
        image: 7,
    };
    let places = [
        MemoryLocation::Header(0x5000),
        MemoryLocation::File { descriptor: 7, inode: 8, offset: 0x1000 },
        MemoryLocation::Segment(9),
    ];
    let regions: Vec<_> = (0..3).map(|i| region(i, places[i as usize])).collect();
    (0..3).zip(&regions).for_each(|(index, region)| own.publish(index, region));
    assert!(peer.regions(0).map(|(_, region)| region).eq(regions.iter().copied()));
    own.withdraw(1);
    assert_eq!(peer.regions(0).map(|(_, region)| region.key.0).collect::<Vec<_>>(), [0, 2]);
    own.publish(1, &region(5, MemoryLocation::Header(0x9000)));
    assert_eq!(peer.regions(0).count(), 3);
    assert!(!peer.is_closed());
    own.close();
    assert!(peer.is_closed());
}

#[test]
fn groups_begin_with_zeros_and_end_with_the_header() {
    let file = file();
    let own = Header::make(file.as_fd(), 0, SHAPE, &owner()).expect("made");
    let peer = Header::find(file.as_fd(), 0, 1 << 30).expect("looked").expect("there");
    assert_eq!(peer.find_group(0), None);
    let slot = own.enter_group(0).expect("a slot");
    assert_eq!(peer.find_group(0), Some(slot));
    let word: &AtomicU64 = peer.area.at(peer.words_at(slot));
    word.store(5, Ordering::Relaxed);
    assert!(peer.is_in_group(slot, 0) && !peer.is_in_group(slot, 1));
    own.leave_group(slot);
    assert_eq!(peer.find_group(0), None);
    let other = own.enter_group(0).expect("a slot");
    assert_ne!(other, slot, "somebody may still read the words");
    assert_eq!(word.load(Ordering::Relaxed), 5);
    own.leave_group(other);
    own.free_group(slot);
    assert_eq!(own.enter_group(77), Some(slot));
    assert_eq!(word.load(Ordering::Relaxed), 0);
    let others = (2..GROUPS as u64).filter_map(|id| own.enter_group(id)).count();
    assert_eq!((others, own.enter_group(1)), (GROUPS - 2, None));
    let extra = peer.extra().as_ptr() as usize;
    assert!(extra >= peer.group_words(GROUPS - 1).as_ptr() as usize + GROUP_BYTES);
    assert!(extra + 5000 <= peer.range().end);
}

#[test]
fn other_headers_are_refused() {
    let file = file();
    let refused = |most| match Header::find(file.as_fd(), 0, most) {
        Err(error) => error.to_string(),
        Ok(header) => panic!("{header:?}"),
    };
    let own = Header::make(file.as_fd(), 0, SHAPE, &owner()).expect("made");
    assert!(refused(100).contains("100 bytes"));
    assert!(refused(1 << 14).contains("regions: 3"));
    own.head().extra.store(u64::MAX, Ordering::Relaxed);
    assert!(refused(1 << 30).contains("extra"));
    own.head().version.store(9, Ordering::Relaxed);
    assert!(refused(1 << 30).contains("version 9.0"));
    own.head().magic.store(9, Ordering::Relaxed);
    assert!(refused(1 << 30).contains("0x9"));
}
