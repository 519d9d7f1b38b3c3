//! Communication contexts: what a context handle means on the data path.
//!
//! A handle is the byte offset of an entry in one static table, so that using a
//! context costs the hot path three instructions more than the default context,
//! and a handle is an address constant in C (`SHMEM_CTX_DEFAULT` works in a
//! static initialiser). Entry 0 is `SHMEM_CTX_INVALID`: it has no PEs, so any use
//! takes the slow path and is reported there.
#![allow(unsafe_code)]

use crate::translate::{Numbering, PeArg, TABLE};

/// `SHMEM_CTX_INVALID`.
pub const CTX_INVALID: usize = 0;
/// `SHMEM_CTX_DEFAULT`: the entry after the invalid one.
pub const CTX_DEFAULT: usize = 32;

/// The default context: world numbering, known at compile time.
#[derive(Clone, Copy, Debug)]
pub struct Default;

impl Numbering for Default {
    #[inline(always)]
    fn world<R>(self, pe: PeArg, ok: impl FnOnce(usize) -> R, out: impl FnOnce() -> R) -> R {
        if pe >= TABLE.npes() { out() } else { ok(pe) }
    }
    #[inline(always)]
    fn handle(self) -> usize {
        CTX_DEFAULT
    }
}

/// The world PE number of PE `pe` of a context, if it has such a PE.
pub fn world_pe(handle: usize, pe: i32) -> Option<usize> {
    let pe = usize::try_from(pe).ok()?;
    (handle == CTX_DEFAULT && pe < TABLE.npes()).then_some(pe)
}

/// What PE numbers a context takes, for messages.
pub fn describe(handle: usize) -> String {
    if handle == CTX_INVALID {
        return "SHMEM_CTX_INVALID has no PEs".into();
    }
    format!("expected a PE number from 0 to {}", TABLE.npes().saturating_sub(1))
}

/// A session begins.
pub(crate) fn open(_job: &crate::job::Job) {}
/// A session ends.
pub(crate) fn close() {}
