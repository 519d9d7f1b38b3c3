//! How the PEs of a foreign launcher come together if they are on several nodes.
//!
//! The first PE of a node to come starts the node's agent. All tell, wait for each other, and hear
//! what the other nodes have told: here initialisation waits for all PEs, because PMI-1 knows
//! no other way.

use super::file::JobFile;
use super::nodes::RECORD_BYTES;
use super::pmi::{Card, Pmi};
use crate::atomics::Ordering;
use crate::engine::agent;
use crate::error::Error;
use crate::sys::helper;
use onenode::sys::process;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// The first byte of what an agent tells: its record, or why it cannot serve, follows.
const RECORD: u8 = b'R';
const WHY: u8 = b'E';

/// Introduces the nodes of the job to each other. `is_first` for one PE of each node.
pub(super) fn introduce(job: &JobFile, pmi: &mut Pmi, is_first: bool) -> Result<(), String> {
    let Some(nodes) = job.nodes() else { return Ok(()) };
    if is_first {
        let agent = start_agent(job)?;
        let heap = (process::machine_memory() / job.near().len() as u64).max(64 << 20);
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let host = host.trim().replace(|c: char| c.is_whitespace() || c == '/', "-");
        pmi.tell(nodes.own(), &Card { heap, host, agent })?;
    }
    pmi.barrier()?;
    let mut heap = u64::MAX;
    for node in 0..nodes.count() {
        let card = pmi.hear(node, is_first && node != nodes.own())?;
        heap = heap.min(card.heap);
        if is_first {
            nodes.name(node, &card.host);
            if node != nodes.own() {
                nodes.publish(node, &card.agent[..card.agent.len().min(RECORD_BYTES)]);
            }
        }
    }
    job.header().default_heap.store(heap, Ordering::Relaxed);
    Ok(())
}

/// Starts this node's agent and gives its record.
fn start_agent(job: &JobFile) -> Result<Vec<u8>, String> {
    let told = (|| {
        let file = job.file()?;
        helper::ask(file, |pipe| serve(file.try_clone_to_owned(), pipe))
    })();
    let told = told.map_err(|error: Error| error.to_string())?;
    match told.split_first() {
        Some((&RECORD, record)) => Ok(record.to_vec()),
        Some((_, why)) => Err(String::from_utf8_lossy(why).into_owned()),
        None => Err("the node's agent ended before it could serve".into()),
    }
}

/// The agent's life, in its own process.
fn serve(file: std::io::Result<OwnedFd>, pipe: OwnedFd) {
    let mut pipe = Some(std::fs::File::from(pipe));
    let mut tell = |what: u8, bytes: &[u8]| {
        // Closed, it tells the PE that this is all.
        if let Some(mut pipe) = pipe.take() {
            let _ = pipe.write_all(&[&[what], bytes].concat());
        }
    };
    let job = match file {
        Ok(file) => JobFile::open(file),
        Err(error) => return tell(WHY, error.to_string().as_bytes()),
    };
    let why = job.and_then(|job| {
        let job = Arc::new(job);
        let table = job.clone();
        agent::serve(job, &mut |record| {
            table.nodes().into_iter().for_each(|nodes| nodes.publish(nodes.own(), record));
            tell(RECORD, record);
        })
    });
    let Err(why) = why;
    tell(WHY, why.to_string().as_bytes());
}
