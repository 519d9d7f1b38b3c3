//! How the PEs of a foreign launcher join their job if they are on several nodes.
//!
//! The first PE of each node tells the other nodes where the node is, starts its agent, which listens
//! only where they are, and tells them how to reach it. It writes what it hears to its node's table. The
//! other PEs wait for that.

use crate::atomics::Ordering;
use crate::exchange::{About, Card, Exchange};
use crate::failure::ending;
use crate::pe::launcher::Launcher;
use onenode_core::sys::cgroup;
use oneshmem_job::engine::agent::Report;
use oneshmem_job::engine::{probe, started};
use oneshmem_job::error::Error;
use oneshmem_job::jobfile::JobFile;
use oneshmem_job::jobfile::abort::{self, AbortKind};
use oneshmem_job::jobfile::nodes::{Nodes, RECORD_BYTES};
use oneshmem_job::remote::network::{self, Preference};
use oneshmem_job::remote::secret::Secret;
use oneshmem_job::sys::helper;
use oneshmem_job::sys::hex::{hex, of_hex};
use oneshmem_job::sys::{environment, install};
use std::time::Duration;

/// How often a PE checks whether its node's table is complete.
const LOOK: Duration = Duration::from_millis(1);

/// Exchanges where the nodes are and how their agents are reached.
pub(super) fn introduce(
    job: &JobFile,
    launcher: Launcher,
    exchange: &mut Exchange,
    pe: usize,
) -> Result<(), Error> {
    let Some(nodes) = job.nodes() else { return Ok(()) };
    let failed = |why: String| Error::Launcher { launcher: launcher.name(), why };
    let is_first = pe == job.near().start;
    let introduced = match is_first {
        true => introduce_node(job, nodes, exchange),
        false => exchange.meet().and_then(|()| exchange.meet()),
    };
    if let Err(why) = introduced {
        // Lets the other PEs of this node stop waiting.
        abort::raise(job, AbortKind::Fatal, pe, 1);
        return Err(failed(why));
    }
    while job.header().default_heap.load(Ordering::Acquire) == 0 {
        if let word @ 1.. = job.header().abort.load(Ordering::Acquire) {
            ending::leave_late(word, true);
        }
        std::thread::sleep(LOOK);
    }
    Ok(())
}

/// The work of a node's first PE for it. The size of the heap is written last: the other PEs of the
/// node wait for it.
fn introduce_node(job: &JobFile, nodes: &Nodes, exchange: &mut Exchange) -> Result<(), String> {
    exchange.publish(About::Host, nodes.own(), &own_card(job, nodes)?.encode())?;
    exchange.meet()?;
    let (mut heap, mut sites) = (u64::MAX, Vec::new());
    for node in 0..nodes.count() {
        let text = exchange.fetch(About::Host, node, nodes.pes(node).start)?;
        let card = Card::decode(&text).ok_or_else(|| format!("node {node} says {text}"))?;
        heap = heap.min(card.heap);
        nodes.name(node, &card.host);
        sites.push(card.site);
        match (node, &card.secret) {
            (0, Some(secret)) => job.set_secret(secret),
            (0, None) => return Err("the first node has published no secret".into()),
            _ => {}
        }
    }
    let chosen = environment::variable(network::VARIABLE);
    let (name, preference) = (|node| nodes.host(node), Preference::own()?);
    nodes.set_sites(&sites);
    nodes.set_route(&network::route(&sites, nodes.own(), name, preference, chosen.as_deref())?)?;
    let record = hex(&start_agent(job)?);
    exchange.publish(About::Agent, nodes.own(), &record)?;
    exchange.meet()?;
    for node in 0..nodes.count() {
        let text = exchange.fetch(About::Agent, node, nodes.pes(node).start)?;
        let record = of_hex(&text).filter(|record| record.len() <= RECORD_BYTES);
        nodes
            .publish(node, &record.ok_or_else(|| format!("the agent of node {node} says {text}"))?);
    }
    job.header().default_heap.store(heap.max(1), Ordering::Release);
    Ok(())
}

/// This node's card.
fn own_card(job: &JobFile, nodes: &Nodes) -> Result<Card, String> {
    // The launcher's key-value space is the job's own.
    let secret = (nodes.own() == 0).then(Secret::new).transpose().map_err(|it| it.to_string())?;
    let heap = (cgroup::memory() / job.near().len() as u64).max(64 << 20);
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = host.trim().replace(|c: char| c.is_whitespace() || c == '/', "-");
    Ok(Card { heap, host, site: probe::own_site(Preference::own()?), secret })
}

/// Starts this node's agent and returns its record.
fn start_agent(job: &JobFile) -> Result<Vec<u8>, String> {
    // A separate program inherits nothing that this one has loaded and initialised: above all MPI's
    // UCX, which does not survive a fork.
    let program = install::oshrun();
    let told = job
        .file()
        .map_err(Error::from)
        .and_then(|file| helper::ask(file, (program.as_deref(), started::OPTION), started::serve));
    let told = told.map_err(|error: Error| error.to_string())?;
    match Report::decode(&told) {
        Some(Report::Record(record)) => Ok(record),
        Some(Report::Failure(why)) => Err(why),
        None => Err(match program {
            Some(path) => format!(
                "the node's agent ended before it could serve: {} --agent could not be run, or was \
                 killed",
                path.display()
            ),
            None => "the node's agent ended before it could serve: it was killed".to_string(),
        }),
    }
}
