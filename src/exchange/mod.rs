//! The exchange between the nodes of a job under a foreign launcher, in whichever protocol that launcher
//! speaks.

mod pmi;

use crate::sys::pmix::{self, Pmix};
use oneshmem_job::codec;
use oneshmem_job::jobfile::nodes;
use oneshmem_job::remote::network::Site;
use oneshmem_job::remote::secret::Secret;
use oneshmem_job::sys::environment;
use oneshmem_job::sys::hex::{hex, of_hex};
use pmi::Pmi;
use std::ffi::CStr;

/// The connection to the launcher.
pub(super) enum Exchange {
    /// Hydra, and `srun --mpi=pmi2`.
    Pmi(Pmi),
    /// `mpirun` of Open MPI and PRRTE, and `srun --mpi=pmix`.
    Pmix(Box<Pmix>),
}

/// A fact that the first PE of a node publishes about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum About {
    /// A [`Card`] of its host.
    Host,
    /// The record of its agent, as hexadecimal digits.
    Agent,
}

impl About {
    /// The name of the publication. The text in front of a node's number with PMI.
    fn name(self) -> &'static CStr {
        match self {
            Self::Host => c"oneshmem.host",
            Self::Agent => c"oneshmem.agent",
        }
    }
}

impl Exchange {
    /// Opens the connection.
    pub fn open() -> Result<Self, String> {
        match environment::variable(pmix::VARIABLE) {
            Some(_) => Pmix::open().map(|pmix| Self::Pmix(Box::new(pmix))),
            None => Pmi::open().map(Self::Pmi),
        }
    }

    /// The number of PEs on each node, in order, in a job of `size` PEs.
    pub fn nodes(&mut self, size: usize) -> Result<Vec<usize>, String> {
        match self {
            Self::Pmi(pmi) => pmi.nodes(size),
            Self::Pmix(pmix) => {
                let hosts = pmix.hosts()?;
                let ranks: Result<Vec<_>, _> =
                    hosts.iter().map(|host| pmix.ranks_on(host)).collect();
                nodes_of(&ranks?, size).and_then(|nodes| nodes::sizes(nodes, &hosts.join(",")))
            }
        }
    }

    /// Publishes a text about `node`. Called by its first PE.
    pub fn publish(&mut self, about: About, node: usize, text: &str) -> Result<(), String> {
        match self {
            Self::Pmi(pmi) => pmi.publish(&Self::key(about, node), text),
            Self::Pmix(pmix) => pmix.publish(about.name(), text),
        }
    }

    /// Returns when what other nodes have told can be heard. Called by all PEs.
    pub fn meet(&mut self) -> Result<(), String> {
        match self {
            Self::Pmi(pmi) => pmi.barrier(),
            Self::Pmix(pmix) => pmix.share(),
        }
    }

    /// The published text about `node`, whose first PE is `first`.
    pub fn fetch(&mut self, about: About, node: usize, first: usize) -> Result<String, String> {
        match self {
            Self::Pmi(pmi) => pmi.fetch(&Self::key(about, node)),
            Self::Pmix(pmix) => pmix.fetch(first as u32, about.name()),
        }
    }

    fn key(about: About, node: usize) -> String {
        format!("{}.{node}", about.name().to_string_lossy())
    }

    /// Waits until all PEs of the job have called this.
    pub fn barrier(&mut self) -> Result<(), String> {
        match self {
            Self::Pmi(pmi) => pmi.barrier(),
            Self::Pmix(pmix) => pmix.fence(),
        }
    }

    /// Disconnects: the launcher treats a process that exits without this as lost.
    pub fn end(&mut self) {
        match self {
            Self::Pmi(pmi) => pmi.end(),
            Self::Pmix(pmix) => pmix.end(),
        }
    }
}

/// The node of each of `size` PEs, from the PEs of each node.
fn nodes_of(pes: &[Vec<u32>], size: usize) -> Result<Vec<usize>, String> {
    let mut nodes = vec![None; size];
    for (node, pes) in pes.iter().enumerate() {
        for pe in pes {
            let place = nodes.get_mut(*pe as usize);
            *place.ok_or_else(|| format!("rank {pe} is on a node, in a job of {size}"))? =
                Some(node);
        }
    }
    let missing = nodes.iter().position(Option::is_none);
    let all = nodes.into_iter().collect::<Option<_>>();
    all.ok_or_else(|| format!("rank {} is on no node", missing.unwrap_or_default()))
}

/// The record that a node publishes to the others.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Card {
    /// Default size in bytes of a symmetric heap on this node.
    pub heap: u64,
    pub host: String,
    /// How the host is reached.
    pub site: Site,
    /// The job's secret, from the first node.
    pub secret: Option<Secret>,
}

impl Card {
    /// Encodes it as text without spaces, as PMI-1 requires.
    pub fn encode(&self) -> String {
        hex(&codec::encode(&(self.heap, &self.host, &self.site, &self.secret)))
    }

    pub fn decode(text: &str) -> Option<Self> {
        let (heap, host, site, secret) = codec::decode(&of_hex(text)?)?;
        Some(Self { heap, host, site, secret }).filter(|card| card.site.is_sound())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_survives_its_text() {
        for host in ["a", "node-1.example", ""] {
            for secret in [None, Some(Secret::new().expect("random bytes"))] {
                let card =
                    Card { heap: 1 << 40, host: host.into(), site: Site::without_rdma(), secret };
                assert_eq!(Card::decode(&card.encode()), Some(card));
            }
        }
    }

    #[test]
    fn every_pe_is_on_a_node() {
        assert_eq!(nodes_of(&[vec![0, 1], vec![2]], 3), Ok(vec![0, 0, 1]));
        assert_eq!(nodes_of(&[vec![2], vec![1, 0]], 3), Ok(vec![1, 1, 0]));
        assert!(nodes_of(&[vec![0], vec![2]], 3).is_err_and(|why| why.contains("rank 1")));
        assert!(nodes_of(&[vec![0, 1, 3]], 3).is_err_and(|why| why.contains("rank 3")));
    }

    #[test]
    fn a_text_that_is_no_card_is_refused() {
        let site = Site::without_rdma();
        let card = Card { heap: 1, host: "a".into(), site, secret: None }.encode();
        for text in
            ["", "1", "x0", &card[1..], &card[2..], &card[..card.len() - 2], &(card.clone() + "00")]
        {
            assert_eq!(Card::decode(text), None, "{text}");
        }
    }
}
