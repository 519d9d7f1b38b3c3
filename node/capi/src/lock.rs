//! Locks of a group, and waits for a word.
#![allow(unsafe_code)]

use crate::argument::{limit, meaning, object};
use crate::failure::OK;
use onenode::{Group, Node, View};
use std::ffi::c_void;

/// `enum onenode_cmp`, in the order of `SHMEM_CMP_*`.
#[derive(Clone, Copy, Debug)]
enum Comparison {
    Eq,
    Ne,
    Gt,
    Ge,
    Lt,
    Le,
}

const COMPARISONS: &[(u32, Comparison)] = &[
    (1, Comparison::Eq),
    (2, Comparison::Ne),
    (3, Comparison::Gt),
    (4, Comparison::Ge),
    (5, Comparison::Lt),
    (6, Comparison::Le),
];

impl Comparison {
    fn holds(self, word: u64, value: u64) -> bool {
        match self {
            Self::Eq => word == value,
            Self::Ne => word != value,
            Self::Gt => word > value,
            Self::Ge => word >= value,
            Self::Lt => word < value,
            Self::Le => word <= value,
        }
    }
}

functions! {
    /// `int onenode_wait(onenode_t *node, const uint64_t *own, uint32_t cmp, uint64_t value, uint32_t
    /// from, uint64_t ns)`
    fn onenode_wait(
        node: *mut Node,
        own: *const u64,
        cmp: u32,
        value: u64,
        from: u32,
        ns: u64,
    ) -> number {
        let cmp = meaning("cmp", cmp, COMPARISONS)?;
        let from = (from != u32::MAX).then_some(from);
        object("node", node)?.wait(own, |word| cmp.holds(word, value), from, limit(ns))?;
        Ok(OK)
    }

    /// `int onenode_lock(onenode_group_t *group, void *word, onenode_view_t *view, uint64_t ns)`
    fn onenode_lock(group: *mut Group, word: *mut c_void, view: *mut View, ns: u64) -> number {
        let (group, view) = (object("group", group)?, object("view", view)?);
        group.lock(word.addr(), view, limit(ns))?;
        Ok(OK)
    }

    /// `int onenode_unlock(onenode_group_t *group, void *word, onenode_view_t *view)`
    fn onenode_unlock(group: *mut Group, word: *mut c_void, view: *mut View) -> number {
        let (group, view) = (object("group", group)?, object("view", view)?);
        group.unlock(word.addr(), view)?;
        Ok(OK)
    }
}
