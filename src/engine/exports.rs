//! What an agent publishes: its record, which is exchanged when the job starts, and an export for
//! each PE of its node, which others read from the agent's memory. Little-endian, with checked
//! lengths, because both come over a network.

/// "oneshmem" and the version of all formats in this file.
const MAGIC: u64 = u64::from_le_bytes(*b"oneshm\x07\0");
/// The size of an encoded [`Export`] in the agent's memory.
pub const EXPORT_BYTES: usize = 512;
/// The most bytes of the address of a PE's worker.
pub const ADDRESS_BYTES: usize = 256;

/// How to reach an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its worker's address.
    pub address: Vec<u8>,
    /// The exports of its node's PEs, in the order of the PEs, and then the abort word.
    pub exports: Segment,
    /// The addresses at which it listens for connections, if any.
    pub listens: Vec<Vec<u8>>,
}

/// Memory in an agent's process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Its address in that process.
    pub base: u64,
    /// Its length.
    pub bytes: u64,
}

/// What others need to know about a PE.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Export {
    /// How many programs it has begun, and how many lifetimes of the library in the current one. 0:
    /// nothing is exported yet.
    pub life: (u32, u32),
    /// Must be the same on all PEs: see `onenode`'s slot record.
    pub image: u64,
    /// As `image`.
    pub backend: u64,
    /// A number for its partitions, as in its `PeRecord`.
    pub partitions_number: u64,
    /// Its data segment.
    pub data: Segment,
    /// Its heap.
    pub heap: Segment,
    /// Its partitions with the gaps between them, of 0 bytes if it has none.
    pub partitions: Segment,
    /// The control area of its program.
    pub control: Segment,
    /// The statistics of its program's PEs.
    pub statistics: Segment,
    /// The address of its own worker if it is alone on its node.
    pub worker: Vec<u8>,
}

impl Record {
    /// Encodes it for transfer.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_le_bytes().to_vec();
        put_bytes(&mut bytes, &self.address);
        self.exports.encode(&mut bytes);
        self.listens.iter().for_each(|address| put_bytes(&mut bytes, address));
        bytes
    }

    /// Decodes a record; `None` if the bytes are no record of this version.
    pub fn decode(mut bytes: &[u8]) -> Option<Self> {
        let bytes = &mut bytes;
        (take_u64(bytes)? == MAGIC).then_some(())?;
        let (address, exports) = (take_bytes(bytes)?, Segment::decode(bytes)?);
        let mut listens = Vec::new();
        while !bytes.is_empty() {
            listens.push(take_bytes(bytes)?);
        }
        Some(Self { address, exports, listens })
    }
}

impl Segment {
    fn encode(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.base.to_le_bytes());
        bytes.extend(self.bytes.to_le_bytes());
    }

    fn decode(bytes: &mut &[u8]) -> Option<Self> {
        Some(Self { base: take_u64(bytes)?, bytes: take_u64(bytes)? })
    }
}

impl Export {
    /// Encodes it for the agent's memory, with the life first. `None` if the address is too
    /// long.
    pub fn encode(&self) -> Option<[u8; EXPORT_BYTES]> {
        let segments = [self.data, self.heap, self.partitions, self.control, self.statistics];
        (self.worker.len() <= ADDRESS_BYTES).then_some(())?;
        let mut bytes = life_word(self.life).to_le_bytes().to_vec();
        bytes.extend(MAGIC.to_le_bytes());
        bytes.extend(self.image.to_le_bytes());
        bytes.extend(self.backend.to_le_bytes());
        bytes.extend(self.partitions_number.to_le_bytes());
        segments.into_iter().for_each(|segment| segment.encode(&mut bytes));
        put_bytes(&mut bytes, &self.worker);
        bytes.resize(EXPORT_BYTES, 0);
        bytes.try_into().ok()
    }

    /// Decodes an export; `None` if nothing is exported yet.
    pub fn decode(mut bytes: &[u8]) -> Option<Self> {
        let bytes = &mut bytes;
        let life = take_u64(bytes)?;
        (life != 0 && take_u64(bytes)? == MAGIC).then_some(())?;
        Some(Self {
            life: ((life >> 32) as u32, life as u32),
            image: take_u64(bytes)?,
            backend: take_u64(bytes)?,
            partitions_number: take_u64(bytes)?,
            data: Segment::decode(bytes)?,
            heap: Segment::decode(bytes)?,
            partitions: Segment::decode(bytes)?,
            control: Segment::decode(bytes)?,
            statistics: Segment::decode(bytes)?,
            worker: take_bytes(bytes)?,
        })
    }
}

/// A life as one word: the first of an encoded export.
pub fn life_word((programs, lifetimes): (u32, u32)) -> u64 {
    u64::from(programs) << 32 | u64::from(lifetimes)
}

fn put_bytes(bytes: &mut Vec<u8>, more: &[u8]) {
    bytes.extend((more.len() as u64).to_le_bytes());
    bytes.extend(more);
}

fn take_u64(bytes: &mut &[u8]) -> Option<u64> {
    let (word, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u64::from_le_bytes(*word))
}

fn take_bytes(bytes: &mut &[u8]) -> Option<Vec<u8>> {
    let length = usize::try_from(take_u64(bytes)?).ok()?;
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(seed: u8) -> Segment {
        Segment { base: u64::from(seed) << 40, bytes: 1 << seed }
    }

    fn record() -> Record {
        let listens = vec![vec![1; 16], vec![2; 28]];
        Record { address: vec![7; 108], exports: segment(3), listens }
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
            data: segment(5),
            heap: segment(6),
            partitions: segment(10),
            control: segment(7),
            statistics: segment(8),
            worker: vec![1; ADDRESS_BYTES],
        };
        let bytes = export.encode().expect("an address that fits");
        assert_eq!(Export::decode(&bytes), Some(export));
    }

    #[test]
    fn what_is_cut_or_foreign_is_none() {
        let bytes = record().encode();
        for length in 0..bytes.len() {
            // A cut at the end of an address leaves a record with fewer addresses.
            let complete = Record::decode(&bytes[..length]);
            assert!(complete.is_none_or(|cut| cut.listens.len() < record().listens.len()));
        }
        let mut foreign = bytes.clone();
        foreign[6] += 1;
        assert_eq!(Record::decode(&foreign), None);
        let mut endless = bytes;
        endless[15] = 0xff;
        assert_eq!(Record::decode(&endless), None);
        assert_eq!(Export::decode(&[0; EXPORT_BYTES]), None);
        let long = Export { worker: vec![1; ADDRESS_BYTES + 1], ..Export::default() };
        assert_eq!(long.encode(), None);
    }
}
