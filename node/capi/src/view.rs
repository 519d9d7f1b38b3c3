//! Views: from addresses of this process to those of a peer's copy. The hot path is in the header.
#![allow(unsafe_code)]

use crate::argument::{object, place, taken};
use crate::failure::OK;
use onenode::{Error, Key, Node, Rank, RawTable, View};
use std::ffi::c_void;
use std::ptr::NonNull;

/// How many ranks there can be.
const MOST_RANKS: usize = 1 << Rank::BITS;

/// A rank passed as a whole register, in which a negative number is a very large one.
fn rank(number: usize) -> Result<Rank, Error> {
    Rank::try_from(number)
        .map_err(|_| Error::argument("rank", number as isize, "a rank, which has 32 bits"))
}

functions! {
    /// `int onenode_view_open(onenode_t *node, const uint64_t *keys, size_t nkeys, onenode_table
    /// *table, onenode_view_t **view)`
    fn onenode_view_open(
        node: *mut Node,
        keys: *const u64,
        nkeys: usize,
        table: *mut usize,
        view: *mut *mut View,
    ) -> number {
        let (node, view) = (object("node", node)?, place("view", view)?);
        let keys = std::slice::from_raw_parts(place("keys", keys.cast_mut())?, nkeys);
        let keys: Vec<Key> = keys.iter().map(|key| Key(*key)).collect();
        let capacity = place("table", table)?.add(1).read();
        if capacity > MOST_RANKS {
            let expected = format!("at most {MOST_RANKS}, as a rank has 32 bits");
            return Err(Error::argument("table.capacity", capacity, expected));
        }
        let table = RawTable::new(NonNull::new_unchecked(table));
        view.write(Box::into_raw(Box::new(node.view(&keys, table)?)));
        Ok(OK)
    }

    /// `int onenode_view_close(onenode_view_t *view)`
    fn onenode_view_close(view: *mut View) -> number {
        drop(taken("view", view)?);
        Ok(OK)
    }

    /// `void *onenode_resolve(onenode_view_t *view, const void *own, size_t rank)`
    fn onenode_resolve(
        view: *mut View,
        own: *const c_void,
        wanted: usize,
    ) -> address {
        object("view", view)?.resolve(own.addr(), rank(wanted)?)
    }

    /// `void *onenode_own(onenode_view_t *view, const void *theirs, size_t rank)`
    fn onenode_own(
        view: *mut View,
        theirs: *const c_void,
        wanted: usize,
    ) -> address {
        object("view", view)?.own(theirs.addr(), rank(wanted)?)
    }
}
