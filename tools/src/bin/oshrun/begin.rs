//! The first messages between hub and node: the node identifies itself, the hub describes the job.

use super::options::Options;
use oneshmem_job::codec;
use oneshmem_job::jobfile::nodes::NodeOf;
use oneshmem_job::jobfile::{LAYOUT, MAX_PES};
use oneshmem_job::remote::network::Site;
use oneshmem_job::remote::secret::Secret;
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// The version of the frames, incremented on every change.
const PROTOCOL: u32 = 10;

/// A string that must be the same on all hosts.
pub fn identity() -> String {
    format!(
        "oneshmem {} (frames {PROTOCOL}, layout {LAYOUT}, {})",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::ARCH
    )
}

/// A node's introduction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// Its [`identity`].
    pub identity: String,
    /// Bytes of memory that the host has.
    pub memory: u64,
    /// How the host is reached; `None` from other versions.
    pub site: Option<Site>,
}

impl Hello {
    /// Encodes it for a frame: the identity behind its length, as in all versions, and what follows.
    pub fn encode(&self) -> Vec<u8> {
        let identity = self.identity.as_bytes();
        let rest = codec::encode(&(self.memory, &self.site));
        [&(identity.len() as u64).to_le_bytes(), identity, &rest].concat()
    }

    /// Decodes it from a frame.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (length, bytes) = bytes.split_first_chunk()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (identity, rest) = bytes.split_at_checked(length)?;
        let identity = String::from_utf8_lossy(identity).into_owned();
        let (memory, site) = codec::decode::<(u64, Option<Site>)>(rest).unwrap_or_default();
        Some(Self { identity, memory, site: site.filter(Site::is_sound) })
    }
}

/// The description of the job.
#[derive(Debug, Serialize, Deserialize)]
pub struct JobDescription {
    /// The number of the node that receives it.
    pub node: usize,
    /// All nodes.
    pub nodes: Vec<NodeOf>,
    /// How each of their hosts is reached.
    pub sites: Vec<Site>,
    /// The size of a heap in bytes, unless a variable sets it.
    pub default_heap: u64,
    /// The key that the job's processes authenticate each other with.
    pub secret: Secret,
    /// Whether PE 0's input may come from a person at a terminal.
    pub interactive: bool,
    /// The most cells in a row of the communication matrix, if there is to be one.
    pub cells: Option<usize>,
    /// The directory in which the user ran the command.
    pub directory: OsString,
    /// The options that concern nodes. Variables to forward are in the environments of the parts.
    pub options: Options,
}

impl JobDescription {
    /// Encodes it for a frame.
    pub fn encode(&self) -> Vec<u8> {
        codec::encode(self)
    }

    /// Decodes it from a frame.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        codec::decode(bytes).filter(Self::is_sound)
    }

    /// Whether its parts fit each other, and no number is one that no hub sends.
    fn is_sound(&self) -> bool {
        let Options { parts, map, cpus_per_pe, cpu_set, .. } = &self.options;
        let of_nodes = sum(self.nodes.iter().map(|node| Some(node.pes)));
        let of_parts = sum(parts.iter().map(|part| part.npes));
        self.node < self.nodes.len()
            && self.sites.len() == self.nodes.len()
            && self.sites.iter().all(Site::is_sound)
            && of_nodes.is_some_and(|pes| pes <= MAX_PES)
            && of_nodes == of_parts
            && parts.iter().all(|part| !part.program.is_empty())
            && [self.cells, map.each, *cpus_per_pe].iter().all(|number| *number != Some(0))
            && cpu_set.as_ref().is_none_or(|cpus| !cpus.is_empty())
    }
}

/// The sum of all numbers; `None` if one is missing, or it is too large.
fn sum(mut numbers: impl Iterator<Item = Option<usize>>) -> Option<usize> {
    numbers.try_fold(0usize, |sum, number| sum.checked_add(number?))
}

/// The variables of this command's environment to forward to PEs on the nodes.
pub fn carried() -> Vec<(OsString, OsString)> {
    let of_one_process = [oneshmem_job::env::PASSED_PE, oneshmem_job::env::PASSED_STDOUT];
    let is_carried = |name: &OsStr| {
        ["SHMEM_", "SMA_", "ONESHMEM_"]
            .iter()
            .any(|prefix| name.as_bytes().starts_with(prefix.as_bytes()))
            && !of_one_process.iter().any(|own| name == *own)
    };
    std::env::vars_os().filter(|(name, _)| is_carried(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::options::{Program, Pty};
    use super::*;
    use oneshmem_tools::place::{Bind, Map, Place};
    use proptest::prelude::*;
    use std::os::unix::ffi::OsStringExt;
    use std::time::Duration;

    fn begin() -> JobDescription {
        let part = |npes, words: &[&str]| Program {
            npes: Some(npes),
            environment: vec![("A".into(), "b=c".into())],
            wdir: (npes == 1).then(|| "/tmp".into()),
            program: words.iter().map(OsString::from).collect(),
        };
        let node = |pes, host: &str| NodeOf { pes, host: host.into() };
        JobDescription {
            node: 1,
            nodes: vec![node(1, "a"), node(2, "b")],
            sites: vec![Site::without_rdma(), Site::without_rdma()],
            default_heap: 1 << 33,
            secret: Secret::of(&[7; Secret::BYTES]).expect("a secret"),
            interactive: true,
            cells: Some(256),
            directory: OsString::from_vec(b"/h\xffome".to_vec()),
            options: Options {
                bind: Bind::To(Place::L3),
                map: Map { by: Place::Numa, each: Some(2) },
                cpus_per_pe: Some(3),
                cpu_set: Some(vec![0, 3]),
                pty: Pty::No,
                top: Some(Duration::from_millis(500)),
                ..Options::of(vec![part(1, &["p", ""]), part(2, &["q", "x y"])])
            },
        }
    }

    #[test]
    fn a_beginning_survives_the_way() {
        let sent = begin();
        let read = JobDescription::decode(&sent.encode()).unwrap();
        assert_eq!(format!("{sent:?}"), format!("{read:?}"));
        assert_eq!(sent.secret, read.secret);
        let hello = Hello { identity: identity(), memory: 7, site: Some(Site::without_rdma()) };
        assert_eq!(Hello::decode(&hello.encode()), Some(hello));
    }

    #[test]
    fn a_beginning_that_makes_no_sense_is_refused() {
        let bytes = begin().encode();
        for end in 0..bytes.len() {
            assert!(JobDescription::decode(&bytes[..end]).is_none(), "cut at {end}");
        }
        assert!(JobDescription::decode(&[&bytes[..], &[0]].concat()).is_none());
        assert!(JobDescription::decode(&JobDescription { node: 2, ..begin() }.encode()).is_none());
    }

    proptest! {
        #[test]
        fn garbage_does_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..300), at in 0usize..300) {
            let _ = JobDescription::decode(&bytes);
            let _ = Hello::decode(&bytes);
            let mut damaged = begin().encode();
            for (to, from) in damaged.iter_mut().skip(at).zip(&bytes) {
                *to = *from;
            }
            let _ = JobDescription::decode(&damaged);
        }
    }
}
