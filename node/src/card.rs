//! A card: 64 plain bytes from which a peer on the same machine finds the process's header. The
//! client passes it on by its own means.

use crate::error::Error;
use onenode_core::sys::process;

/// The version of cards and headers. Processes with equal majors can attach to each other.
pub const VERSION: (u16, u16) = (1, 0);

/// "1nod" in memory order.
const MAGIC: u32 = u32::from_le_bytes(*b"1nod");

/// A process's card. Any process of the same user on the same machine can attach with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Card(pub [u64; 8]);

/// Properties that two processes must share to reach each other's files through `/proc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Surroundings {
    /// When the system started: see [`process::boot`].
    pub boot: u64,
    /// The PID namespace, as the system identifies it.
    pub namespace: u32,
    /// The user.
    pub user: u32,
}

impl Surroundings {
    /// The surroundings of this process.
    pub fn own() -> Self {
        let namespace = process::pid_namespace() as u32;
        Self { boot: process::boot(), namespace, user: process::user() }
    }
}

/// Where a process's header is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    /// The process.
    pub pid: u32,
    /// When it started: see [`process::Status::started`].
    pub started: u64,
    /// Its descriptor for the file.
    pub descriptor: i32,
    /// The file's inode.
    pub inode: u64,
    /// The header's offset in the file, in whole pages.
    pub offset: u64,
    /// Whether it is the file that all ranks have.
    pub common: bool,
    /// The mark that the header must carry.
    pub mark: u64,
}

/// The content of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CardContent {
    pub surroundings: Surroundings,
    pub address: Address,
}

const COMMON: u64 = 1;
/// The bits of the offset that hold flags.
const FLAGS: u64 = 0xfff;

const fn pair(low: u32, high: u32) -> u64 {
    low as u64 | (high as u64) << 32
}

const fn halves(word: u64) -> (u32, u32) {
    (word as u32, (word >> 32) as u32)
}

impl Card {
    pub(crate) fn new(surroundings: &Surroundings, address: &Address) -> Self {
        let flags = if address.common { COMMON } else { 0 };
        Self([
            pair(MAGIC, VERSION_WORD),
            surroundings.boot,
            pair(address.pid, address.descriptor as u32),
            address.started,
            pair(surroundings.namespace, surroundings.user),
            address.inode,
            address.offset | flags,
            address.mark,
        ])
    }

    /// The card's content.
    pub(crate) fn read(&self) -> Result<CardContent, Error> {
        let [head, boot, process, started, place, inode, offset, mark] = self.0;
        let ((magic, version), (pid, descriptor)) = (halves(head), halves(process));
        if magic != MAGIC {
            return Err(Error::argument(
                "card",
                format_args!("8 words that begin with {head:#x}"),
                "one that onenode has made",
            ));
        }
        same_major("card", version)?;
        let (namespace, user) = halves(place);
        Ok(CardContent {
            surroundings: Surroundings { boot, namespace, user },
            address: Address {
                pid,
                started,
                descriptor: descriptor as i32,
                inode,
                offset: offset & !FLAGS,
                common: offset & COMMON != 0,
                mark,
            },
        })
    }
}

/// [`VERSION`] as one word.
pub(crate) const VERSION_WORD: u32 = VERSION.0 as u32 | (VERSION.1 as u32) << 16;

/// Fails unless `version`, packed into one word, has this library's major.
pub(crate) fn same_major(what: &'static str, version: u32) -> Result<(), Error> {
    let theirs = (version as u16, (version >> 16) as u16);
    if theirs.0 == VERSION.0 {
        return Ok(());
    }
    Err(Error::Version { what, theirs, ours: VERSION })
}

impl CardContent {
    /// Why processes in these surroundings cannot reach each other through `/proc`; `None` if they
    /// can. `file` is the inode of the file that all ranks have, if there is one.
    pub fn apart(&self, own: &Surroundings, file: Option<u64>) -> Option<&'static str> {
        let theirs = &self.surroundings;
        if own.boot == 0 || theirs.boot != own.boot {
            return Some("it is on another machine");
        }
        if self.address.common {
            let same = file == Some(self.address.inode);
            return (!same).then_some("its file is not the one that this process has");
        }
        if theirs.namespace != own.namespace || own.namespace == 0 {
            return Some("it is in another PID namespace");
        }
        (theirs.user != own.user).then_some("it belongs to another user")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample() -> (Surroundings, Address) {
        let own = Surroundings { boot: 77, namespace: 8, user: 9 };
        let (pid, started, descriptor, inode, offset) = (1, 2, 3, 4, 0x5000);
        (own, Address { pid, started, descriptor, inode, offset, common: false, mark: 6 })
    }

    #[test]
    fn a_card_says_what_it_was_told() {
        let (surroundings, address) = sample();
        for address in [address, Address { common: true, descriptor: -1, ..address }] {
            let said = Card::new(&surroundings, &address).read().expect("a card");
            assert_eq!(said, CardContent { surroundings, address });
        }
        assert_eq!(size_of::<Card>(), 64);
    }

    #[test]
    fn who_is_apart_is_told_why() {
        let (own, address) = sample();
        let why =
            |surroundings, address, file| CardContent { surroundings, address }.apart(&own, file);
        assert_eq!(why(own, address, None), None);
        let told = |surroundings| why(surroundings, address, None).expect("apart");
        assert!(told(Surroundings { boot: 1, ..own }).contains("machine"));
        assert!(told(Surroundings { namespace: 1, ..own }).contains("namespace"));
        assert!(told(Surroundings { user: 1, ..own }).contains("user"));
        let common = Address { common: true, ..address };
        let other = Surroundings { namespace: 1, user: 1, ..own };
        assert_eq!(why(other, common, Some(4)), None, "all have the file");
        assert!(why(own, common, Some(5)).expect("apart").contains("file"));
        assert!(why(own, common, None).expect("apart").contains("file"));
    }

    #[test]
    fn other_versions_and_garbage_are_refused() {
        let (surroundings, address) = sample();
        let mut card = Card::new(&surroundings, &address);
        let error = Card([0; 8]).read().expect_err("no card").to_string();
        assert!(error.contains("card") && error.contains("expected"), "{error}");
        card.0[0] += 1 << 32;
        let error = card.read().expect_err("another major").to_string();
        assert!(error.contains("2.0") && error.contains("1.0"), "{error}");
        card.0[0] += 7 << 48;
        card.0[0] -= 1 << 32;
        card.read().expect("another minor");
    }

    proptest! {
        #[test]
        fn no_card_is_too_strange(words in prop::array::uniform8(any::<u64>()), own in any::<bool>()) {
            let mut card = Card(words);
            if own {
                card.0[0] = pair(MAGIC, VERSION_WORD);
            }
            prop_assert_eq!(card.read().is_ok(), own);
        }
    }
}
