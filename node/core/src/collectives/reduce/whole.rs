//! Reduction of medium-sized arrays: every member reduces the whole array.

use super::Reduce;
use super::block::{Accumulator, BLOCK_BYTES, ElementRange};
use crate::collectives::group::{CollectiveGroup, Outcome};

const READY: usize = 1;
const READ: usize = 2;

/// Every member combines all sources in place, and writes its dest when all members have done so
/// (dest may be source). Two steps; each member moves `size` times the bytes, and its result once
/// more. The elements have at most [`BLOCK_BYTES`] together.
pub fn run<G: CollectiveGroup>(group: &G, call: Reduce<'_>) -> Outcome<G> {
    assert!(call.bytes() <= BLOCK_BYTES);
    let mut blocks = Accumulator::new(call.kernel);
    let mut result = None;
    group.steps(READ, |steps| {
        steps.announce(READY);
        // All members wait below before they reuse their sources.
        let all = ElementRange::all(call.n);
        result = Some(blocks.accumulate(group, steps, call.source, all, group.size())?);
        steps.finish(READ)
    })?;
    if let Some(result) = result {
        group.copy(result, call.dest); // Which nobody reads any more, if it is the source.
    }
    Ok(())
}
