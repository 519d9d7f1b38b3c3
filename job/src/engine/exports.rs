//! Records that an agent sends: its own, which is exchanged when the job starts, and an export for
//! each PE of its node, for which they ask. Both begin with the version of this file. No address of a process
//! is in them.

use super::admission::Access;
use crate::codec;
use crate::jobfile::nodes::WORKER_BYTES;
use crate::remote::Segment;
use serde::{Deserialize, Serialize};

/// "oneshm" and the version of all formats in this file.
const MAGIC: u64 = u64::from_le_bytes(*b"oneshm\x0a\0");
/// The size of an encoded [`Export`].
pub const EXPORT_BYTES: usize = 768;
/// Where an encoded export says whether the PE's process has ended: a byte that is 0 or 1.
const ENDED: usize = EXPORT_BYTES - 1;
/// The most bytes of a worker's address.
const ADDRESS_BYTES: usize = 256;

/// How to reach a worker: an agent's, or that of a PE that is alone on its node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The worker's address.
    pub address: Vec<u8>,
    /// How a process is admitted to it.
    pub access: Access,
}

/// The sizes in bytes of a PE's memory, by segment.
pub type Sizes = [u64; Segment::COUNT];

/// Facts that other nodes need about a PE.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Export {
    /// How many programs it has begun, and how many lifetimes of the library in the current one. 0:
    /// nothing is exported yet.
    pub life: (u32, u32),
    /// Must be the same on all PEs: see `onenode-core`'s slot record.
    pub image: u64,
    /// As `image`.
    pub backend: u64,
    /// A number for its partitions, as in its `PeRecord`.
    pub partitions_number: u64,
    /// The sizes of its segments. That of the partitions has the gaps between them; 0 if it has none.
    pub sizes: Sizes,
    /// The encoded [`Record`] of its own worker if it is alone on its node.
    pub worker: Vec<u8>,
}

impl Record {
    /// Encodes it for transfer.
    pub fn encode(&self) -> Vec<u8> {
        codec::encode(&(MAGIC, self))
    }

    /// Decodes a record; `None` if the bytes are no record of this version.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (magic, record) = codec::decode::<(u64, Self)>(bytes)?;
        (magic == MAGIC && record.address.len() <= ADDRESS_BYTES).then_some(record)
    }
}

impl Export {
    /// Encodes it. `None` if the worker's record is too long.
    pub fn encode(&self) -> Option<[u8; EXPORT_BYTES]> {
        (self.worker.len() <= WORKER_BYTES).then_some(())?;
        let mut bytes = codec::encode(&(MAGIC, self));
        bytes.resize(EXPORT_BYTES, 0);
        bytes.try_into().ok()
    }

    /// Decodes an export; `None` if nothing is exported yet.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let ((magic, export), _) = codec::decode_first::<(u64, Self)>(bytes)?;
        (magic == MAGIC).then_some(export)
    }
}

/// Marks an encoded export, or none (zeros), as that of a process that has ended.
pub fn mark_ended(export: &mut [u8; EXPORT_BYTES]) {
    export[ENDED] = 1;
}

/// Whether the process of an encoded export has ended.
pub fn has_ended(export: &[u8; EXPORT_BYTES]) -> bool {
    export[ENDED] == 1
}

/// A life as one word.
pub fn life_word((programs, lifetimes): (u32, u32)) -> u64 {
    u64::from(programs) << 32 | u64::from(lifetimes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::SocketAddr;

    fn record() -> Record {
        let [admits, v4, v6] = ["10.0.0.7:4000", "10.0.0.7:65535", "[fe80::1]:9"]
            .map(|it| it.parse::<SocketAddr>().unwrap());
        Record { address: vec![7; 108], access: Access { admits, listens: vec![v4, v6] } }
    }

    #[test]
    fn what_travels_arrives() {
        let record = record();
        assert_eq!(Record::decode(&record.encode()), Some(record));
        let export = Export {
            life: (1, 2),
            image: 3,
            backend: 4,
            partitions_number: 9,
            sizes: [5, 6, 10, 7, 8],
            worker: vec![1; WORKER_BYTES],
        };
        let bytes = export.encode().expect("a record that fits");
        assert_eq!(Export::decode(&bytes), Some(export));
    }

    #[test]
    fn what_is_cut_or_foreign_is_none() {
        let bytes = record().encode();
        for length in 0..bytes.len() {
            assert_eq!(Record::decode(&bytes[..length]), None, "cut at {length}");
        }
        assert_eq!(Record::decode(&[&bytes[..], &[0]].concat()), None, "more behind it");
        let foreign = codec::encode(&(MAGIC + 1, record()));
        assert_eq!(Record::decode(&foreign), None);
        let endless = codec::encode(&(MAGIC, u64::MAX, 0u64));
        assert_eq!(Record::decode(&endless), None);
        let long = Record { address: vec![7; ADDRESS_BYTES + 1], ..record() };
        assert_eq!(Record::decode(&long.encode()), None);
        assert_eq!(Export::decode(&[0; EXPORT_BYTES]), None);
        let long = Export { worker: vec![1; WORKER_BYTES + 1], ..Export::default() };
        assert_eq!(long.encode(), None);
    }
}
