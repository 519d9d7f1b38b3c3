//! Mappings: any range of a rank's regions, by the rank's own addresses.
#![allow(unsafe_code)]

use crate::argument::{object, place, taken};
use crate::failure::OK;
use onenode::{Error, Mapping, Node};
use std::ffi::c_void;
use std::ops::Range;
use std::ptr::with_exposed_provenance_mut;

fn range(theirs: u64, bytes: u64) -> Result<Range<usize>, Error> {
    match theirs.checked_add(bytes) {
        Some(end) if bytes > 0 => Ok(theirs as usize..end as usize),
        _ => Err(Error::argument(
            "bytes",
            bytes,
            format!("1 or more, which exist from {theirs:#x} on"),
        )),
    }
}

functions! {
    /// `int onenode_map(onenode_t *node, uint32_t rank, uint64_t theirs, uint64_t bytes, void **there,
    /// onenode_mapping_t **mapping)`
    fn onenode_map(
        node: *mut Node,
        rank: u32,
        theirs: u64,
        bytes: u64,
        there: *mut *mut c_void,
        mapping: *mut *mut Mapping,
    ) -> number {
        let node = object("node", node)?;
        let (there, mapping) = (place("there", there)?, place("mapping", mapping)?);
        let mapped = node.map(rank, range(theirs, bytes)?)?;
        there.write(with_exposed_provenance_mut(mapped.address()));
        mapping.write(Box::into_raw(Box::new(mapped)));
        Ok(OK)
    }

    /// `int onenode_unmap(onenode_mapping_t *mapping)`
    fn onenode_unmap(mapping: *mut Mapping) -> number {
        drop(taken("mapping", mapping)?);
        Ok(OK)
    }
}
