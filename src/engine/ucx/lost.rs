//! How a PE ends the job when others cannot be reached.

use crate::failure;
use crate::job::{self, ending};
use std::fmt::Display;

/// Ends the job: `pe` cannot be reached.
#[cold]
pub fn lost(pe: usize, why: impl Display) -> ! {
    match job::existing().and_then(|job| Some((job, job.nodes()?))) {
        Some((_, nodes)) => lost_node(nodes.node_of(pe), why),
        None => failure::fatal(format_args!("PE {pe} cannot be reached: {why}")),
    }
}

/// Ends the job: a node cannot be reached.
#[cold]
pub fn lost_node(node: usize, why: impl Display) -> ! {
    let job = job::existing().inspect(|job| ending::give_way(job));
    let here = job.and_then(|job| job.nodes()).map(|nodes| name(nodes.own()));
    let here = here.map(|here| format!(" from {here}")).unwrap_or_default();
    failure::fatal(format_args!("{} cannot be reached{here}: {why}", name(node)))
}

/// A node for people.
pub fn name(node: usize) -> String {
    let Some(nodes) = job::existing().and_then(|job| job.nodes()) else {
        return format!("node {node}");
    };
    let pes = nodes.pes(node);
    match pes.len() {
        1 => format!("node {} with PE {}", nodes.host(node), pes.start),
        _ => format!("node {} with PEs {} to {}", nodes.host(node), pes.start, pes.end - 1),
    }
}

/// Ends the job: operations failed, but it is not known on which PE.
#[cold]
pub fn lost_somewhere(why: impl Display) -> ! {
    job::existing().inspect(|job| ending::give_way(job));
    failure::fatal(format_args!("operations on PEs of other nodes failed: {why}"))
}
