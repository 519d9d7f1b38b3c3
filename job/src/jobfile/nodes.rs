//! The nodes of a job: the PEs of each, and how to reach its agent.
//!
//! Every node has its own job's file, with this table at a fixed place between the head and the
//! first generation. A job on one node has none. The launcher writes all of it except the agents'
//! records, which become known one by one while the PEs are already running: a PE that needs a
//! missing record polls for it.
#![allow(unsafe_code)]

use crate::atomics::{AtomicU32, AtomicU64, Ordering};
use crate::codec;
use crate::error::Error;
use crate::remote::network::{self, Route, Site};
use onenode_core::area::{Shared, SharedArea};
use onenode_core::packed;
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv6Addr};
use std::ops::Range;
use std::os::fd::BorrowedFd;

/// The offset of the table in the job's file.
pub(super) const PLACE: u64 = 1 << 29;
/// The most bytes of an agent's record.
pub const RECORD_BYTES: usize = 1024;
/// The most bytes of the record of the worker of a PE that is alone on its node.
pub const WORKER_BYTES: usize = 512;
/// The most nodes of a job.
pub const MOST: usize = 1 << 16;
/// The most bytes of a route: the names of a network device and of an RDMA port, or the reason for TCP, which
/// names a host; with room.
const ROUTE_BYTES: usize = 512;
/// The bytes of an address.
const ADDRESS_BYTES: usize = 16;
/// The most bytes of a host name.
pub const HOST_BYTES: usize = 256;

/// A node, as the launcher describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeOf {
    /// The number of its PEs. PEs are numbered node by node.
    pub pes: usize,
    /// Its name, as the user wrote it.
    pub host: String,
}

impl NodeOf {
    /// Nodes with these numbers of PEs, whose hosts become known later.
    pub fn unnamed(sizes: &[usize]) -> Vec<Self> {
        sizes.iter().map(|pes| Self { pes: *pes, host: String::new() }).collect()
    }
}

/// The number of PEs on each node, from the node of each PE. `told` names the launcher's source of
/// this information.
pub fn sizes(nodes: impl IntoIterator<Item = usize>, told: &str) -> Result<Vec<usize>, String> {
    let (mut sizes, mut seen): (Vec<usize>, Vec<usize>) = Default::default();
    for node in nodes {
        if seen.last() == Some(&node) {
            sizes.last_mut().into_iter().for_each(|size| *size += 1);
        } else if seen.contains(&node) {
            return Err(format!(
                "PEs are not numbered node by node ({told}); expected as many PEs in a row on each \
                 node as it gets"
            ));
        } else {
            seen.push(node);
            sizes.push(1);
        }
    }
    Ok(sizes)
}

#[repr(C, align(64))]
struct Record {
    first: AtomicU32,
    pes: AtomicU32,
    host_bytes: AtomicU32,
    /// Bytes of the agent's record, plus 1; 0 while it is unknown. Written last.
    agent_bytes: AtomicU32,
    worker_bytes: AtomicU32,
    route_bytes: AtomicU32,
    host: [AtomicU64; HOST_BYTES / 8],
    agent: [AtomicU64; RECORD_BYTES / 8],
    worker: [AtomicU64; WORKER_BYTES / 8],
    route: [AtomicU64; ROUTE_BYTES / 8],
    /// The host's addresses as IPv6 has them; zeros behind the last.
    addresses: [AtomicU64; network::MOST * ADDRESS_BYTES / 8],
}

/// A bit for each port at which UCX has listened for a process of this node.
#[repr(C, align(64))]
struct Ports([AtomicU64; (1 << 16) / 64]);

/// The table, mapped, with the node's ports behind it.
pub struct Nodes {
    area: SharedArea,
    own: usize,
    count: usize,
    npes: usize,
}

// SAFETY: nothing but atomics.
unsafe impl Shared for Record {}
// SAFETY: nothing but atomics.
unsafe impl Shared for Ports {}

impl Nodes {
    /// Maps the table of a job of `npes` PEs on `count` nodes, of which this is node `own`.
    pub(super) fn map(
        file: BorrowedFd,
        own: usize,
        count: usize,
        npes: usize,
    ) -> Result<Self, Error> {
        assert!(own < count && count <= npes);
        Ok(Self { area: SharedArea::map(file, PLACE, bytes(count))?, own, count, npes })
    }

    /// Writes the nodes to the table.
    pub(super) fn fill(&self, nodes: &[NodeOf]) {
        let mut first = 0;
        for (node, NodeOf { pes, host }) in nodes.iter().enumerate() {
            let record = self.record(node);
            record.first.store(first as u32, Ordering::Relaxed);
            record.pes.store(*pes as u32, Ordering::Relaxed);
            let host = &host.as_bytes()[..host.len().min(HOST_BYTES)];
            packed::store(&record.host, host);
            record.host_bytes.store(host.len() as u32, Ordering::Relaxed);
            first += pes;
        }
    }

    /// Sets the host name of a node that was unknown when the table was created.
    pub fn name(&self, node: usize, host: &str) {
        let record = self.record(node);
        let host = &host.as_bytes()[..host.len().min(HOST_BYTES)];
        packed::store(&record.host, host);
        record.host_bytes.store(host.len() as u32, Ordering::Release);
    }

    fn record(&self, node: usize) -> &Record {
        assert!(node < self.count);
        self.area.at(node * size_of::<Record>())
    }

    /// Notes that UCX listens at a port; false if it has done so for another process of this node, perhaps one
    /// of an earlier program of the job.
    pub fn claim(&self, port: u16) -> bool {
        let ports: &Ports = self.area.at(self.count * size_of::<Record>());
        let (word, bit) = (usize::from(port) / 64, 1 << (port % 64));
        ports.0[word].fetch_or(bit, Ordering::Relaxed) & bit == 0
    }

    /// This node's number.
    pub fn own(&self) -> usize {
        self.own
    }
    /// Number of nodes, at least 2.
    pub fn count(&self) -> usize {
        self.count
    }
    /// The PEs of a node.
    pub fn pes(&self, node: usize) -> Range<usize> {
        let record = self.record(node);
        let first = (record.first.load(Ordering::Relaxed) as usize).min(self.npes);
        let pes = record.pes.load(Ordering::Relaxed) as usize;
        first..(first + pes).min(self.npes)
    }
    /// The node that PE `pe` is on.
    pub fn node_of(&self, pe: usize) -> usize {
        assert!(pe < self.npes);
        let records: &[Record] = self.area.slice(0, self.count);
        let begun = |record: &Record| record.first.load(Ordering::Relaxed) as usize <= pe;
        // At least the first node has begun, whatever others have written.
        records.partition_point(begun).max(1) - 1
    }
    /// A node's host name, as the user wrote it.
    pub fn host(&self, node: usize) -> String {
        let record = self.record(node);
        let bytes = record.host_bytes.load(Ordering::Relaxed) as usize;
        String::from_utf8_lossy(&read(&record.host, bytes)).into_owned()
    }
    /// The record of a node's agent; `None` while it is unknown here.
    pub fn agent(&self, node: usize) -> Option<Vec<u8>> {
        let record = self.record(node);
        let bytes = record.agent_bytes.load(Ordering::Acquire).checked_sub(1)?;
        Some(read(&record.agent, bytes as usize))
    }
    /// Publishes the record of a node's agent on this node. Only the first call for each node has
    /// an effect.
    ///
    /// # Panics
    /// If the record has more than [`RECORD_BYTES`] bytes.
    pub fn publish(&self, node: usize, agent: &[u8]) {
        assert!(agent.len() <= RECORD_BYTES, "an agent's record has {} bytes", agent.len());
        let record = self.record(node);
        if record.agent_bytes.load(Ordering::Acquire) == 0 {
            packed::store(&record.agent, agent);
            record.agent_bytes.store(agent.len() as u32 + 1, Ordering::Release);
        }
    }
    /// How this node reaches the others, as it has been set here.
    pub fn route(&self) -> Route {
        let record = self.record(self.own);
        let bytes = record.route_bytes.load(Ordering::Acquire) as usize;
        codec::decode(&read(&record.route, bytes)).unwrap_or_default()
    }
    /// Sets the route by which this node reaches the others. Called before this node's agent and PEs need it.
    ///
    /// # Errors
    /// In words, if a name in it is longer than any that the kernel gives.
    pub fn set_route(&self, route: &Route) -> Result<(), String> {
        let encoded = codec::encode(route);
        if encoded.len() > ROUTE_BYTES {
            return Err(format!(
                "{route}: expected names of devices of at most {ROUTE_BYTES} bytes"
            ));
        }
        let record = self.record(self.own);
        packed::store(&record.route, &encoded);
        record.route_bytes.store(encoded.len() as u32, Ordering::Release);
        Ok(())
    }
    /// Notes the addresses of all nodes' hosts, in order. Called before this node's agent and PEs need them.
    pub fn set_sites(&self, sites: &[Site]) {
        for (node, site) in sites.iter().enumerate() {
            let octets = site.addresses().flat_map(|ip| match ip {
                IpAddr::V4(ip) => ip.to_ipv6_mapped().octets(),
                IpAddr::V6(ip) => ip.octets(),
            });
            packed::store(&self.record(node).addresses, &octets.collect::<Vec<_>>());
        }
    }
    /// The addresses of all nodes' hosts, as they have been noted here.
    pub fn addresses(&self) -> Vec<IpAddr> {
        let mut all = Vec::new();
        for node in 0..self.count {
            let bytes = read(&self.record(node).addresses, network::MOST * ADDRESS_BYTES);
            let octets = bytes.chunks(ADDRESS_BYTES).filter_map(|octets| octets.try_into().ok());
            let found = octets.map(|octets: [u8; ADDRESS_BYTES]| Ipv6Addr::from(octets));
            all.extend(found.filter(|ip| !ip.is_unspecified()).map(|ip| ip.to_canonical()));
        }
        all
    }
    /// How others reach the worker of this node's only PE, as it has been set here.
    pub fn worker(&self) -> Vec<u8> {
        let record = self.record(self.own);
        read(&record.worker, record.worker_bytes.load(Ordering::Acquire) as usize)
    }
    /// Sets that record, for the agent of this node.
    ///
    /// # Errors
    /// If it has more than [`WORKER_BYTES`] bytes.
    pub fn set_worker(&self, worker: &[u8]) -> Result<(), Error> {
        if worker.len() > WORKER_BYTES {
            return Err(Error::Engine(format!(
                "a worker of UCX has a record of {} bytes; expected at most {WORKER_BYTES}: name fewer \
                 devices in UCX_NET_DEVICES",
                worker.len()
            )));
        }
        let record = self.record(self.own);
        packed::store(&record.worker, worker);
        record.worker_bytes.store(worker.len() as u32, Ordering::Release);
        Ok(())
    }
}

/// Size of the table for `count` nodes.
pub(super) const fn bytes(count: usize) -> usize {
    (count * size_of::<Record>() + size_of::<Ports>()).next_multiple_of(4096)
}

/// The PEs of a node for people: so many from the first.
pub fn named(first: usize, count: usize) -> String {
    match count {
        1 => format!("PE {first}"),
        _ => format!("PEs {first} to {}", (first + count).saturating_sub(1)),
    }
}

/// Reads at most as many bytes as the words have: another process may have written any number.
fn read(words: &[AtomicU64], bytes: usize) -> Vec<u8> {
    packed::bytes(packed::load(words)).take(bytes).collect()
}

/// Where its fields are, for the page.
#[cfg(test)]
pub(crate) mod layout {
    use super::*;
    use crate::tests::{Fields, fields};

    pub fn fields() -> Fields {
        fields!(
            "Node",
            Record {
                first,
                pes,
                host_bytes,
                agent_bytes,
                worker_bytes,
                route_bytes,
                host,
                agent,
                worker,
                route,
                addresses
            }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobfile::JobFile;

    fn of(pes: usize, host: &str) -> NodeOf {
        NodeOf { pes, host: host.into() }
    }

    #[test]
    fn pes_are_numbered_node_by_node() {
        let file = JobFile::create_on_nodes(1, &[of(2, "a"), of(1, "b.example"), of(4, "")]);
        let file = file.expect("a job's file");
        assert_eq!((file.npes(), file.near()), (7, 2..3));
        let nodes = file.nodes().expect("a table");
        assert_eq!((nodes.own(), nodes.count()), (1, 3));
        let found: Vec<_> = (0..7).map(|pe| nodes.node_of(pe)).collect();
        assert_eq!(found, [0, 0, 1, 2, 2, 2, 2]);
        let pes: Vec<_> = (0..3).map(|node| nodes.pes(node)).collect();
        assert_eq!(pes, [0..2, 2..3, 3..7]);
        assert_eq!([0, 1, 2].map(|node| nodes.host(node)), ["a", "b.example", ""]);
    }

    #[test]
    fn an_agent_is_known_once_it_is_published() {
        let file = JobFile::create_on_nodes(0, &[of(1, "a"), of(1, "b")]).expect("a job's file");
        let nodes = file.nodes().expect("a table");
        assert_eq!(nodes.agent(1), None);
        let record: Vec<u8> = (0..=255).cycle().take(RECORD_BYTES - 3).collect();
        nodes.publish(1, &record);
        nodes.publish(1, b"too late");
        assert_eq!(nodes.agent(1).as_deref(), Some(&record[..]));
        nodes.publish(0, b"");
        assert_eq!(nodes.agent(0), Some(Vec::new()));
    }

    #[test]
    fn the_worker_of_the_only_pe_is_that_of_its_last_program() {
        let file = JobFile::create_on_nodes(1, &[of(1, "a"), of(1, "b")]).expect("a job's file");
        let nodes = file.nodes().expect("a table");
        assert_eq!(nodes.worker(), b"");
        for worker in [&[7; WORKER_BYTES][..], b"shorter"] {
            nodes.set_worker(worker).expect("room");
            assert_eq!(nodes.worker(), worker);
        }
        assert!(nodes.set_worker(&[7; WORKER_BYTES + 1]).is_err());
        assert_eq!(nodes.worker(), b"shorter");
    }

    #[test]
    fn the_route_is_this_nodes() {
        let file = JobFile::create_on_nodes(1, &[of(1, "a"), of(1, "b")]).expect("a job's file");
        let nodes = file.nodes().expect("a table");
        assert_eq!(nodes.route(), Route::default());
        let longest = Route {
            device: "enp129s0f0np0.4".into(),
            port: Some("x".repeat(64) + ":1"),
            why_tcp: Some("x".repeat(400)),
        };
        for route in [longest, Route::over("lo")] {
            assert_eq!(nodes.set_route(&route), Ok(()));
            assert_eq!(nodes.route(), route);
        }
        assert!(nodes.set_route(&Route::over("x".repeat(ROUTE_BYTES + 1))).is_err());
    }

    #[test]
    fn the_addresses_are_those_of_all_hosts() {
        let file = JobFile::create_on_nodes(1, &[of(1, "a"), of(1, "b")]).expect("a job's file");
        let nodes = file.nodes().expect("a table");
        assert_eq!(nodes.addresses(), [] as [IpAddr; 0]);
        let most = (2..=network::MOST).map(|i| format!("10.0.0.{i}"));
        let most: Vec<String> = std::iter::once("fd00::7".into()).chain(most).collect();
        let sites = [Site::at(&most), Site::at(&["192.168.1.1".into()])];
        nodes.set_sites(&sites);
        assert_eq!(nodes.addresses().len(), network::MOST + 1);
        assert!(sites.iter().flat_map(Site::addresses).eq(nodes.addresses()));
    }

    #[test]
    fn numbers_that_another_process_has_spoilt_stay_in_bounds() {
        let file = JobFile::create_on_nodes(0, &[of(1, "a"), of(1, "b")]).expect("a job's file");
        let nodes = file.nodes().expect("a table");
        let record = nodes.record(1);
        for word in [&record.first, &record.pes, &record.host_bytes, &record.agent_bytes] {
            word.store(u32::MAX, Ordering::Relaxed);
        }
        assert!(nodes.pes(1).end <= 2 && nodes.host(1).len() <= HOST_BYTES);
        assert!(nodes.agent(1).is_some_and(|agent| agent.len() == RECORD_BYTES));
        assert!(nodes.node_of(1) < 2);
        nodes.record(0).route_bytes.store(u32::MAX, Ordering::Relaxed);
        assert_eq!(nodes.route(), Route::default());
        let own = nodes.record(nodes.own());
        own.worker_bytes.store(u32::MAX, Ordering::Relaxed);
        assert_eq!(nodes.worker().len(), WORKER_BYTES);
    }

    #[test]
    fn one_node_has_no_table() {
        let file = JobFile::create(3).expect("a job's file");
        assert!(file.nodes().is_none());
        assert_eq!(file.near(), 0..3);
        let file = JobFile::create_on_nodes(0, &[of(3, "a")]).expect("a job's file");
        assert!(file.nodes().is_none());
    }

    #[test]
    fn what_was_created_on_a_node_is_opened_there() {
        let file = JobFile::create_on_nodes(1, &[of(2, "a"), of(3, "b")]).expect("a job's file");
        let copy = file.file().expect("a file").try_clone_to_owned().expect("a descriptor");
        let opened = JobFile::open(copy).expect("the same file");
        assert_eq!((opened.npes(), opened.near()), (5, 2..5));
        assert_eq!(opened.nodes().map(|nodes| nodes.host(1)).as_deref(), Some("b"));
    }
}
