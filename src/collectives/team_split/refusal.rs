//! Why a split of a team fails, for `SHMEM_DEBUG`.

use crate::team::NUM_CONTEXTS;
use oneshmem_job::jobfile::control::TEAM_SLOTS;
use std::ffi::{c_int, c_long};
use std::fmt;

/// A fault in the arguments of a split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The mask names fields that no configuration has.
    Mask(c_long),
    /// The configuration asks for this number of contexts.
    Contexts(c_int),
    /// Not all PEs of the triplet (start, stride, size) are in the parent, which has this many PEs.
    Triplet([c_int; 3], usize),
    /// Rows of this length.
    Range(c_int),
    /// No slot is free for another team.
    NoSlot,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Mask(mask) => write!(
                f,
                "config_mask = {mask:#x}, expected 0 or SHMEM_TEAM_NUM_CONTEXTS ({NUM_CONTEXTS})"
            ),
            Self::Contexts(number) => write!(f, "num_contexts = {number}, expected at least 0"),
            Self::Triplet([start, stride, size], parent) => write!(
                f,
                "start = {start}, stride = {stride}, size = {size}, expected at least one PE, each \
                 once, from 0 to {}",
                parent - 1
            ),
            Self::Range(xrange) => write!(f, "xrange = {xrange}, expected at least 1"),
            Self::NoSlot => {
                write!(f, "the job has {TEAM_SLOTS} teams, as many as it can; destroy some")
            }
        }
    }
}
